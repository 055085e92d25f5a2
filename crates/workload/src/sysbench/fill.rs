//! Fills tables with rows, on several sessions for each table.

use std::ops::RangeInclusive;
use std::sync::Arc;

use driver::{Dialect, Session};
use measure::Failure;

use super::rows::{COLUMNS, Row, RowMaker};
use super::schema;
use super::settings::Settings;
use crate::crewed::share_out_pieces;
use crate::loading::Piece;
use crate::random::Draw;
use crate::{Progress, Site};

/// Rows in one transaction: 5 MB, so that the wait for the disk at its end costs little.
const PIECE_ROWS: u64 = 25_000;

/// The rows of each batch. Consecutive batches belong to different tables, if there are several, so that
/// sessions rarely wait for each other.
#[derive(Debug)]
struct Pieces {
    tables: Vec<u64>,
    rows: u64,
}

impl Pieces {
    fn count(&self) -> u64 {
        self.tables.len() as u64 * self.rows.div_ceil(PIECE_ROWS)
    }

    /// The table and the ids of one batch.
    fn piece(&self, number: u64) -> (u64, RangeInclusive<u64>) {
        let tables = self.tables.len() as u64;
        let first = number / tables * PIECE_ROWS + 1;
        let last = (first + PIECE_ROWS - 1).min(self.rows);
        (self.tables[(number % tables) as usize], first..=last)
    }
}

/// Puts `table_size` rows into each table.
pub(super) fn fill(site: &Site<'_>, settings: &Settings, tables: &[u64]) -> Result<(), Failure> {
    let rows = settings.table_size;
    let pieces = Pieces { tables: tables.to_vec(), rows };
    let work = Arc::new(Work {
        maker: RowMaker { seed: site.seed, k: Draw::new(settings.shape, 1, rows.cast_signed()) },
        dialect: site.target.dialect(),
        progress: site.progress.clone(),
    });
    site.progress.begin(stage(tables), rows * tables.len() as u64);
    share_out_pieces(site, pieces.count(), move |session, number| {
        let (table, ids) = pieces.piece(number);
        let work = Arc::clone(&work);
        Box::pin(async move { work.load(session, table, ids).await })
    })
}

fn stage(tables: &[u64]) -> String {
    match tables {
        [] => "nothing to load".to_owned(),
        [table] => format!("loading {}", schema::name(*table)),
        _ => format!("loading {} tables", tables.len()),
    }
}

/// The state that all batches share.
struct Work {
    maker: RowMaker,
    dialect: &'static Dialect,
    progress: Progress,
}

impl Work {
    /// Loads one batch.
    async fn load(
        &self,
        session: &mut Session,
        table: u64,
        ids: RangeInclusive<u64>,
    ) -> Result<(), Failure> {
        let mut piece = Piece::begin(session, self.dialect, &self.progress).await?;
        let mut filling = piece.table(&schema::name(table), &COLUMNS);
        let mut row = Row::new();
        for id in ids {
            row.make(&self.maker, table, id);
            filling.push(&row.values()).await?;
        }
        filling.end().await?;
        piece.commit().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_every_row_once_and_alternate_between_tables() {
        let pieces = Pieces { tables: vec![2, 5], rows: 2 * PIECE_ROWS + 1 };
        let all: Vec<_> = (0..pieces.count()).map(|number| pieces.piece(number)).collect();
        let expected: Vec<_> = [(1, PIECE_ROWS), (PIECE_ROWS + 1, 2 * PIECE_ROWS)]
            .into_iter()
            .chain([(2 * PIECE_ROWS + 1, 2 * PIECE_ROWS + 1)])
            .flat_map(|(first, last)| [(2, first..=last), (5, first..=last)])
            .collect();
        assert_eq!(all, expected);
    }
}

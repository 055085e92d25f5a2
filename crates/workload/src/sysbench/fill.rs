//! Fills tables with rows, by several sessions within each table.

use std::sync::Arc;

use driver::Session;
use measure::Failure;

use super::rows::{COLUMNS, RowMaker};
use super::schema;
use super::settings::Settings;
use crate::crewed::{members, share_out};
use crate::random::Draw;
use crate::{Progress, Site};

/// Rows that one loader takes at a time.
const CHUNK_ROWS: u64 = 10_000;
/// After so many rows the progress is told.
const TOLD_ROWS: u64 = 500;

/// Which rows each piece of work holds: consecutive pieces belong to different tables, so that
/// loaders are rarely in each other's way, and to the same when there is only one.
#[derive(Debug)]
struct Pieces {
    tables: Vec<u64>,
    rows: u64,
}

impl Pieces {
    fn count(&self) -> u64 {
        self.tables.len() as u64 * self.rows.div_ceil(CHUNK_ROWS)
    }

    /// The table and the ids of one piece.
    fn piece(&self, number: u64) -> (u64, std::ops::RangeInclusive<u64>) {
        let tables = self.tables.len() as u64;
        let first = number / tables * CHUNK_ROWS + 1;
        let last = (first + CHUNK_ROWS - 1).min(self.rows);
        (self.tables[(number % tables) as usize], first..=last)
    }
}

/// Puts `table_size` rows into each table.
pub(super) fn fill(site: &Site<'_>, settings: &Settings, tables: &[u64]) -> Result<(), Failure> {
    let rows = settings.table_size;
    let pieces = Arc::new(Pieces { tables: tables.to_vec(), rows });
    let k = Draw::new(settings.shape, 1, rows.cast_signed());
    let maker = RowMaker::new(site.seed, k);
    let progress = site.progress.clone();
    progress.begin(stage(tables), rows * tables.len() as u64);
    share_out(site, members(site), pieces.count(), move |session, number| {
        let (table, ids) = pieces.piece(number);
        let (maker, progress) = (maker.clone(), progress.clone());
        Box::pin(load(session, table, ids, maker, progress))
    })
}

fn stage(tables: &[u64]) -> String {
    match tables {
        [] => "nothing to load".to_owned(),
        [table] => format!("loading {}", schema::name(*table)),
        _ => format!("loading {} tables", tables.len()),
    }
}

/// Loads one piece.
async fn load(
    session: &mut Session,
    table: u64,
    ids: std::ops::RangeInclusive<u64>,
    mut maker: RowMaker,
    progress: Progress,
) -> Result<(), Failure> {
    let mut loader = session.loader(&schema::name(table), &COLUMNS).await?;
    let mut untold = 0;
    for id in ids {
        loader.push(&maker.make(table, id)).await?;
        untold += 1;
        if untold == TOLD_ROWS {
            progress.advance(untold);
            untold = 0;
        }
    }
    loader.finish().await?;
    progress.advance(untold);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_every_row_once_and_alternate_between_tables() {
        let pieces = Pieces { tables: vec![2, 5], rows: 2 * CHUNK_ROWS + 1 };
        let all: Vec<_> = (0..pieces.count()).map(|number| pieces.piece(number)).collect();
        let expected: Vec<_> = [(1, CHUNK_ROWS), (CHUNK_ROWS + 1, 2 * CHUNK_ROWS)]
            .into_iter()
            .chain([(2 * CHUNK_ROWS + 1, 2 * CHUNK_ROWS + 1)])
            .flat_map(|(first, last)| [(2, first..=last), (5, first..=last)])
            .collect();
        assert_eq!(all, expected);
    }
}

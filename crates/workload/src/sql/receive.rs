//! Variables that get the values of a row: `\gset` and `\aset`.

use driver::{Rows, Session};
use measure::Failure;

use super::section::{Received, Step, Transaction, Wanted};
use crate::expression::Cell;
use crate::parallel::unsuitable;

/// The columns of a statement of one session that are kept, each with the slot that gets its value.
pub(super) struct Receiver {
    columns: Vec<(usize, usize)>,
    is_optional: bool,
}

/// The receivers of a transaction's results.
///
/// # Errors
/// A variable that no statement gives; the server's error.
pub(super) async fn receivers(
    session: &mut Session,
    transaction: &Transaction,
) -> Result<Vec<Receiver>, Failure> {
    if transaction.results.is_empty() {
        return Ok(Vec::new());
    }
    let mut names = vec![Vec::new(); transaction.results.len()];
    for step in &transaction.steps {
        if let Step::Receive(number, result) = step {
            let text = &transaction.statements[*number].text;
            names[*result] = session.column_names(&text.pieces()).await?;
        }
    }
    let results = || transaction.results.iter().zip(&names);
    for (result, _) in results() {
        for wanted in &result.wanted {
            let is_given = |(result, names): (&Received, &Vec<String>)| {
                let mut columns = result.wanted.iter().filter(|it| it.slot == wanted.slot);
                columns.any(|it| names.contains(&it.name[result.prefix.len()..].to_owned()))
            };
            if !results().any(is_given) {
                return Err(not_given(wanted, results()));
            }
        }
    }
    let of_result = |(result, names): (&Received, &Vec<String>)| {
        // The last of several columns with a name counts, as in pgbench.
        let column = |name: &String| names.iter().rposition(|column| column == name);
        let columns = result.slots.iter().filter_map(|(name, slot)| Some((column(name)?, *slot)));
        Receiver { columns: columns.collect(), is_optional: result.is_optional }
    };
    Ok(results().map(of_result).collect())
}

fn not_given<'r>(
    wanted: &Wanted,
    results: impl Iterator<Item = (&'r Received, &'r Vec<String>)>,
) -> Failure {
    let told = results.map(|(result, names)| {
        let names: Vec<String> =
            names.iter().map(|name| format!("{}{name}", result.prefix)).collect();
        format!("{} gives {}", result.place, names.join(", "))
    });
    let told: Vec<String> = told.collect();
    unsuitable(format!(
        "{}: variable `{}` is not set before it is used; {}",
        wanted.place,
        wanted.name,
        told.join("; ")
    ))
}

impl Receiver {
    /// Keeps the values of the row.
    ///
    /// # Errors
    /// If there is not exactly one row, where that is required.
    pub(super) fn keep(&self, rows: &Rows, slots: &mut [Cell]) -> Result<(), String> {
        let row = match rows.len() {
            1 => 0,
            0 if self.is_optional => return Ok(()),
            count if self.is_optional => count - 1,
            count => {
                return Err(format!(
                    "\\gset takes one row, and the statement has returned {count}"
                ));
            }
        };
        for &(column, slot) in &self.columns {
            keep(rows, (row, column), &mut slots[slot]);
        }
        Ok(())
    }
}

/// Keeps a value: whole numbers as such, others as the system has sent them.
fn keep(rows: &Rows, (row, column): (usize, usize), cell: &mut Cell) {
    if let Some(text) = rows.text(row, column) {
        // Such as 007, which a text column may have, is not a whole number.
        let is_plain = text == "0" || !text.trim_start_matches('-').starts_with('0');
        match text.parse() {
            Ok(number) if is_plain && !text.starts_with('+') => *cell = Cell::Int(number),
            _ => match cell {
                Cell::Text(kept) => {
                    kept.clear();
                    kept.push_str(text);
                }
                _ => *cell = Cell::Text(text.to_owned()),
            },
        }
    } else if let Some(number) = rows.int(row, column) {
        *cell = Cell::Int(number);
    } else {
        *cell = rows.float(row, column).map_or(Cell::Null, Cell::Float);
    }
}

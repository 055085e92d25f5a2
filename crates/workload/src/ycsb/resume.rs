//! Finds the end of a table's records, where clients insert new ones.

use driver::Session;
use measure::Failure;

use super::inserts::Start;
use super::key::KeyFormat;
use super::settings::Settings;
use super::statements::present;

/// Numbers on either side of the guess that are checked: more than the inserts that clients could have in flight when
/// a trial was cut short.
const REACH: u64 = 1_024;

/// The next new record, and the earlier ones that were never inserted. `guess` is approximately the end of the
/// records; one that is too low costs time.
///
/// # Errors
/// The server's error.
pub(super) async fn find_start(
    session: &mut Session,
    settings: &Settings,
    format: &KeyFormat,
    guess: u64,
) -> Result<Start, Failure> {
    let first = settings.records;
    let mut middle = guess.max(first);
    loop {
        let low = middle.saturating_sub(REACH).max(first);
        let numbers: Vec<u64> = (low..middle + REACH).collect();
        let are_there = present(session, &settings.table, format, &numbers).await?;
        match are_there.iter().rposition(|there| *there) {
            // Near the upper bound: higher records may exist.
            Some(last) if numbers[last] >= middle + REACH / 2 => middle += REACH,
            Some(last) => {
                let below = numbers.iter().zip(&are_there).take(last);
                let missing = below.filter(|(_, there)| !**there).map(|(number, _)| *number);
                return Ok(Start { missing: missing.collect(), next: numbers[last] + 1 });
            }
            None if low == first => return Ok(Start { missing: Vec::new(), next: first }),
            None => middle = low,
        }
    }
}

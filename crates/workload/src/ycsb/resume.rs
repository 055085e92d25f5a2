//! Finds the end of a table's records, where clients insert new ones.

use driver::Session;
use measure::Failure;

use super::inserts::Start;
use super::key::KeyFormat;
use super::settings::Settings;
use super::statements::present;

/// Numbers to either side of the guess that are looked at: more than clients ever had inserts on their
/// way when a trial was cut short.
const REACH: u64 = 1_024;

/// Which new record comes next, and which before it were never inserted. `guess` is about where they
/// end; one that is too low costs time.
///
/// # Errors
/// What the server says.
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
            // Far up: there may be more above.
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

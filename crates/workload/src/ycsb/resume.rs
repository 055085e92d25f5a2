//! Finds the end of a table's records, where clients insert new ones.

use std::ops::Range;

use driver::Session;
use measure::Failure;

use super::inserts::Start;
use super::key::KeyFormat;
use super::settings::Settings;
use super::statements::present;

/// Numbers on either side of the guess that are checked: more than the inserts that clients could have in flight when
/// a trial was cut short.
const REACH: u64 = 1_024;
/// The most numbers below them that are checked: generators of different speeds leave gaps far behind the last record.
const GAPS_MAX: u64 = 1 << 22;

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
                let missing = absent(&numbers[..last], &are_there);
                let next = numbers[last] + 1;
                let earlier = if missing.is_empty() {
                    Vec::new()
                } else {
                    missing_below(session, settings, format, first..low).await?
                };
                return Ok(Start { missing: [earlier, missing].concat(), next });
            }
            None if low == first => return Ok(Start { missing: Vec::new(), next: first }),
            None => middle = low,
        }
    }
}

/// The missing numbers of a range, from its end down to where none is missing.
///
/// # Errors
/// The server's error.
async fn missing_below(
    session: &mut Session,
    settings: &Settings,
    format: &KeyFormat,
    range: Range<u64>,
) -> Result<Vec<u64>, Failure> {
    let mut found = Vec::new();
    let mut high = range.end;
    while high > range.start && range.end - high < GAPS_MAX {
        let low = high.saturating_sub(2 * REACH).max(range.start);
        let numbers: Vec<u64> = (low..high).collect();
        let are_there = present(session, &settings.table, format, &numbers).await?;
        let missing = absent(&numbers, &are_there);
        if missing.is_empty() {
            break;
        }
        found.push(missing);
        high = low;
    }
    Ok(found.into_iter().rev().flatten().collect())
}

fn absent(numbers: &[u64], are_there: &[bool]) -> Vec<u64> {
    let both = numbers.iter().zip(are_there);
    both.filter(|(_, there)| !**there).map(|(number, _)| *number).collect()
}

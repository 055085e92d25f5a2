//! Compares the monotonic clocks of two hosts.
//!
//! An answer to a question of the time was given between the question and its arrival. So each one bounds the offset
//! between the clocks, however long the two ways take: their reading minus our time of the arrival is the least, and
//! their reading minus our time of the question the most that it can be. The offset lies in all of these spans.

use std::time::Duration;

use measure::ClockComparison;

use crate::problem::Problem;

const QUESTIONS_MAX: usize = 32;
/// The fewest questions, however long they take.
const QUESTIONS_MIN: usize = 4;
/// After this time no further question is asked.
const ENOUGH_NS: u64 = 500_000_000;
/// How long an answer may take.
pub(crate) const ANSWER_BOUND: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    /// Our clock when it was asked.
    pub(crate) asked_ns: u64,
    pub(crate) theirs_ns: u64,
    /// Our clock when the answer came.
    pub(crate) answered_ns: u64,
}

impl Reading {
    /// The least and the most that their clock can be ahead of ours.
    fn span(&self) -> (i128, i128) {
        let theirs = i128::from(self.theirs_ns);
        (theirs - i128::from(self.answered_ns), theirs - i128::from(self.asked_ns))
    }
}

/// Asks until enough is known. `ask` returns one reading.
///
/// # Errors
/// When an answer does not come, or the answers cannot be of a clock.
pub(crate) fn compare(
    mut ask: impl FnMut() -> Result<Reading, Problem>,
) -> Result<ClockComparison, Problem> {
    let mut readings = Vec::with_capacity(QUESTIONS_MAX);
    let mut passed_ns = 0;
    while readings.len() < QUESTIONS_MIN || readings.len() < QUESTIONS_MAX && passed_ns < ENOUGH_NS
    {
        let reading = ask()?;
        passed_ns += reading.answered_ns.saturating_sub(reading.asked_ns);
        readings.push(reading);
    }
    estimate(&readings).ok_or_else(|| {
        Problem::Garbage("the answers to questions of the time contradict each other".to_owned())
    })
}

/// The middle of what all readings allow; `None` when they contradict each other, or there are none.
fn estimate(readings: &[Reading]) -> Option<ClockComparison> {
    let spans = readings.iter().map(Reading::span);
    let (least, most) =
        spans.reduce(|(least, most), (low, high)| (least.max(low), most.min(high)))?;
    if least > most {
        return None;
    }
    let offset = least + (most - least) / 2;
    Some(ClockComparison {
        offset_ns: i64::try_from(offset).ok()?,
        // The middle is rounded down, so the upper half is the larger one.
        uncertainty_ns: u64::try_from(most - offset).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn reading(asked_ns: u64, theirs_ns: u64, answered_ns: u64) -> Reading {
        Reading { asked_ns, theirs_ns, answered_ns }
    }

    #[test]
    fn the_offset_is_in_the_middle_of_what_all_answers_allow() {
        // Ahead by 1,000: out in 30 and back in 10, then out in 10 and back in 30.
        let readings = [reading(100, 1_130, 140), reading(200, 1_210, 240)];
        let expected = ClockComparison { offset_ns: 1_000, uncertainty_ns: 10 };
        assert_eq!(estimate(&readings), Some(expected));
        let one = ClockComparison { offset_ns: 1_010, uncertainty_ns: 20 };
        assert_eq!(estimate(&readings[..1]), Some(one));
    }

    #[test]
    fn contradictions_and_absurd_clocks_are_no_comparison() {
        assert_eq!(estimate(&[]), None);
        assert_eq!(estimate(&[reading(0, 500, 10), reading(0, 600, 10)]), None);
        assert_eq!(estimate(&[reading(0, u64::MAX, 10)]), None);
        let mut asked = 0;
        let compared = compare(|| {
            asked += 1;
            Ok(reading(asked, asked * 1_000_000, asked + 1))
        });
        assert!(matches!(compared, Err(Problem::Garbage(why)) if why.contains("contradict")));
    }

    #[test]
    fn slow_answers_are_fewer() {
        let mut asked = 0;
        compare(|| {
            asked += 1;
            Ok(reading(0, 1_000_000_000, 2_000_000_000))
        })
        .unwrap();
        assert_eq!(asked, QUESTIONS_MIN);
    }

    proptest! {
        #[test]
        fn the_true_offset_is_within_the_uncertainty_however_long_each_way_takes(
            offset in -1_000_000_000_000_i64..1_000_000_000_000,
            ways in proptest::collection::vec((0..50_000_000_u64, 0..50_000_000_u64), 1..40),
        ) {
            let mut now = 2_000_000_000_000_u64;
            let readings: Vec<Reading> = ways.iter().map(|(out, back)| {
                let asked_ns = now;
                let theirs_ns = (asked_ns + out).checked_add_signed(offset).unwrap();
                now += out + back;
                reading(asked_ns, theirs_ns, now)
            }).collect();
            let estimated = estimate(&readings).unwrap();
            prop_assert!(estimated.offset_ns.abs_diff(offset) <= estimated.uncertainty_ns);
            let quickest = ways.iter().map(|(out, back)| out + back).min().unwrap();
            prop_assert!(estimated.uncertainty_ns <= quickest.div_ceil(2));
        }
    }
}

//! A recorded server as two variants: its restarts are dealt out to both in the orders of plans, so that nothing differs
//! between them but what the machine did.

use analysis::compare;
use plan::Shuffle;

use super::asked::{Asked, Question, THREE_PERCENT};
use super::methods::{Method, ROUNDS, in_rounds};
use super::share::Share;

/// The head of the table.
pub(super) const HEAD: &str = "\
| recording | restarts | alarms in six rounds % | alarms in all rounds % | half width of six rounds % |
|---|---|---|---|---|";

/// Comparisons of a server with itself.
#[derive(Debug)]
pub(super) struct Relabelled {
    pub(super) name: String,
    restarts: usize,
    /// The interval of six rounds from anywhere in the recording does not have 1.
    pub(super) alarms: Share,
    /// That of all its rounds does not.
    pub(super) alarms_of_all: Share,
    half_widths: f64,
    /// Whether 3 % are found, and the smallest larger difference for which there are enough rounds.
    pub(super) asked: Vec<Asked>,
}

impl Relabelled {
    /// So many orders of the figures of restarts; `None` when there are fewer than six rounds need.
    pub(super) fn of(name: String, values: &[f64], orders: u64, seed: u64) -> Option<Self> {
        if values.len() < 2 * ROUNDS {
            return None;
        }
        let [alarms, alarms_of_all] = [Share::default(); 2];
        let restarts = values.len();
        let asked = asked(&name, values, orders, seed);
        let mut all = Self { name, restarts, alarms, alarms_of_all, half_widths: 0.0, asked };
        let mut chance = Shuffle::new(seed);
        for number in 0..orders {
            let (is_alarm, half_width) = alarm(some(&mut chance, values, 2 * ROUNDS), number);
            all.alarms.add(is_alarm);
            all.half_widths += half_width;
            all.alarms_of_all.add(alarm(values, number).0);
        }
        Some(all)
    }

    /// The row of the table.
    pub(super) fn row(&self) -> String {
        format!(
            "| {} | {} | {} | {} | {:.1} |",
            self.name,
            self.restarts,
            self.alarms,
            self.alarms_of_all,
            100.0 * self.half_widths / self.alarms.of as f64
        )
    }
}

/// So many figures that follow each other, from anywhere.
fn some<'v>(chance: &mut Shuffle, values: &'v [f64], count: usize) -> &'v [f64] {
    let start = chance.below(values.len() - count + 1);
    &values[start..start + count]
}

/// Whether 3 % are found with the rounds that are asked for, and where the recording has not so many, whether the
/// smallest larger difference is for which it has.
fn asked(name: &str, values: &[f64], orders: u64, seed: u64) -> Vec<Asked> {
    let mut all = Vec::new();
    for question in std::iter::once(THREE_PERCENT).chain(Question::larger()) {
        let mut asked = Asked::named(format!("{name}, {}", question.name()), question);
        let mut chance = Shuffle::new(seed);
        for number in 0..orders {
            let six = some(&mut chance, values, 2 * ROUNDS);
            let is_enough = |count: &usize| *count <= values.len();
            let others = |count: usize| {
                Some(count).filter(is_enough).map(|count| some(&mut chance, values, count).to_vec())
            };
            asked.add(six, number, others);
        }
        let is_answered = asked.is_answered();
        if is_answered || question == THREE_PERCENT {
            all.push(asked);
        }
        if is_answered {
            break;
        }
    }
    all
}

/// Whether two variants that are the same differ, and half the width of the interval.
fn alarm(values: &[f64], seed: u64) -> (bool, f64) {
    let figures = in_rounds(values, &[1.0, 1.0], seed);
    let found = compare(&figures[0], &figures[1], Method::Rounds.margin());
    found.map_or((false, 0.0), |found| {
        let ratio = found.ratio;
        (ratio.low > 1.0 || ratio.high < 1.0, (ratio.high / ratio.low).ln() / 2.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_without_spread_has_no_alarm_and_three_percent_are_found() {
        let found = Relabelled::of("steady".to_owned(), &[100.0; 30], 50, 1).unwrap();
        assert_eq!(found.alarms, Share { count: 0, of: 50 });
        assert_eq!(found.alarms_of_all, Share { count: 0, of: 50 });
        assert_eq!(found.asked.len(), 1, "six rounds find 3 %");
        assert_eq!(found.asked[0].found, Share { count: 50, of: 50 });
        assert!(Relabelled::of("short".to_owned(), &[100.0; 11], 50, 1).is_none());
    }

    /// Trials that differ by 5 % in an order by chance: 3 % by a margin of 1 % ask for hundreds of rounds, of which
    /// there are 40.
    #[test]
    fn a_difference_is_tried_for_which_there_are_enough_rounds() {
        let mut draws = 7;
        let noisy = (0..80).map(|_| 100.0 * (0.05 * crate::statistics::normal(&mut draws)).exp());
        let found = Relabelled::of("noisy".to_owned(), &noisy.collect::<Vec<_>>(), 100, 1).unwrap();
        let [three, larger] = &found.asked[..] else { panic!("{found:?}") };
        assert!(!three.is_answered() && larger.is_answered(), "{found:?}");
        assert!(larger.found.of >= 90 && larger.found.count >= 75, "{found:?}");
    }

    /// Every second restart is 5 % faster, which no variant can be told from: a period of the machine that meets the
    /// order of rounds. The order is drawn by chance, so it is spread and not a difference.
    #[test]
    fn a_period_of_two_restarts_is_spread() {
        let values: Vec<f64> = (0..60).map(|at| 100.0 + 5.0 * f64::from(at % 2)).collect();
        let found = Relabelled::of("period".to_owned(), &values, 200, 1).unwrap();
        assert!(found.alarms_of_all.count <= 30, "{found:?}");
    }
}

//! A recorded server as two variants: its restarts are dealt out to both in the orders of plans, so that nothing differs
//! between them but what the machine did.

use analysis::compare;
use plan::Shuffle;

use super::asked::Asked;
use super::decidable::Decidable;
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
    /// Whether 3 % are found.
    pub(super) asked: Asked,
    /// Whether what the recording has enough rounds for is found.
    pub(super) decidable: Decidable,
}

impl Relabelled {
    /// So many orders of the figures of restarts; `None` when there are fewer than six rounds need.
    pub(super) fn of(name: String, values: &[f64], orders: u64, seed: u64) -> Option<Self> {
        if values.len() < 2 * ROUNDS {
            return None;
        }
        let (asked, decidable) = (Asked::named(name.as_str()), Decidable::named(&name));
        let [alarms, alarms_of_all] = [Share::default(); 2];
        let restarts = values.len();
        let half_widths = 0.0;
        let mut all = Self { name, restarts, alarms, alarms_of_all, half_widths, asked, decidable };
        let mut chance = Shuffle::new(seed);
        for number in 0..orders {
            let mut some = |count: usize| {
                let start = chance.below(values.len() - count + 1);
                &values[start..start + count]
            };
            let six = some(2 * ROUNDS);
            let (is_alarm, half_width) = alarm(six, number);
            all.alarms.add(is_alarm);
            all.half_widths += half_width;
            all.alarms_of_all.add(alarm(values, number).0);
            let mut others = |count: usize| (count <= values.len()).then(|| some(count).to_vec());
            all.asked.add(six, number, &mut others);
            all.decidable.add(six, number, others);
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
        assert_eq!(found.asked.found, Share { count: 50, of: 50 });
        assert!(Relabelled::of("short".to_owned(), &[100.0; 11], 50, 1).is_none());
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

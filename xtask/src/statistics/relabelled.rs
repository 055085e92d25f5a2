//! A recorded server as two variants: its restarts are dealt out to both in the orders of plans, so that nothing differs
//! between them but what the machine did.

use analysis::compare;
use plan::Shuffle;

use super::asked::Asked;
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
    /// Whether 3 % are found, if the server goes on as it did where more rounds are asked for than were recorded.
    pub(super) asked: Asked,
}

impl Relabelled {
    /// So many orders of the figures of restarts; `None` when there are fewer than six rounds need.
    pub(super) fn of(name: String, values: &[f64], orders: u64, seed: u64) -> Option<Self> {
        if values.len() < 2 * ROUNDS {
            return None;
        }
        let asked = Asked::named(name.as_str());
        let [alarms, alarms_of_all] = [Share::default(); 2];
        let restarts = values.len();
        let mut all = Self { name, restarts, alarms, alarms_of_all, half_widths: 0.0, asked };
        let mut chance = Shuffle::new(seed);
        for number in 0..orders {
            let six = some(&mut chance, values, 2 * ROUNDS);
            let (is_alarm, half_width) = alarm(six, number);
            all.alarms.add(is_alarm);
            all.half_widths += half_width;
            all.alarms_of_all.add(alarm(values, number).0);
            all.asked.add(six, number, |count| Some(continued(&mut chance, values, count)));
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

/// So many figures, of which there may be fewer: then stretches as long as six rounds, from anywhere, one after the
/// other. What changes more slowly than a stretch is in the spread from one to the next.
///
/// Source: H. R. Künsch, The jackknife and the bootstrap for general stationary observations, Annals of Statistics 17
/// (1989).
fn continued(chance: &mut Shuffle, values: &[f64], count: usize) -> Vec<f64> {
    if count <= values.len() {
        return some(chance, values, count).to_vec();
    }
    let stretches = (0..count.div_ceil(2 * ROUNDS)).map(|_| some(chance, values, 2 * ROUNDS));
    let mut all: Vec<f64> = stretches.flatten().copied().collect();
    all.truncate(count);
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
        assert_eq!(found.asked.found, Share { count: 50, of: 50 });
        assert!(Relabelled::of("short".to_owned(), &[100.0; 11], 50, 1).is_none());
    }

    #[test]
    fn a_recording_goes_on_in_stretches_of_its_own() {
        let values: Vec<f64> = (0..30).map(f64::from).collect();
        let mut chance = Shuffle::new(1);
        let within = continued(&mut chance, &values, 20);
        assert!(within.len() == 20 && within.windows(2).all(|pair| pair[1] == pair[0] + 1.0));
        let more = continued(&mut chance, &values, 100);
        assert_eq!(more.len(), 100);
        let follow = |stretch: &[f64]| stretch.windows(2).all(|pair| pair[1] == pair[0] + 1.0);
        assert!(more.chunks(2 * ROUNDS).all(follow), "{more:?}");
    }

    /// Trials that differ by 5 % in an order by chance: 3 % by a margin of 1 % ask for hundreds of rounds.
    #[test]
    fn a_difference_is_found_with_more_rounds_than_were_recorded() {
        let mut draws = 7;
        let noisy = (0..80).map(|_| 100.0 * (0.05 * crate::statistics::normal(&mut draws)).exp());
        let found = Relabelled::of("noisy".to_owned(), &noisy.collect::<Vec<_>>(), 60, 1).unwrap();
        assert_eq!(found.asked.found.of, 60);
        assert!(found.asked.found.count >= 48, "{found:?}");
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

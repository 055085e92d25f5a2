//! Rounds of two variants that end by themselves: whether the interval at their end is right although it ended them, and
//! how many rounds they take.

use analysis::{Comparison, RoundsLook, Significance, compare_by, rounds_are_over};
use anyhow::Context;
use measure::{PreciseFigure, RoundsGoal, RoundsRule};

use super::goals::{Goals, Seen};
use super::methods::in_rounds;
use super::noises::{Kind, Place};
use super::normal;
use super::share::Share;
use super::table::{Case, repeated};

/// The defaults of a plan.
const AT_LEAST: u32 = 5;
const AT_MOST: u32 = 40;
/// The margin of decisions.
const MARGIN: f64 = 0.03;

/// What is asked of the rounds, with the true ratio. A width does not depend on the ratio.
const ASKED: [(RoundsGoal, f64); 5] = [
    (RoundsGoal::Width(0.02), 1.0),
    (RoundsGoal::Width(0.04), 1.0),
    (RoundsGoal::Decide(MARGIN), 1.0),
    (RoundsGoal::Decide(MARGIN), 1.0 + MARGIN),
    (RoundsGoal::Decide(MARGIN), 1.0 + 2.0 * MARGIN),
];

/// Where the throughput of trials comes from.
enum Origin {
    /// Simulated trials.
    Noise(Kind),
    /// Normal logarithms of the rounds' ratios, with this standard deviation: what the intervals suppose.
    Normal(f64),
}

/// Rounds whose trials come from here, by every rule.
pub(super) struct UntilKnown(Origin);

/// The ends of rounds by one rule.
#[derive(Debug, Default)]
pub(super) struct Ends {
    reached: Share,
    different: Share,
    equal: Share,
    /// 95 % intervals at the end that have the truth.
    covered: Share,
    half_widths: f64,
    rounds: usize,
}

impl UntilKnown {
    fn name(&self) -> String {
        match &self.0 {
            Origin::Noise(kind) => kind.name.to_owned(),
            Origin::Normal(deviation) => {
                format!("normal rounds, deviation of {} %", 100.0 * deviation)
            }
        }
    }

    /// The throughput of each trial of two equal variants in the most rounds, in order.
    fn throughputs(&self, seed: u64) -> anyhow::Result<Vec<f64>> {
        let trials = 0..2 * u64::from(AT_MOST);
        match &self.0 {
            Origin::Noise(kind) => {
                trials.map(|trials| kind.throughput(1.0, Place { seed, trials })).collect()
            }
            Origin::Normal(deviation) => {
                // The difference of two logarithms has twice the variance of each.
                let (mut draws, each) = (seed, deviation / 2.0_f64.sqrt());
                Ok(trials.map(|_| 1_000.0 * (each * normal(&mut draws)).exp()).collect())
            }
        }
    }

    /// The end of rounds of these trials by each rule.
    fn ends(&self, seed: u64) -> anyhow::Result<Vec<(Comparison, RoundsLook)>> {
        let values = self.throughputs(seed)?;
        let end = |(goal, truth): &(RoundsGoal, f64)| {
            let figures = in_rounds(&values, &[1.0, *truth], seed);
            end(&rule(*goal), [&figures[0], &figures[1]]).context("nothing to compare")
        };
        ASKED.iter().map(end).collect()
    }
}

fn rule(goal: RoundsGoal) -> RoundsRule {
    let figure = PreciseFigure::Throughput;
    RoundsRule { goal, figure, at_least: AT_LEAST, at_most: AT_MOST }
}

/// Looks after each round as a run does, and returns what is known when no more rounds are due.
fn end(
    rule: &RoundsRule,
    [baseline, variant]: [&[analysis::RoundFigure]; 2],
) -> Option<(Comparison, RoundsLook)> {
    let least = match rule.goal {
        RoundsGoal::Decide(margin) => margin,
        RoundsGoal::Width(_) => plan::LEAST_DIFFERENCE,
    };
    (rule.at_least..=rule.at_most).find_map(|rounds| {
        let so_far = ..rounds as usize;
        let found = compare_by(Some(rule), &baseline[so_far], &variant[so_far], least)?;
        let look = RoundsLook::at(rule, &found);
        rounds_are_over(rule, rounds, &[Some(look)]).then_some((found, look))
    })
}

impl Ends {
    fn add(&mut self, truth: f64, (found, look): &(Comparison, RoundsLook)) {
        let ratio = found.ratio;
        self.reached.add(look.is_reached);
        self.different.add(matches!(found.verdict, Significance::Higher | Significance::Lower));
        self.equal.add(found.verdict == Significance::Equal);
        self.covered.add((ratio.low..=ratio.high).contains(&truth));
        self.half_widths += look.half_width.unwrap_or_default();
        self.rounds += look.rounds;
    }

    fn row(&self, name: &str, (goal, truth): &(RoundsGoal, f64)) -> String {
        let of = self.reached.of as f64;
        format!(
            "| {name} | {} | {truth} | {} | {} | {} | {} | {:.1} | {:.1} |",
            text(*goal),
            self.reached,
            self.different,
            self.equal,
            self.covered,
            100.0 * self.half_widths / of,
            self.rounds as f64 / of,
        )
    }

    /// Intervals that do not have the truth.
    fn missed(&self) -> Share {
        Share { count: self.covered.of - self.covered.count, of: self.covered.of }
    }
}

fn text(goal: RoundsGoal) -> String {
    match goal {
        RoundsGoal::Width(width) => format!("width {} %", 100.0 * width),
        RoundsGoal::Decide(margin) => format!("decide {} %", 100.0 * margin),
    }
}

impl Case for UntilKnown {
    const TITLE: &'static str = "Rounds that end by themselves";
    const HEAD: &'static str = "\
| noise | rounds until | truth | reached % | faster or slower % | equal % | 95 % interval has the truth, % \
| its half width, mean % | rounds, mean |
|---|---|---|---|---|---|---|---|---|";
    type Found = Vec<Ends>;

    fn all() -> Vec<Self> {
        let kinds = Kind::all().into_iter().filter(|kind| !kind.is_constant());
        let normal = [0.01, 0.02, 0.04, 0.08].map(Origin::Normal);
        normal.into_iter().chain(kinds.map(Origin::Noise)).map(Self).collect()
    }

    fn found(&self, repetitions: u64, seed: u64) -> anyhow::Result<Vec<Ends>> {
        let mut all: Vec<Ends> = ASKED.iter().map(|_| Ends::default()).collect();
        for ends in repeated(repetitions, seed, |seed| self.ends(seed))? {
            for ((all, (_, truth)), end) in all.iter_mut().zip(&ASKED).zip(&ends) {
                all.add(*truth, end);
            }
        }
        Ok(all)
    }

    /// A row for each rule.
    fn row(&self, found: &Vec<Ends>) -> String {
        let name = self.name();
        let rows = found.iter().zip(&ASKED).map(|(ends, asked)| ends.row(&name, asked));
        rows.collect::<Vec<_>>().join("\n")
    }

    fn goals(found: &[(Self, Vec<Ends>)], goals: &mut Goals) {
        let seen = |is_asked: fn(RoundsGoal, f64) -> bool, share: fn(&Ends) -> Share| -> Seen {
            let of_case = |(case, found): &(Self, Vec<Ends>)| {
                let asked = found.iter().zip(&ASKED).filter(|(_, it)| is_asked(it.0, it.1));
                let named = asked.map(|(ends, (goal, truth))| {
                    (format!("{}, {}, truth {truth}", case.name(), text(*goal)), share(ends))
                });
                named.collect::<Seen>()
            };
            found.iter().flat_map(of_case).collect()
        };
        let is_equal = |_: RoundsGoal, truth: f64| truth == 1.0;
        let alarms = seen(is_equal, Ends::missed);
        goals.at_most("alarms for equal systems where rounds end by themselves", 7.0, &alarms);
        let covered = seen(|_, _| true, |ends| ends.covered);
        goals.at_least("the 95 % interval at the end of rounds has the truth", 93.0, &covered);
        let equal = seen(|_, truth| truth == 1.0 + MARGIN, |ends| ends.equal);
        goals.at_most("rounds until decided call a difference of the margin equal", 7.0, &equal);
        let is_large = |_: RoundsGoal, truth: f64| truth > 1.0 + MARGIN;
        let equal = seen(is_large, |ends| ends.equal);
        goals.at_most("rounds until decided call twice the margin equal", 1.0, &equal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(deviation: f64) -> Vec<Ends> {
        UntilKnown(Origin::Normal(deviation)).found(400, 7).unwrap()
    }

    /// But for a ratio at the margin itself, which is neither less nor more.
    #[test]
    fn rounds_that_hardly_vary_end_after_the_fewest() {
        let found = found(0.001);
        let asked = found.iter().zip(&ASKED).filter(|(_, (_, truth))| *truth != 1.0 + MARGIN);
        for (ends, (goal, truth)) in asked {
            assert_eq!(ends.rounds, 400 * AT_LEAST as usize, "{goal:?} {truth}: {ends:?}");
            assert_eq!(ends.reached, Share { count: 400, of: 400 });
            // With 95 %, fewer than 366 of 400 have a probability of 0.1 %.
            assert!(ends.covered.count >= 366, "{goal:?} {truth}: {ends:?}");
        }
    }

    /// The widths take about 15 and 5 rounds here, the decisions from 8 to 30.
    #[test]
    fn intervals_at_the_end_have_the_truth() {
        for (ends, (goal, truth)) in found(0.04).iter().zip(&ASKED) {
            assert!(ends.covered.count >= 366, "{goal:?} {truth}: {ends:?}");
            assert!(ends.rounds > 400 * AT_LEAST as usize, "{goal:?} {truth}: {ends:?}");
        }
    }

    /// Looking with Student's interval of 95 % after each round, and ending when it excludes 1, alarms in about a
    /// quarter; a confidence sequence does in less than 5 %.
    #[test]
    fn looking_after_each_round_does_not_raise_alarms() {
        let rule = rule(RoundsGoal::Decide(1e-4));
        let [mut of_student, mut of_sequence] = [Share::default(); 2];
        let case = UntilKnown(Origin::Normal(0.02));
        for seed in 0..400 {
            let seed = crate::statistics::noises::seed_of(3, seed);
            let figures = in_rounds(&case.throughputs(seed).unwrap(), &[1.0, 1.0], seed);
            let alarms = |rule: Option<&RoundsRule>| {
                (AT_LEAST as usize..=AT_MOST as usize).any(|rounds| {
                    let of = |variant: usize| &figures[variant][..rounds];
                    let ratio = compare_by(rule, of(0), of(1), 1e-4).unwrap().ratio;
                    ratio.low > 1.0 || ratio.high < 1.0
                })
            };
            of_student.add(alarms(None));
            of_sequence.add(alarms(Some(&rule)));
        }
        assert!(of_student.count > 50, "{of_student}");
        assert!(of_sequence.count <= 20, "{of_sequence}");
    }
}

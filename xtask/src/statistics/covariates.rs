//! Comparisons of two variants in windows on a machine whose speed changes, with what covariates explain of that
//! taken out: whether the intervals have the truth, also where the variant itself moves a covariate.

use analysis::{
    Adjustment, Comparison, CovariateRole, MeasuredVariant, Previous, RoundFigure, Significance,
    Terms, Timing, WindowFigure, adjust, adjust_regardless, compare, geometric_mean,
};
use anyhow::Context;
use engine::MachineNoise;
use plan::{Noise, Shuffle, balanced_rounds, split_mix};

use super::goals::{Goals, Seen};
use super::normal;
use super::share::Share;
use super::table::{Case, repeated};

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;
/// Windows of each variant in a round.
const WINDOWS: usize = 10;
/// The measured time of a window.
const TIME_NS: u64 = 2 * S;
/// From the end of a window to the begin of the next one, before which the machine's speed is measured.
const GAP_NS: u64 = 300 * MS;
/// From the last window of a round to the first of the next: all variants are started and filled.
const RESTART_NS: u64 = 30 * S;
/// So many samples of the machine's speed make up a window.
const STEPS: u64 = 20;
/// Standard deviations of logarithms: of what a restart changes, and of what is left of a window's own.
const OF_RESTART: f64 = 0.01;
const OF_WINDOW: f64 = 0.02;
/// The part of the time that measuring takes: a twentieth of a window, 50 ms at most, before it.
const COST: f64 = 0.05 / 2.05;
/// What is left of a variant's work after the next variant's window, as a part of what was left when its own was over.
const LEFT: f64 = 0.1;
/// The true ratio where there is a difference.
const TRUTH: f64 = 1.03;
/// The covariates: arithmetic and round trips before the load, and the generator's CPU time for a transaction.
const TIMINGS: [Timing; 3] = [Timing::BeforeLoad, Timing::BeforeLoad, Timing::DuringLoad];
/// How each follows the machine's speed, and the standard deviation of its own noise.
const COVARIATES: [(f64, f64); 3] = [(1.0, 0.01), (0.8, 0.02), (0.9, 0.01)];

/// Two variants on a machine, and what one of them does to covariates.
pub(super) struct Controlled {
    machine: &'static str,
    noise: Vec<Noise>,
    rounds: u32,
    /// The covariates that the variant moves.
    moves: Timing,
    /// Its part more of them.
    moved: f64,
}

/// Intervals without and with covariates.
#[derive(Debug, Default)]
pub(super) struct Controls {
    raw: Intervals,
    adjusted: Intervals,
    /// With all covariates, whatever the variants do to them.
    regardless: Intervals,
    /// Comparisons in which the covariate of the load was used.
    load_used: Share,
    explained: f64,
}

/// Intervals of comparisons.
#[derive(Debug, Default)]
struct Intervals {
    /// Of equal variants, those that do not have 1; as many have not the truth of others.
    alarms: Share,
    /// A true 3 % is found.
    found: Share,
    /// Half widths of the logarithms, summed.
    half_widths: f64,
}

/// The windows of both variants.
type Sides = [Vec<WindowFigure>; 2];

impl Case for Controlled {
    const TITLE: &'static str = "Covariates";
    const HEAD: &'static str = "\
| machine | rounds | the variant moves | explained % | alarms % | adjusted | half width of the 95 % interval, % | adjusted | \
a true 3 % is found % | adjusted | the load's covariate is used % | alarms if what variants do to covariates were left in % |
|---|---|---|---|---|---|---|---|---|---|---|---|";
    type Found = Controls;

    fn all() -> Vec<Self> {
        let slow_noise = |time_ns| vec![Noise::Autocorrelated { deviation: 0.1, time_ns }];
        let states = Noise::TwoStates { slow: 1.3, fast_ns: 5 * S, slow_ns: 5 * S };
        let machines = [
            ("as fast all the time", Vec::new()),
            ("autocorrelated, 1 s", slow_noise(S)),
            ("autocorrelated, 10 s", slow_noise(10 * S)),
            ("two states, 5 s each", vec![states]),
        ];
        let mut all = Vec::new();
        for rounds in [4, 8] {
            for (machine, noise) in &machines {
                let moves = [
                    (Timing::DuringLoad, [0.0, 0.01, 0.02].as_slice()),
                    (Timing::BeforeLoad, [0.01, 0.02, 0.05].as_slice()),
                ];
                for (moves, parts) in moves {
                    let of = |moved: &f64| Self {
                        machine,
                        noise: noise.clone(),
                        rounds,
                        moves,
                        moved: *moved,
                    };
                    all.extend(parts.iter().map(of));
                }
            }
        }
        all
    }

    fn found(&self, comparisons: u64, seed: u64) -> anyhow::Result<Controls> {
        let mut all = Controls::default();
        for [equal, faster] in repeated(comparisons, seed, |seed| self.compared(seed))? {
            all.raw.add([equal.raw, faster.raw]);
            all.adjusted.add([equal.answer(), faster.answer()]);
            all.regardless.add([equal.regardless, faster.regardless]);
            let [_, _, load] = equal.adjustment.covariates[..] else { unreachable!() };
            all.load_used.add(load.role == CovariateRole::Used);
            all.explained += equal.adjustment.explained.unwrap_or(0.0).max(0.0);
        }
        Ok(all)
    }

    fn row(&self, found: &Controls) -> String {
        let Controls { raw, adjusted, regardless, load_used, explained } = found;
        let mean = |sum: f64| 100.0 * sum / load_used.of as f64;
        format!(
            "| {} | {} | {} | {:.0} | {} | {} | {:.2} | {:.2} | {} | {} | {} | {} |",
            self.machine,
            self.rounds,
            self.does(),
            mean(*explained),
            raw.alarms,
            adjusted.alarms,
            mean(raw.half_widths),
            mean(adjusted.half_widths),
            raw.found,
            adjusted.found,
            load_used,
            regardless.alarms,
        )
    }

    fn goals(found: &[(Self, Controls)], goals: &mut Goals) {
        let of = |share: fn(&Controls) -> Share| -> Seen {
            let name = |case: &Self| {
                format!(
                    "{}, {} rounds, the variant moves {}",
                    case.machine,
                    case.rounds,
                    case.does()
                )
            };
            found.iter().map(|(case, found)| (name(case), share(found))).collect()
        };
        goals.at_most("alarms with covariates", 7.0, &of(|it| it.adjusted.alarms));
        let covered: fn(&Controls) -> Share = |it| {
            let Share { count, of } = it.adjusted.alarms;
            Share { count: of - count, of }
        };
        goals.at_least("the adjusted 95 % interval has the truth", 93.0, &of(covered));
    }
}

/// One comparison in every way.
struct Compared {
    raw: Comparison,
    adjustment: Adjustment,
    regardless: Comparison,
}

impl Compared {
    /// What a report shows.
    fn answer(&self) -> Comparison {
        self.adjustment.adjusted.as_ref().map_or(self.raw, |it| it.comparison)
    }

    fn of(moves: Timing, [baseline, variant]: &Sides) -> Option<Self> {
        let (base_rounds, rounds) = (in_rounds(baseline)?, in_rounds(variant)?);
        let baseline = MeasuredVariant { rounds: &base_rounds, windows: baseline };
        let variant = MeasuredVariant { rounds: &rounds, windows: variant };
        let least = plan::LEAST_DIFFERENCE;
        let raw = compare(&base_rounds, &rounds, least)?;
        let terms = Terms { least_difference: least, cost: COST };
        let adjustment = adjust(&TIMINGS, baseline, variant, terms)?;
        let (used, timings) = match moves {
            Timing::DuringLoad => ([0, 1, 2].as_slice(), TIMINGS),
            // As if nothing were known of the variants before. That of the load is hardly ever used.
            Timing::BeforeLoad => ([0, 1].as_slice(), [Timing::DuringLoad; 3]),
        };
        let all = adjust_regardless(used, &timings, baseline, variant, least);
        Some(Self { raw, adjustment, regardless: all.map_or(raw, |it| it.comparison) })
    }
}

impl Controlled {
    /// What the variant does to covariates, in words.
    fn does(&self) -> String {
        let percent = 100.0 * self.moved;
        match self.moves {
            _ if self.moved == 0.0 => "nothing".to_owned(),
            Timing::DuringLoad => format!("the load's by {percent:.0} %"),
            Timing::BeforeLoad => format!("those after its load by {percent:.0} %"),
        }
    }

    /// The comparison of equal variants, and that of the same windows where one variant is faster.
    fn compared(&self, seed: u64) -> anyhow::Result<[Compared; 2]> {
        let equal = self.windows(seed);
        let mut faster = equal.clone();
        faster[1].iter_mut().for_each(|window| window.value *= TRUTH);
        let of = |sides: &Sides| Compared::of(self.moves, sides).context("nothing to compare");
        Ok([of(&equal)?, of(&faster)?])
    }

    /// The windows of both variants, which are equally fast.
    fn windows(&self, seed: u64) -> Sides {
        let mut machine = MachineNoise::new(&self.noise, seed, 0);
        // The logarithm of how long the machine takes for a piece of work.
        let mut slowness = |at: u64| ((machine.served(at, MS) - at) as f64 / MS as f64).ln();
        let mut draws = split_mix::mix(seed ^ split_mix::mix(1));
        let mut sides = Sides::default();
        let mut at = 0;
        for round in 0..self.rounds {
            let restarts = [(); 2].map(|()| OF_RESTART * normal(&mut draws));
            let mut shuffle = Shuffle::new(split_mix::next(&mut draws));
            let (mut previous, mut left) = (None, 0.0);
            let turns = balanced_rounds(&mut shuffle, &[0, 1], WINDOWS).into_iter().zip(0..);
            for (side, turn) in
                turns.flat_map(|(sides, turn)| sides.into_iter().map(move |it| (it, turn)))
            {
                let before = slowness(at);
                let speeds = (1..=STEPS).map(|step| (-slowness(at + step * TIME_NS / STEPS)).exp());
                let speed = speeds.sum::<f64>() / STEPS as f64;
                at += TIME_NS;
                let moved = self.moved.ln_1p() * side as f64;
                let shifts = match self.moves {
                    Timing::BeforeLoad => [left, left, 0.0],
                    Timing::DuringLoad => [0.0, 0.0, moved],
                };
                let follow = [before, before, -speed.ln()].into_iter().zip(shifts);
                let covariates =
                    follow.zip(COVARIATES).map(|((slow, moved), (part, deviation))| {
                        (part * slow + moved + deviation * normal(&mut draws)).exp()
                    });
                let covariates = covariates.collect();
                let noise = restarts[side] + OF_WINDOW * normal(&mut draws);
                let value = speed * noise.exp();
                sides[side].push(WindowFigure { round, turn, value, covariates, previous });
                previous = Some(Previous { variant: side as u32, turn });
                if self.moves == Timing::BeforeLoad {
                    left = moved.max(LEFT * left);
                }
                at += GAP_NS;
            }
            at += RESTART_NS;
        }
        sides
    }
}

impl Intervals {
    /// Adds the comparison of equal variants, and that of others.
    fn add(&mut self, [equal, faster]: [Comparison; 2]) {
        self.alarms.add(equal.ratio.low > 1.0 || equal.ratio.high < 1.0);
        self.found.add(faster.verdict == Significance::Higher);
        self.half_widths += (equal.ratio.high / equal.ratio.low).ln() / 2.0;
    }
}

/// The figure of a variant in each round: the geometric mean of its windows. `None` without windows.
fn in_rounds(windows: &[WindowFigure]) -> Option<Vec<RoundFigure>> {
    let rounds = windows.chunk_by(|one, other| one.round == other.round);
    let of = |windows: &[WindowFigure]| {
        let values: Vec<f64> = windows.iter().map(|window| window.value).collect();
        // Both variants have the same place in the order: their windows take turns.
        Some(RoundFigure::exact(windows[0].round, 0, geometric_mean(&values)?))
    };
    rounds.map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(machine: &str, moves: Timing, moved: f64) -> Controls {
        let cases = Controlled::all();
        let is_it = |case: &&Controlled| {
            (case.machine, case.moves, case.moved, case.rounds) == (machine, moves, moved, 8)
        };
        cases.iter().find(is_it).unwrap().found(48, 1).unwrap()
    }

    /// 48 comparisons: with a level of 5 %, more than 9 alarms have a probability of less than 0.1 %.
    #[test]
    fn covariates_narrow_the_interval_and_raise_no_alarms_for_equal_variants() {
        let found = counted("autocorrelated, 10 s", Timing::DuringLoad, 0.0);
        assert!(found.adjusted.alarms.count <= 9, "{found:?}");
        // Without the machine's noise a round varies by this much, and an interval of 8 rounds is 2.3646 standard errors
        // wide to each side, times 0.9650 for the mean of a standard deviation of 8 values.
        let variance = 2.0 * (OF_RESTART.powi(2) + OF_WINDOW.powi(2) / WINDOWS as f64);
        let least = 2.3646 * 0.9650 * (variance / 8.0).sqrt();
        let of_machine = |it: &Intervals| (it.half_widths / 48.0).powi(2) - least.powi(2);
        assert!(of_machine(&found.adjusted) < 0.8 * of_machine(&found.raw), "{found:?}");
        assert!(found.adjusted.found.count > found.raw.found.count, "{found:?}");
    }

    #[test]
    fn a_covariate_that_the_variant_moves_would_raise_alarms_and_is_not_used() {
        let found = counted("autocorrelated, 1 s", Timing::DuringLoad, 0.02);
        assert!(found.adjusted.alarms.count <= 9, "{found:?}");
        assert!(found.regardless.alarms.count >= 24, "{found:?}");
        assert_eq!(found.load_used.count, 0, "{found:?}");
    }

    #[test]
    fn a_variant_that_slows_the_machine_after_its_load_raises_no_alarms() {
        let found = counted("autocorrelated, 10 s", Timing::BeforeLoad, 0.05);
        assert!(found.adjusted.alarms.count <= 9, "{found:?}");
        assert!(found.adjusted.half_widths < found.raw.half_widths, "{found:?}");
    }

    /// By chance the load's covariate explains more than its cost in about 5 % of the comparisons: more than 9 of 48 have a
    /// probability of less than 0.1 %.
    #[test]
    fn where_nothing_is_to_explain_next_to_nothing_changes() {
        let found = counted("as fast all the time", Timing::DuringLoad, 0.0);
        assert!(found.load_used.count <= 9, "{found:?}");
        assert!(found.adjusted.alarms.count <= 9, "{found:?}");
        let change = found.adjusted.half_widths / found.raw.half_widths - 1.0;
        assert!(change.abs() < 0.01, "{found:?}");
    }
}

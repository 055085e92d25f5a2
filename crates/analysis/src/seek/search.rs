//! The load of each probe, from the results of those before.

use measure::SeekRange;

use crate::seek::capacity::{Capacity, Focus};
use crate::seek::judged::JudgedProbe;

/// The factor between the loads of two probes while no bound is broken.
const GROWTH: f64 = 2.0;
/// Bisection ends when the broken load is this near to the kept one, by the logarithm.
const BRACKET_MAX: f64 = 0.1;
/// Where probes lie around the focus, in spreads.
const PLACES: [f64; 4] = [-1.0, 1.0, -0.4, 0.4];
/// The fewest probes that a capacity is told from.
const FITTED_MIN: usize = 12;
/// An end of the range is tried so often before it is believed.
const TRIES_AT_END: usize = 2;
/// How many longer trials there may be until one keeps the bounds.
const CONFIRMING_MAX: usize = 3;
/// The load of each after the first, as a part of the one before.
const CONFIRMING_STEP: f64 = 0.9;

#[derive(Clone, Debug)]
pub struct Seek {
    range: SeekRange,
    probes: Vec<JudgedProbe>,
    stage: Stage,
    /// Where the capacity is thought to lie; `None` before the bisection has ended.
    focus: Option<Focus>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NextProbe {
    /// Its load: clients, or arrivals a second.
    pub load: f64,
    pub step: Step,
    /// The highest load that kept the bounds below all that broke them, and the lowest above it that broke them.
    pub bracket: (Option<f64>, Option<f64>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// To find a load that breaks a bound.
    Raise,
    /// To halve the distance between a load that keeps the bounds and one that breaks them.
    Bisect,
    /// To make the interval of the capacity narrower.
    Refine,
    /// To confirm the capacity for a longer time.
    Confirm,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SeekOutcome {
    Found(Capacity),
    /// Even the smallest load breaks a bound.
    BelowRange,
    /// Even the largest load keeps the bounds.
    AboveRange,
    /// The probes near the bounds have so few transactions that a bounded percentile is chance.
    TooFewTransactions,
    /// The probes do not tell the capacity: they contradict each other, or are too few.
    Undecided,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    Raise { load: f64 },
    Bisect { kept: f64, broken: f64 },
    Refine { place: usize },
    Confirm { load: f64, left: usize },
    Done,
}

/// Whether no load lies between two, or none that is worth a probe.
fn is_narrow(range: &SeekRange, kept: f64, broken: f64) -> bool {
    let has_none = range.is_whole() && broken - kept <= 1.0 + 1e-9;
    has_none || (broken / kept).ln() <= BRACKET_MAX
}

impl Seek {
    /// A search that begins at the lowest load of the range.
    pub fn new(range: SeekRange) -> Self {
        let stage = Stage::Raise { load: range.from };
        Self { range, probes: Vec::new(), stage, focus: None }
    }

    /// The most trials of a search in a range.
    pub fn trials_max(range: &SeekRange) -> usize {
        range.probes_max + CONFIRMING_MAX
    }

    /// The next trial, given the result of the one before (`None` for the first); `None` when the search is over. A
    /// crash of the server ends it.
    pub fn next(&mut self, finished: Option<JudgedProbe>) -> Option<NextProbe> {
        if let Some(probe) = finished {
            self.stage = self.after(&probe);
            self.probes.push(probe);
            self.advance();
        }
        let (load, step) = match self.stage {
            Stage::Raise { load } => (load, Step::Raise),
            Stage::Bisect { kept, broken } => (self.middle(kept, broken), Step::Bisect),
            Stage::Refine { place } => (self.place(place), Step::Refine),
            Stage::Confirm { load, .. } => (load, Step::Confirm),
            Stage::Done => return None,
        };
        Some(NextProbe { load, step, bracket: self.bracket() })
    }

    pub fn outcome(&self) -> SeekOutcome {
        let SeekRange { from, to, .. } = self.range;
        if self.is_settled(from, false) && !self.short().any(|probe| probe.is_kept) {
            return SeekOutcome::BelowRange;
        }
        if self.is_settled(to, true) && !self.short().any(|probe| !probe.is_kept) {
            return SeekOutcome::AboveRange;
        }
        let Some(focus) = self.focus else { return SeekOutcome::Undecided };
        match focus.capacity(&self.range, &self.probes) {
            Some(capacity) => SeekOutcome::Found(capacity),
            None if self.is_coarse(focus) => SeekOutcome::TooFewTransactions,
            None => SeekOutcome::Undecided,
        }
    }

    /// The highest load that kept the bounds below all that broke them, and the lowest load above it that broke them.
    pub fn bracket(&self) -> (Option<f64>, Option<f64>) {
        let loads = |is_kept: bool| {
            self.probes.iter().filter(move |it| it.is_kept == is_kept).map(|it| it.load)
        };
        let lowest_broken = loads(false).fold(f64::INFINITY, f64::min);
        let kept = loads(true).filter(|load| *load < lowest_broken).fold(0.0, f64::max);
        let known = |load: f64| (load > 0.0 && load.is_finite()).then_some(load);
        (known(kept), known(lowest_broken))
    }

    pub fn probes(&self) -> &[JudgedProbe] {
        &self.probes
    }

    /// The longer trial at the highest load that kept the bounds.
    pub fn confirmed(&self) -> Option<&JudgedProbe> {
        let kept = self.probes.iter().filter(|probe| probe.is_confirming && probe.is_kept);
        kept.max_by(|one, other| one.load.total_cmp(&other.load))
    }

    fn short(&self) -> impl Iterator<Item = &JudgedProbe> {
        self.probes.iter().filter(|probe| !probe.is_confirming)
    }

    /// The stage after a probe that is not among the others yet.
    fn after(&self, probe: &JudgedProbe) -> Stage {
        let SeekRange { from, to, .. } = self.range;
        if probe.is_crashed {
            return Stage::Done;
        }
        let tries = self.short().filter(|other| other.load == probe.load).count() + 1;
        match self.stage {
            Stage::Raise { load } if probe.is_kept && load < to => {
                Stage::Raise { load: self.range.load(load * GROWTH) }
            }
            Stage::Raise { load } if probe.is_kept && tries < TRIES_AT_END => Stage::Raise { load },
            Stage::Raise { load } if probe.is_kept => Stage::Confirm { load, left: CONFIRMING_MAX },
            Stage::Raise { load } if load > from => {
                let kept = self.short().filter(|it| it.is_kept && it.load < load);
                let kept = kept.map(|it| it.load).fold(from, f64::max);
                Stage::Bisect { kept, broken: load }
            }
            Stage::Raise { load } if tries < TRIES_AT_END => Stage::Raise { load },
            Stage::Raise { .. } | Stage::Done => Stage::Done,
            Stage::Bisect { kept, .. } if !probe.is_kept => {
                Stage::Bisect { kept, broken: probe.load }
            }
            Stage::Bisect { broken, .. } => Stage::Bisect { kept: probe.load, broken },
            Stage::Refine { place } => Stage::Refine { place: place + 1 },
            Stage::Confirm { left, .. } if probe.is_kept || left <= 1 => Stage::Done,
            Stage::Confirm { load, left } => {
                let lower = self.range.load((load * CONFIRMING_STEP).min(load - 1e-6));
                if lower < load {
                    Stage::Confirm { load: lower, left: left - 1 }
                } else {
                    Stage::Done
                }
            }
        }
    }

    /// Goes on to the next stage when this one has done its work.
    fn advance(&mut self) {
        if let Stage::Bisect { kept, broken } = self.stage
            && (is_narrow(&self.range, kept, broken) || self.is_exhausted())
        {
            self.focus = Some(Focus::at(f64::midpoint(kept.ln(), broken.ln())));
            self.stage = Stage::Refine { place: 0 };
        }
        let (Stage::Refine { place }, Some(focus)) = (self.stage, self.focus) else { return };
        let is_round = place.is_multiple_of(PLACES.len());
        let focus =
            if is_round && place > 0 { focus.refined(&self.range, &self.probes) } else { focus };
        let is_exhausted = self.is_exhausted();
        // The last probes may have made the place so narrow that too few of the others lie in it.
        let focus = if is_exhausted { focus.wide_enough(&self.range, &self.probes) } else { focus };
        self.focus = Some(focus);
        if is_exhausted || (is_round && self.is_known(focus, place)) {
            let load = focus.capacity(&self.range, &self.probes).map(|capacity| capacity.load_low);
            let left = CONFIRMING_MAX;
            self.stage = load.map_or(Stage::Done, |load| Stage::Confirm { load, left });
        }
    }

    fn is_exhausted(&self) -> bool {
        self.short().count() >= self.range.probes_max
    }

    /// Whether more probes are of no use: the interval is narrow, or the probes are too short to tell.
    fn is_known(&self, focus: Focus, place: usize) -> bool {
        if place >= PLACES.len() && self.is_coarse(focus) {
            return true;
        }
        let capacity = focus.capacity(&self.range, &self.probes);
        capacity.is_some_and(|it| {
            let half = (it.per_s_high / it.per_s_low).ln() / 2.0;
            it.probes >= FITTED_MIN && half <= self.range.precision
        })
    }

    /// Whether most probes around the focus have too few transactions.
    fn is_coarse(&self, focus: Focus) -> bool {
        let near = |probe: &&JudgedProbe| (probe.load.ln() - focus.centre).abs() <= 0.5;
        let coarse = self.short().filter(near).filter(|probe| probe.is_coarse).count();
        coarse * 2 > self.short().filter(near).count()
    }

    /// Whether an end of the range was tried often enough with the same result.
    fn is_settled(&self, end: f64, is_kept: bool) -> bool {
        let same = self.short().filter(|probe| probe.load == end && probe.is_kept == is_kept);
        same.count() >= TRIES_AT_END
    }

    fn place(&self, place: usize) -> f64 {
        let Focus { centre, spread } = self.focus.unwrap_or(Focus::at(self.range.from.ln()));
        let off = PLACES[place % PLACES.len()] * spread;
        let load = (centre + off).exp();
        if off < 0.0 { self.range.load(load) } else { self.range.load_above(load) }
    }

    fn middle(&self, kept: f64, broken: f64) -> f64 {
        let middle = (kept * broken).sqrt();
        if self.range.is_whole() {
            middle.round().max(kept + 1.0).min(broken - 1.0)
        } else {
            self.range.load(middle)
        }
    }
}

#[cfg(test)]
mod tests;

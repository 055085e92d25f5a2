//! The load of each probe, from the results of those before.

use measure::SeekRange;

use crate::seek::capacity::{Capacity, Focus, SPREAD_MAX, bracketed};
use crate::seek::change::changed_at;
use crate::seek::judged::JudgedProbe;

/// The factor between the loads of two probes while no bound is broken, or all are.
const GROWTH: f64 = 2.0;
/// Bisection ends when the broken load is this near to the kept one, by the logarithm.
const BRACKET_MAX: f64 = 0.1;
/// Where probes lie around the focus, in spreads.
const PLACES: [f64; 4] = [-1.0, 1.0, -0.4, 0.4];
/// After so many probes that all kept the bounds, or all broke them, one is farther away: it shows whether the system has
/// changed.
const STREAK: usize = 8;
/// The fewest probes that a capacity is told from.
const FITTED_MIN: usize = 12;
/// The same after a change of the system.
const FITTED_SINCE_MIN: usize = 16;
/// After a change of the system there are at least so many more, whatever the limit is.
const SINCE_CHANGE_MIN: usize = 24;
/// The probes that are left are of no use when they make the interval narrower by less than this part.
const NARROWER_MIN: f64 = 0.05;
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
    /// The first probe of each state of the system after the first state.
    changes: Vec<usize>,
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
    /// To find a load that breaks a bound, or after a change of the system one that keeps all.
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

/// The system over some probes of a seek, in which it did not change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SystemState {
    /// The numbers of its first and its last short probe, from 1.
    pub probes: (usize, usize),
    /// What its probes show; `None` when they do not tell it.
    pub capacity: Option<Capacity>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    Raise { load: f64 },
    Lower { load: f64 },
    Bisect { kept: f64, broken: f64 },
    Refine { place: usize },
    Confirm { load: f64, left: usize },
    Done,
}

/// What the probes of a state tell that is over.
fn earlier(range: &SeekRange, probes: &[JudgedProbe]) -> Option<Capacity> {
    let bracket = bracketed(range, probes)?;
    let focus = Focus::at(bracket.load.max(1e-9).ln()).refined(range, probes);
    let by_curve = focus.wide_enough(range, probes).capacity(range, probes);
    Some(by_curve.map_or(bracket, |found| found.widened(range)))
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
        Self { range, probes: Vec::new(), stage, changes: Vec::new(), focus: None }
    }

    /// The most trials of a search in a range.
    pub fn trials_max(range: &SeekRange) -> usize {
        range.probes_max + SINCE_CHANGE_MIN + CONFIRMING_MAX
    }

    /// The next trial, given the result of the one before (`None` for the first); `None` when the search is over. A
    /// crash of the server ends it.
    pub fn next(&mut self, finished: Option<JudgedProbe>) -> Option<NextProbe> {
        if let Some(probe) = finished {
            self.stage = self.after(&probe);
            self.probes.push(probe);
            self.restart_after_change();
            self.advance();
        }
        let (load, step) = match self.stage {
            Stage::Raise { load } | Stage::Lower { load } => (load, Step::Raise),
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
        if self.focus.is_some_and(|focus| self.capacity(focus).is_none() && self.is_coarse(focus)) {
            return SeekOutcome::TooFewTransactions;
        }
        self.told().map_or(SeekOutcome::Undecided, SeekOutcome::Found)
    }

    /// By the curve, or between the loads that kept the bounds and those that broke them.
    fn told(&self) -> Option<Capacity> {
        let by_curve = self.focus.and_then(|focus| self.capacity(focus));
        by_curve.or_else(|| bracketed(&self.range, self.present()))
    }

    fn capacity(&self, focus: Focus) -> Option<Capacity> {
        let found = focus.capacity(&self.range, self.present())?;
        Some(if self.changes.is_empty() { found } else { found.widened(&self.range) })
    }

    /// The states of the system, of which the last is the present one; one when it did not change.
    pub fn states(&self) -> Vec<SystemState> {
        let firsts = std::iter::once(0).chain(self.changes.iter().copied());
        let short = |end: usize| self.probes[..end].iter().filter(|it| !it.is_confirming).count();
        let of = |(at, first): (usize, usize)| {
            let end = self.changes.get(at).copied();
            let capacity = match end {
                Some(end) => earlier(&self.range, &self.probes[first..end]),
                None => self.told(),
            };
            let probes = (short(first) + 1, short(end.unwrap_or(self.probes.len())));
            SystemState { probes, capacity }
        };
        firsts.enumerate().map(of).collect()
    }

    /// The highest load that kept the bounds below all that broke them, and the lowest load above it that broke them.
    pub fn bracket(&self) -> (Option<f64>, Option<f64>) {
        let loads = |is_kept: bool| {
            self.present().iter().filter(move |it| it.is_kept == is_kept).map(|it| it.load)
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
        let kept = self.present().iter().filter(|probe| probe.is_confirming && probe.is_kept);
        kept.max_by(|one, other| one.load.total_cmp(&other.load))
    }

    /// The probes since the system changed last.
    pub fn present(&self) -> &[JudgedProbe] {
        &self.probes[self.since()..]
    }

    fn since(&self) -> usize {
        self.changes.last().copied().unwrap_or(0)
    }

    fn short(&self) -> impl Iterator<Item = &JudgedProbe> {
        self.present().iter().filter(|probe| !probe.is_confirming)
    }

    /// When the probes show a change, the search begins again between those since then.
    fn restart_after_change(&mut self) {
        let is_over = matches!(self.stage, Stage::Confirm { .. } | Stage::Done);
        if is_over || self.probes.len() >= self.range.probes_max {
            return;
        }
        let Some(at) = changed_at(self.present()) else { return };
        self.changes.push(self.since() + at);
        self.focus = None;
        self.stage = match self.bracket() {
            (Some(kept), Some(broken)) => Stage::Bisect { kept, broken },
            (Some(kept), None) => Stage::Raise { load: self.range.load(kept * GROWTH) },
            (None, Some(broken)) => Stage::Lower { load: self.range.load(broken / GROWTH) },
            (None, None) => self.stage,
        };
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
            Stage::Lower { load } if probe.is_kept => {
                let broken = self.short().filter(|it| !it.is_kept && it.load > load);
                let broken = broken.map(|it| it.load).fold(to, f64::min);
                Stage::Bisect { kept: load, broken }
            }
            Stage::Lower { load } if load > from => {
                Stage::Lower { load: self.range.load(load / GROWTH) }
            }
            Stage::Lower { load } if tries < TRIES_AT_END => Stage::Lower { load },
            Stage::Lower { .. } => Stage::Done,
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
        if let (Stage::Raise { .. } | Stage::Lower { .. }, true) = (self.stage, self.is_exhausted())
        {
            self.stage = self.confirming();
        }
        if let Stage::Bisect { kept, broken } = self.stage
            && (is_narrow(&self.range, kept, broken) || self.is_exhausted())
        {
            self.focus = Some(Focus::at(f64::midpoint(kept.ln(), broken.ln())));
            self.stage = Stage::Refine { place: 0 };
        }
        let (Stage::Refine { place }, Some(focus)) = (self.stage, self.focus) else { return };
        let is_round = place.is_multiple_of(PLACES.len());
        let focus =
            if is_round && place > 0 { focus.refined(&self.range, self.present()) } else { focus };
        let is_exhausted = self.is_exhausted();
        // The last probes may have made the place so narrow that too few of the others lie in it.
        let focus =
            if is_exhausted { focus.wide_enough(&self.range, self.present()) } else { focus };
        self.focus = Some(focus);
        if is_exhausted || (is_round && self.is_known(focus, place)) {
            self.stage = self.confirming();
        }
    }

    fn confirming(&self) -> Stage {
        match self.outcome() {
            SeekOutcome::Found(it) => Stage::Confirm { load: it.load_low, left: CONFIRMING_MAX },
            _ => Stage::Done,
        }
    }

    fn is_exhausted(&self) -> bool {
        self.left() == 0
    }

    /// How many short probes there may still be.
    fn left(&self) -> usize {
        let least = if self.changes.is_empty() { 0 } else { self.since() + SINCE_CHANGE_MIN };
        // Before the confirming trials all probes are short.
        self.range.probes_max.max(least).saturating_sub(self.probes.len())
    }

    /// Whether more probes are of no use: the interval is narrow, or the probes are too short to tell.
    fn is_known(&self, focus: Focus, place: usize) -> bool {
        if place >= PLACES.len() && self.is_coarse(focus) {
            return true;
        }
        self.capacity(focus).is_some_and(|it| {
            let half = (it.per_s_high / it.per_s_low).ln() / 2.0;
            // The width falls with the root of the number of probes.
            let narrowest = (it.probes as f64 / (it.probes + self.left()) as f64).sqrt();
            let is_of_no_use =
                narrowest * half > self.range.precision && narrowest > 1.0 - NARROWER_MIN;
            // A last round with one result on both sides may be the begin of a change.
            let is_doubtful = self.streak(PLACES.len()).is_some();
            let fitted_min = if self.changes.is_empty() { FITTED_MIN } else { FITTED_SINCE_MIN };
            it.probes >= fitted_min
                && !is_doubtful
                && (half <= self.range.precision || is_of_no_use)
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
        let off = match self.streak(STREAK) {
            Some(is_kept) => {
                if is_kept {
                    SPREAD_MAX
                } else {
                    -SPREAD_MAX
                }
            }
            None => PLACES[place % PLACES.len()] * spread,
        };
        let load = (centre + off).exp();
        if off < 0.0 { self.range.load(load) } else { self.range.load_above(load) }
    }

    /// Whether the last probes all kept the bounds, or all broke them; `None` when neither.
    fn streak(&self, length: usize) -> Option<bool> {
        let present = self.present();
        let last = &present[present.len().saturating_sub(length)..];
        let kept = last.iter().filter(|it| it.is_kept).count();
        let is_known = last.len() == length && (kept == 0 || kept == length);
        is_known.then_some(kept > 0)
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

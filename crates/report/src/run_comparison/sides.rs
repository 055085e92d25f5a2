//! The two sides of a comparison: their runs, and the points that they have in common.

use plan::Rate;

use crate::digest::{Digest, Point, Trial, load_text};

pub(super) const SIDES: [&str; 2] = ["baseline", "candidate"];

/// A run of a side, or one system of it.
#[derive(Clone, Debug)]
pub struct Selection<'d, 'a> {
    pub digest: &'d Digest<'a>,
    /// The name of its system or its variant; `None` for all.
    pub system: Option<String>,
}

/// Why two sides cannot be compared.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(String);

/// Two sides and what they have in common.
#[derive(Debug)]
pub(super) struct Sides<'d, 'a> {
    pub(super) runs: [Vec<&'d Digest<'a>>; 2],
    pub(super) systems: Vec<[&'a str; 2]>,
    /// The points that both sides have, in the order of the baseline.
    pub(super) matched: Vec<Matched<'d, 'a>>,
    /// The points that only one of them has, in a few words.
    pub(super) unmatched: Vec<String>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct RunPoint<'d, 'a> {
    pub(super) digest: &'d Digest<'a>,
    pub(super) point: &'d Point<'a>,
}

/// The same workload under the same load on both sides.
#[derive(Debug)]
pub(super) struct Matched<'d, 'a> {
    pub(super) systems: [&'a str; 2],
    pub(super) workload: &'a str,
    pub(super) clients: usize,
    pub(super) rate: Option<&'a Rate>,
    /// The points of each side: one for each run that has it.
    pub(super) points: [Vec<RunPoint<'d, 'a>>; 2],
}

impl Refusal {
    pub(super) fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

impl<'d, 'a> RunPoint<'d, 'a> {
    pub(super) fn trials(self) -> impl Iterator<Item = &'d Trial<'a>> {
        self.point.trials.iter().map(move |at| &self.digest.trials[*at])
    }

    fn is_like(self, other: Self) -> bool {
        self.point.load() == other.point.load()
    }
}

impl Matched<'_, '_> {
    pub(super) fn load(&self) -> String {
        load_text(self.clients, self.rate)
    }

    /// Whether rounds measured both sides in turn: then each round is a pair.
    pub(super) fn is_interleaved(&self) -> bool {
        let group = |side: usize| {
            let of = |it: &RunPoint<'_, '_>| it.point.variant.map(|variant| variant.of.clone());
            let points = self.points[side].iter();
            points
                .map(|it| Some((it.digest.run.folder.clone(), of(it)?)))
                .collect::<Option<Vec<_>>>()
        };
        let (Some(mut one), Some(mut other)) = (group(0), group(1)) else { return false };
        one.sort();
        other.sort();
        one == other
    }
}

impl<'d, 'a> Matched<'d, 'a> {
    /// The baseline of the variants beside itself, where the same rounds measured it twice: what they differ by is
    /// noise. `None` where a run has no such variant, or where it is compared here.
    pub(super) fn noise(&self) -> Option<Self> {
        let is_again =
            |it: &RunPoint<'_, '_>| it.point.variant.is_some_and(|it| it.is_baseline_again);
        if !self.is_interleaved() || self.points.iter().flatten().any(is_again) {
            return None;
        }
        let of_run = |it: &RunPoint<'d, 'a>| -> Option<[RunPoint<'d, 'a>; 2]> {
            let digest = it.digest;
            let of = &it.point.variant?.of;
            let all = digest.points.iter().map(|point| RunPoint { digest, point });
            let alike = all.filter(|other| {
                other.is_like(*it) && other.point.variant.is_some_and(|variant| variant.of == *of)
            });
            let alike: Vec<_> = alike.collect();
            let again = alike.iter().find(|other| is_again(other))?;
            let baseline =
                alike.iter().find(|other| other.point.variant.is_some_and(|it| it.place == 0))?;
            Some([*baseline, *again])
        };
        let runs: Vec<[RunPoint<'d, 'a>; 2]> =
            self.points[0].iter().map(of_run).collect::<Option<_>>()?;
        let points = [0, 1].map(|side| runs.iter().map(|pair| pair[side]).collect());
        let systems = runs.first()?.map(|it| it.point.system);
        Some(Self { systems, points, ..*self })
    }
}

impl<'d, 'a> Sides<'d, 'a> {
    pub(super) fn of(
        baseline: &[Selection<'d, 'a>],
        candidate: &[Selection<'d, 'a>],
    ) -> Result<Self, Refusal> {
        let sides = [baseline, candidate];
        let points = [selected(baseline)?, selected(candidate)?];
        refuse_same_trials(&points)?;
        let runs = sides.map(|side| side.iter().map(|it| it.digest).collect());
        let systems = pairs(&points)?;
        refuse_other_workloads(&points, &systems)?;
        let mut found = Self { runs, systems, matched: Vec::new(), unmatched: Vec::new() };
        for names in found.systems.clone() {
            found.match_points(&points, names);
        }
        if found.matched.is_empty() {
            return Err(Refusal::new(format!(
                "no load is the same on both sides; only one of them has: {}",
                found.unmatched.join("; ")
            )));
        }
        let compared = |side: usize, name: &str| found.systems.iter().any(|it| it[side] == name);
        for (side, label) in SIDES.iter().enumerate() {
            let others = names(&points[side]).into_iter().filter(|name| !compared(side, name));
            let others = others.map(|name| format!("the {label}'s system {name}"));
            found.unmatched.extend(others.collect::<Vec<_>>());
        }
        Ok(found)
    }

    pub(super) fn systems_of(&self, digest: &Digest<'_>, side: usize) -> Vec<&'a str> {
        let names = self.systems.iter().map(|names| names[side]);
        let has = |name: &&str| digest.points.iter().any(|point| point.system == *name);
        names.filter(has).collect()
    }

    pub(super) fn percentiles(&self) -> Vec<f64> {
        let headers = self.runs.iter().flatten().flat_map(|it| &it.run.header.percentiles);
        let mut all: Vec<f64> = headers.copied().collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        all
    }

    fn match_points(&mut self, points: &[Vec<RunPoint<'d, 'a>>; 2], systems: [&'a str; 2]) {
        let of = |side: usize| -> Vec<RunPoint<'d, 'a>> {
            let of_system = |it: &&RunPoint<'_, '_>| it.point.system == systems[side];
            points[side].iter().filter(of_system).copied().collect()
        };
        let all = [of(0), of(1)];
        for (side, label) in SIDES.iter().enumerate() {
            let mut seen: Vec<RunPoint<'_, '_>> = Vec::new();
            for first in &all[side] {
                if seen.iter().any(|known| known.is_like(*first)) {
                    continue;
                }
                seen.push(*first);
                let like = |side: usize| -> Vec<RunPoint<'d, 'a>> {
                    all[side].iter().copied().filter(|it| it.is_like(*first)).collect()
                };
                let points = [like(0), like(1)];
                let Point { workload, clients, rate, .. } = *first.point;
                if points[1 - side].is_empty() {
                    let load = load_text(clients, rate);
                    self.unmatched.push(format!("the {label}'s {workload}, {load}"));
                } else if side == 0 {
                    self.matched.push(Matched { systems, workload, clients, rate, points });
                }
            }
        }
    }
}

/// The points of a side that were asked for. The baseline that was measured again is no system to compare, unless it is
/// named.
fn selected<'d, 'a>(side: &[Selection<'d, 'a>]) -> Result<Vec<RunPoint<'d, 'a>>, Refusal> {
    let mut all = Vec::new();
    for Selection { digest, system } in side {
        let is_asked = |point: &&Point<'_>| {
            let is_variant = |name: &str| point.variant.is_some_and(|it| it.name == name);
            let is_again = point.variant.is_some_and(|it| it.is_baseline_again);
            let is_named = |name: &str| point.system == name || is_variant(name);
            system.as_deref().map_or(!is_again, is_named)
        };
        let is_known = |point: &&Point<'_>| {
            point.trials.iter().any(|at| !digest.trials[*at].record.is_unknown())
        };
        let points = digest.points.iter().filter(is_known).filter(is_asked);
        let before = all.len();
        all.extend(points.map(|point| RunPoint { digest, point }));
        let folder = digest.run.folder.display();
        if let (Some(name), true) = (system, all.len() == before) {
            let known: Vec<&str> = digest.systems().into_iter().map(|(name, _)| name).collect();
            let known = known.join(", ");
            return Err(Refusal::new(format!("{folder} has no system {name}; it has {known}")));
        }
        if all.len() == before {
            let damage = digest.run.trials.iter().find_map(|trial| trial.damage.as_ref());
            let damage = damage.map_or_else(String::new, |damage| format!(": {damage}"));
            return Err(Refusal::new(format!("{folder} has no trial whose load began{damage}")));
        }
    }
    Ok(all)
}

/// The names of a side's systems, each once.
fn names<'a>(points: &[RunPoint<'_, 'a>]) -> Vec<&'a str> {
    let mut names = Vec::new();
    for RunPoint { point, .. } in points {
        if !names.contains(&point.system) {
            names.push(point.system);
        }
    }
    names
}

/// The systems that are compared: the only one of each side, or those of the same name.
fn pairs<'a>(points: &[Vec<RunPoint<'_, 'a>>; 2]) -> Result<Vec<[&'a str; 2]>, Refusal> {
    let [baseline, candidate] = [names(&points[0]), names(&points[1])];
    if let ([one], [other]) = (&baseline[..], &candidate[..]) {
        return Ok(vec![[one, other]]);
    }
    let both = baseline.iter().filter(|name| candidate.contains(name));
    let pairs: Vec<[&str; 2]> = both.map(|name| [*name, *name]).collect();
    if pairs.is_empty() {
        return Err(Refusal::new(format!(
            "no system has the same name on both sides; name one of each, as in RUN:SYSTEM (baseline: {}; \
             candidate: {})",
            baseline.join(", "),
            candidate.join(", "),
        )));
    }
    Ok(pairs)
}

/// A run counts once, and so does a copy of it; nothing is compared with itself.
fn refuse_same_trials(points: &[Vec<RunPoint<'_, '_>>; 2]) -> Result<(), Refusal> {
    let mut seen: Vec<RunPoint<'_, '_>> = Vec::new();
    for it in points.iter().flatten() {
        let is_same = |other: &RunPoint<'_, '_>| {
            other.digest.run.is_same_run(it.digest.run)
                && other.point.system == it.point.system
                && other.is_like(*it)
        };
        if let Some(other) = seen.iter().find(|other| is_same(other)) {
            let [folder, known] = [it, other].map(|it| it.digest.run.folder.display());
            let system = it.point.system;
            if it.digest.run.folder != other.digest.run.folder {
                return Err(Refusal::new(format!(
                    "{folder} is a copy of {known}, or the other way round: a run counts once; name one of them"
                )));
            }
            return Err(Refusal::new(format!(
                "system {system} of {folder} is named twice: its trials would be compared with themselves"
            )));
        }
        seen.push(*it);
    }
    Ok(())
}

/// Workloads of the same name have to be the same ones, and one of them has to be on both sides.
fn refuse_other_workloads(
    points: &[Vec<RunPoint<'_, '_>>; 2],
    systems: &[[&str; 2]],
) -> Result<(), Refusal> {
    let of = |side: usize| {
        let is_compared = move |it: &&RunPoint<'_, '_>| {
            systems.iter().any(|names| names[side] == it.point.system)
        };
        points[side].iter().filter(is_compared)
    };
    let record = |it: &RunPoint<'_, '_>| {
        it.trials().next().map(|trial| trial.record.header.workload.clone()).unwrap_or_default()
    };
    let all: Vec<_> = of(0).chain(of(1)).map(record).collect();
    for workload in &all {
        let is_other = |other: &&record::WorkloadRecord| {
            other.name == workload.name
                && (&other.kind, &other.description) != (&workload.kind, &workload.description)
        };
        if let Some(other) = all.iter().find(is_other) {
            return Err(Refusal::new(format!(
                "workload {} is not the same: `{}` ({}) and `{}` ({})",
                workload.name, workload.description, workload.kind, other.description, other.kind
            )));
        }
    }
    let listed = |side: usize| {
        let mut names: Vec<&str> = of(side).map(|it| it.point.workload).collect();
        names.dedup();
        names
    };
    let [baseline, candidate] = [listed(0), listed(1)];
    if !baseline.iter().any(|name| candidate.contains(name)) {
        return Err(Refusal::new(format!(
            "no workload is on both sides: the baseline has {}, the candidate {}",
            baseline.join(", "),
            candidate.join(", "),
        )));
    }
    Ok(())
}

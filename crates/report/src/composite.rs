//! The score of a power test and a throughput test together, or why there is none.

use analysis::composite;
use measure::{Formula, TrialStatus};

use crate::digest::{Digest, Trial};
use crate::number::number;

/// A test of which a composite is made.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    Power,
    Throughput,
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Self::Power => "power test (one client)",
            Self::Throughput => "throughput test (several clients)",
        }
    }
}

/// The part that a trial is, with its scale; `None` for a load that is none of the specification's tests.
fn part(trial: &Trial<'_>) -> Option<(Part, f64)> {
    match trial.record.header.workload.rules.scores.first()?.formula {
        Formula::Power { scale } => Some((Part::Power, scale)),
        Formula::Throughput { scale, .. } => Some((Part::Throughput, scale)),
        Formula::Rate => None,
    }
}

/// The score of a trial that ran to its end without a failure.
fn score(trial: &Trial<'_>) -> Option<f64> {
    let end = trial.record.end.as_ref()?;
    let is_complete = end.status == TrialStatus::Complete;
    trial.summary.scores.first().filter(|_| is_complete).map(|score| score.value)
}

/// A sentence for each throughput test with the power test of its system, workload, scale and repetition, or for one
/// alone.
pub(crate) fn sentences(digest: &Digest<'_>) -> Vec<String> {
    let mut all = Vec::new();
    for test in &digest.trials {
        match part(test) {
            Some((Part::Throughput, scale)) => {
                let power = other(digest, test, (Part::Power, scale));
                all.push(sentence(power, Some(test), scale));
            }
            Some((Part::Power, scale))
                if other(digest, test, (Part::Throughput, scale)).is_none() =>
            {
                all.push(sentence(Some(test), None, scale));
            }
            _ => {}
        }
    }
    all
}

/// The test of this kind of the same system, workload and repetition.
fn other<'d, 'a>(
    digest: &'d Digest<'a>,
    of: &Trial<'_>,
    wanted: (Part, f64),
) -> Option<&'d Trial<'a>> {
    let key = |trial: &Trial<'_>| {
        let header = &trial.record.header;
        (header.system.clone(), header.workload.name.clone(), header.repetition)
    };
    let mut all = digest.trials.iter();
    all.find(|trial| part(trial) == Some(wanted) && key(trial) == key(of))
}

fn sentence(power: Option<&Trial<'_>>, throughput: Option<&Trial<'_>>, scale: f64) -> String {
    let header = throughput.or(power).map(|trial| &trial.record.header);
    let of = header.map_or_else(String::new, |header| {
        let (system, workload) = (&header.system, &header.workload.name);
        format!("{system}, {workload}, repetition {}", header.repetition + 1)
    });
    let name = format!("QphH@{scale} of {of}");
    match (find(power, Part::Power), find(throughput, Part::Throughput)) {
        (Ok(power), Ok(throughput)) => format!(
            "{name}: {} (power {}, throughput {}; unaudited: no TPC result, and not comparable with one).",
            number(composite(power, throughput)),
            number(power),
            number(throughput),
        ),
        (power, throughput) => {
            let reasons: Vec<String> =
                [power.err(), throughput.err()].into_iter().flatten().collect();
            format!("{name} is not given: {}.", reasons.join("; "))
        }
    }
}

/// The score of a part, or why there is none.
fn find(test: Option<&Trial<'_>>, wanted: Part) -> Result<f64, String> {
    let name = wanted.name();
    let test = test.ok_or_else(|| format!("the run has no {name} of it"))?;
    score(test).ok_or_else(|| format!("not all of the {name} ran and succeeded"))
}

#[cfg(test)]
mod tests;

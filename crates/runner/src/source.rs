//! Where the trials of a run come from: the plan's list, rounds of it that end by themselves, or seeks, which decide on
//! each trial by the results before.

use std::time::Duration;
use std::vec;

use analysis::{NextProbe, Seek, Step, assess, transactions_needed};
use anyhow::Result;
use measure::{BoundedFigure, SeekBound, SeekOver, SeekRange};
use plan::{BoundFigure, Over, Plan, SeekPlan, SeekTrial, Trial};
use record::{SeekRecord, TrialWriter};

use crate::rounds::Rounds;

/// A probe is planned for so many times the transactions that its bounds need, because throughput varies.
const MORE_THAN_NEEDED: f64 = 1.2;

pub(crate) trait TrialSource {
    /// The next trial, given the one that has finished since the last call; `None` when the run is over.
    ///
    /// # Errors
    /// When the record of the finished trial cannot be read.
    fn next(&mut self, finished: Option<FinishedTrial<'_>>) -> Result<Option<SourcedTrial>>;
}

#[derive(Clone, Copy)]
pub(crate) struct FinishedTrial<'a> {
    /// Its record; `None` when its load could not begin.
    pub(crate) record: Option<&'a TrialWriter>,
}

pub(crate) struct SourcedTrial {
    pub(crate) trial: Trial,
    /// Such as `probe 4, between 8 and 16`; empty for a trial of a list.
    pub(crate) note: String,
}

pub(crate) fn of(plan: &Plan) -> Box<dyn TrialSource + '_> {
    let listed = plan.trials().into_iter();
    match (&plan.seek, &plan.rounds) {
        (None, None) => Box::new(Listed(listed)),
        (None, Some(rounds)) => Box::new(Rounds::new(plan, rounds, listed)),
        (Some(seek), _) => {
            Box::new(Seeks { record: record(seek), places: listed, current: None, index: 0 })
        }
    }
}

/// The most trials that a run of the plan can have; the windows of one variant, round and load count as one.
pub(crate) fn trials_max(plan: &Plan) -> usize {
    let each = plan.seek.as_ref().map_or(1, |seek| Seek::trials_max(&range(seek)));
    plan.pooled_trials() * each
}

pub(crate) fn record(seek: &SeekPlan) -> SeekRecord {
    SeekRecord {
        bounds: bounds(seek),
        range: range(seek),
        probe_time: seek.probe_time,
        confirm_time: seek.confirm_time,
    }
}

fn range(seek: &SeekPlan) -> SeekRange {
    SeekRange {
        over: match seek.over {
            Over::Clients => SeekOver::Clients,
            Over::Rate => SeekOver::Rate,
        },
        from: seek.from,
        to: seek.to,
        precision: seek.precision,
        probes_max: seek.probes,
    }
}

fn bounds(seek: &SeekPlan) -> Vec<SeekBound> {
    let bound = |bound: &plan::Bound| SeekBound {
        figure: match bound.figure {
            BoundFigure::Percentile(percent) => BoundedFigure::Percentile(percent),
            BoundFigure::Mean => BoundedFigure::Mean,
            BoundFigure::Max => BoundedFigure::Max,
            BoundFigure::Errors => BoundedFigure::Errors,
        },
        most: bound.most,
    };
    seek.bounds.iter().map(bound).collect()
}

/// The list of a plan; results change nothing.
struct Listed(vec::IntoIter<Trial>);

impl TrialSource for Listed {
    fn next(&mut self, _finished: Option<FinishedTrial<'_>>) -> Result<Option<SourcedTrial>> {
        Ok(self.0.next().map(|trial| SourcedTrial { trial, note: String::new() }))
    }
}

/// One seek after the other: one for each trial of the plan's list.
struct Seeks {
    record: SeekRecord,
    /// System, workload and repetition of the seeks to come.
    places: vec::IntoIter<Trial>,
    current: Option<Current>,
    index: usize,
}

struct Current {
    seek: Seek,
    place: Trial,
    asked: NextProbe,
    number: usize,
}

impl TrialSource for Seeks {
    fn next(&mut self, finished: Option<FinishedTrial<'_>>) -> Result<Option<SourcedTrial>> {
        if let (Some(current), Some(finished)) = (self.current.take(), finished) {
            self.current = self.continued(current, finished)?;
        }
        if self.current.is_none() {
            self.current = self.places.next().and_then(|place| {
                let mut seek = Seek::new(self.record.range);
                let asked = seek.next(None)?;
                Some(Current { seek, place, asked, number: 0 })
            });
        }
        Ok(self.current.as_ref().map(|current| {
            let index = self.index;
            self.index += 1;
            current.trial(index, &self.record)
        }))
    }
}

impl Seeks {
    /// The seek after a trial; `None` when it is over, as when a load could not begin.
    fn continued(&self, current: Current, finished: FinishedTrial<'_>) -> Result<Option<Current>> {
        let Some(writer) = finished.record else { return Ok(None) };
        let Current { mut seek, place, number, .. } = current;
        let trial = writer.read_back()?;
        let Some(facts) = self.record.facts(&trial) else { return Ok(None) };
        let next = seek.next(Some(assess(&self.record.bounds, &facts)));
        Ok(next.map(|asked| Current { seek, place, asked, number: number + 1 }))
    }
}

impl Current {
    fn trial(&self, index: usize, record: &SeekRecord) -> SourcedTrial {
        let NextProbe { load, step, bracket } = self.asked;
        let over = record.range.over;
        let seek = SeekTrial {
            number: self.number,
            rate_per_s: (over == SeekOver::Rate).then_some(load),
            time: self.time(record),
            is_confirming: step == Step::Confirm,
        };
        let clients = match over {
            SeekOver::Clients => load as usize,
            SeekOver::Rate => self.place.clients,
        };
        let trial = Trial { index, clients, seek: Some(seek), ..self.place };
        SourcedTrial { trial, note: note(self.number, step, bracket) }
    }

    /// The measured time of the trial: as long as the bounded percentiles need at this load, once that matters.
    fn time(&self, record: &SeekRecord) -> Duration {
        let last = self.seek.probes().last().map(|probe| probe.transactions_per_s);
        let per_s = match record.range.over {
            SeekOver::Rate => self.asked.load,
            SeekOver::Clients => last.unwrap_or(f64::INFINITY),
        };
        let needed = MORE_THAN_NEEDED * transactions_needed(&record.bounds) / per_s.max(1e-9);
        let needed = Duration::try_from_secs_f64(needed.ceil()).unwrap_or(Duration::MAX);
        match self.asked.step {
            Step::Raise => record.probe_time,
            Step::Bisect | Step::Refine => needed.clamp(record.probe_time, record.confirm_time),
            Step::Confirm => record.confirm_time,
        }
    }
}

fn note(number: usize, step: Step, bracket: (Option<f64>, Option<f64>)) -> String {
    let shown =
        |load: f64| if load.fract() == 0.0 { load.to_string() } else { format!("{load:.1}") };
    let between = match bracket {
        (None, None) => String::new(),
        (Some(kept), None) => format!(", above {}", shown(kept)),
        (None, Some(broken)) => format!(", below {}", shown(broken)),
        (Some(kept), Some(broken)) => format!(", between {} and {}", shown(kept), shown(broken)),
    };
    match step {
        Step::Confirm => "confirming".to_owned(),
        Step::Raise | Step::Bisect | Step::Refine => format!("probe {}{between}", number + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(seek: &str) -> Plan {
        let text = format!(
            "workload = \"simulated\"\nsystem = \"simulated\"\n[load]\n\
             {}\n{seek}",
            if seek.is_empty() { "clients = [1, 2]" } else { "" }
        );
        let folder = std::path::PathBuf::new();
        Plan::parse(plan::Source { name: "x".to_owned(), text, folder }).unwrap()
    }

    #[test]
    fn a_list_goes_on_whatever_the_results_are() {
        let plan = plan("");
        let mut source = of(&plan);
        let finished = Some(FinishedTrial { record: None });
        let mut next = || source.next(finished).unwrap().map(|it| (it.trial.clients, it.note));
        assert_eq!([next(), next()], [1, 2].map(|clients| Some((clients, String::new()))));
        assert_eq!(next(), None);
        assert_eq!(trials_max(&plan), 2);
    }

    #[test]
    fn a_seek_whose_load_cannot_begin_is_over() {
        let plan = plan("[seek]\nbounds = \"p99 < 1s\"\nfrom = 2");
        let mut source = of(&plan);
        let first = source.next(None).unwrap().unwrap();
        assert_eq!((first.trial.clients, first.note.as_str()), (2, "probe 1"));
        assert_eq!(first.trial.seek.map(|seek| seek.number), Some(0));
        let finished = Some(FinishedTrial { record: None });
        assert!(source.next(finished).unwrap().is_none());
        assert_eq!(trials_max(&plan), 50 + 24 + 3);
    }

    #[test]
    fn progress_tells_the_number_and_the_bracket() {
        assert_eq!(note(3, Step::Bisect, (Some(8.0), Some(16.0))), "probe 4, between 8 and 16");
        assert_eq!(note(1, Step::Raise, (Some(0.25), None)), "probe 2, above 0.2");
        assert_eq!(note(20, Step::Confirm, (None, None)), "confirming");
    }
}

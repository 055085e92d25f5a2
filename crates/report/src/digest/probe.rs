//! The trials of a seek: what each shows of the bounds, and which findings are what a probe is for.

use analysis::{Code, JudgedProbe, assess};
use record::{Run, TrialRecord};

use super::Trial;

/// What a trial of a seek shows of the bounds; `None` in a run with fixed loads, and for a trial that did not run to
/// its end.
pub(crate) fn judged(run: &Run, trial: &TrialRecord) -> Option<JudgedProbe> {
    let seek = run.header.seek.as_ref()?;
    Some(assess(&seek.bounds, &seek.facts(trial)?))
}

impl Trial<'_> {
    /// Whether a finding is what probes are for: their load is above the capacity now and then, and they are short.
    pub(crate) fn is_expected(&self, code: Code) -> bool {
        let is_short = self.record.header.probe.is_some_and(|probe| !probe.is_confirming);
        let of_load = matches!(
            code,
            Code::Failed
                | Code::NothingMeasured
                | Code::Outages
                | Code::ClientsLeft
                | Code::EveryClientLeft
                | Code::Failures
                | Code::Retries
                | Code::RateMissed
                | Code::Unfair
                | Code::Trend
                | Code::LatencyTrend
                | Code::Step
                | Code::WarmUpShort
                | Code::Unsteady
                | Code::NeverSteady
                | Code::StuckClients
                | Code::Unfinished
                | Code::CensoredPercentiles
                | Code::TooFewValues
                | Code::FewValues
                | Code::ShortWindow
                | Code::LatencyLimitMissed
                | Code::MixMissed
                | Code::LoadUneven
        );
        is_short && of_load && self.record.is_probe_result()
    }
}

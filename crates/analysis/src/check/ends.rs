//! Checks of phases that were to end by what is measured, and reached their limit instead.

use measure::{DecidedEnds, Precision, SteadyWarmUp, TrialStatus};

use crate::{Code, Finding, Measured, Value};

/// The findings of a trial that ran to its end.
pub(super) fn check(measured: &Measured<'_>) -> impl Iterator<Item = Finding> + use<> {
    let is_complete = measured.status == Some(&TrialStatus::Complete);
    let DecidedEnds { warm_up, precision } = measured.decided_ends;
    let findings = [warm_up.and_then(never_steady), precision.and_then(precision_missed)];
    findings.into_iter().flatten().filter(move |_| is_complete)
}

fn never_steady(warm_up: SteadyWarmUp) -> Option<Finding> {
    let finding = Finding::new(Code::NeverSteady);
    warm_up.steady.is_none().then(|| finding.with("at_most_ns", Value::Nanos(warm_up.at_most_ns)))
}

fn precision_missed(precision: Precision) -> Option<Finding> {
    let finding = Finding::new(Code::PrecisionMissed)
        .with("figure", Value::Text(precision.figure.name()))
        .with("within", Value::Part(precision.within));
    let finding = match precision.half_width {
        Some(half_width) => finding.with("half_width", Value::Part(half_width)),
        None => finding,
    };
    (!precision.is_reached()).then_some(finding)
}

#[cfg(test)]
mod tests {
    use measure::{PreciseFigure, SteadyState};

    use super::*;
    use crate::summary::tests::seconds_of;

    fn codes(warm_up: Option<SteadyWarmUp>, half_width: Option<f64>) -> Vec<Code> {
        let figure = PreciseFigure::Percentile(99.0);
        let precision = Some(Precision { figure, within: 0.05, looks: 16, half_width });
        let trial = seconds_of(&[20; 10]);
        let decided_ends = DecidedEnds { warm_up, precision };
        let measured = Measured { decided_ends, ..trial.measured() };
        let interrupted = Measured { status: Some(&TrialStatus::Interrupted), ..measured };
        assert_eq!(check(&interrupted).count(), 0);
        check(&measured).map(|finding| finding.code).collect()
    }

    #[test]
    fn a_phase_that_reaches_its_limit_is_a_finding() {
        let never = SteadyWarmUp { at_least_ns: 1, at_most_ns: 9, steady: None };
        let steady = Some(SteadyState { from_ns: 1, seen_ns: 5, hidden_drift_per_minute: 0.03 });
        assert_eq!(codes(Some(never), Some(0.04)), [Code::NeverSteady]);
        assert_eq!(codes(Some(SteadyWarmUp { steady, ..never }), Some(0.05)), []);
        assert_eq!(codes(None, Some(0.073)), [Code::PrecisionMissed]);
        assert_eq!(codes(None, None), [Code::PrecisionMissed], "no interval at all");
    }
}

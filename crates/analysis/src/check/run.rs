//! Checks of a run as a whole and of its machine.

use crate::{Code, DamagedFile, Finding, Subject, Value};

#[derive(Clone, Copy, Debug)]
pub struct RunFacts<'a> {
    pub trials_planned: usize,
    pub trials: usize,
    /// The machine's frequency governor, if known.
    pub governor: Option<&'a str>,
    /// The machine's hardware threads, if known.
    pub threads: Option<u32>,
    /// The machine's load average over the minute before the run, if known.
    pub load_average: Option<f64>,
    /// What is damaged of the record's copy of the plan.
    pub plan_damage: Option<DamagedFile<'a>>,
}

/// Every finding that weakens the figures of the whole run.
pub fn check_run(facts: &RunFacts<'_>) -> Vec<Finding> {
    let plan = facts.plan_damage.map(|damage| damage.add_to(finding(Code::PlanDamaged)));
    let all = [trials_missing(facts), clock_rate(facts), busy_machine(facts), plan];
    all.into_iter().flatten().collect()
}

fn finding(code: Code) -> Finding {
    Finding::about(Subject::Run, code)
}

fn trials_missing(facts: &RunFacts<'_>) -> Option<Finding> {
    let missing = facts.trials_planned.saturating_sub(facts.trials);
    (missing > 0).then(|| {
        finding(Code::TrialsMissing)
            .with("missing", Value::Small(missing as u64))
            .with("planned", Value::Small(facts.trials_planned as u64))
    })
}

fn clock_rate(facts: &RunFacts<'_>) -> Option<Finding> {
    let governor = facts.governor.filter(|name| *name != "performance")?;
    Some(finding(Code::ClockRateVaries).with("governor", Value::Text(governor.to_owned())))
}

fn busy_machine(facts: &RunFacts<'_>) -> Option<Finding> {
    let threads = facts.threads?;
    let load = facts.load_average.filter(|load| *load > f64::from(threads) / 2.0)?;
    let load = finding(Code::MachineBusy).with("load_average", Value::Number(load));
    Some(load.with("threads", Value::Small(threads.into())))
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: RunFacts<'_> = RunFacts {
        trials_planned: 8,
        trials: 8,
        governor: Some("performance"),
        threads: Some(4),
        load_average: Some(2.0),
        plan_damage: None,
    };

    fn codes(facts: &RunFacts<'_>) -> Vec<Code> {
        check_run(facts).iter().map(|finding| finding.code).collect()
    }

    #[test]
    fn a_whole_run_on_a_quiet_machine_has_no_findings() {
        assert_eq!(codes(&QUIET), []);
        let silent = RunFacts { governor: None, threads: None, load_average: None, ..QUIET };
        assert_eq!(codes(&silent), []);
    }

    #[test]
    fn missing_trials_a_changing_clock_rate_and_a_busy_machine_are_found() {
        let found = check_run(&RunFacts { trials: 5, ..QUIET });
        assert_eq!(found[0].value("missing"), Some(&Value::Small(3)));
        assert_eq!(found[0].subject, Subject::Run);
        let powersave = RunFacts { governor: Some("powersave"), ..QUIET };
        assert_eq!(codes(&powersave), [Code::ClockRateVaries]);
        assert_eq!(codes(&RunFacts { load_average: Some(2.1), ..QUIET }), [Code::MachineBusy]);
        let unknown = RunFacts { threads: None, load_average: Some(2.1), ..QUIET };
        assert_eq!(codes(&unknown), [], "it may have many hardware threads");
        let damage = DamagedFile { file: "plan.toml", line: 0, what: "it is no UTF-8" };
        let found = check_run(&RunFacts { plan_damage: Some(damage), ..QUIET });
        assert_eq!((found[0].code, found[0].subject.clone()), (Code::PlanDamaged, Subject::Run));
        assert_eq!(found[0].value("reason"), Some(&Value::Text("it is no UTF-8".to_owned())));
    }
}

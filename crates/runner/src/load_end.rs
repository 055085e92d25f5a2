//! The status of a trial, by the end of its load.

use engine::{LoadEnd, Outcome};
use measure::{Nanos, StuckClients};
use record::TrialStatus;

pub(crate) fn status(outcome: &Outcome) -> TrialStatus {
    TrialStatus::Failed(match &outcome.ended {
        LoadEnd::Complete => return TrialStatus::Complete,
        LoadEnd::Interrupted => return TrialStatus::Interrupted,
        LoadEnd::Crashed(reason) => return TrialStatus::Crashed(reason.clone()),
        LoadEnd::Overloaded { backlog } => format!(
            "overloaded: {backlog} transactions waited for a client; offer a lower rate, more clients \
             or a higher load.backlog"
        ),
        LoadEnd::AllClientsFailed(failure) => format!("all clients failed: {failure}"),
        LoadEnd::Disconnected(failure) => {
            format!("a client lost its connection, and reconnect_limit is off: {failure}")
        }
        LoadEnd::Stalled { stalled_ns, window_ns, since_ns } => {
            let long = format!(
                "no transaction succeeded for {:.1} of {:.1} s",
                seconds(*stalled_ns),
                seconds(*window_ns)
            );
            match since_ns {
                Some(since_ns) => format!(
                    "{long}: no answer came from second {:.1} on, and the outage had not ended",
                    seconds(*since_ns)
                ),
                None => long,
            }
        }
        LoadEnd::GeneratorLost { generator, reason } => {
            format!("generator {generator} was lost: {reason}")
        }
        LoadEnd::Uneven { generator, late_ns } => format!(
            "generator {generator} learned {:.0} ms too late of an edge of a phase, so its phases are not those of the \
             others",
            *late_ns as f64 / 1e6
        ),
        LoadEnd::NoSuccess { failed: 0, .. } => none_ended(&outcome.edges.stuck),
        LoadEnd::NoSuccess { failed, most } => {
            let most = most.as_ref();
            let most = most.map(|it| format!(", most often with error {}: {it}", it.key));
            let most = most.unwrap_or_default();
            format!("no transaction succeeded from the warm-up on, and {failed} failed{most}")
        }
    })
}

fn none_ended(stuck: &StuckClients) -> String {
    if stuck.is_empty() {
        return "no transaction ended; measure for a longer time".to_owned();
    }
    let statement = match stuck.statement.as_str() {
        "" => String::new(),
        statement => format!(" to `{statement}`"),
    };
    format!(
        "no transaction ended: {:.1} s after it was asked, the system had not answered{statement}, and the outage had not \
         ended",
        seconds(stuck.age_ns)
    )
}

fn seconds(time: Nanos) -> f64 {
    time as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_without_an_answer_is_an_outage_and_not_too_short() {
        let mut stuck = StuckClients::default();
        assert_eq!(none_ended(&stuck), "no transaction ended; measure for a longer time");
        stuck.add(12_340_000_000, true, "UPDATE t SET k = 1");
        insta::assert_snapshot!(none_ended(&stuck), @"no transaction ended: 12.3 s after it was asked, the system had not answered to `UPDATE t SET k = 1`, and the outage had not ended");
    }
}

//! Findings in words: the observation, its meaning and the remedy. One table has the words for every code, and
//! `finding/rules.rs` says when each is made.

mod rules;

use analysis::{Code, Finding, Severity, Subject};
use serde_json::json;

use crate::digest::{Digest, Trial};
use crate::template::{self, fill, show};

pub(crate) const TITLE: &str = "Warnings";

/// Findings of one kind, from several trials.
#[derive(Debug)]
pub(crate) struct Group {
    severity: Severity,
    headline: &'static str,
    /// Its meaning for the figures, and what to do about it.
    pub(crate) meaning: &'static str,
    /// When it is said.
    pub(crate) rule: String,
    /// The trials in which it was found, each with its figures.
    pub(crate) places: Vec<String>,
}

impl Group {
    /// The observation, and whether it makes trials doubtful or invalid.
    pub(crate) fn title(&self) -> String {
        match self.severity {
            Severity::Note => self.headline.to_owned(),
            severity => format!("{} ({})", self.headline, severity.name()),
        }
    }
}

/// The findings of all trials, then those of the run as a whole, the most serious first.
pub(crate) fn groups(digest: &Digest<'_>, of_run: &[Finding]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for trial in &digest.trials {
        let findings = trial.findings.iter();
        for finding in findings.filter(|it| !trial.is_expected(it.code)) {
            add(&mut groups, finding, place(digest, trial, finding));
        }
    }
    for finding in of_run {
        add(&mut groups, finding, figures(finding));
    }
    groups.sort_by_key(|group| group.severity);
    groups
}

/// The findings of one trial, grouped by kind, in their order; the places are their figures.
pub(crate) fn of_trial(trial: &Trial<'_>) -> Vec<Group> {
    let mut groups = Vec::new();
    trial.findings.iter().for_each(|finding| add(&mut groups, finding, figures(finding)));
    groups
}

/// Adds a finding to the group with the same headline.
fn add(groups: &mut Vec<Group>, finding: &Finding, place: String) {
    let (headline, meaning, _) = words(finding.code);
    match groups.iter_mut().find(|group| group.headline == headline) {
        Some(group) => group.places.push(place),
        None => groups.push(Group {
            severity: finding.code.severity(),
            headline,
            meaning,
            rule: rules::plain(finding.code),
            places: vec![place],
        }),
    }
}

/// The name of a trial with the figures of a finding or, without figures, with its reason.
fn place(digest: &Digest<'_>, trial: &Trial<'_>, finding: &Finding) -> String {
    let text = digest.name_of(trial);
    let mut own = own_figures(finding);
    if own.is_empty() {
        own = finding.value("reason").map(show).unwrap_or_default();
    }
    let figures = in_windows(own, finding);
    if figures.is_empty() { text } else { format!("{text}: {figures}") }
}

pub(crate) fn sentence(finding: &Finding) -> String {
    let (headline, meaning, _) = words(finding.code);
    match figures(finding) {
        figures if figures.is_empty() => format!("{headline}: {meaning}."),
        figures => format!("{headline} ({figures}): {meaning}."),
    }
}

/// The figures of a finding in words; empty when it has none.
pub(crate) fn figures(finding: &Finding) -> String {
    in_windows(own_figures(finding), finding)
}

fn own_figures(finding: &Finding) -> String {
    fill(words(finding.code).2, &finding.values, subject(finding)).unwrap_or_default()
}

/// The same with the windows in which it was found, where a trial is made of windows.
fn in_windows(own: String, finding: &Finding) -> String {
    match fill(WINDOWS, &finding.values, None) {
        None => own,
        Some(windows) if own.is_empty() => windows,
        Some(windows) => format!("{own}, {windows}"),
    }
}

/// The observation of every finding with this code.
pub(crate) fn headline(code: Code) -> &'static str {
    words(code).0
}

fn subject(finding: &Finding) -> Option<&str> {
    let has_name = !matches!(finding.subject, Subject::Run | Subject::Trial);
    has_name.then(|| finding.subject.parts().1)
}

pub(crate) fn json(finding: &Finding) -> serde_json::Value {
    let (of, _) = finding.subject.parts();
    json!({
        "code": finding.code.name(),
        "severity": finding.code.severity().name(),
        "subject": { "of": of, "name": subject(finding) },
        "values": template::json(&finding.values),
        "text": sentence(finding),
    })
}

/// Where it was found in a trial that is made of windows; its figures are those of the first of them.
const WINDOWS: &str = "in window {window}[ and {other_windows:other|others}] of {windows}";

const NOT_ALWAYS_ANSWERED: &str = "A server did not always report its metrics";
const HOLES: &str = "its panels and what it took are not known there";

const STOOD_STILL: &str = "it was stopped, its machine was, or other programs had the CPU; latencies of that time \
                           are dyno's own, not the system's";
const STALLS: &str = "[{subject}: ]from {start_ns} to {end_ns}[, the longest of {stalls}, {total_ns} in all], \
                      {stalled} of the measured time";

/// Headline, meaning with remedy, and the template of the figures.
#[expect(clippy::too_many_lines, reason = "it is one table")]
fn words(code: Code) -> (&'static str, &'static str, &'static str) {
    match code {
        Code::Failed => ("The trial failed", "its figures end where it failed", ""),
        Code::DataNotVerified => (
            "The data was not verified",
            "it is not what the workload needs, or could not be checked, so there was no load; load it again",
            "",
        ),
        Code::Crashed => ("The server crashed", "its figures end there", ""),
        Code::Outages => (
            "The system was away for a while",
            "no transaction succeeded, or clients had lost their connections; throughput counts that time, and in \
             a closed loop percentiles hardly show it, because hardly anything was sent",
            "{total_ns}[ {more}][ in {outages} outages, the longest for {longest_ns}], from {from_ns}[ to {to_ns}]\
             [, {reconnects:reconnect|reconnects}][; no answer came from {open_ns} on, it had not ended]",
        ),
        Code::MemberExited => (
            "A server of the system exited, and the others went on",
            "figures from then on are those of a smaller system; the next trial has a whole one again",
            "{subject} ({status})[ at {at_ns}][ {before}]",
        ),
        Code::Cut => (
            "The trial was cut",
            "its end is missing in the record: dyno or the machine went down, or the disk was full; the last interval \
             may be missing too",
            "",
        ),
        Code::Damaged => (
            "The record of the trial is damaged",
            "its figures are of what could be read before the damage, and never count as those of a complete trial; \
             get the file from a copy, or run the trial again",
            "{file}[, line {line}]: {reason}",
        ),
        Code::Interrupted => {
            ("The trial was interrupted", "its window is shorter than planned", "")
        }
        Code::NothingMeasured => {
            ("Nothing succeeded", "no transaction ended well in the measured time", "")
        }
        Code::ConnectionsLost => (
            "Connections broke during transactions",
            "others were answered at that time, so the system was not away; its log may say why",
            "{connections:connection|connections}, {reconnects:reconnect|reconnects}",
        ),
        Code::IdleConnectionsClosed => (
            "The server closed idle connections",
            "their clients connected again for the next transaction, whose latency has that in it; let the server wait \
             for longer (wait_timeout, max_connection_idle, max_connection_age), or let clients pause for less",
            "{reconnects:reconnect|reconnects}",
        ),
        Code::EveryClientLeft => (
            "Every client left early",
            "nothing was sent any more after the last one",
            "{left} of {clients}",
        ),
        Code::ClientsLeft => {
            ("Clients left early", "the others had the server to themselves", "{left} of {clients}")
        }
        Code::Failures => (
            "Transactions failed",
            "they are not in throughput, and only time-outs are in percentiles, at their bound",
            "{transactions}, {rate}",
        ),
        Code::Retries => (
            "Transactions were tried again",
            "their latency includes every try",
            "{retries:try|tries}, {per_transaction} per transaction",
        ),
        Code::ClientSaturated => (
            "The load generator was nearly out of CPU",
            "throughput may be its limit and latency includes waiting for it; give it more cores",
            "[{subject}: ]{used_threads} of {usable_threads} threads busy[, the busiest of its workers \
             {busiest_worker} of the time]",
        ),
        Code::ClientSaturatedBriefly => (
            "The load generator was nearly out of CPU for a while",
            "latencies of that time include the wait for a busy event loop; give dyno more cores, or more event \
             loops (`workers`)",
            "[{subject}: ]a worker ran {busiest_worker} of the time from {start_ns} to {end_ns}",
        ),
        Code::GeneratorStalled => ("dyno was stalled for a while", STOOD_STILL, STALLS),
        Code::GeneratorStalledLong => {
            ("dyno was stalled for much of the time", STOOD_STILL, STALLS)
        }
        Code::GeneratorLost => (
            "A generator of the load was lost",
            "from then on the load was smaller, or it ended; what that generator had not reported yet is missing, and \
             so are its transactions in flight; run the trial again",
            "{subject} at {at_ns}[, {absent_ns} before the end of the measured time, {absent} of it]: {reason}\
             [; the server counted up to {unreported:statement|statements} of it that are in no figure]",
        ),
        Code::GeneratorClock => (
            "The clock of a generator's host is not sure",
            "its intervals may lie beside those of the others, so that figures over time mix two moments; figures of \
             the whole window hardly change; look for a slow path between the hosts, or for a host that was suspended",
            "{subject}: known within {uncertainty_ns}[, moved by {moved_ns} during the trial], with intervals of \
             {interval_ns}",
        ),
        Code::GeneratorsUneven => (
            "Uneven service between the generators' clients",
            "percentiles mix generators with different lots: hosts that are slower, or farther from the system",
            "{subject}: {each} transactions for each {unit}, {change} against {mean} over all",
        ),
        Code::RateMissed => (
            "Less was answered than was offered",
            "work piles up, so latencies grow with the time measured; offer less, or more clients if they \
             are what is short",
            "{achieved_per_s} of {offered_per_s} per s, {missed}",
        ),
        Code::GeneratorLate => (
            "The load generator was late by itself",
            "transactions started after their time though a client was free, and their response times \
             include that; give dyno more CPU",
            "[{subject}: ]one in a hundred by {p99_ns} or more",
        ),
        Code::LittlesLaw => (
            "Throughput and latency do not account for all clients",
            "clients were lost or idle, transactions did not end in the window, or it is too short for these \
             latencies (Little's law)",
            "{accounted_for} of {clients} clients accounted for, {mismatch}",
        ),
        Code::ConditionBroken => (
            "The data was not consistent after the load",
            "changes were lost or invented",
            "{subject}: {place}",
        ),
        Code::AnswerWrong => (
            "A query was answered wrongly",
            "the system computed something else, or its data are not the workload's; its times say nothing about the \
             query",
            "{subject}: {place}",
        ),
        Code::AnswersDiffer => (
            "Two systems answered a query differently",
            "one of them is wrong, and which one is not known; do not compare their times",
            "{subject}: {place}",
        ),
        Code::MixMissed => (
            "The required mix was not kept",
            "one kind of transaction had too small a share, by more than chance explains",
            "{subject} {percent} %, not {least_percent} %; drawn at random, the standard deviation over so \
             many is {chance_percent} %",
        ),
        Code::LatencyLimitMissed => (
            "Response times were longer than the workload allows",
            "its score counts only as long as they are kept",
            "{subject}: {percentile} {seen_ns}, not {most_ns} or less",
        ),
        Code::WorkloadRemark => (
            "The load leaves the definition of its workload",
            "compare it only with loads that do the same",
            "{text}",
        ),
        Code::SystemRemark => (
            "The system's settings or its own work have a part in the figures",
            "the figures are as measured; compare them with those of a system that is set up and was used alike",
            "{text}[: {count}][: {times} times][: {more}][: {queries}][: up to {most}]",
        ),
        Code::Unfair => (
            "Uneven service between clients",
            "some clients were answered much more often than others, so percentiles describe neither group",
            "[{subject}: ]standard deviation {variation} of the mean",
        ),
        Code::Trend => (
            "Throughput drifted",
            "the system had not settled; warm up for longer or measure for longer",
            "{change} from the first third of the time to the last",
        ),
        Code::LatencyTrend => (
            "Latency drifted",
            "the system had not settled, so its latencies depend on when they are measured; warm up for longer or \
             measure for longer",
            "{change} from the first third of the time to the last",
        ),
        Code::Step => (
            "Throughput changed to another level",
            "the figures mix two states of the system; look at the plot over time, and find out what changed",
            "from {before_per_s} to {after_per_s} per s, {change}, at {at_ns}",
        ),
        Code::WarmUpShort => (
            "The warm-up was too short",
            "throughput reached its level within the measured time, so the figures contain what came before; warm up \
             for longer",
            "from {before_per_s} to {after_per_s} per s, {change}, at {at_ns}",
        ),
        Code::Unsteady => (
            "Throughput went up and down",
            "the mean hides dips; look at the plot over time",
            "standard deviation over intervals {variation} of the mean",
        ),
        Code::NeverSteady => (
            "The load was not steady when the measuring began",
            "the warm-up was to last until it was, and reached its limit; the system was still warming up, or it \
             never settles: allow a longer warm-up, and look at the plot over time",
            "not within {at_most_ns}",
        ),
        Code::PrecisionMissed => (
            "A figure is less precise than was asked for",
            "the measuring reached its limit before; measure for longer, or repeat the trial",
            "{figure} not within {within}[: {half_width}]",
        ),
        Code::OtherStatements => (
            "The server ran statements that were not dyno's",
            "other clients used it during the load; how many they sent is known, not what they cost",
            "{difference:statement|statements}",
        ),
        Code::FewerStatements => (
            "The server counted fewer statements than dyno",
            "not all of the load reached it, or it counts in another way; look at the trial's cross-check",
            "{difference:statement|statements}",
        ),
        Code::OtherTransactions => (
            "The server ran transactions that were not dyno's",
            "another client used the database during the load; some may be of autovacuum or of the workers of parallel \
             queries, two for each worker; how many there were is known, not what they cost",
            "{difference:transaction|transactions}",
        ),
        Code::FewerTransactions => (
            "The server counted fewer transactions than dyno",
            "not all of the load reached it, or it counts in another way; look at the trial's cross-check",
            "{difference:transaction|transactions}",
        ),
        Code::StuckClients => (
            "Clients waited in vain for an answer",
            "they did nothing else in that time, so the load was that of fewer clients; look on the server at what they \
             wait for, such as a lock",
            "{stuck} of {clients:client|clients}, for {age_ns}[, the answer to `{statement}`]\
             [, {since_before} since the warm-up]",
        ),
        Code::Unfinished => (
            "Transactions were never answered",
            "their latencies are not known: figures that depend on them are lower bounds (≥)",
            "{requests} sent, {unsent} due and not sent, the oldest for {oldest_ns} or more",
        ),
        Code::CensoredPercentiles => (
            "Percentiles are lower bounds",
            "transactions timed out or were never answered, and would have taken longer than is known",
            "from {percentile} on, {at_least_ns} or more; {transactions:transaction|transactions} of unknown length",
        ),
        Code::TooFewValues => (
            "Percentiles rest on few values",
            "fewer than 10 values lie above them, so they are mostly chance; measure for longer",
            "from {percentile} on, of {values:value|values}",
        ),
        Code::FewValues => (
            "High percentiles rest on few values",
            "fewer than 10 values lie above them; measure for longer",
            "from {percentile} on, of {values:value|values}[ of {subject}]",
        ),
        Code::ShortWindow => (
            "The measured time was very short",
            "throughput depends on what happens to fall into it, and nothing that is read each second is known; \
             measure for seconds at least",
            "{length_ns}",
        ),
        Code::CpuStolen => (
            "CPU steal",
            "other virtual machines share this one's processor; figures are lower than on one of its own, \
             and vary",
            "{share} of {subject}",
        ),
        Code::CpuUsedByOthers => (
            "Other processes used the CPU",
            "neither dyno nor the servers had it, as far as theirs is known; figures are lower than on a quiet \
             machine, and vary",
            "{used_threads} of {cpu_threads} CPU threads of {subject}[; where these run there, their CPU is part of \
             it: {not_counted}]",
        ),
        Code::LoadUneven => (
            "Load sits on one of several",
            "it takes far more than its share, so the others wait for it and adding more of them helps \
             little; spread the data, or choose another key",
            "{subject} takes {share} of the {what}, {even_share} would be even",
        ),
        Code::MemberNotWatched => (
            "A server with load is not watched",
            "its work is in the figures and its use of resources is not; add its metrics to the plan, or \
             remove it from the cluster",
            "{subject} leads {placed} {placed_unit}",
        ),
        Code::ServerGaps => (
            NOT_ALWAYS_ANSWERED,
            HOLES,
            "{subject} did not answer {gaps} of {asked} times: {reason}",
        ),
        Code::ServerSilent => {
            (NOT_ALWAYS_ANSWERED, HOLES, "{subject} had not answered when the trial ended")
        }
        Code::ServerAway => (
            "A server was away, and others had its load",
            "figures are those of a cluster with fewer servers; look at why it did not answer before you spread \
             the data",
            "{subject} did not answer at the end; {busiest} took {share} of the {what}, {even_share} would be even",
        ),
        Code::ServerRestarted => (
            "A server was restarted",
            "the figures are of two processes, and of the time between them",
            "{subject} answered as another process at {at_ns}",
        ),
        Code::TrialsMissing => (
            "Trials are missing",
            "the run ended before every planned trial was done",
            "{missing} of {planned} did not run",
        ),
        Code::ClockRateVaries => (
            "The clock rate may change",
            "figures move with it; set the governor to `performance` where you can",
            "governor {governor}",
        ),
        Code::MachineBusy => (
            "The machine was busy before the run",
            "others may have taken part of the CPU; run again on a quiet machine",
            "load average {load_average} on {threads} threads",
        ),
        Code::BaselineDiffers => (
            "The baseline differs from itself",
            "every round measured it twice, so the order of the variants matters, or the state that one of them leaves; \
             do not rely on differences of this size",
            "{place}: {change}",
        ),
        Code::FirstWindows => (
            "The first windows after a start differ from the later ones",
            "a server gets warm, or its data grow; it is so in every round, so that the interval of a ratio does not \
             contain it, and it may last longer for one variant than for another; let `prewarm` last until it is over",
            "{place}: {change} in the first {first:window|windows} of a round against its second half, which moves the \
             figure by {moved}",
        ),
        Code::PlanDamaged => (
            "The record's copy of the plan is damaged",
            "figures and settings in this report come from other files and are as measured; get the file from a copy",
            "{file}[, line {line}]: {reason}",
        ),
    }
}

#[cfg(test)]
mod tests {
    use analysis::Value;

    use super::*;

    fn finding(code: Code, subject: Subject, values: &[(&'static str, Value)]) -> Finding {
        Finding { code, subject, values: values.to_vec() }
    }

    fn outages(others: &[(&'static str, Value)]) -> String {
        let values = [
            ("outages", Value::Small(2)),
            ("total_ns", Value::Nanos(5_000_000_000)),
            ("from_ns", Value::Nanos(1_000_000_000)),
        ];
        figures(&finding(Code::Outages, Subject::Trial, &[&values, others].concat()))
    }

    #[test]
    fn the_longest_of_several_outages_is_named_and_one_reconnect_is_singular() {
        let to = ("to_ns", Value::Nanos(4_000_000_000));
        let one = [to.clone(), ("reconnects", Value::Count(1))];
        assert_eq!(outages(&one), "5.00 s, from 1.00 s to 4.00 s, 1 reconnect");
        let several = [to, ("longest_ns", Value::Nanos(3_000_000_000))];
        let longest = "5.00 s in 2 outages, the longest for 3.00 s, from 1.00 s to 4.00 s";
        assert_eq!(outages(&several), longest);
        let since = ("open_ns", Value::Nanos(1_000_000_000));
        let open = [("more", Value::Text("or more".to_owned())), since];
        let told = "5.00 s or more, from 1.00 s; no answer came from 1.00 s on, it had not ended";
        assert_eq!(outages(&open), told);
    }

    #[test]
    fn limits_and_remarks_of_workloads_are_sentences() {
        let values = [
            ("percentile", Value::Percentile(90.0)),
            ("seen_ns", Value::Nanos(6_200_000_000)),
            ("most_ns", Value::Nanos(5_000_000_000)),
        ];
        let payment = Subject::Operations("payment".to_owned());
        let missed = finding(Code::LatencyLimitMissed, payment, &values);
        assert_eq!(figures(&missed), "payment: p90 6.20 s, not 5.00 s or less");
        let text = Value::Text("isolation read-committed is too low".to_owned());
        let remark = finding(Code::WorkloadRemark, Subject::Trial, &[("text", text)]);
        assert_eq!(figures(&remark), "isolation read-committed is too low");
    }

    #[test]
    fn braces_in_names_and_reasons_are_shown_as_they_are() {
        let values = [
            ("gaps", Value::Small(1)),
            ("asked", Value::Small(3)),
            ("reason", Value::Text("[{gaps}]".to_owned())),
        ];
        let silent = finding(Code::ServerGaps, Subject::Server("{reason}".to_owned()), &values);
        assert_eq!(figures(&silent), "{reason} did not answer 1 of 3 times: [{gaps}]");
    }

    #[test]
    fn programs_get_the_code_the_subject_and_plain_numbers() {
        let values = [("share", Value::Part(0.25))];
        let stolen = finding(Code::CpuStolen, Subject::Host("db1".to_owned()), &values);
        assert_eq!(
            json(&stolen),
            json!({
                "code": "cpu-stolen",
                "severity": "doubtful",
                "subject": { "of": "host", "name": "db1" },
                "values": { "share": 0.25 },
                "text": "CPU steal (25 % of db1): other virtual machines share this one's \
                         processor; figures are lower than on one of its own, and vary.",
            })
        );
        let cut = json(&finding(Code::Cut, Subject::Trial, &[]));
        assert_eq!(cut["subject"], json!({ "of": "trial", "name": null }));
    }
}

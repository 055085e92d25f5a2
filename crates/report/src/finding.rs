//! Findings in words: the observation, its meaning and the remedy. One table has the words for every code.

use analysis::{Code, Finding, Severity, Subject, Value};
use serde_json::json;

use crate::cross_check::signed;
use crate::digest::{Digest, Trial};
use crate::number::{count, latency_ns, number, percent, percentile_name, signed_percent};

/// Findings of one kind, from several trials.
#[derive(Debug)]
pub(crate) struct Group {
    severity: Severity,
    /// The observation.
    pub(crate) headline: &'static str,
    /// Its meaning for the figures, and what to do about it.
    pub(crate) meaning: &'static str,
    /// The trials in which it was found, each with its figures.
    pub(crate) places: Vec<String>,
}

/// Every finding of a run, grouped by kind, the most serious first.
pub(crate) fn groups(digest: &Digest<'_>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for trial in &digest.trials {
        for finding in &trial.findings {
            add(&mut groups, finding, place(digest, trial, finding));
        }
    }
    for finding in &digest.findings {
        add(&mut groups, finding, figures(finding));
    }
    groups.sort_by_key(|group| group.severity);
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
            places: vec![place],
        }),
    }
}

/// The name of a trial with the figures of a finding or, without figures, with its reason.
fn place(digest: &Digest<'_>, trial: &Trial<'_>, finding: &Finding) -> String {
    let mut text = trial.name();
    if digest.is_repeated() {
        text.push_str(&format!(", repetition {}", trial.record.header.repetition + 1));
    }
    let mut figures = figures(finding);
    if figures.is_empty() {
        figures = finding.value("reason").map(show).unwrap_or_default();
    }
    if figures.is_empty() { text } else { format!("{text}: {figures}") }
}

/// A finding as a sentence.
pub(crate) fn sentence(finding: &Finding) -> String {
    let (headline, meaning, _) = words(finding.code);
    match figures(finding) {
        figures if figures.is_empty() => format!("{headline}: {meaning}."),
        figures => format!("{headline} ({figures}): {meaning}."),
    }
}

/// The figures of a finding in words; empty when it has none.
pub(crate) fn figures(finding: &Finding) -> String {
    fill(words(finding.code).2, finding).unwrap_or_default()
}

/// A finding as JSON.
pub(crate) fn json(finding: &Finding) -> serde_json::Value {
    let (of, name) = finding.subject.parts();
    let has_name = !matches!(finding.subject, Subject::Run | Subject::Trial);
    let values = finding.values.iter().map(|(name, value)| ((*name).to_owned(), raw(value)));
    json!({
        "code": finding.code.name(),
        "severity": finding.code.severity().name(),
        "subject": { "of": of, "name": has_name.then_some(name) },
        "values": values.collect::<serde_json::Map<_, _>>(),
        "text": sentence(finding),
    })
}

fn raw(value: &Value) -> serde_json::Value {
    match value {
        Value::Count(value) | Value::Small(value) | Value::Nanos(value) => json!(value),
        Value::Difference(value) => json!(value),
        Value::Number(value)
        | Value::Percent(value)
        | Value::PercentSet(value)
        | Value::Part(value)
        | Value::Change(value)
        | Value::Percentile(value) => json!(value),
        Value::Text(text) => json!(text),
    }
}

fn show(value: &Value) -> String {
    match value {
        Value::Count(value) => count(*value),
        Value::Small(value) => value.to_string(),
        Value::Difference(value) => signed(i128::from(*value)),
        Value::Number(value) => number(*value),
        Value::Percent(value) => format!("{value:.2}"),
        Value::PercentSet(value) => value.to_string(),
        Value::Part(value) => percent(*value),
        Value::Change(value) => signed_percent(*value),
        Value::Nanos(value) => latency_ns(*value),
        Value::Percentile(value) => percentile_name(*value),
        Value::Text(text) => text.clone(),
    }
}

/// Fills a template with the values of a finding. `{name}` is a value, `{subject}` the name of the subject,
/// `{name:one|more}` a value with its singular or plural noun, and `[...]` a part that is left out when one of
/// its values is missing. Returns `None` when any other value is missing.
fn fill(template: &str, finding: &Finding) -> Option<String> {
    let mut text = String::new();
    let mut rest = template;
    while let Some(at) = rest.find(['{', '[']) {
        text.push_str(&rest[..at]);
        let is_part = rest[at..].starts_with('[');
        let (inner, after) = rest[at + 1..].split_once(if is_part { ']' } else { '}' })?;
        let filled = if is_part { fill(inner, finding) } else { Some(field(inner, finding)?) };
        text.push_str(&filled.unwrap_or_default());
        rest = after;
    }
    text.push_str(rest);
    Some(text)
}

fn field(field: &str, finding: &Finding) -> Option<String> {
    if field == "subject" {
        return Some(finding.subject.parts().1.to_owned());
    }
    let (name, words) = field.split_once(':').unwrap_or((field, ""));
    let value = finding.value(name)?;
    let is_one = matches!(value, Value::Count(1) | Value::Difference(1 | -1));
    match words.split_once('|') {
        Some((one, more)) => Some(format!("{} {}", show(value), if is_one { one } else { more })),
        None => Some(show(value)),
    }
}

const NOT_ALWAYS_ANSWERED: &str = "A server did not always report its metrics";
const HOLES: &str = "its panels have holes there; nothing else depends on it";

/// Headline, meaning with remedy, and the template of the figures.
#[expect(clippy::too_many_lines, reason = "it is one table")]
fn words(code: Code) -> (&'static str, &'static str, &'static str) {
    match code {
        Code::Failed => ("The trial failed", "its figures end where it failed", ""),
        Code::Crashed => ("The server crashed", "its figures end there", ""),
        Code::Outages => (
            "The system was away for a while",
            "throughput counts that time; no request was sent in it, so percentiles know of it only what \
             timed out, or what came late in an open loop",
            "{total_ns}[ in {outages} outages, {longest_ns} at most], {reconnects:reconnect|reconnects}",
        ),
        Code::Cut => {
            ("The trial was cut", "dyno or the machine went down; the last interval is missing", "")
        }
        Code::Interrupted => {
            ("The trial was interrupted", "its window is shorter than planned", "")
        }
        Code::NothingMeasured => {
            ("Nothing succeeded", "no transaction ended well in the measured time", "")
        }
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
            "{used_threads} of {usable_threads} threads busy",
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
            "one in a hundred by {p99_ns} or more",
        ),
        Code::LittlesLaw => (
            "Throughput and latency do not account for all clients",
            "clients spent time outside transactions, in the load generator or waiting for a core, or the \
             window is too short for these latencies (Little's law)",
            "{accounted_for} of {clients} clients accounted for, {mismatch}",
        ),
        Code::ConditionBroken => (
            "The data was not consistent after the load",
            "changes were lost or invented",
            "{subject}: {place}",
        ),
        Code::MixMissed => (
            "The required mix was not kept",
            "one kind of transaction had too small a share",
            "{subject} {percent} %, not {least_percent} %; drawn at random, the standard deviation over so \
             many is {chance_percent} %",
        ),
        Code::Unfair => (
            "Clients were not served evenly",
            "percentiles mix clients with different lots",
            "standard deviation {variation} of the mean",
        ),
        Code::Trend => (
            "Throughput drifted",
            "the system had not settled; warm up for longer or measure for longer",
            "{change} from beginning to end",
        ),
        Code::Unsteady => (
            "Throughput went up and down",
            "the mean hides dips; look at the plot over time",
            "standard deviation over intervals {variation} of the mean",
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
        Code::Unfinished => (
            "Requests were still unanswered at the end",
            "they count in the percentiles as long as they had waited; their latencies are that or more",
            "{requests}, the oldest for {oldest_ns}",
        ),
        Code::FewValues => (
            "High percentiles rest on few values",
            "fewer than 10 values lie above them; measure for longer",
            "from {percentile} on, of {values:value|values}",
        ),
        Code::CpuStolen => (
            "The hypervisor took CPU",
            "other virtual machines share this one's processor; figures are lower than on one of its own, \
             and vary",
            "{share} of {subject}",
        ),
        Code::CpuUsedByOthers => (
            "Other programs used the CPU",
            "neither dyno nor the server had it; figures are lower than on a quiet machine, and vary",
            "{used_threads} of {cpu_threads} CPU threads of {subject}",
        ),
        Code::LoadUneven => (
            "Load sits on one of several",
            "it takes far more than its share, so the others wait for it and adding more of them helps \
             little; spread the data, or choose another key",
            "{subject} takes {share} of the {what}, {even_share} would be even",
        ),
        Code::MemberNotWatched => (
            "A store takes load that the plan does not know",
            "what it does is in the figures, and what it uses is not; add its metrics to the plan, or take \
             it out of the cluster",
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
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(code: Code, subject: Subject, values: &[(&'static str, Value)]) -> Finding {
        Finding { code, subject, values: values.to_vec() }
    }

    fn outages(count: u64, reconnects: u64) -> Finding {
        let values = [
            ("outages", Value::Small(count)),
            ("total_ns", Value::Nanos(5_000_000_000)),
            ("reconnects", Value::Count(reconnects)),
            ("longest_ns", Value::Nanos(3_000_000_000)),
        ];
        let known = if count > 1 { 4 } else { 3 };
        finding(Code::Outages, Subject::Trial, &values[..known])
    }

    #[test]
    fn the_longest_of_several_outages_is_named_and_one_reconnect_is_singular() {
        assert_eq!(figures(&outages(1, 1)), "5.00 s, 1 reconnect");
        assert_eq!(figures(&outages(2, 2)), "5.00 s in 2 outages, 3.00 s at most, 2 reconnects");
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
                "severity": "warning",
                "subject": { "of": "host", "name": "db1" },
                "values": { "share": 0.25 },
                "text": "The hypervisor took CPU (25 % of db1): other virtual machines share this one's \
                         processor; figures are lower than on one of its own, and vary.",
            })
        );
        let cut = json(&finding(Code::Cut, Subject::Trial, &[]));
        assert_eq!(cut["subject"], json!({ "of": "trial", "name": null }));
    }
}

//! Findings in words: what was seen, what it means, what to do about it.

use analysis::Finding;

use crate::cross_check::signed;
use crate::digest::{Digest, Trial};
use crate::number::{count, latency_ns, number, percent, percentile_name, several, signed_percent};
use crate::watch::care::{Observation, observations};

/// Findings of one kind, from several trials.
#[derive(Debug)]
pub(crate) struct Group {
    gravity: Gravity,
    /// What was found.
    pub(crate) headline: &'static str,
    /// What it means for the figures, and what to do about it.
    pub(crate) meaning: &'static str,
    /// Where, each with its figures.
    pub(crate) places: Vec<String>,
}

/// How much a finding takes from the figures, the most first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Gravity {
    /// Figures are missing, or not those of the system under test.
    Wrong,
    /// Figures may mislead.
    Doubtful,
    /// Figures hold, with something to know beside them.
    Remark,
}

fn gravity(finding: &Finding) -> Gravity {
    match finding {
        Finding::Failed
        | Finding::Crashed
        | Finding::Cut
        | Finding::NothingMeasured
        | Finding::ClientsLost { .. }
        | Finding::ConditionBroken { .. }
        | Finding::ClientSaturated { .. } => Gravity::Wrong,
        Finding::Interrupted
        | Finding::Outages { .. }
        | Finding::Failures { .. }
        | Finding::LittlesLaw { .. }
        | Finding::MixMissed { .. }
        | Finding::RateMissed { .. }
        | Finding::GeneratorLate { .. }
        | Finding::Unfair { .. }
        | Finding::Trend { .. }
        | Finding::Unsteady { .. }
        | Finding::OtherStatements { .. }
        | Finding::Unfinished { .. } => Gravity::Doubtful,
        Finding::Retries { .. } | Finding::FewValues { .. } => Gravity::Remark,
    }
}

/// Every finding of a run, grouped by kind, the gravest first.
pub(crate) fn groups(digest: &Digest<'_>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for trial in &digest.trials {
        for finding in &trial.findings {
            let (headline, meaning) = kind(finding);
            let place = place(digest, trial, finding);
            let gravity = gravity(finding);
            add(&mut groups, Group { gravity, headline, meaning, places: vec![place] });
        }
        for Observation { headline, meaning, figures } in observations(trial) {
            let places = vec![format!("{}: {figures}", place_name(digest, trial))];
            add(&mut groups, Group { gravity: Gravity::Doubtful, headline, meaning, places });
        }
    }
    groups.extend(run_groups(digest));
    groups.sort_by_key(|group| group.gravity);
    groups
}

/// Adds a finding to those of its kind.
fn add(groups: &mut Vec<Group>, one: Group) {
    match groups.iter_mut().find(|group| group.headline == one.headline) {
        Some(group) => group.places.extend(one.places),
        None => groups.push(one),
    }
}

/// What is to be said about the run as a whole and the machine.
fn run_groups(digest: &Digest<'_>) -> Vec<Group> {
    let run = digest.run;
    let mut groups = Vec::new();
    let missing = run.header.trials_planned.saturating_sub(run.trials.len());
    if missing > 0 {
        let planned = run.header.trials_planned;
        groups.push(Group {
            gravity: Gravity::Wrong,
            headline: "Trials are missing",
            meaning: "the run ended before every planned trial was done",
            places: vec![format!("{missing} of {planned} did not run")],
        });
    }
    let cpu = &run.header.environment.cpu;
    if let Some(governor) = cpu.governor.as_deref().filter(|name| *name != "performance") {
        groups.push(Group {
            gravity: Gravity::Remark,
            headline: "The clock rate may change",
            meaning: "figures move with it; set the governor to `performance` where you can",
            places: vec![format!("governor {governor}")],
        });
    }
    let threads = cpu.threads.unwrap_or(1);
    let is_busy = |load: &[f64; 3]| load[0] > f64::from(threads) / 2.0;
    if let Some([load, ..]) = run.header.environment.load_average.filter(is_busy) {
        groups.push(Group {
            gravity: Gravity::Doubtful,
            headline: "The machine was busy before the run",
            meaning: "others may have taken part of the CPU; run again on a quiet machine",
            places: vec![format!("load average {} on {threads} threads", number(load))],
        });
    }
    groups
}

fn place(digest: &Digest<'_>, trial: &Trial<'_>, finding: &Finding) -> String {
    let text = place_name(digest, trial);
    let figures = match finding {
        Finding::Failed | Finding::Crashed => trial.reason().unwrap_or_default().to_owned(),
        _ => figures(finding),
    };
    if figures.is_empty() { text } else { format!("{text}: {figures}") }
}

/// A trial among all of a run.
fn place_name(digest: &Digest<'_>, trial: &Trial<'_>) -> String {
    let mut text = trial.name();
    if digest.is_repeated() {
        text.push_str(&format!(", repetition {}", trial.record.header.repetition + 1));
    }
    text
}

/// Findings of one trial, each in a sentence.
pub(crate) fn sentences(trial: &Trial<'_>) -> Vec<String> {
    let sentence = |finding: &Finding| {
        let (headline, meaning) = kind(finding);
        match figures(finding) {
            figures if figures.is_empty() => format!("{headline}: {meaning}."),
            figures => format!("{headline} ({figures}): {meaning}."),
        }
    };
    let of_watch = observations(trial).into_iter();
    let of_watch = of_watch.map(|it| format!("{} ({}): {}.", it.headline, it.figures, it.meaning));
    trial.findings.iter().map(sentence).chain(of_watch).collect()
}

fn kind(finding: &Finding) -> (&'static str, &'static str) {
    match finding {
        Finding::Failed => ("The trial failed", "its figures end where it failed"),
        Finding::Crashed => ("The server crashed", "its figures end there"),
        Finding::Outages { .. } => (
            "The system was away for a while",
            "throughput counts that time; no request was sent in it, so percentiles know of it only what \
             timed out, or what came late in an open loop",
        ),
        Finding::Cut => {
            ("The trial was cut", "dyno or the machine went down; the last interval is missing")
        }
        Finding::Interrupted => ("The trial was interrupted", "its window is shorter than planned"),
        Finding::NothingMeasured => {
            ("Nothing succeeded", "no transaction ended well in the measured time")
        }
        Finding::ClientsLost { lost, clients } => clients_lost(lost == clients),
        Finding::Failures { .. } => (
            "Transactions failed",
            "they are not in throughput, and only time-outs are in percentiles, at their bound",
        ),
        Finding::Retries { .. } => {
            ("Transactions were tried again", "their latency includes every try")
        }
        Finding::ClientSaturated { .. } => (
            "The load generator was nearly out of CPU",
            "throughput may be its limit and latency includes waiting for it; give it more cores",
        ),
        Finding::RateMissed { .. } => (
            "Less was answered than was offered",
            "work piles up, so latencies grow with the time measured; offer less, or more clients if they \
             are what is short",
        ),
        Finding::GeneratorLate { .. } => (
            "The load generator was late by itself",
            "transactions started after their time though a client was free, and their response times \
             include that; give dyno more CPU",
        ),
        Finding::LittlesLaw { .. } => (
            "Throughput and latency do not account for all clients",
            "clients spent time outside transactions, in the load generator or waiting for a core, or the \
             window is too short for these latencies (Little's law)",
        ),
        Finding::ConditionBroken { .. } => {
            ("The data was not consistent after the load", "changes were lost or invented")
        }
        Finding::MixMissed { .. } => {
            ("The required mix was not kept", "one kind of transaction had too small a share")
        }
        Finding::Unfair { .. } => {
            ("Clients were not served evenly", "percentiles mix clients with different lots")
        }
        Finding::Trend { .. } => (
            "Throughput drifted",
            "the system had not settled; warm up for longer or measure for longer",
        ),
        Finding::Unsteady { .. } => {
            ("Throughput went up and down", "the mean hides dips; look at the plot over time")
        }
        Finding::OtherStatements { difference } => other_statements(*difference),
        Finding::Unfinished { .. } => (
            "Requests were still unanswered at the end",
            "they count in the percentiles as long as they had waited; their latencies are that or more",
        ),
        Finding::FewValues { .. } => (
            "High percentiles rest on few values",
            "fewer than 10 values lie above them; measure for longer",
        ),
    }
}

fn clients_lost(are_all: bool) -> (&'static str, &'static str) {
    if are_all {
        return ("Every client left early", "nothing was sent any more after the last one");
    }
    ("Clients left early", "the others had the server to themselves")
}

fn other_statements(difference: i64) -> (&'static str, &'static str) {
    if difference > 0 {
        return (
            "The server ran statements that were not dyno's",
            "other clients used it during the load; how many they sent is known, not what they cost",
        );
    }
    (
        "The server counted fewer statements than dyno",
        "not all of the load reached it, or it counts in another way; look at the trial's cross-check",
    )
}

fn figures(finding: &Finding) -> String {
    match finding {
        Finding::Failed
        | Finding::Crashed
        | Finding::Cut
        | Finding::Interrupted
        | Finding::NothingMeasured => String::new(),
        Finding::Outages { count: times, total_ns, longest_ns, reconnects } => {
            let (total, longest) = (latency_ns(*total_ns), latency_ns(*longest_ns));
            let reconnects = several(*reconnects, "reconnect", "reconnects");
            match times {
                1 => format!("{total}, {reconnects}"),
                _ => format!("{total} in {times} outages, {longest} at most, {reconnects}"),
            }
        }
        Finding::ClientsLost { lost, clients } => format!("{lost} of {clients}"),
        Finding::Failures { transactions, rate } => {
            format!("{}, {}", count(*transactions), percent(*rate))
        }
        Finding::Retries { retries, per_transaction } => {
            let tries = several(*retries, "try", "tries");
            format!("{tries}, {} per transaction", number(*per_transaction))
        }
        Finding::ClientSaturated { used, usable } => {
            format!("{} of {usable} threads busy", number(*used))
        }
        Finding::RateMissed { offered_per_s, achieved_per_s } => {
            let missed = achieved_per_s / offered_per_s - 1.0;
            let (achieved, offered) = (number(*achieved_per_s), number(*offered_per_s));
            format!("{achieved} of {offered} per s, {}", signed_percent(missed))
        }
        Finding::GeneratorLate { p99_ns } => {
            format!("one in a hundred by {} or more", latency_ns(*p99_ns))
        }
        Finding::LittlesLaw { accounted_for, clients, mismatch } => format!(
            "{} of {clients} clients accounted for, {}",
            number(*accounted_for),
            signed_percent(*mismatch)
        ),
        Finding::ConditionBroken { name, place } => format!("{name}: {place}"),
        Finding::MixMissed { name, percent, least_percent, chance_percent } => format!(
            "{name} {percent:.2} %, not {least_percent} %; drawn at random, the standard deviation \
             over so many is {chance_percent:.2} %"
        ),
        Finding::Unfair { variation } => {
            format!("standard deviation {} of the mean", percent(*variation))
        }
        Finding::Trend { change } => {
            format!("{} from beginning to end", signed_percent(*change))
        }
        Finding::Unsteady { variation } => {
            format!("standard deviation over intervals {} of the mean", percent(*variation))
        }
        Finding::OtherStatements { difference } => {
            let plural = if difference.unsigned_abs() == 1 { "" } else { "s" };
            format!("{} statement{plural}", signed(i128::from(*difference)))
        }
        Finding::Unfinished { requests, oldest_ns } => {
            format!("{}, the oldest for {}", count(*requests), latency_ns(*oldest_ns))
        }
        Finding::FewValues { percentile, values } => {
            let values = several(*values, "value", "values");
            format!("from {} on, of {values}", percentile_name(*percentile))
        }
    }
}

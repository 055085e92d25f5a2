//! Checks that show how far a trial or a run can be trusted.

mod again;
mod counts;
mod ends;
mod first_windows;
mod generator;
mod generators;
mod level;
mod run;
mod schedule;
mod spread;
mod system_remarks;
mod watched;

use measure::{
    ConditionSubject, LatencyHistogram, MemberExit, OperationKind, Outage, Phase, TrialStatus, sum,
};

use crate::chance::{client_dispersion, squares_max};
use crate::latency::bounded_latency;
use crate::{
    Code, DamagedFile, Finding, GeneratorFigures, GeneratorPart, Latency, Measured,
    OperationSummary, Subject, Summary, Trend, Value, rules,
};
pub use again::check_baseline_again;
pub use first_windows::{RoundsOfWindows, check_first_windows};
pub use run::{RunFacts, check_run};

/// A larger mismatch in Little's law means that some load is missing from the figures.
const LITTLES_LAW_MAX: f64 = 0.05;
/// Above this variation between clients, they are not served evenly.
const UNFAIRNESS_MAX: f64 = 0.1;
/// A larger drift of throughput or latency within the window means that it had not settled.
const TREND_MAX: f64 = 0.1;
/// Above this variation, the throughput of intervals has dips that a mean hides.
const VARIATION_MAX: f64 = 0.2;
/// A percentile with fewer values above it than this depends mostly on chance.
const VALUES_ABOVE_MIN: f64 = 10.0;
/// More arrivals than this part of all that are never sent are not those that come just before the window ends.
const UNSENT_SHARE_MAX: f64 = 0.001;
/// Higher percentiles than this need more values than most trials have: few values are a remark there.
const USUAL_PERCENTILE_MAX: f64 = 99.0;
/// A shorter window, s, is no more than a moment: throughput depends on what happens to fall into it, and figures that
/// are read each second have no reading in it.
const WINDOW_MIN_S: f64 = 0.95;

/// Every finding that weakens the figures of a trial. `summary` is that of `measured`.
pub fn check(measured: &Measured<'_>, summary: &Summary) -> Vec<Finding> {
    // Work that piles up, and throughput that changes, explain latencies that drift. Throughput that changes to
    // another level may look like a drift, and is unsteady in any case, which needs no second finding.
    let rate_missed = schedule::rate_missed(measured, summary);
    let throughput_change = level::check(measured, summary)
        .or_else(|| drift(measured, summary.throughput_trend, Code::Trend));
    let is_explained = rate_missed.is_some() || throughput_change.is_some();
    let unsteadiness = unsteadiness(measured, summary).filter(|_| throughput_change.is_none());
    let latency_drift =
        drift(measured, summary.latency_trend, Code::LatencyTrend).filter(|_| !is_explained);
    let completeness = [
        damage(measured),
        ending(measured),
        (summary.transactions == 0).then(|| Finding::new(Code::NothingMeasured)),
        outages(measured),
        connections_lost(measured),
        idle_connections_closed(measured),
        clients_lost(measured),
        failures(summary),
        rate_missed,
    ];
    let figures = [
        throughput_change,
        latency_drift,
        unsteadiness,
        stuck(measured),
        unfinished(measured),
        censored(measured),
        retries(summary),
        short_window(summary),
    ];
    let mut all = conditions(measured);
    all.extend(member_exits(measured));
    all.extend(completeness.into_iter().flatten());
    all.extend(generators::lost(measured));
    all.extend(schedule::lateness(measured, summary));
    all.extend(littles_law(measured, summary));
    all.extend(unfairness(measured, summary));
    all.extend(generators::uneven(measured));
    all.extend(figures.into_iter().flatten());
    all.extend(ends::check(measured));
    all.extend(few_values(measured, summary));
    all.extend(generator::check(measured, summary));
    all.extend(generators::saturated_hosts(measured, summary));
    all.extend(generators::clocks(measured));
    all.extend(mix(summary));
    all.extend(counts::statements(measured));
    all.extend(counts::transactions(measured));
    all.extend(latency_limits(measured));
    all.extend(remarks(measured));
    all.extend(system_remarks::check(measured));
    all.extend(watched::check(measured));
    all
}

fn conditions(measured: &Measured<'_>) -> Vec<Finding> {
    let broken = measured.conditions.iter().filter_map(|condition| {
        let place = Value::Text(condition.broken()?.to_owned());
        let name = condition.name.clone();
        let (subject, code) = match condition.about {
            ConditionSubject::Data => (Subject::Condition(name), Code::ConditionBroken),
            ConditionSubject::Answer => (Subject::Operations(name), Code::AnswerWrong),
            ConditionSubject::SameAnswer => (Subject::Operations(name), Code::AnswersDiffer),
        };
        Some(Finding::about(subject, code).with("place", place))
    });
    broken.collect()
}

/// The servers without which the system went on: not the one that ended a crashed trial. One that exited after the window
/// has no part in its figures.
fn member_exits<'a>(measured: &'a Measured<'_>) -> impl Iterator<Item = Finding> + 'a {
    let is_early = |exit: &&MemberExit| exit.at_ns.is_none_or(|at_ns| at_ns < measured.window.1);
    let has_crashed = matches!(measured.status, Some(TrialStatus::Crashed(_)));
    let others = measured.member_exits.len().saturating_sub(usize::from(has_crashed));
    measured.member_exits.iter().take(others).filter(is_early).map(|exit| {
        let finding = Finding::about(Subject::Server(exit.member.clone()), Code::MemberExited)
            .with("status", Value::Text(exit.status.clone()));
        match exit.at_ns {
            Some(at_ns) => finding.with("at_ns", Value::At(at_ns)),
            None => finding.with("before", Value::Text("before the load".to_owned())),
        }
    })
}

fn mix(summary: &Summary) -> impl Iterator<Item = Finding> {
    summary.shares.iter().filter(|share| !share.is_kept()).map(|share| {
        Finding::about(Subject::Operations(share.name.clone()), Code::MixMissed)
            .with("percent", Value::Percent(share.percent))
            .with("least_percent", Value::PercentSet(share.least_percent))
            .with("chance_percent", Value::Percent(share.chance_percent))
    })
}

fn latency_limits<'a>(measured: &'a Measured<'_>) -> impl Iterator<Item = Finding> + 'a {
    rules::missed_limits(measured).map(|(limit, seen_ns)| {
        Finding::about(Subject::Operations(limit.name.clone()), Code::LatencyLimitMissed)
            .with("percentile", Value::Percentile(limit.percentile))
            .with("seen_ns", Value::Nanos(seen_ns))
            .with("most_ns", Value::Nanos(limit.most_ns))
    })
}

fn remarks<'a>(measured: &'a Measured<'_>) -> impl Iterator<Item = Finding> + 'a {
    let of_rules = measured.rules.remarks.iter().map(String::as_str);
    of_rules.chain(measured.data_remarks.iter().copied()).map(|remark| {
        Finding::new(Code::WorkloadRemark).with("text", Value::Text(remark.to_owned()))
    })
}

fn damage(measured: &Measured<'_>) -> Option<Finding> {
    Some(measured.damage?.add_to(Finding::new(Code::Damaged)))
}

impl DamagedFile<'_> {
    fn add_to(self, finding: Finding) -> Finding {
        let finding = finding.with("file", Value::Text(self.file.to_owned()));
        let finding = match self.line {
            0 => finding,
            line => finding.with("line", Value::Small(line as u64)),
        };
        finding.with("reason", Value::Text(self.what.to_owned()))
    }
}

fn ending(measured: &Measured<'_>) -> Option<Finding> {
    let code = match measured.status {
        Some(TrialStatus::Complete) => return None,
        Some(TrialStatus::Interrupted) => Code::Interrupted,
        Some(TrialStatus::Failed(_)) if measured.failed_phase == Some(Phase::Verify) => {
            Code::DataNotVerified
        }
        Some(TrialStatus::Failed(_)) => Code::Failed,
        Some(TrialStatus::Crashed(_)) => Code::Crashed,
        // The end may be in what is damaged.
        None if measured.damage.is_some() => return None,
        None => Code::Cut,
    };
    let reason = measured.status.and_then(TrialStatus::reason);
    let finding = Finding::new(code);
    Some(match reason {
        Some(reason) => finding.with("reason", Value::Text(reason.to_owned())),
        None => finding,
    })
}

/// The total of all outages, and where the longest one lies.
fn outages(measured: &Measured<'_>) -> Option<Finding> {
    let length = |outage: &Outage| outage.length_ns(measured.load_end_ns);
    let away = || measured.outages.iter().filter(|outage| outage.is_away());
    let longest = away().max_by_key(|outage| length(outage))?;
    let reconnects = sum(away().map(|outage| outage.reconnects));
    let count = away().count() as u64;
    let mut finding = Finding::new(Code::Outages)
        .with("outages", Value::Small(count))
        .with("total_ns", Value::Nanos(sum(away().map(length))))
        .with("from_ns", Value::Nanos(longest.start_ns));
    if let Some(to_ns) = longest.end_ns {
        finding = finding.with("to_ns", Value::Nanos(to_ns));
    }
    if let Some(open) = away().find(|outage| outage.end_ns.is_none()) {
        finding = finding
            .with("more", Value::Text("or more".to_owned()))
            .with("open_ns", Value::Nanos(open.start_ns));
    }
    if count > 1 {
        finding = finding.with("longest_ns", Value::Nanos(length(longest)));
    }
    if away().any(|outage| outage.failures > 0) {
        finding = finding.with("reconnects", Value::Count(reconnects));
    }
    Some(finding)
}

/// Connections that broke while others were answered.
fn connections_lost(measured: &Measured<'_>) -> Option<Finding> {
    let lost = || measured.outages.iter().filter(|outage| !outage.is_away());
    let connections = sum(lost().map(|outage| outage.failures));
    (connections > 0).then(|| {
        Finding::new(Code::ConnectionsLost)
            .with("connections", Value::Count(connections))
            .with("reconnects", Value::Count(sum(lost().map(|outage| outage.reconnects))))
    })
}

fn has_lost_connections(measured: &Measured<'_>) -> bool {
    measured.outages.iter().any(|outage| outage.failures > 0)
}

/// Connections that the server had closed when their client had the next transaction.
fn idle_connections_closed(measured: &Measured<'_>) -> Option<Finding> {
    let closed = measured.total.idle_reconnects;
    (closed > 0)
        .then(|| Finding::new(Code::IdleConnectionsClosed).with("reconnects", Value::Count(closed)))
}

fn clients_lost(measured: &Measured<'_>) -> Option<Finding> {
    let (left, clients) = (measured.clients_lost, measured.clients);
    let code = if left == clients { Code::EveryClientLeft } else { Code::ClientsLeft };
    (left > 0).then(|| {
        Finding::new(code)
            .with("left", Value::Small(left as u64))
            .with("clients", Value::Small(clients as u64))
    })
}

fn failures(summary: &Summary) -> Option<Finding> {
    let transactions = summary.failed_transactions + summary.edges.failed_after;
    (transactions > 0).then(|| {
        Finding::new(Code::Failures)
            .with("transactions", Value::Count(transactions))
            .with("rate", Value::Part(summary.failure_rate))
    })
}

fn retries(summary: &Summary) -> Option<Finding> {
    let retries = summary.retries;
    let ended = (summary.transactions + summary.failed_transactions).max(1);
    let per_transaction = retries as f64 / ended as f64;
    (retries > 0).then(|| {
        Finding::new(Code::Retries)
            .with("retries", Value::Count(retries))
            .with("per_transaction", Value::Number(per_transaction))
    })
}

/// Clients without a connection and clients that left are in no transaction, so the law does not apply when
/// connections, clients or generators were lost.
fn littles_law(measured: &Measured<'_>, summary: &Summary) -> Option<Finding> {
    let has_lost_generators = measured.generators.iter().any(|part| part.lost.is_some());
    if has_lost_connections(measured) || measured.clients_lost > 0 || has_lost_generators {
        return None;
    }
    let law = summary.littles_law.filter(|law| law.mismatch.abs() > LITTLES_LAW_MAX)?;
    let finding = Finding::new(Code::LittlesLaw)
        .with("accounted_for", Value::Number(law.accounted_for))
        .with("clients", Value::Small(law.clients as u64));
    Some(finding.with("mismatch", Value::Change(law.mismatch)))
}

/// In an open loop clients take turns at the arrivals, so their shares have no meaning. Clients that are served
/// alike differ by chance, as renewal processes do, and by the transaction that is cut off at the end. Each generator's
/// clients are compared with each other; [`generators::uneven`] compares the generators.
fn unfairness(measured: &Measured<'_>, summary: &Summary) -> Vec<Finding> {
    if measured.open.is_some() {
        return Vec::new();
    }
    let unfair = |one: &GeneratorPart<'_>, figures: &GeneratorFigures| {
        let fairness = figures.fairness?;
        let variation = fairness.variation();
        if variation <= UNFAIRNESS_MAX {
            return None;
        }
        let clients = one.client_events.len();
        let chance =
            client_dispersion(measured) / fairness.mean * squares_max(clients) / clients as f64;
        let cut_off = 0.5 / fairness.mean;
        (variation.powi(2) > UNFAIRNESS_MAX.powi(2) + chance + cut_off.powi(2)).then(|| {
            Finding::about(subject(one), Code::Unfair).with("variation", Value::Part(variation))
        })
    };
    let each = measured.each_generator();
    each.iter().zip(&summary.generators).filter_map(|(one, it)| unfair(one, it)).collect()
}

/// A generator, where there are several; otherwise the trial.
fn subject(one: &GeneratorPart<'_>) -> Subject {
    if one.name.is_empty() { Subject::Trial } else { Subject::Generator(one.name.to_owned()) }
}

/// A rate that changes makes figures drift on purpose.
fn drift(measured: &Measured<'_>, trend: Option<Trend>, code: Code) -> Option<Finding> {
    if measured.open.is_some_and(|offered| !offered.is_constant) {
        return None;
    }
    let trend = trend.filter(|trend| trend.is_significant && trend.change.abs() > TREND_MAX)?;
    Some(Finding::new(code).with("change", Value::Change(trend.change)))
}

fn unsteadiness(measured: &Measured<'_>, summary: &Summary) -> Option<Finding> {
    let variation = summary.throughput_variation.filter(|variation| *variation > VARIATION_MAX)?;
    let allowed = VARIATION_MAX.hypot(schedule::variation(measured, summary)?);
    (variation > allowed)
        .then(|| Finding::new(Code::Unsteady).with("variation", Value::Part(variation)))
}

/// Clients that have waited for long for an answer that did not come.
fn stuck(measured: &Measured<'_>) -> Option<Finding> {
    let stuck = &measured.edges.stuck;
    let mut finding = Finding::new(Code::StuckClients)
        .with("stuck", Value::Small(stuck.clients.min(measured.clients as u64)))
        .with("clients", Value::Small(measured.clients as u64))
        .with("age_ns", Value::Nanos(stuck.age_ns));
    let mut operations = measured.operations.iter();
    let mut transactions = operations.by_ref().filter(|it| it.kind == OperationKind::Transaction);
    let only = transactions.next().filter(|_| transactions.next().is_none());
    let statement = match stuck.statement.as_str() {
        "" => only.map(|it| it.name.clone()),
        statement => Some(statement.to_owned()),
    };
    if let Some(statement) = statement {
        finding = finding.with("statement", Value::Text(statement));
    }
    if stuck.since_before > 0 {
        finding = finding.with("since_before", Value::Small(stuck.since_before));
    }
    (!stuck.is_empty()).then_some(finding)
}

fn unfinished(measured: &Measured<'_>) -> Option<Finding> {
    let edges = measured.edges;
    let (requests, unsent) = (edges.unanswered.count(), edges.unsent.count());
    let oldest_ns = edges.ages().max_ns();
    let due = measured.total.transactions + measured.total.failed_transactions + unsent;
    // Of random arrivals some come just before the window ends, and wait for a client then.
    let is_more_than_ends = unsent as f64 > UNSENT_SHARE_MAX * due as f64;
    (requests > 0 || is_more_than_ends).then(|| {
        Finding::new(Code::Unfinished)
            .with("requests", Value::Count(requests))
            .with("unsent", Value::Count(unsent))
            .with("oldest_ns", Value::Nanos(oldest_ns))
    })
}

fn short_window(summary: &Summary) -> Option<Finding> {
    let is_short = summary.seconds > 0.0 && summary.seconds < WINDOW_MIN_S;
    let length_ns = (summary.seconds * 1e9) as measure::Nanos;
    is_short.then(|| Finding::new(Code::ShortWindow).with("length_ns", Value::Nanos(length_ns)))
}

/// The lowest percentile that is known only from below. Of a transaction that was never answered the age is known, of
/// one that timed out the time at which it was given up: its latency is so long or longer.
fn censored(measured: &Measured<'_>) -> Option<Finding> {
    let edges = measured.edges;
    let (mut ended, mut unknown) = (LatencyHistogram::new(), edges.ages());
    let mut tallies = measured.total.operations.iter().chain(&edges.drain.operations);
    if unknown.is_empty() && tallies.all(|tally| tally.timed_out.is_empty()) {
        return None;
    }
    let due = edges.due(measured.total);
    let tallies = measured.operations.iter().zip(&due);
    for (_, tally) in tallies.filter(|(it, _)| it.kind == OperationKind::Transaction) {
        ended.merge(&tally.succeeded);
        unknown.merge(&tally.timed_out);
    }
    let bounds = bounded_latency(&ended, &unknown, measured.percentiles).percentiles.into_iter();
    let from_below = bounds.filter(|(_, bounds)| !bounds.is_near());
    let (percentile, bounds) = from_below.min_by(|one, other| one.0.total_cmp(&other.0))?;
    (!unknown.is_empty()).then(|| {
        Finding::new(Code::CensoredPercentiles)
            .with("percentile", Value::Percentile(percentile))
            .with("at_least_ns", Value::Nanos(bounds.least_ns))
            .with("transactions", Value::Count(unknown.count()))
    })
}

/// Of the trial's transactions, and of each operation that has fewer values than these. A load of a set of operations
/// has as many values as the set, whatever percentiles are asked for.
fn few_values(measured: &Measured<'_>, summary: &Summary) -> Vec<Finding> {
    let is_set = rules::is_set_of_operations(measured.rules);
    let of_all = few_values_of(&summary.latency, Subject::Trial).map(|finding| {
        let percentile = finding.value("percentile");
        let is_usual =
            matches!(percentile, Some(Value::Percentile(it)) if *it <= USUAL_PERCENTILE_MAX);
        let code = if is_usual && !is_set { Code::TooFewValues } else { finding.code };
        Finding { code, ..finding }
    });
    let operations = summary.operations.iter();
    let rarer = operations.filter(|operation| operation.latency.count < summary.latency.count);
    let of_operation = |operation: &OperationSummary| {
        few_values_of(&operation.latency, Subject::Operations(operation.name.clone()))
    };
    of_all.into_iter().chain(rarer.filter_map(of_operation)).collect()
}

fn few_values_of(latency: &Latency, subject: Subject) -> Option<Finding> {
    let too_few = |percentile: f64| {
        let above = latency.count as f64 * (100.0 - percentile) / 100.0;
        percentile < 100.0 && above < VALUES_ABOVE_MIN * (1.0 - 1e-9)
    };
    let percentiles = latency.percentiles.iter().map(|(percentile, _)| *percentile);
    let percentile =
        percentiles.filter(|percentile| too_few(*percentile)).min_by(f64::total_cmp)?;
    (latency.count > 0).then(|| {
        Finding::about(subject, Code::FewValues)
            .with("percentile", Value::Percentile(percentile))
            .with("values", Value::Count(latency.count))
    })
}

#[cfg(test)]
mod stationary;
#[cfg(test)]
mod tests;

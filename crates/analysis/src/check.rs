//! Checks that show how far a trial or a run can be trusted.

mod run;
mod schedule;
mod spread;
mod watched;

use measure::{ErrorClass, ErrorKey, Outage, TrialStatus};

use crate::{Code, Finding, Measured, Subject, Summary, Value};
pub use run::{RunFacts, check_run};

/// From this part of its available CPU on, the load generator may limit throughput.
const CLIENT_CPU_MAX: f64 = 0.9;
/// A larger mismatch in Little's law means that some load is missing from the figures.
const LITTLES_LAW_MAX: f64 = 0.05;
/// Above this variation between clients, they are not served evenly.
const UNFAIRNESS_MAX: f64 = 0.1;
/// A larger drift of throughput within the window means that it had not settled.
const TREND_MAX: f64 = 0.1;
/// Above this variation, the throughput of intervals has dips that a mean hides.
const VARIATION_MAX: f64 = 0.2;
/// A percentile with fewer values above it than this depends mostly on chance.
const VALUES_ABOVE_MIN: f64 = 10.0;

/// Every finding that weakens the figures of a trial. `summary` is that of `measured`.
pub fn check(measured: &Measured<'_>, summary: &Summary) -> Vec<Finding> {
    let figures = [
        ending(measured),
        (summary.transactions == 0).then(|| Finding::new(Code::NothingMeasured)),
        outages(measured),
        clients_lost(measured),
        failures(summary),
        saturation(measured, summary),
        schedule::rate_missed(measured, summary),
        schedule::lateness(summary),
        littles_law(measured, summary),
        unfairness(measured, summary),
        drift(measured, summary),
        unsteadiness(measured, summary),
        other_statements(measured),
        unfinished(measured),
        retries(summary),
        few_values(summary),
    ];
    let mut all = conditions(measured);
    all.extend(figures.into_iter().flatten());
    all.extend(mix(summary));
    all.extend(watched::check(measured));
    all
}

fn conditions(measured: &Measured<'_>) -> Vec<Finding> {
    let broken = measured.conditions.iter().filter_map(|condition| {
        let place = Value::Text(condition.broken()?.to_owned());
        let subject = Subject::Condition(condition.name.clone());
        Some(Finding::about(subject, Code::ConditionBroken).with("place", place))
    });
    broken.collect()
}

fn mix(summary: &Summary) -> impl Iterator<Item = Finding> {
    summary.shares.iter().filter(|share| !share.is_kept()).map(|share| {
        Finding::about(Subject::Operations(share.name.clone()), Code::MixMissed)
            .with("percent", Value::Percent(share.percent))
            .with("least_percent", Value::PercentSet(share.least_percent))
            .with("chance_percent", Value::Percent(share.chance_percent))
    })
}

fn ending(measured: &Measured<'_>) -> Option<Finding> {
    let code = match measured.status {
        Some(TrialStatus::Complete) => return None,
        Some(TrialStatus::Interrupted) => Code::Interrupted,
        Some(TrialStatus::Failed(_)) => Code::Failed,
        Some(TrialStatus::Crashed(_)) => Code::Crashed,
        None => Code::Cut,
    };
    let reason = measured.status.and_then(TrialStatus::reason);
    let finding = Finding::new(code);
    Some(match reason {
        Some(reason) => finding.with("reason", Value::Text(reason.to_owned())),
        None => finding,
    })
}

/// With several outages, the longest is given too.
fn outages(measured: &Measured<'_>) -> Option<Finding> {
    let lengths = || measured.outages.iter().map(|one| one.length_ns(measured.load_end_ns));
    let longest_ns = lengths().max()?;
    let reconnects = measured.outages.iter().map(|outage: &Outage| outage.reconnects).sum();
    let count = measured.outages.len() as u64;
    let mut finding = Finding::new(Code::Outages)
        .with("outages", Value::Small(count))
        .with("total_ns", Value::Nanos(lengths().sum()))
        .with("reconnects", Value::Count(reconnects));
    if count > 1 {
        finding = finding.with("longest_ns", Value::Nanos(longest_ns));
    }
    Some(finding)
}

/// A statement whose answer dyno did not see may have run or not. The server's count may be higher by one for
/// each transaction that was unanswered at the end. It may be lower by one for each that was lost, and for each
/// that the server refused before it ran, such as a write on a read-only server. A client that reconnects sends
/// more than its load, so the check is skipped after an outage.
fn other_statements(measured: &Measured<'_>) -> Option<Finding> {
    let difference = measured.server_difference.filter(|_| measured.outages.is_empty())?;
    let clamp = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let may_not_have_run = |key: &ErrorKey| {
        matches!(key.class, ErrorClass::Timeout | ErrorClass::Connection | ErrorClass::Server)
    };
    let errors = measured.total.errors.iter().filter(|(key, _)| may_not_have_run(key));
    let fewer = errors.map(|(_, counts)| counts.total()).sum();
    let unseen = -clamp(fewer)..=clamp(measured.unfinished.unanswered);
    let code = if difference > 0 { Code::OtherStatements } else { Code::FewerStatements };
    (!unseen.contains(&difference))
        .then(|| Finding::new(code).with("difference", Value::Difference(difference)))
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
    let transactions = summary.failed_transactions;
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

/// An embedded system shares the process, so a busy process is the intended state.
fn saturation(measured: &Measured<'_>, summary: &Summary) -> Option<Finding> {
    let usage = measured.usage.filter(|_| !measured.is_embedded)?;
    let used = summary.client_cpu_threads?;
    let is_near = used >= CLIENT_CPU_MAX * usage.threads as f64;
    is_near.then(|| {
        Finding::new(Code::ClientSaturated)
            .with("used_threads", Value::Number(used))
            .with("usable_threads", Value::Small(usage.threads as u64))
    })
}

/// Clients without a connection and clients that left are in no transaction, so the law does not apply after
/// outages or lost clients.
fn littles_law(measured: &Measured<'_>, summary: &Summary) -> Option<Finding> {
    if !measured.outages.is_empty() || measured.clients_lost > 0 {
        return None;
    }
    let law = summary.littles_law.filter(|law| law.mismatch.abs() > LITTLES_LAW_MAX)?;
    let finding = Finding::new(Code::LittlesLaw)
        .with("accounted_for", Value::Number(law.accounted_for))
        .with("clients", Value::Small(law.clients as u64));
    Some(finding.with("mismatch", Value::Change(law.mismatch)))
}

/// In an open loop clients take turns at the arrivals, so their shares have no meaning.
fn unfairness(measured: &Measured<'_>, summary: &Summary) -> Option<Finding> {
    if measured.open.is_some() {
        return None;
    }
    let variation = summary.fairness?.variation();
    (variation > UNFAIRNESS_MAX)
        .then(|| Finding::new(Code::Unfair).with("variation", Value::Part(variation)))
}

/// A rate that changes makes throughput drift on purpose.
fn drift(measured: &Measured<'_>, summary: &Summary) -> Option<Finding> {
    if measured.open.is_some_and(|offered| !offered.is_constant) {
        return None;
    }
    let trend = summary.throughput_trend?;
    let is_drift = trend.is_significant && trend.change.abs() > TREND_MAX;
    is_drift.then(|| Finding::new(Code::Trend).with("change", Value::Change(trend.change)))
}

/// Throughput that drifts is reported as a drift only.
fn unsteadiness(measured: &Measured<'_>, summary: &Summary) -> Option<Finding> {
    let allowed = VARIATION_MAX.hypot(schedule::variation(measured));
    let variation = summary.throughput_variation.filter(|variation| *variation > allowed)?;
    drift(measured, summary)
        .is_none()
        .then(|| Finding::new(Code::Unsteady).with("variation", Value::Part(variation)))
}

fn unfinished(measured: &Measured<'_>) -> Option<Finding> {
    let requests = measured.unfinished.unanswered;
    let oldest_ns = measured.unfinished.longest_ns();
    (requests > 0).then(|| {
        Finding::new(Code::Unfinished)
            .with("requests", Value::Count(requests))
            .with("oldest_ns", Value::Nanos(oldest_ns))
    })
}

fn few_values(summary: &Summary) -> Option<Finding> {
    let values = summary.latency.count;
    let too_few = |percentile: f64| {
        let above = values as f64 * (100.0 - percentile) / 100.0;
        percentile < 100.0 && above < VALUES_ABOVE_MIN * (1.0 - 1e-9)
    };
    let percentiles = summary.latency.percentiles.iter().map(|(percentile, _)| *percentile);
    let percentile =
        percentiles.filter(|percentile| too_few(*percentile)).min_by(f64::total_cmp)?;
    (values > 0).then(|| {
        Finding::new(Code::FewValues)
            .with("percentile", Value::Percentile(percentile))
            .with("values", Value::Count(values))
    })
}

#[cfg(test)]
mod tests;

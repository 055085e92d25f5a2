//! What a reader must know before trusting a trial.

use measure::{ErrorClass, ErrorKey, Nanos, Outage};

use crate::{Ended, Measured, Summary, open_loop};

/// From this part of the CPU on that the load generator could use, it may be what limits throughput.
const CLIENT_CPU_MAX: f64 = 0.9;
/// More mismatch than this in Little's law means that load was lost somewhere.
const LITTLES_LAW_MAX: f64 = 0.05;
/// Clients whose shares differ by more than this are not served evenly.
const UNFAIRNESS_MAX: f64 = 0.1;
/// A drift of throughput by more than this within the window means that it had not settled.
const TREND_MAX: f64 = 0.1;
/// Throughput of intervals that varies by more than this has dips that a mean hides.
const VARIATION_MAX: f64 = 0.2;
/// A percentile that rests on fewer values above it than this is mostly luck.
const VALUES_ABOVE_MIN: f64 = 10.0;

/// Something that weakens what a trial says.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// It could not go on.
    Failed,
    /// The server that was started for it ended while it ran.
    Crashed,
    /// Clients had lost the system for a while.
    Outages {
        /// How often.
        count: usize,
        /// For how long together, ns.
        total_ns: Nanos,
        /// How long at most, ns.
        longest_ns: Nanos,
        /// Connections that were made again.
        reconnects: u64,
    },
    /// dyno or the machine went down while it ran.
    Cut,
    /// Someone asked for its end.
    Interrupted,
    /// Nothing succeeded.
    NothingMeasured,
    /// Clients left early, and the rest had the server to themselves.
    ClientsLost {
        /// How many left.
        lost: usize,
        /// Of how many.
        clients: usize,
    },
    /// Transactions were given up.
    Failures {
        /// How many.
        transactions: u64,
        /// As a part of all that ended.
        rate: f64,
    },
    /// Transactions were tried again; their latency includes every try.
    Retries {
        /// How many tries.
        retries: u64,
        /// For each transaction that ended.
        per_transaction: f64,
    },
    /// The load generator was nearly out of CPU, so the figures may be its own limit.
    ClientSaturated {
        /// Hardware threads it kept busy.
        used: f64,
        /// Hardware threads it could have kept busy.
        usable: usize,
    },
    /// Less was answered than was offered in an open loop.
    RateMissed {
        /// Arrivals a second.
        offered_per_s: f64,
        /// Transactions that ended, a second.
        achieved_per_s: f64,
    },
    /// The load generator did not keep to its schedule, so that latencies are partly its own.
    GeneratorLate {
        /// 99 % of the transactions that a free client waited for started no later than this, ns.
        p99_ns: Nanos,
    },
    /// Throughput and latency do not account for the clients that were there.
    LittlesLaw {
        /// Clients accounted for.
        accounted_for: f64,
        /// Clients that were there.
        clients: usize,
        /// The difference as a part of the clients.
        mismatch: f64,
    },
    /// A condition on the data did not hold after the load.
    ConditionBroken {
        /// Its name.
        name: String,
        /// Where.
        place: String,
    },
    /// The workload did not keep the mix that it must keep.
    MixMissed {
        /// The operations that had too small a share.
        name: String,
        /// Their share, percent.
        percent: f64,
        /// What is required, percent.
        least_percent: f64,
        /// Standard deviation that chance alone gives such a share over as many transactions, percent.
        chance_percent: f64,
    },
    /// Clients were not served evenly.
    Unfair {
        /// Standard deviation over clients as a part of the mean.
        variation: f64,
    },
    /// Throughput drifted within the window.
    Trend {
        /// From the beginning to the end, as a part of the mean.
        change: f64,
    },
    /// Throughput went up and down.
    Unsteady {
        /// Standard deviation over intervals as a part of the mean.
        variation: f64,
    },
    /// The server counted other statements than dyno sent.
    OtherStatements {
        /// How many more; negative when fewer.
        difference: i64,
    },
    /// Requests were never answered: they count at the time that they had waited, and would have taken
    /// longer.
    Unfinished {
        /// How many.
        requests: u64,
        /// How long the oldest had waited, ns.
        oldest_ns: Nanos,
    },
    /// A percentile rests on very few values.
    FewValues {
        /// The lowest such percentile.
        percentile: f64,
        /// How many values there are in all.
        values: u64,
    },
}

/// Everything that weakens what a trial says, the gravest first. `summary` is that of `measured`.
pub fn check(measured: &Measured<'_>, summary: &Summary) -> Vec<Finding> {
    let broken = measured.conditions.iter().filter_map(|condition| {
        let place = condition.broken()?.to_owned();
        Some(Finding::ConditionBroken { name: condition.name.clone(), place })
    });
    let missed = summary.shares.iter().filter(|share| !share.is_kept());
    let mix = missed.map(|share| Finding::MixMissed {
        name: share.name.clone(),
        percent: share.percent,
        least_percent: share.least_percent,
        chance_percent: share.chance_percent,
    });
    broken.chain(of_figures(measured, summary)).chain(mix).collect()
}

fn of_figures(measured: &Measured<'_>, summary: &Summary) -> impl Iterator<Item = Finding> {
    [
        ending(measured),
        (summary.transactions == 0).then_some(Finding::NothingMeasured),
        outages(measured),
        clients_lost(measured),
        failures(summary),
        saturation(measured, summary),
        open_loop::rate_missed(measured, summary),
        open_loop::lateness(summary),
        littles_law(measured, summary),
        unfairness(measured, summary),
        drift(measured, summary),
        unsteadiness(measured, summary),
        other_statements(measured),
        unfinished(measured),
        retries(summary),
        few_values(summary),
    ]
    .into_iter()
    .flatten()
}

fn ending(measured: &Measured<'_>) -> Option<Finding> {
    match measured.ended {
        Ended::Complete => None,
        Ended::Interrupted => Some(Finding::Interrupted),
        Ended::Failed => Some(Finding::Failed),
        Ended::Crashed => Some(Finding::Crashed),
        Ended::Cut => Some(Finding::Cut),
    }
}

fn outages(measured: &Measured<'_>) -> Option<Finding> {
    let lengths = || measured.outages.iter().map(|one| one.length_ns(measured.load_end_ns));
    Some(Finding::Outages {
        count: measured.outages.len(),
        total_ns: lengths().sum(),
        longest_ns: lengths().max()?,
        reconnects: measured.outages.iter().map(|outage: &Outage| outage.reconnects).sum(),
    })
}

/// Statements whose answer dyno did not see may have run or not: one for each transaction that was
/// unanswered at the end makes the server's count higher, one for each that was lost makes it lower, and
/// so does one that the server refused before it ran, as a write when it is read-only.
/// Who connects again sends more than its load, so that after an outage nothing can be said.
fn other_statements(measured: &Measured<'_>) -> Option<Finding> {
    let difference = measured.server_difference.filter(|_| measured.outages.is_empty())?;
    let clamp = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let may_not_have_run = |key: &ErrorKey| {
        matches!(key.class, ErrorClass::Timeout | ErrorClass::Connection | ErrorClass::Server)
    };
    let errors = measured.total.errors.iter().filter(|(key, _)| may_not_have_run(key));
    let fewer = errors.map(|(_, counts)| counts.total()).sum();
    let unseen = -clamp(fewer)..=clamp(measured.unfinished.unanswered);
    (!unseen.contains(&difference)).then_some(Finding::OtherStatements { difference })
}

fn clients_lost(measured: &Measured<'_>) -> Option<Finding> {
    let lost = measured.clients_lost;
    (lost > 0).then_some(Finding::ClientsLost { lost, clients: measured.clients })
}

fn failures(summary: &Summary) -> Option<Finding> {
    let transactions = summary.failed_transactions;
    let rate = summary.failure_rate;
    (transactions > 0).then_some(Finding::Failures { transactions, rate })
}

fn retries(summary: &Summary) -> Option<Finding> {
    let retries = summary.retries;
    let ended = (summary.transactions + summary.failed_transactions).max(1);
    let per_transaction = retries as f64 / ended as f64;
    (retries > 0).then_some(Finding::Retries { retries, per_transaction })
}

/// An embedded system shares the process, so that a busy process is what one wants to see.
fn saturation(measured: &Measured<'_>, summary: &Summary) -> Option<Finding> {
    let usage = measured.usage.filter(|usage| !usage.is_embedded)?;
    let used = summary.client_cpu_threads?;
    let is_near = used >= CLIENT_CPU_MAX * usage.threads as f64;
    is_near.then_some(Finding::ClientSaturated { used, usable: usage.threads })
}

/// Clients without a connection are in no transaction, nor are those that left: that they were away
/// accounts for them.
fn littles_law(measured: &Measured<'_>, summary: &Summary) -> Option<Finding> {
    if !measured.outages.is_empty() || measured.clients_lost > 0 {
        return None;
    }
    let law = summary.littles_law.filter(|law| law.mismatch.abs() > LITTLES_LAW_MAX)?;
    Some(Finding::LittlesLaw {
        accounted_for: law.accounted_for,
        clients: law.clients,
        mismatch: law.mismatch,
    })
}

/// In an open loop clients take turns at the arrivals; how many each had says nothing.
fn unfairness(measured: &Measured<'_>, summary: &Summary) -> Option<Finding> {
    if measured.open.is_some() {
        return None;
    }
    let variation = summary.fairness?.variation();
    (variation > UNFAIRNESS_MAX).then_some(Finding::Unfair { variation })
}

/// A rate that changes is meant to drift.
fn drift(measured: &Measured<'_>, summary: &Summary) -> Option<Finding> {
    if measured.open.is_some_and(|offered| !offered.is_constant) {
        return None;
    }
    let trend = summary.throughput_trend?;
    let is_drift = trend.is_significant && trend.change.abs() > TREND_MAX;
    is_drift.then_some(Finding::Trend { change: trend.change })
}

/// A drift is named as such and not twice.
fn unsteadiness(measured: &Measured<'_>, summary: &Summary) -> Option<Finding> {
    let allowed = VARIATION_MAX.hypot(open_loop::variation_of_schedule(measured));
    let variation = summary.throughput_variation.filter(|variation| *variation > allowed)?;
    drift(measured, summary).is_none().then_some(Finding::Unsteady { variation })
}

fn unfinished(measured: &Measured<'_>) -> Option<Finding> {
    let requests = measured.unfinished.unanswered;
    let oldest_ns = measured.unfinished.longest_ns();
    (requests > 0).then_some(Finding::Unfinished { requests, oldest_ns })
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
    (values > 0).then_some(Finding::FewValues { percentile, values })
}

#[cfg(test)]
mod tests {
    use measure::{Disposition, LatencyHistogram, Unfinished};

    use super::*;
    use crate::summary::tests::seconds_of;
    use crate::{Usage, summarize};

    fn findings_of(change: impl Fn(&mut Measured<'_>), transactions: &[u64]) -> Vec<Finding> {
        let trial = seconds_of(transactions);
        let mut input = trial.measured();
        input.percentiles = &[50.0];
        change(&mut input);
        check(&input, &summarize(&input))
    }

    #[test]
    fn a_sound_trial_has_no_findings() {
        assert_eq!(findings_of(|_| {}, &[20, 20, 20]), []);
    }

    #[test]
    fn each_weakness_is_found() {
        let level = [20, 20, 20];
        let found = findings_of(|input| input.ended = Ended::Interrupted, &level);
        assert_eq!(found, [Finding::Interrupted]);
        let found = findings_of(|input| input.clients_lost = 1, &level);
        assert_eq!(found, [Finding::ClientsLost { lost: 1, clients: 2 }]);
        let three = Unfinished { latencies: LatencyHistogram::new(), unanswered: 3 };
        let trial = seconds_of(&level);
        let mut input = Measured { unfinished: &three, percentiles: &[50.0], ..trial.measured() };
        input.usage = None;
        let found = check(&input, &summarize(&input));
        assert_eq!(found, [Finding::Unfinished { requests: 3, oldest_ns: 0 }]);
        let found = findings_of(|input| input.client_events = &[10, 30], &level);
        assert_eq!(found, [Finding::Unfair { variation: 0.5 }]);
        let found = findings_of(|input| input.clients = 4, &level);
        assert!(
            matches!(found[..], [Finding::LittlesLaw { mismatch, .. }] if mismatch == -0.5),
            "{found:?}"
        );
        let found = findings_of(|input| input.percentiles = &[50.0, 99.0, 99.9], &level);
        assert_eq!(found, [Finding::FewValues { percentile: 99.0, values: 60 }]);
    }

    #[test]
    fn an_outage_is_told_and_accounts_for_idle_clients() {
        let outages = [
            Outage { start_ns: 10, end_ns: Some(40), failures: 2, reconnects: 2 },
            Outage { start_ns: 90, end_ns: None, failures: 2, reconnects: 1 },
        ];
        let trial = seconds_of(&[20, 20, 20]);
        let input = Measured {
            outages: &outages,
            load_end_ns: 100,
            clients: 4,
            percentiles: &[50.0],
            ..trial.measured()
        };
        let told = Finding::Outages { count: 2, total_ns: 40, longest_ns: 30, reconnects: 3 };
        assert_eq!(check(&input, &summarize(&input)), [told]);
    }

    #[test]
    fn what_the_server_counted_besides_is_found_unless_it_is_accounted_for() {
        let level = [20, 20, 20];
        let found = findings_of(|input| input.server_difference = Some(0), &level);
        assert_eq!(found, []);
        for difference in [1, -1] {
            let found = findings_of(|input| input.server_difference = Some(difference), &level);
            assert_eq!(found, [Finding::OtherStatements { difference }]);
        }
        let one = Unfinished { latencies: LatencyHistogram::new(), unanswered: 1 };
        let trial = seconds_of(&level);
        let input = Measured {
            unfinished: &one,
            percentiles: &[50.0],
            server_difference: Some(1),
            ..trial.measured()
        };
        let found = check(&input, &summarize(&input));
        assert_eq!(found, [Finding::Unfinished { requests: 1, oldest_ns: 0 }]);
    }

    #[test]
    fn statements_that_the_server_refused_need_not_be_in_its_counters() {
        let mut trial = seconds_of(&[20, 20, 20]);
        let refused = ErrorKey::new(ErrorClass::Server, "1290");
        (0..3).for_each(|_| trial.total.error(&refused, Disposition::Ignored));
        let of_difference = |difference| {
            let input = Measured {
                percentiles: &[50.0],
                server_difference: Some(difference),
                ..trial.measured()
            };
            check(&input, &summarize(&input))
        };
        assert_eq!(of_difference(-3), []);
        assert_eq!(of_difference(-4), [Finding::OtherStatements { difference: -4 }]);
        assert_eq!(of_difference(1), [Finding::OtherStatements { difference: 1 }]);
    }

    #[test]
    fn a_drift_is_named_once() {
        let found = findings_of(|_| {}, &[10, 14, 18, 22, 26, 30]);
        assert!(matches!(found[..], [Finding::Trend { change }] if change == 1.0), "{found:?}");
        let found = findings_of(|_| {}, &[10, 30, 10, 30, 10, 40]);
        assert!(found.iter().any(|finding| matches!(finding, Finding::Unsteady { .. })));
    }

    #[test]
    fn a_busy_client_is_found_unless_it_is_the_database_too() {
        let usage = Usage {
            user_ns: 2_000_000_000,
            system_ns: 800_000_000,
            switches: 1,
            threads: 1,
            is_embedded: false,
        };
        let found = findings_of(|input| input.usage = Some(usage), &[20, 20, 20]);
        assert!(matches!(found[..], [Finding::ClientSaturated { usable: 1, .. }]), "{found:?}");
        let embedded = Usage { is_embedded: true, ..usage };
        assert_eq!(findings_of(|input| input.usage = Some(embedded), &[20, 20, 20]), []);
    }

    #[test]
    fn nothing_measured_says_so_and_no_more() {
        let found = findings_of(|input| input.client_events = &[], &[0, 0, 0]);
        assert_eq!(found, [Finding::NothingMeasured]);
    }
}

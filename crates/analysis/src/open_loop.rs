//! The figures of an open loop: offered and achieved rate, service and response times, and the load generator's
//! lateness.

use measure::{OperationTally, of_transactions};

use crate::latency::{Latency, bounded_latency, latency, per};
use crate::measured::Measured;

#[derive(Clone, Debug, PartialEq)]
pub struct OpenSummary {
    /// Mean offered rate over the measured time as planned, arrivals a second.
    pub offered_per_s: f64,
    /// What really arrived, which chance sets when arrivals are random; `None` when nothing arrived.
    pub arrived_per_s: Option<f64>,
    /// Service times of the transactions that succeeded, from their actual start.
    pub service: Latency,
    /// Mean number of transactions in the system, including those that waited for a client: L of Little's law.
    pub in_system: f64,
    /// Start delay of transactions for which an idle client was waiting.
    pub lateness: Latency,
    /// Start delay of all transactions, the wait for a client included; of those that were never sent, their age.
    pub start_delays: Latency,
}

pub(crate) fn summarize(
    measured: &Measured<'_>,
    due: &[OperationTally],
    seconds: f64,
) -> Option<OpenSummary> {
    let offered = measured.open?;
    let service = of_transactions(measured.operations, due, |tally| &tally.service);
    Some(OpenSummary {
        offered_per_s: offered.rate_per_s,
        arrived_per_s: Some(measured.total.arrivals)
            .filter(|arrivals| *arrivals > 0)
            .map(|arrivals| per(arrivals as f64, seconds)),
        service: latency(&service, measured.percentiles),
        in_system: per(measured.busy_ns() / 1e9, seconds),
        lateness: latency(offered.lateness, &[99.0]),
        start_delays: bounded_latency(offered.start_delays, &measured.edges.unsent, &[99.0]),
    })
}

#[cfg(test)]
mod tests {
    use measure::{LatencyHistogram, OperationId};

    use super::*;
    use crate::summary::tests::seconds_of;
    use crate::{Code, Finding, Offered, Summary, Value, check};

    fn found(transactions: &[u64], offered: Offered<'_>) -> (Summary, Vec<Finding>) {
        let mut trial = seconds_of(transactions);
        for _ in 0..transactions.iter().sum() {
            trial.total.service(OperationId(0), 25_000_000);
        }
        let percentiles = &[50.0];
        let measured = Measured { open: Some(offered), percentiles, ..trial.measured() };
        let summary = crate::summarize(&measured);
        let findings = check(&measured, &summary);
        (summary, findings)
    }

    fn offered(rate_per_s: f64, lateness: &LatencyHistogram) -> Offered<'_> {
        let start_delays = lateness;
        Offered { rate_per_s, is_constant: true, is_random: false, lateness, start_delays }
    }

    #[test]
    fn service_and_response_times_stand_side_by_side() {
        let (summary, findings) = found(&[200, 200], offered(200.0, &LatencyHistogram::new()));
        assert_eq!(findings, []);
        assert_eq!(summary.littles_law, None);
        let open = summary.open.unwrap();
        assert_eq!(open.arrived_per_s, None, "nothing arrived");
        // 200 a second of 100 ms each: 20 in the system.
        assert!((open.in_system - 20.0).abs() < 1e-9, "{}", open.in_system);
        assert!((summary.latency.mean_ns / 1e8 - 1.0).abs() < 1e-3);
        assert!((open.service.mean_ns / 25e6 - 1.0).abs() < 1e-3);
        let service = summary.operations[0].service.as_ref().unwrap();
        assert_eq!(service.count, 400);
        assert_eq!(summary.operations[1].service, None);
    }

    #[test]
    fn missing_the_offered_rate_by_over_ten_percent_is_a_finding() {
        let none = LatencyHistogram::new();
        assert_eq!(found(&[190, 170], offered(200.0, &none)).1, []);
        let missed = &found(&[170, 170], offered(200.0, &none)).1[0];
        assert_eq!(missed.code, Code::RateMissed);
        assert_eq!(missed.value("offered_per_s"), Some(&Value::Number(200.0)));
        assert_eq!(missed.value("achieved_per_s"), Some(&Value::Number(170.0)));
        // A difference of 7 to 10 may be chance.
        let random = Offered { is_random: true, ..offered(10.0, &none) };
        let few = found(&[7], random).1;
        assert!(!few.iter().any(|finding| finding.code == Code::RateMissed));
    }

    #[test]
    fn a_late_load_generator_is_a_finding() {
        let mut lateness = LatencyHistogram::new();
        (0..98).for_each(|_| lateness.record(50_000));
        assert_eq!(found(&[200], offered(200.0, &lateness)).1, []);
        (0..2).for_each(|_| lateness.record(7_000_000));
        let found = found(&[200], offered(200.0, &lateness)).1;
        assert_eq!((found.len(), found[0].code), (1, Code::GeneratorLate), "{found:?}");
        let p99_ns = found[0].value("p99_ns");
        assert!(matches!(p99_ns, Some(Value::Nanos(7_000_000..))), "{found:?}");
    }

    #[test]
    fn variation_of_the_schedule_is_neither_drift_nor_unsteadiness() {
        let none = LatencyHistogram::new();
        let ramp: Vec<u64> = (1..=10).map(|second| second * 100).collect();
        let changing = Offered { is_constant: false, ..offered(550.0, &none) };
        assert_eq!(found(&ramp, changing).1, []);
        assert_ne!(found(&ramp, offered(550.0, &none)).1, []);
        // A Poisson process of 16 a second varies by a quarter by itself.
        let noisy = [20, 11, 16, 22, 13, 18, 10, 19];
        let random = Offered { is_random: true, ..offered(16.0, &none) };
        assert_eq!(found(&noisy, random).1, []);
        assert_ne!(found(&noisy, offered(16.0, &none)).1, []);
        // Every other second has one transaction.
        let is_unsteady = |transactions: &[u64], rate_per_s| {
            let found = found(transactions, offered(rate_per_s, &none)).1;
            found.iter().any(|finding| finding.code == Code::Unsteady)
        };
        assert!(!is_unsteady(&[1, 0, 1, 0], 0.5));
        assert!(!is_unsteady(&[0, 1], 0.5));
        assert!(is_unsteady(&[4, 0, 0, 0], 1.0));
    }
}

//! The figures of a path's ceiling.

use measure::{CeilingLoad, CeilingRound, Nanos, sum};

use crate::estimate::{Estimate, over_repetitions};

/// The figures of a ceiling with one number of requests in flight.
#[derive(Clone, Debug, PartialEq)]
pub struct CeilingSummary {
    /// Answered requests per second, over the rounds.
    pub requests_per_s: Estimate,
    /// Bytes sent per second, over all rounds together.
    pub sent_bytes_per_s: f64,
    /// Bytes received per second, over all rounds together.
    pub received_bytes_per_s: f64,
    /// CPU time of dyno for a request, us; `None` when not known in every round.
    pub client_us_per_request: Option<f64>,
    /// CPU time of the echo server for a request, us; `None` when not known in every round.
    pub server_us_per_request: Option<f64>,
}

/// Computes the figures; `None` when nothing was measured.
pub fn ceiling(load: &CeilingLoad) -> Option<CeilingSummary> {
    let rates: Vec<f64> =
        load.rounds.iter().map(|round| round.requests as f64 / seconds(round.length_ns)).collect();
    let total = |get: fn(&CeilingRound) -> u64| sum(load.rounds.iter().map(get)) as f64;
    let length_s = total(|round| round.length_ns) / 1e9;
    let requests = total(|round| round.requests);
    let cpu_us = |get: fn(&CeilingRound) -> Option<Nanos>| {
        let all: Option<Vec<u64>> = load.rounds.iter().map(get).collect();
        all.filter(|_| requests > 0.0).map(|cpu_ns| sum(cpu_ns) as f64 / 1e3 / requests)
    };
    Some(CeilingSummary {
        requests_per_s: over_repetitions(&rates)?,
        sent_bytes_per_s: total(|round| round.traffic.sent_bytes) / length_s,
        received_bytes_per_s: total(|round| round.traffic.received_bytes) / length_s,
        client_us_per_request: cpu_us(|round| round.client_cpu_ns),
        server_us_per_request: cpu_us(|round| round.server_cpu_ns),
    })
}

fn seconds(length_ns: Nanos) -> f64 {
    length_ns as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use measure::Traffic;

    use super::*;

    fn round(requests: u64, server_cpu_ns: Option<Nanos>) -> CeilingRound {
        CeilingRound {
            length_ns: 500_000_000,
            requests,
            traffic: Traffic { sent_bytes: requests * 122, received_bytes: requests * 27 },
            client_cpu_ns: Some(requests * 2_000),
            server_cpu_ns,
        }
    }

    fn load(rounds: Vec<CeilingRound>) -> CeilingLoad {
        CeilingLoad { in_flight: 16, rounds, round_trips: None }
    }

    #[test]
    fn rates_are_estimated_over_rounds_and_costs_over_all_requests() {
        let rounds = [100, 50, 150].map(|requests| round(requests * 1_000, Some(30_000_000)));
        let summary = ceiling(&load(rounds.to_vec())).unwrap();
        let rate = summary.requests_per_s;
        assert_eq!((rate.median, rate.min, rate.max), (200_000.0, 100_000.0, 300_000.0));
        // 300,000 requests in 1.5 s.
        assert_eq!(summary.sent_bytes_per_s, 24_400_000.0);
        assert_eq!(summary.received_bytes_per_s, 5_400_000.0);
        assert_eq!(summary.client_us_per_request, Some(2.0));
        assert_eq!(summary.server_us_per_request, Some(0.3));
    }

    #[test]
    fn what_is_not_known_in_every_round_and_what_was_not_measured_has_no_figure() {
        let summary = ceiling(&load(vec![round(9, Some(1)), round(9, None)])).unwrap();
        assert_eq!(summary.server_us_per_request, None);
        assert_eq!(ceiling(&load(vec![round(0, Some(1))])).unwrap().server_us_per_request, None);
        assert_eq!(ceiling(&load(Vec::new())), None);
    }
}

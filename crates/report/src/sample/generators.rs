//! Runs with two generators.

use measure::{
    ClockComparison, ErrorClass, Failure, GeneratorClock, GeneratorLoss, HostFacts,
    LatencyHistogram,
};
use record::{ClientRecord, ClientUsage, GeneratorRecord, Run, TrialRecord};

use super::{Shape, generator, make};

/// Four and sixteen clients, half of them on this host and half on another one. Of the transactions of each length,
/// the near generator had one half, and the odd one.
pub(crate) fn generators() -> Run {
    let mut run = make(&Shape {
        systems: 1,
        workloads: &["oltp_point_select"],
        clients: &[4, 16],
        repetitions: 1,
        seconds: (1, 4),
    });
    run.trials.iter_mut().for_each(split_in_halves);
    run
}

/// The same with one trial, in which the far generator was lost at 3.2 s; the measured time ends at 5 s.
pub(crate) fn lost_generator() -> Run {
    let mut run = generators();
    run.trials.truncate(1);
    let end = run.trials[0].end.as_mut().unwrap();
    let far = &mut end.generators[1];
    for client in far.clients.clone() {
        end.clients[client].failure = Some(Failure::new(ErrorClass::Connection, "", "lost"));
    }
    far.clock.as_mut().unwrap().end = None;
    let reason = "its connection <closed>".to_owned();
    far.lost = Some(GeneratorLoss { at_ns: 3_200_000_000, reason });
    run
}

fn split_in_halves(trial: &mut TrialRecord) {
    let clients = trial.header.clients;
    trial.header.load.threads = 3;
    let [mut near, mut far] = [LatencyHistogram::new(), LatencyHistogram::new()];
    for (latency_ns, count) in trial.total.transaction_latencies(&trial.header.operations).values()
    {
        (0..count / 2).for_each(|_| far.record(latency_ns));
        (count / 2..count).for_each(|_| near.record(latency_ns));
    }
    for interval in &mut trial.intervals {
        let transactions = interval.tally.transactions;
        interval.generators = vec![transactions.div_ceil(2), transactions / 2];
    }
    let end = trial.end.as_mut().unwrap();
    let half = |usage: ClientUsage| ClientUsage {
        user_ns: usage.user_ns / 2,
        system_ns: usage.system_ns / 2,
        ..usage
    };
    let part = |name: &str, latencies: LatencyHistogram| GeneratorRecord {
        name: name.to_owned(),
        transactions: latencies.count(),
        latencies,
        generator: Some(generator((1, 4))),
        usage: end.usage.map(half),
        ..GeneratorRecord::default()
    };
    let host = HostFacts {
        host: "bench1".to_owned(),
        processor: "riscv64".to_owned(),
        cores: 64,
        kernel: "Linux 6.6.20".to_owned(),
        build: "release".to_owned(),
        boot: "5b1b".to_owned(),
    };
    let at = |offset_ns| ClockComparison { offset_ns, uncertainty_ns: 45_000 };
    let clock = GeneratorClock { start: at(-7_200_000_000_000), end: Some(at(-7_200_000_002_000)) };
    let near = GeneratorRecord { clients: 0..clients / 2, workers: 1, ..part("local", near) };
    let far = GeneratorRecord {
        clients: clients / 2..clients,
        workers: 2,
        host: Some(host),
        clock: Some(clock),
        ..part("ssh://bench1", far)
    };
    let of_clients = [&near, &far].into_iter().flat_map(|part| {
        let (clients, all) = (part.clients.len() as u64, part.transactions);
        (0..clients).map(move |client| ClientRecord {
            events: all / clients + u64::from(client < all % clients),
            failure: None,
        })
    });
    end.clients = of_clients.collect();
    end.generators = vec![near, far];
}

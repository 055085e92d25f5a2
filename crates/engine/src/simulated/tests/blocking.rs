//! Clients that block their worker's thread, as an embedded database does.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use super::*;

/// A load of one client for each worker. The first one blocks its thread in its sixth transaction.
struct Blocking<F> {
    operations: Vec<Operation>,
    /// Blocks the thread; returns whether the transaction has an answer.
    block: F,
}

impl<F: Fn() -> bool + Clone + Send + Sync + 'static> Load for Blocking<F> {
    fn operations(&self) -> &[Operation] {
        &self.operations
    }

    fn clients(&self, clients: Clients<'_>) {
        let block = self.block.clone();
        clients.start(move |mut handle| {
            let block = block.clone();
            async move {
                let mut turns = 0;
                while let Some(turn) = handle.next().await {
                    turns += 1;
                    if handle.index() == 0 && turns == 6 && !block() {
                        std::future::pending::<()>().await;
                    }
                    handle.finish(turn, OperationId(0));
                    handle.net().sleep(Duration::from_millis(5)).await;
                }
                Ok(())
            }
        });
    }
}

fn blocking<F>(block: F) -> Blocking<F> {
    let kind = measure::OperationKind::Transaction;
    Blocking { operations: vec![Operation::new("nothing".to_owned(), kind)], block }
}

fn offered_in_real_time(time: Duration) -> OfferedLoad {
    OfferedLoad {
        workers: Workers::PerClient,
        limit: Limit::time(time),
        interval: Duration::from_millis(100),
        connect_timeout: Duration::from_secs(100),
        drain_timeout: Duration::from_secs(100),
        ..offered(2, Pacing::Closed { think_time_ns: 0 })
    }
}

/// Keeps the parts of intervals, and calls `on_part` with how many were without a worker so far.
struct PartObserver<F> {
    parts: Vec<(Interval, Vec<usize>)>,
    on_part: F,
}

impl<F: FnMut(usize)> TrialObserver for PartObserver<F> {
    fn begins(&mut self, _phase: Phase, _late_ns: Nanos) -> io::Result<()> {
        Ok(())
    }

    fn interval(&mut self, interval: &Interval) -> io::Result<()> {
        self.part(interval, &[])
    }

    fn part(&mut self, part: &Interval, missing: &[usize]) -> io::Result<()> {
        self.parts.push((part.clone(), missing.to_vec()));
        let without = self.parts.iter().filter(|(_, missing)| !missing.is_empty()).count();
        (self.on_part)(without);
        Ok(())
    }

    fn ends(&mut self, _late_ns: Nanos) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn intervals_are_passed_on_while_a_worker_stands_still_and_its_part_adds_up() {
    let released = Arc::new(AtomicBool::new(false));
    let waits = Arc::clone(&released);
    // Nothing is asked meanwhile, as in a wait for the disk.
    let load = blocking(move || {
        while !waits.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(1));
        }
        true
    });
    let stop = Stop::new();
    let (ends, release) = (stop.clone(), released);
    let mut observer = PartObserver {
        parts: Vec::new(),
        on_part: move |without: usize| {
            if without >= 3 && !release.swap(true, Ordering::Relaxed) {
                ends.ask();
            }
        },
    };
    let outcome =
        offer(&offered_in_real_time(Duration::from_secs(3600)), &load, &stop, &mut observer);
    let outcome = outcome.unwrap();
    assert_eq!(outcome.ended, LoadEnd::Interrupted);
    let without: Vec<_> = observer.parts.iter().filter(|(_, it)| !it.is_empty()).collect();
    assert!(without.len() >= 3 && without.iter().all(|(_, missing)| *missing == [0]));
    // Every event of the window is in exactly one part.
    let counted: u64 = observer.parts.iter().map(|(part, _)| part.tally.transactions).sum();
    assert_eq!(counted, outcome.clients.iter().map(|client| client.events).sum::<u64>());
    assert!(outcome.clients[0].events >= 5, "the five before it stood still");
    // Each interval begins where the last one ended, whatever came later for one.
    let mut starts: Vec<Nanos> = observer.parts.iter().map(|(part, _)| part.start_ns).collect();
    starts.sort_unstable();
    starts.dedup();
    let due: Vec<Nanos> = (0..starts.len() as u64).map(|index| index * 100 * MS).collect();
    assert_eq!(starts, due);
}

#[test]
fn a_blocking_call_that_asks_closes_intervals_and_ends_with_the_drain() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let load = blocking(move || {
        while !net::must_end() {
            counted.fetch_add(1, Ordering::Relaxed);
            thread::sleep(Duration::from_millis(1));
        }
        false
    });
    let stop = Stop::new();
    let ends = stop.clone();
    let mut intervals = 0;
    let mut observer = PartObserver {
        parts: Vec::new(),
        on_part: move |_| {
            intervals += 1;
            if intervals == 3 {
                ends.ask();
            }
        },
    };
    let outcome =
        offer(&offered_in_real_time(Duration::from_secs(3600)), &load, &stop, &mut observer);
    let outcome = outcome.unwrap();
    assert_eq!(outcome.ended, LoadEnd::Interrupted);
    assert!(asked.load(Ordering::Relaxed) > 0);
    assert_eq!((outcome.clients[0].events, outcome.edges.unanswered.count()), (5, 1));
    let counted: u64 = observer.parts.iter().map(|(part, _)| part.tally.transactions).sum();
    assert_eq!(counted, outcome.clients.iter().map(|client| client.events).sum::<u64>());
}

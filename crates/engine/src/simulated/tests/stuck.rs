//! Clients that wait in vain for an answer.

use measure::StuckClients;
use net::Handle;

use super::*;

/// Clients with 10 ms for each request; one of them never gets the answer to a request of its own.
struct Hanging {
    operations: Vec<Operation>,
    /// The turn of the first client that hangs.
    turn: u64,
}

/// A connection that notes its statement when it is dropped with a request in flight.
struct Connection(Handle);

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.note_unanswered("UPDATE t".to_owned());
    }
}

impl Load for Hanging {
    fn operations(&self) -> &[Operation] {
        &self.operations
    }

    fn clients(&self, clients: Clients<'_>) {
        let turn_that_hangs = self.turn;
        clients.start(move |mut handle| async move {
            let mut number = 0;
            while let Some(turn) = handle.next().await {
                let hangs = handle.index() == 0 && number == turn_that_hangs;
                let _connection = hangs.then(|| Connection(handle.net().clone()));
                let length_ns = if hangs { Nanos::MAX / 2 } else { 10 * MS };
                handle.net().sleep_until(turn.started_ns + length_ns).await;
                handle.finish(turn, OperationId(0));
                number += 1;
            }
            Ok(())
        });
    }
}

/// Of a window of 10 s after a warm-up of 2 s.
fn stuck(turn: u64, pacing: Pacing) -> (Outcome, RecordingObserver) {
    let operations = vec![Operation::new("request", OperationKind::Transaction)];
    let load = Hanging { operations, turn };
    let offered = OfferedLoad { warm_up: Duration::from_secs(2), ..offered(3, pacing) };
    run_load(&load, &offered)
}

fn told(since_before: u64, age_ns: Nanos) -> StuckClients {
    StuckClients { clients: 1, since_before, age_ns, statement: "UPDATE t".to_owned() }
}

#[test]
fn a_client_that_hangs_since_the_warm_up_is_told_with_its_age_and_its_statement() {
    let closed = Pacing::Closed { think_time_ns: 0 };
    let (outcome, kept) = stuck(100, closed);
    assert_eq!(outcome.ended, LoadEnd::Complete);
    // It hangs from second 1 on, and is given up two seconds after the window, in second 14.
    assert_eq!(outcome.edges.stuck, told(1, 13_000 * MS));
    assert_eq!(outcome.edges.unanswered.count(), 0, "it was due before the window");
    assert_eq!(kept.outages, [], "the others were answered");
    // In an open loop as well: 100 requests a second, of which each client gets a third.
    let (outcome, _) = stuck(20, open_loop(100.0, 10_000));
    assert_eq!(outcome.edges.stuck.clients, 1);
    assert_eq!(outcome.edges.stuck.since_before, 1);
}

#[test]
fn a_client_that_hangs_for_half_of_the_window_is_stuck_and_a_later_one_is_not() {
    let closed = || Pacing::Closed { think_time_ns: 0 };
    // From second 6.99 on.
    let (outcome, _) = stuck(699, closed());
    assert_eq!(outcome.edges.stuck, told(0, 7_010 * MS));
    assert_eq!(outcome.edges.unanswered.count(), 1);
    let (outcome, _) = stuck(701, closed());
    assert_eq!(outcome.edges.stuck, StuckClients::default());
    assert_eq!(outcome.edges.unanswered.count(), 1);
}

//! The clients of one worker share a connection: requests of all of them are in flight on it at once, and answers
//! arrive in another order.

use std::future::{Future, poll_fn};
use std::ops::Range;
use std::pin::pin;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;

use net::{Handle, Signal};

use super::*;

/// The load of [`Simulated`], through one connection for each worker.
struct Pipelined {
    simulated: Simulated,
    /// The clients of each worker, in the order of their start.
    workers: Mutex<Vec<Range<usize>>>,
    /// Answers that came before the answer of an earlier request.
    overtaking: Arc<AtomicU64>,
}

impl Pipelined {
    fn new(system: &SimulatedSystem) -> Self {
        let simulated = Simulated::new(system.clone(), SimulatedChance::default());
        Self { simulated, workers: Mutex::default(), overtaking: Arc::default() }
    }
}

impl Load for Pipelined {
    fn operations(&self) -> &[Operation] {
        self.simulated.operations()
    }

    fn clients(&self, clients: Clients<'_>) {
        let first = clients.range().start;
        self.workers.lock().unwrap().push(clients.range());
        let net = clients.net().clone();
        let connection = Rc::new(RefCell::new(Connection {
            queue: Queue::of(&self.simulated.system, SimulatedChance::default()),
            in_flight: BinaryHeap::new(),
            sent: 0,
            overtaking: Arc::clone(&self.overtaking),
            answers: clients.range().map(|_| Signal::new(&net)).collect(),
            has_request: Signal::new(&net),
        }));
        net.spawn(hand_out_answers(net.clone(), Rc::clone(&connection)));
        clients.start(move |mut handle| {
            let connection = Rc::clone(&connection);
            let client = handle.index() - first;
            let answer = connection.borrow().answers[client].clone();
            async move {
                while let Some(turn) = handle.next().await {
                    connection.borrow_mut().send(client, turn.started_ns);
                    answer.wait().await;
                    handle.finish(turn, OperationId(0));
                }
                Ok(())
            }
        });
    }
}

struct Connection {
    queue: Queue,
    /// For each request, the time of its answer, its number, and the client that waits for it.
    in_flight: BinaryHeap<Reverse<(Nanos, u64, usize)>>,
    sent: u64,
    overtaking: Arc<AtomicU64>,
    answers: Vec<Signal>,
    has_request: Signal,
}

impl Connection {
    fn send(&mut self, client: usize, now: Nanos) {
        self.in_flight.push(Reverse((self.queue.enter(now), self.sent, client)));
        self.sent += 1;
        self.has_request.wake();
    }

    fn next_answer_at(&self) -> Option<Nanos> {
        self.in_flight.peek().map(|Reverse((at, ..))| *at)
    }

    fn answer(&mut self) {
        let Some(Reverse((_, request, client))) = self.in_flight.pop() else { return };
        if self.in_flight.iter().any(|Reverse((_, other, _))| *other < request) {
            self.overtaking.fetch_add(1, Ordering::Relaxed);
        }
        self.answers[client].wake();
    }
}

/// The connection's own future: wakes each client when its answer comes.
async fn hand_out_answers(net: Handle, connection: Rc<RefCell<Connection>>) {
    let has_request = connection.borrow().has_request.clone();
    loop {
        let next = connection.borrow().next_answer_at().unwrap_or(Nanos::MAX);
        if next <= net.now() {
            connection.borrow_mut().answer();
            continue;
        }
        let mut sleep = pin!(net.sleep_until(next));
        poll_fn(|context| match has_request.poll_wait() {
            Poll::Ready(()) => Poll::Ready(()),
            Poll::Pending => sleep.as_mut().poll(context),
        })
        .await;
    }
}

/// Three servers whose answers overtake each other.
fn uneven(unit_ns: Nanos) -> SimulatedSystem {
    let service_times_ns = [30, 10, 25, 5].map(|units| units * unit_ns).to_vec();
    let stall = Stall { at_ns: 4_000 * unit_ns, length_ns: 100 * unit_ns };
    system(3, service_times_ns, vec![stall])
}

#[test]
fn clients_that_share_a_connection_measure_the_same_as_clients_with_their_own() {
    let system = uneven(MS);
    let poisson = Pacing::Open {
        schedule: Schedule::new(&Rate::constant(150.0), Duration::ZERO),
        spread: Arrivals::Poisson,
        seed: 7,
        backlog_max: 1_000,
    };
    for pacing in [Pacing::Closed { think_time_ns: 0 }, open_loop(160.0, 1_000), poisson] {
        let offered = OfferedLoad { warm_up: Duration::from_secs(1), ..offered(12, pacing) };
        let (own, own_kept) = run(&system, &offered);
        let pipelined = Pipelined::new(&system);
        let (shared, shared_kept) = run_load(&pipelined, &offered);
        assert!(pipelined.overtaking.load(Ordering::Relaxed) > 100, "answers overtook others");
        assert_eq!(shared_kept.intervals, own_kept.intervals);
        assert_eq!(shared.ended, LoadEnd::Complete);
        assert_eq!(shared.edges, own.edges);
        assert_eq!(shared.lateness, own.lateness);
    }
}

#[test]
fn each_worker_starts_its_clients_on_one_shared_connection() {
    let pipelined = Pipelined::new(&uneven(MS / 100));
    let limit = Limit::events(500);
    let workers = Workers::EventLoops(3);
    let offered =
        OfferedLoad { limit, workers, ..offered(11, Pacing::Closed { think_time_ns: 0 }) };
    let (outcome, kept) = run_load(&pipelined, &offered);
    let mut started = pipelined.workers.into_inner().unwrap();
    started.sort_by_key(|range| range.start);
    assert_eq!(started, [0..3, 3..7, 7..11]);
    assert_eq!(transactions(&kept, Phase::Measure), 500);
    let events: Vec<u64> = outcome.clients.iter().map(|client| client.events).collect();
    assert_eq!((events.len(), events.iter().sum::<u64>()), (11, 500));
    assert_eq!(outcome.ended, LoadEnd::Complete);
}

/// A load whose client `failing` gives up in its first turn.
struct OneFails(usize);

impl Load for OneFails {
    fn operations(&self) -> &[Operation] {
        &[]
    }

    fn clients(&self, clients: Clients<'_>) {
        let failing = self.0;
        clients.net().spawn(std::future::pending());
        clients.start(move |mut handle| async move {
            let turn = handle.next().await;
            let fails = turn.is_some() && handle.index() == failing;
            let failure = || Failure::new(ErrorClass::Server, "1146", format!("{failing}"));
            if fails { Err(failure()) } else { Ok(()) }
        });
    }
}

#[test]
fn a_failure_is_that_of_its_client_and_a_background_future_does_not_keep_the_trial() {
    for failing in 0..5 {
        let workers = Workers::EventLoops(2);
        let offered = OfferedLoad { workers, ..offered(5, Pacing::Closed { think_time_ns: 0 }) };
        let (outcome, _) = run_load(&OneFails(failing), &offered);
        let failed: Vec<usize> =
            (0..5).filter(|it| outcome.clients[*it].failure.is_some()).collect();
        assert_eq!(failed, [failing]);
    }
}

//! A hostile service in every phase of a call, in virtual time: each ends in time, with a failure that names what is
//! wrong, and in bounded memory.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use measure::Failure;
use net::{Clock, Endpoint, FixedSizes, Handle, Runtime};
use nix::sys::socket::{Backlog, listen};
use peers::{Behaviour, Phase, http2, tls, trpc};

use super::super::{Call, Connection, ContentType, Method, Protocol, Service, Slot};
use crate::virtual_peer::{Bounds, Ending, TIMEOUTS, line};
use crate::{Address, SslMode, SslOptions};

const TCP: Protocol = Protocol::Tcp { announces: false };
const ANSWER_BYTES: usize = 20;
/// More than the kernel keeps of a message that nobody reads.
const LONG_BODY_BYTES: usize = 1 << 20;
/// What waits to be sent is at most a request and a half, and what waits to be read 1 MiB, in buffers that double.
const KEPT_BYTES: usize = 5 << 20;
/// What the kernel keeps between the peer and the client is part of what was sent.
const KERNEL_BYTES: usize = 1 << 20;

/// All phases of the protocols, with the length of the body of the call.
fn phases() -> Vec<(Phase, Protocol, usize)> {
    let announcing = Protocol::Tcp { announces: true };
    let announced = trpc::fixed(FixedSizes::LENGTH + LONG_BODY_BYTES, ANSWER_BYTES);
    let mut phases = vec![
        (trpc::fixed(LONG_BODY_BYTES, ANSWER_BYTES), TCP, LONG_BODY_BYTES),
        (Phase { name: "announced sizes", ..announced }, announcing, LONG_BODY_BYTES),
    ];
    // The first id of the first slot.
    let id = super::super::ids::Ids::new(1).after(super::super::ids::Ids::new(1).first(0));
    phases.extend(trpc::phases(id).map(|phase| (phase, Protocol::Trpc, LONG_BODY_BYTES)));
    // With a longer body the client would wait for permission to send the rest.
    phases.extend(http2::phases(b"hello").map(|phase| (phase, Protocol::Grpc, 5)));
    phases.push((http2::at_window(), Protocol::Grpc, LONG_BODY_BYTES));
    phases
}

/// The phases of connections that are encrypted, behind the handshake of TLS.
fn encrypted_phases() -> Vec<(Phase, Protocol, usize)> {
    let within = |(phase, protocol, body_bytes)| (tls::within(phase), protocol, body_bytes);
    let record = (tls::at_record(&[]), Protocol::Trpc, LONG_BODY_BYTES);
    [record].into_iter().chain(phases().into_iter().map(within)).collect()
}

fn service(protocol: Protocol, endpoint: Endpoint) -> Service {
    let addresses = vec![Address { name: "service".to_owned(), endpoint }];
    Service { protocol, addresses, method: None, tls: None, authority: None }
}

/// The same with TLS.
fn encrypted(service: Service) -> Service {
    let options = SslOptions { mode: Some(SslMode::Required), ..SslOptions::default() };
    service.encrypted(&options).unwrap()
}

fn call() -> Call {
    Call {
        method: Method::parse("a.B/C"),
        metadata: Vec::new(),
        content_type: ContentType::Bytes,
        caller: String::new(),
        answer_bytes: ANSWER_BYTES,
        ..Call::default()
    }
}

/// Connects and calls once.
async fn client(handle: Handle, service: Service, body_bytes: usize) -> Ending {
    let service = Arc::new(service);
    let connection = Connection::new(&handle, &service, &call().into(), TIMEOUTS, (0, 1));
    let mut slot: Slot = connection.slot(0);
    slot.connect().await.unwrap();
    let began = handle.now();
    let result = slot.call(&vec![7; body_bytes]).await;
    let elapsed = Duration::from_nanos(handle.now() - began);
    Ending { result, elapsed, kept_bytes: connection.kept_bytes() }
}

async fn secured(handle: Handle, path: &Path) -> Result<(), Failure> {
    let service = service(Protocol::Trpc, Endpoint::Unix(path.to_owned()));
    encrypted(service).reach(&handle, TIMEOUTS).await.map(drop)
}

/// Connects for a question of reflection, and asks it.
async fn reflected(handle: Handle, path: PathBuf) -> Ending {
    let service = service(Protocol::Grpc, Endpoint::Unix(path));
    let began = handle.now();
    let result = service.reflect(&handle, &call(), TIMEOUTS).await.map(drop);
    let elapsed = Duration::from_nanos(handle.now() - began);
    Ending { result, elapsed, kept_bytes: 0 }
}

/// The lines of these phases, with services as `dress` makes them.
fn table(phases: Vec<(Phase, Protocol, usize)>, dress: fn(Service) -> Service) -> String {
    let time = TIMEOUTS.query.unwrap();
    let bounds = Bounds { time, kept_bytes: KEPT_BYTES, sent_bytes: KEPT_BYTES + KERNEL_BYTES };
    let mut table = Vec::new();
    for (phase, protocol, body_bytes) in phases {
        for behaviour in Behaviour::ALL {
            let service = |path| dress(service(protocol, Endpoint::Unix(path)));
            let client = |handle, path| client(handle, service(path), body_bytes);
            table.push(line((&phase, behaviour), bounds, client));
        }
    }
    table.join("\n")
}

#[test]
fn a_hostile_service_ends_in_time_with_a_named_failure_in_every_phase() {
    insta::assert_snapshot!(table(phases(), |service| service));
}

#[test]
fn a_hostile_service_ends_in_time_with_a_named_failure_in_every_phase_within_tls() {
    insta::assert_snapshot!(table(encrypted_phases(), encrypted));
}

#[test]
fn a_hostile_service_ends_in_time_while_it_is_asked_for_its_types() {
    let sent_bytes = KEPT_BYTES + KERNEL_BYTES;
    let bounds = Bounds { time: TIMEOUTS.connect, kept_bytes: 0, sent_bytes };
    // The files are one with the name `a`, and nothing else.
    let phases = http2::phases(b"\x22\x05\x0a\x03\x0a\x01a");
    let cases = phases.iter().flat_map(|phase| Behaviour::ALL.map(|behaviour| (phase, behaviour)));
    let table: Vec<String> = cases.map(|case| line(case, bounds, reflected)).collect();
    insta::assert_snapshot!(table.join("\n"));
}

#[test]
fn a_hostile_service_ends_in_time_while_tls_begins() {
    let sent_bytes = KERNEL_BYTES + (256 << 10);
    let bounds = Bounds { time: TIMEOUTS.connect, kept_bytes: 0, sent_bytes };
    let phase = tls::handshake(Vec::new());
    let table = Behaviour::ALL.map(|behaviour| {
        line((&phase, behaviour), bounds, |handle, path| async move {
            let began = handle.now();
            let result = secured(handle.clone(), &path).await;
            let elapsed = Duration::from_nanos(handle.now() - began);
            Ending { result, elapsed, kept_bytes: 0 }
        })
    });
    insta::assert_snapshot!(table.join("\n"));
}

/// In real time: the kernel gives an address of TCP only to real connections.
#[test]
fn a_service_that_accepts_no_connection_ends_at_the_connect_time_out() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listen(&listener, Backlog::new(0).unwrap()).unwrap();
    let address = listener.local_addr().unwrap();
    // The only one that fits into the listener's queue.
    let _queued = TcpStream::connect(address).unwrap();
    let timeouts = crate::Timeouts { connect: Duration::from_millis(100), ..TIMEOUTS };
    let mut runtime = Runtime::new(Clock::monotonic()).unwrap();
    let handle = runtime.handle();
    let service = service(Protocol::Trpc, Endpoint::Tcp(address));
    let reached = runtime.block_on(async move {
        // A hundred times as long, so that no busy machine reaches it.
        let reached = service.reach(&handle, timeouts);
        net::within(&handle, 100 * timeouts.connect, reached).await.expect("it ends in time")
    });
    let failure = reached.unwrap().unwrap_err();
    let told =
        "cannot connect to service: timed out; check that the server is up and can be reached";
    assert_eq!(failure.to_string(), told);
}

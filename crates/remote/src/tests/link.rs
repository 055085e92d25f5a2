//! Links over pipes: messages, clocks, and other sides that misbehave.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::dispatch::Clock;
use crate::frame::Frame;
use crate::incoming::Incoming;
use crate::link::Link;
use crate::problem::{LinkError, Problem};
use crate::shared::Shared;

/// Longer than any link waits.
const LONG: Duration = Duration::from_secs(30);
/// How far the clock of the other end is ahead.
const AHEAD_NS: u64 = 1_234_567_890_123;

/// A link on these pipes, and what it says when it is lost.
fn link(input: PipeReader, output: PipeWriter, clock: Clock) -> (Link, mpsc::Receiver<LinkError>) {
    let shared = Shared::write_to(output).unwrap();
    let incoming = Incoming::read_from(input).unwrap();
    let (sender, lost) = mpsc::channel();
    let on_lost = Box::new(move |error: &LinkError| sender.send(error.clone()).unwrap_or(()));
    let explain = Box::new(|_: &Problem| String::new());
    (Link::begin(shared, incoming, clock, (explain, on_lost)).unwrap(), lost)
}

fn ahead() -> u64 {
    net::kernel_ns() + AHEAD_NS
}

/// Two linked sides; bytes from the second to the first pass `relay`.
fn pair(relay: impl FnOnce(PipeReader, PipeWriter) + Send + 'static) -> (Link, Link) {
    let (to_second, second_out) = (io::pipe().unwrap(), io::pipe().unwrap());
    let to_first = io::pipe().unwrap();
    thread::spawn(move || relay(second_out.0, to_first.1));
    let (first, _) = link(to_first.0, to_second.1, Clock::Asks);
    let (second, _) = link(to_second.0, second_out.1, Clock::Answers(ahead));
    (first, second)
}

fn at_once(mut from: PipeReader, mut to: PipeWriter) {
    let _ = io::copy(&mut from, &mut to);
}

/// Passes on what comes together after a pause.
fn late(mut from: PipeReader, mut to: PipeWriter) {
    let mut buffer = [0; 4_096];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        thread::sleep(Duration::from_millis(30));
        if to.write_all(&buffer[..length]).is_err() {
            return;
        }
    }
}

/// A link to a side that is played by the test: what it gets, and where it writes.
fn alone(clock: Clock) -> (Link, mpsc::Receiver<LinkError>, PipeReader, PipeWriter) {
    let (out, back) = (io::pipe().unwrap(), io::pipe().unwrap());
    let (link, lost) = link(back.0, out.1, clock);
    (link, lost, out.0, back.1)
}

#[test]
fn messages_of_all_sizes_arrive_in_order_both_ways() {
    let (first, second) = pair(at_once);
    for (from, to) in [(&first, &second), (&second, &first)] {
        let (sender, receiver) = (from.sender(), to.receiver());
        let sizes = [0, 1, 100, 70_000, 2 << 20, 3];
        let sending = thread::spawn(move || {
            for size in sizes {
                sender.send(&vec![7_u8; size]).unwrap();
            }
            sender.flush().unwrap();
        });
        for size in sizes {
            assert_eq!(receiver.receive::<Vec<u8>>().unwrap(), vec![7; size]);
        }
        sending.join().unwrap();
    }
}

#[test]
fn what_was_sent_before_the_end_is_received_before_the_error() {
    let (first, second) = pair(at_once);
    first.sender().send("last").unwrap();
    first.close();
    assert_eq!(second.receiver().receive::<String>().unwrap(), "last");
    let error = second.receiver().receive::<String>().unwrap_err();
    assert_eq!(error.problem, Problem::Closed);
    assert!(second.sender().send("late").is_err());
}

#[test]
fn a_message_of_another_type_is_an_error() {
    let (first, second) = pair(at_once);
    first.sender().send(&[0xff_u8; 20][..]).unwrap();
    let error = second.receiver().receive::<String>().unwrap_err();
    assert!(matches!(error.problem, Problem::Garbage(_)), "{error}");
}

#[test]
fn the_offset_of_a_clock_is_known_within_the_uncertainty_also_when_one_way_is_slow() {
    for (relay, least_ns) in [(at_once as fn(_, _), 0), (late, 15_000_000)] {
        let (first, _second) = pair(relay);
        let compared = first.compare_clocks().unwrap();
        let error_ns = compared.offset_ns.abs_diff(i64::try_from(AHEAD_NS).unwrap());
        assert!(error_ns <= compared.uncertainty_ns, "{compared:?}: {error_ns}");
        // The pause is on one way only, so it is not in the middle.
        assert!(error_ns >= least_ns, "{compared:?}: {error_ns}");
        // Later comparisons agree with it.
        let again = first.compare_clocks().unwrap();
        let apart_ns = compared.offset_ns.abs_diff(again.offset_ns);
        assert!(apart_ns <= compared.uncertainty_ns + again.uncertainty_ns);
    }
}

#[test]
fn a_silent_side_is_lost_and_an_idle_one_is_not() {
    let (first, _second) = pair(at_once);
    let (_link, lost, _out, _back) = alone(Clock::Asks);
    assert_eq!(lost.recv_timeout(LONG).unwrap().problem, Problem::Silent(5));
    // The pair was idle for as long.
    first.compare_clocks().unwrap();
}

#[test]
fn a_side_that_does_not_read_is_lost() {
    let (link, lost, _out, mut back) = alone(Clock::Asks);
    let beating = thread::spawn(move || {
        while back.write_all(&Frame::Heartbeat.encode().unwrap()).is_ok() {
            thread::sleep(Duration::from_millis(300));
        }
    });
    let sender = link.sender();
    let sending = thread::spawn(move || while sender.send(&vec![0_u8; 1 << 20]).is_ok() {});
    assert_eq!(lost.recv_timeout(LONG).unwrap().problem, Problem::NotReading(5));
    // Nobody waits for it any more.
    sending.join().unwrap();
    drop(link);
    beating.join().unwrap();
}

#[test]
fn a_side_that_sends_something_else_is_lost_with_the_reason() {
    let frame = |frame: Frame| frame.encode().unwrap().to_vec();
    for (bytes, expected) in [
        (vec![0xa5; 100], "a message of 2779096485 bytes"),
        (b"\0\0\0\0\x09\n".to_vec(), "a frame of the unknown kind 9"),
        (b"\0\0\0\0\x01x".to_vec(), "a frame without its end"),
        (frame(Frame::ClockQuestion { number: 1 }), "a clock frame of the wrong side"),
    ] {
        let (link, lost, _out, mut back) = alone(Clock::Asks);
        back.write_all(&bytes).unwrap();
        let error = lost.recv_timeout(LONG).unwrap();
        assert!(error.to_string().contains(expected), "{error}");
        assert_eq!(link.compare_clocks().unwrap_err(), error);
    }
}

#[test]
fn a_flood_of_questions_is_refused_when_the_answers_are_not_read() {
    let (_link, lost, _out, mut back) = alone(Clock::Answers(ahead));
    let question = Frame::ClockQuestion { number: 1 }.encode().unwrap();
    thread::spawn(move || while back.write_all(&question).is_ok() {});
    let error = lost.recv_timeout(LONG).unwrap();
    assert!(error.to_string().contains("too many questions"), "{error}");
}

#[test]
fn answers_that_nobody_waits_for_are_dropped() {
    let (link, _lost, mut out, mut back) = alone(Clock::Asks);
    for number in 0..100 {
        back.write_all(&Frame::ClockAnswer { number, at_ns: 7 }.encode().unwrap()).unwrap();
    }
    link.sender().send("still there").unwrap();
    let mut bytes = [0; 5];
    out.read_exact(&mut bytes).unwrap();
}

#[test]
fn answers_to_other_questions_without_end_are_refused() {
    let (link, _lost, _out, mut back) = alone(Clock::Asks);
    let other = Frame::ClockAnswer { number: 1_000, at_ns: 7 }.encode().unwrap();
    thread::spawn(move || {
        while back.write_all(&other).is_ok() {
            thread::sleep(Duration::from_millis(10));
        }
    });
    let error = link.compare_clocks().unwrap_err();
    assert!(error.to_string().contains("questions of the time that were not asked"), "{error}");
}

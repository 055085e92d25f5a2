//! Servers that report their metrics, and some that misbehave.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::thread;

use measure::Server;
use peers::{Behaviour, Phase, http};

use super::*;

const BOUND: Duration = Duration::from_secs(60);
/// A bound that passes.
const SHORT: Duration = Duration::from_secs(1);

/// Answers each connection with one of the answers, in order. Returns the address.
fn serve(answers: Vec<Vec<u8>>) -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for answer in answers {
            let Ok((mut stream, _)) = listener.accept() else { return };
            let mut request = [0; 4096];
            let _ = stream.read(&mut request);
            let _ = stream.write_all(&answer);
        }
    });
    format!("http://{address}/metrics")
}

fn ok(body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}").into()
}

#[test]
fn gauges_are_kept_at_once_and_counters_from_their_first_change() {
    let first = "# TYPE a counter\na{x=\"1\"} 5\na{x=\"2\"} 7\n# TYPE b gauge\nb 3\n# TYPE c counter\nc 1\n";
    let second =
        "# TYPE a counter\na{x=\"1\"} 5\na{x=\"2\"} 9\na{x=\"3\"} 4\n# TYPE b gauge\nb 3\n";
    let mut watch = ServerWatch::new(&serve(vec![ok(first), ok(second)]), BOUND);
    let mut server = Server::default();
    let one = watch.ask(|| 10).unwrap();
    assert_eq!((one.new.len(), one.values.len()), (1, 0), "{one:?}");
    server.add(&one);
    server.add(&watch.ask(|| 20).unwrap());
    assert_eq!(server.families, ["a", "b", "c"]);
    let kept: Vec<String> = server
        .series
        .iter()
        .map(|it| format!("{} {:?} {:?}", it.name, it.label("x"), it.points))
        .collect();
    assert_eq!(
        kept,
        [
            "b None [(10, 3.0)]",
            "a Some(\"2\") [(10, 7.0), (20, 9.0)]",
            "a Some(\"3\") [(10, 0.0), (20, 4.0)]",
        ]
    );
}

#[test]
fn answers_in_chunks_and_until_the_end_of_the_connection_are_read() {
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n\
        3\r\na 1\r\n1\r\n\n\r\n0\r\n\r\n";
    let until_end = b"HTTP/1.0 200 OK\r\n\r\na 2\n";
    let mut watch = ServerWatch::new(&serve(vec![chunked.to_vec(), until_end.to_vec()]), BOUND);
    watch.ask(|| 1).unwrap();
    assert_eq!(watch.ask(|| 2).unwrap().values, [(0, 2.0)]);
}

#[test]
fn an_invalid_answer_is_reported_and_the_next_one_is_read() {
    let garbage: Vec<Vec<u8>> = vec![
        b"\xff\x00 nonsense \r\n\r\n".to_vec(),
        ok("<html>not here</html>"),
        ok(""),
        b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec(),
        b"HTTP/1.1 302 Found\r\nLocation: http://192.0.2.1/\r\nContent-Length: 0\r\n\r\n".to_vec(),
        Vec::new(),
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\na 1\n".to_vec(),
        ok("a 1\n"),
    ];
    let count = garbage.len();
    let mut watch = ServerWatch::new(&serve(garbage), BOUND);
    let answers: Vec<Result<Answer, String>> = (0..count).map(|_| watch.ask(|| 1)).collect();
    let (last, wrong) = answers.split_last().unwrap();
    for reason in wrong {
        assert!(reason.as_ref().is_err_and(|reason| !reason.is_empty()), "{reason:?}");
    }
    assert!(last.is_ok(), "{last:?}");
    assert_eq!(answers[3].as_ref().unwrap_err(), "it answered 404");
}

/// How the answer of a peer ends that misbehaves in this way.
fn ending(phase: &Phase, behaviour: Behaviour) -> String {
    use Behaviour::{Endless, Flood, HalfClose, Reset};
    let always_answers = matches!(behaviour, Flood | HalfClose | Reset | Endless);
    let bound = if always_answers { BOUND } else { SHORT };
    let address = peers::serve(behaviour.acts(phase)).unwrap();
    let mut watch = ServerWatch::new(&format!("http://{address}/metrics"), bound);
    let ending = match watch.ask(|| 1) {
        Ok(_) => format!("{} series", watch.known.len()),
        Err(why) => why,
    };
    format!("{:<16} {:<10} {ending}", phase.name, format!("{behaviour:?}"))
}

#[test]
fn every_misbehaviour_of_a_server_ends_with_its_name() {
    let phases = &http::phases();
    let table: Vec<String> = thread::scope(|scope| {
        let cases = phases.iter().flat_map(|phase| Behaviour::ALL.map(|it| (phase, it)));
        let start = |(phase, behaviour)| scope.spawn(move || ending(phase, behaviour));
        let threads: Vec<_> = cases.map(start).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    insta::assert_snapshot!(table.join("\n"));
}

#[test]
fn a_closed_port_is_reported() {
    // A free port could be taken by another test; no server listens on this one.
    let mut watch = ServerWatch::new("http://127.0.0.1:1/metrics", BOUND);
    let reason = watch.ask(|| 1).unwrap_err();
    assert!(reason.contains("refused"), "{reason}");
}

#[test]
fn the_bucket_below_a_growing_one_is_kept() {
    let buckets = |counts: [u64; 4]| {
        let ends = ["1", "2", "4", "+Inf"];
        let line = |(end, count)| format!("t_bucket{{le=\"{end}\"}} {count}\n");
        ok(&ends.iter().zip(counts).map(line).collect::<String>())
    };
    let answers = vec![buckets([0, 0, 0, 0]), buckets([0, 0, 5, 5])];
    let mut watch = ServerWatch::new(&serve(answers), BOUND);
    watch.ask(|| 1).unwrap();
    let answer = watch.ask(|| 2).unwrap();
    let keys: Vec<&str> = answer.new.iter().map(|new| new.key.as_str()).collect();
    assert_eq!(keys, ["t_bucket{le=\"4\"}", "t_bucket{le=\"2\"}", "t_bucket{le=\"+Inf\"}"]);
    assert_eq!(answer.values, [(0, 5.0), (2, 5.0)]);
}

/// The names and the values that are kept of two answers.
fn kept(watch: &mut ServerWatch, texts: [&str; 2]) -> (usize, usize) {
    let answers = texts.map(|text| watch.take_in(text, 1).unwrap());
    let count = |of: fn(&Answer) -> usize| answers.iter().map(of).sum();
    (count(|answer| answer.new.len()), count(|answer| answer.values.len()))
}

fn watch() -> ServerWatch {
    ServerWatch::new("http://127.0.0.1/metrics", BOUND)
}

#[test]
fn series_with_names_that_are_too_long_are_left_out_and_named() {
    let page = |value: u64| {
        let [fits, long] = [16 * 1024, 16 * 1024 + 1].map(|bytes| {
            // The braces, the name of the label, and its quotes.
            format!("a{{b=\"{}\"}}", "x".repeat(bytes - "a{b=\"\"}".len()))
        });
        format!("{fits} {value}\n{long} {value}\nc {value}\n")
    };
    let mut watch = watch();
    assert_eq!(kept(&mut watch, [&page(1), &page(2)]), (2, 2));
    let start = format!("names that are too long are left out: a{{b=\"{}...", "x".repeat(55));
    assert_eq!(watch.left_out(), Some(start));
}

#[test]
fn names_are_kept_up_to_their_bytes_in_all() {
    // In JSON, a name of 16 KiB has four more: its own quotes, and a sign before each of the two in it. So 767 names
    // are in 12 MiB. Later answers bring others.
    let page = |from: usize| {
        let line =
            |number: usize| format!("a{{b=\"{}{number:06}\"}} 1\n", "x".repeat(16 * 1024 - 13));
        (from..from + 200).map(line).collect::<String>()
    };
    let mut watch = watch();
    let new: Vec<usize> =
        (0..5).map(|round| watch.take_in(&page(round * 200), 1).unwrap().new.len()).collect();
    // The first answer has no changes; what comes later was zero before.
    assert_eq!((new, watch.known.len()), (vec![0, 200, 200, 167, 0], 767));
    assert_eq!(watch.names_bytes, 767 * (16 * 1024 + 4));
    let words = "it has more series than are kept, and the last ones are left out";
    assert_eq!(watch.left_out().as_deref(), Some(words));
}

#[test]
fn as_many_series_are_kept_as_there_may_be() {
    let page = |value: u64| -> String {
        (0..200_001).map(|number| format!("a{number} {value}\n")).collect()
    };
    let mut watch = watch();
    assert_eq!(kept(&mut watch, [&page(1), &page(2)]), (200_000, 200_000));
    assert!(watch.left_out().unwrap().contains("more series than are kept"));
}

/// Counters that never change are not kept, and gauges are, up to a number in each answer.
#[test]
fn gauges_that_never_change_are_kept_up_to_their_number() {
    let page = |kind: &str| -> String {
        let series = (0..5_001).map(|number| format!("a{{n=\"{number}\"}} 1\n"));
        format!("# TYPE a {kind}\n") + &series.collect::<String>()
    };
    let new = |kind: &str| watch().take_in(&page(kind), 1).unwrap().new.len();
    assert_eq!((new("gauge"), new("counter")), (5_000, 0));
}

#[test]
fn what_an_answer_has_no_room_for_comes_with_the_next_one() {
    let page = |value: f64| -> String {
        (0..128_000).map(|number| format!("a{number:06} {value}\n")).collect()
    };
    let mut watch = watch();
    watch.take_in(&page(0.25), 1).unwrap();
    // The name with its quotes 9 bytes, its time 28, its number 12, and two values of 25: 99 bytes for each. After
    // 127,100 of them there is room for one more.
    let kept: Vec<usize> =
        (0..3).map(|_| watch.take_in(&page(0.75), 2).unwrap().values.len()).collect();
    assert_eq!(kept, [127_101, 899, 0]);
    assert_eq!(watch.left_out(), None);
}

#[test]
fn a_list_of_stores_that_cannot_be_read_is_named_and_the_metrics_are_kept() {
    let page = ok("# TYPE pd_server_info gauge\npd_server_info 1\n");
    let long = format!("{{\"stores\": [{}]}}", "0,".repeat(1 << 20));
    for (list, why) in [
        (ok(&long), "its answer is longer than 2097152 bytes"),
        (ok("<html>"), "not JSON: expected value at line 1 column 1"),
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec(), "it answered 404"),
    ] {
        let mut watch = ServerWatch::new(&serve(vec![page.clone(), list]), BOUND);
        assert_eq!(watch.ask(|| 1).unwrap().new.len(), 1);
        let left_out = format!("its list of stores is missing: {why}");
        assert_eq!(watch.left_out(), Some(left_out));
    }
}

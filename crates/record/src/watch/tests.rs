//! Watched data is read back as it was written, whole or cut.

use std::fs;

use measure::{
    Connections, CpuTimes, DiskCounters, KindReading, MemberList, MetricFunction, MetricQuery,
    NetworkCounters, NewSeries, NoteWithout, Panel, PanelLine, Process, ProcessDisk,
    ProcessReading, Quantity, RemarkTest, Runnable, SegmentCounters, Series, ServerMoment,
    ServerRemark, SharedLoad, Side, TcpCounters, Watched,
};

use super::*;
use crate::zipped;

fn host() -> Host {
    let process = |name: &str, pid, side| Process { name: name.to_owned(), pid, side };
    Host {
        name: "pioneer".to_owned(),
        place: None,
        cpu_threads: 64,
        memory_bytes: Some(1 << 37),
        processes: vec![process("dyno", 7, Side::Client), process("tidb", 8, Side::Server)],
        readings: Vec::new(),
        joints_ns: Vec::new(),
    }
}

fn reading(at_ns: u64) -> HostReading {
    let counters = NetworkCounters {
        received_bytes: at_ns,
        sent_bytes: 2,
        received_packets: 3,
        sent_packets: 4,
    };
    HostReading {
        at_ns,
        cpu: CpuTimes {
            user_ns: 1,
            system_ns: 2,
            idle_ns: 3,
            iowait_ns: 4,
            irq_ns: 5,
            softirq_ns: 6,
            steal_ns: 7,
        },
        runnable: Some(3),
        blocked: Some(1),
        context_switches: Some(at_ns * 10),
        memory_available_bytes: Some(5),
        disk: Some(DiskCounters { read_bytes: 1, written_bytes: 2, requests: 3 }),
        disk_busy_ns: Some([("sda".to_owned(), 4)].into()),
        network: Some(counters),
        loopback: None,
        segments: Some(SegmentCounters { received: 1, sent: 2, retransmitted: 3 }),
        processes: vec![
            None,
            Some(ProcessReading {
                user_ns: 1,
                system_ns: 2,
                rss_bytes: 3,
                threads: 4,
                runnable: Runnable { looks: 10, sum: 25, max: 9 },
                context_switches: Some(5),
                disk: Some(ProcessDisk { read_bytes: 6, written_bytes: 7 }),
                pss_bytes: Some(8),
            }),
        ],
        kinds: vec![KindReading { process: 1, kind: "sessions".to_owned(), count: 2, cpu_ns: 3 }],
    }
}

/// Two readings, and the reason when there are none.
fn connections() -> Connections {
    let counters = TcpCounters {
        segments_sent: 1,
        segments_received: 2,
        data_segments_sent: 3,
        data_segments_received: 4,
        segments_retransmitted: 5,
        bytes_acknowledged: 6,
        bytes_received: 7,
        window_full_ns: 8,
        buffer_full_ns: 9,
    };
    let at = |at_ns, ended_unreported, round_trip_ns| ConnectionsReading {
        at_ns,
        open: 16,
        ended: 3,
        ended_unreported,
        counters,
        round_trip_ns,
    };
    let readings = vec![at(1, 0, Some(30_000)), at(2, 1, None)];
    let absent = Some("dyno reaches the system over a unix socket".to_owned());
    Connections { absent, readings, ..Connections::default() }
}

/// Declares a host and a server; the host has a reading, the server an answer and a gap.
fn write(folder: &Path) -> Watched {
    let mut writer = WatchWriter::create(folder).unwrap();
    let host = Host { readings: vec![reading(100)], ..host() };
    let mut server = Server {
        name: "tidb".to_owned(),
        url: "http://user:***@127.0.0.1:10080/metrics".to_owned(),
        ..Server::default()
    };
    let declared = Server { url: server.url.replace("***", "secret"), ..server.clone() };
    assert_eq!((writer.host(&host).unwrap(), writer.server(&declared).unwrap()), (0, 0));
    writer.reading(0, &reading(100)).unwrap();
    let key = "queries_total{type=\"Select\"}".to_owned();
    let answer = Answer {
        at_ns: 200,
        families: vec!["queries_total".to_owned()],
        new: vec![NewSeries { key, first: 0.5, first_ns: 150 }],
        values: vec![(0, 1e18)],
    };
    writer.answer(0, &answer).unwrap();
    let gap = Gap { at_ns: 300, reason: "timed out".to_owned() };
    writer.gap(0, &gap).unwrap();
    let connections = connections();
    for reading in &connections.readings {
        writer.connections(reading).unwrap();
    }
    writer.no_connections(connections.absent.as_deref().unwrap()).unwrap();
    writer.finish().unwrap();
    server.add(&answer);
    server.gaps.push(gap);
    assert_eq!(
        server.series,
        [Series {
            name: "queries_total".to_owned(),
            labels: vec![("type".to_owned(), "Select".to_owned())],
            points: vec![(150, 0.5), (200, 1e18)],
        }]
    );
    Watched { hosts: vec![host], servers: vec![server], connections, ..Watched::default() }
}

/// The lines of hosts and connections, then those of servers.
fn lines(folder: &Path) -> String {
    let mut text = fs::read_to_string(folder.join(FILE)).unwrap();
    let path = folder.join(SERVERS_FILE);
    let mut lines = zipped::lines(&path, fs::File::open(&path).unwrap(), 0);
    while let Some(line) = lines.next().unwrap() {
        text.push_str(&format!("{}\n", String::from_utf8_lossy(line)));
    }
    text
}

fn read(text: &str) -> Result<Watched, String> {
    let mut watched = Watched::default();
    for line in text.lines() {
        let line: WatchLine = serde_json::from_str(line).map_err(|error| error.to_string())?;
        line.add_to(&mut watched)?;
    }
    Ok(watched)
}

#[test]
fn watched_data_round_trips() {
    let folder = tempfile::tempdir().unwrap();
    let written = write(folder.path());
    let text = lines(folder.path());
    assert_eq!(read(&text).unwrap(), written);
    assert!(!text.contains("secret"), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn unknown_lines_of_newer_versions_are_skipped() {
    let watched = read("{\"what\":\"comet\",\"tail\":1}\n").unwrap();
    assert_eq!(watched, Watched::default());
}

#[test]
fn dangling_references_are_reported_as_damage() {
    let gap = "{\"what\":\"gap\",\"server\":0,\"at_ns\":1,\"reason\":\"\"}";
    assert!(read(gap).unwrap_err().contains("not declared"));
}

#[test]
fn a_removed_folder_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = WatchWriter::create(folder.path()).unwrap();
    fs::remove_dir_all(folder.path()).unwrap();
    assert!(writer.host(&host()).is_err());
}

#[test]
fn kinds_of_servers_are_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let query = MetricQuery::new(MetricFunction::Quantile(0.99), "t_seconds").without("sql", "own");
    let load =
        SharedLoad { what: "requests".to_owned(), query: query.clone().by("store"), least: 10.0 };
    let kind = ServerKind {
        name: "store".to_owned(),
        marks: vec!["store_".to_owned()],
        panels: vec![Panel {
            title: "duration".to_owned(),
            quantity: Quantity::Seconds,
            lines: vec![PanelLine { name: "p99".to_owned(), query: query.clone() }],
        }],
        shared: vec![load.clone()],
        members: Some(MemberList {
            family: "stores".to_owned(),
            member: "store".to_owned(),
            kind: "store".to_owned(),
            placed: query.with("type", "leader_count"),
            placed_unit: "regions".to_owned(),
            counted: vec![load.clone()],
            load,
            load_reported_by: "front".to_owned(),
        }),
        note_without: Some(NoteWithout { kind: "front".to_owned(), text: "no front".to_owned() }),
        remarks: vec![ServerRemark {
            text: "it paused".to_owned(),
            test: RemarkTest::Grew(MetricQuery::new(MetricFunction::Rate, "pauses_total")),
        }],
        waits: vec![PanelLine {
            name: "lock".to_owned(),
            query: MetricQuery::new(MetricFunction::SumRate, "lock_seconds"),
        }],
        moments: vec![ServerMoment {
            text: "pause".to_owned(),
            counter: MetricQuery::new(MetricFunction::Rate, "pauses_total"),
        }],
    };
    let mut writer = WatchWriter::create(folder.path()).unwrap();
    writer.server_kinds(vec![kind.clone(), ServerKind::default()]).unwrap();
    writer.finish().unwrap();
    std::fs::write(folder.path().join(FILE), "").unwrap();
    let read = read(&lines(folder.path())).unwrap();
    assert_eq!(read.kinds, [kind, ServerKind::default()]);
}

//! The page's tables: a row for each number of connections, or one for each contestant.

use super::Part;
use super::contestant::Contestant::{
    self, Dyno, DynoLocalRows, DynoTrpc, DynoWatching, Floor, Ghz, GoTpc, GoYcsb, H2load, Sysbench,
    TrpcClient,
};
use super::generators::GENERATORS;
use super::goals::Seen;
use super::page::table;
use super::report::TRIALS;
use super::results::Quantity::{
    self, ClientCpuS, CoordinatorCores, CpuUs, PageBytes, PeakBytes, QueriesPerS, Seconds,
    ServerCpuS, Unfairness, UserUs,
};
use super::results::{Point, Results};
use super::tpcc::{CHECKING, CONNECTIONS, LOADING};
use super::tpch::GO_TPC_LOADERS;

/// One quantity of a contestant: its median over rounds.
type Figures<'a> = &'a dyn Fn(Quantity) -> f64;

/// A table with a row for each number of connections.
struct Section {
    part: Part,
    /// Where server and client run, for the heading; `None` when it says that already.
    place: Option<&'static str>,
    /// The heading of the first column, of the numbers of clients.
    first: &'static str,
    /// Its heading and what it shows.
    words: &'static str,
    contestants: &'static [Contestant],
    /// The figures of one contestant.
    cell: fn(Figures<'_>) -> String,
    /// Columns of ratios, by their headings.
    ratios: &'static [(&'static str, [Contestant; 2], Quantity)],
}

const PINNED: Section = Section {
    part: Part::Pinned,
    place: None,
    first: "connections",
    words: "Server on core 0, client on core 1\n\nClient CPU for a point select, us (in brackets the \
            user part), and throughput. Nothing that speaks the protocol by one system call each way \
            can be below the floor, so what the floor needs of sysbench's CPU is as far as dyno could \
            come. The others watch nothing; dyno watches host and servers by default, and without that under \
            `watch = \"off\"`.",
    contestants: &[Dyno, DynoWatching, Floor, Sysbench],
    cell: |of| format!("{:.2} [{:.2}], {:.1}k/s", of(CpuUs), of(UserUs), of(QueriesPerS) / 1e3),
    ratios: &[
        ("watching / floor", [DynoWatching, Floor], CpuUs),
        ("watching / not", [DynoWatching, Dyno], CpuUs),
        ("dyno / floor", [Dyno, Floor], CpuUs),
        ("dyno / sysbench", [Dyno, Sysbench], CpuUs),
        ("floor / sysbench", [Floor, Sysbench], CpuUs),
    ],
};

const SHARED: Section = Section {
    part: Part::Shared,
    place: None,
    first: "connections",
    words: "Server and client on all cores\n\nThroughput, and the standard deviation over clients as \
            a share of the mean.",
    contestants: &[Dyno, Sysbench],
    cell: |of| format!("{:.1}k/s, {:.1} %", of(QueriesPerS) / 1e3, of(Unfairness) * 100.0),
    ratios: &[("dyno / sysbench", [Dyno, Sysbench], QueriesPerS)],
};

const TIDB: Section = Section {
    part: Part::Tidb,
    place: None,
    first: "connections",
    words: "TiDB and its client on all cores\n\nClient CPU for a point select, and throughput; TiDB \
            on its embedded storage.",
    contestants: &[Dyno, Sysbench],
    cell: |of| format!("{:.1} us, {:.2}k/s", of(CpuUs), of(QueriesPerS) / 1e3),
    ratios: &[
        ("CPU, dyno / sysbench", [Dyno, Sysbench], CpuUs),
        ("throughput", [Dyno, Sysbench], QueriesPerS),
    ],
};

const YCSB: Section = Section {
    part: Part::Ycsb,
    place: None,
    first: "connections",
    words: "YCSB C, server and client on all cores\n\nClient CPU for a read of ten fields of 100 \
            bytes, us (in brackets the user part), and throughput; 10000 records, uniform requests, \
            go-ycsb 1.0.1.",
    contestants: &[Dyno, GoYcsb],
    cell: |of| format!("{:.1} [{:.1}], {:.1}k/s", of(CpuUs), of(UserUs), of(QueriesPerS) / 1e3),
    ratios: &[
        ("CPU, dyno / go-ycsb", [Dyno, GoYcsb], CpuUs),
        ("throughput", [Dyno, GoYcsb], QueriesPerS),
    ],
};

/// Figures of one contestant of calls.
fn calls(of: Figures<'_>) -> String {
    format!("{:.2} [{:.2}], {:.0}k/s", of(CpuUs), of(UserUs), of(QueriesPerS) / 1e3)
}

const ON_ALL: &str = "server and client on all cores";
const APART: &str = "server on core 0, client on core 1";

/// Sections on calls, by where server and client run.
fn of_calls(place: &'static str, [tcp, trpc, grpc]: [Part; 3]) -> [Section; 3] {
    let (place, first, cell) = (Some(place), "clients", calls as fn(Figures<'_>) -> String);
    [
        Section {
            part: tcp,
            place,
            first,
            words: "Requests of 122 bytes and answers of 27\n\nClient CPU for a request, us (in \
                        brackets the user part), and throughput. 100 clients have a request in flight on \
                        each of 100 connections, 800 have 8, and 10000 clients have a connection each. The \
                        floor is a client in C; the server is one in C too, of one thread.",
            contestants: &[Dyno, DynoTrpc, Floor],
            cell,
            ratios: &[
                ("CPU, dyno / floor", [Dyno, Floor], CpuUs),
                ("throughput", [Dyno, Floor], QueriesPerS),
            ],
        },
        Section {
            part: trpc,
            place,
            first,
            words: "tRPC against trpc-go's server\n\n100 connections with 13 requests in flight on \
                        each; trpc-go 1.0.4, its client with multiplexed connections.",
            contestants: &[Dyno, TrpcClient],
            cell,
            ratios: &[
                ("CPU, dyno / trpc-go", [Dyno, TrpcClient], CpuUs),
                ("throughput", [Dyno, TrpcClient], QueriesPerS),
            ],
        },
        Section {
            part: grpc,
            place,
            first,
            words: "gRPC against grpc-go's server\n\n100 connections with 13 requests in flight on \
                        each; ghz 0.120.0, and h2load, which sends bytes that were made beforehand and reads \
                        no message.",
            contestants: &[Dyno, Ghz, H2load],
            cell,
            ratios: &[
                ("CPU, dyno / ghz", [Dyno, Ghz], CpuUs),
                ("CPU, dyno / h2load", [Dyno, H2load], CpuUs),
                ("throughput, dyno / h2load", [Dyno, H2load], QueriesPerS),
            ],
        },
    ]
}

/// Every section that something was measured for.
pub(super) fn sections(results: &Results) -> String {
    let sections = [
        PINNED.text(results),
        SHARED.text(results),
        memory(results),
        prepare(results),
        TIDB.text(results),
        YCSB.text(results),
        tpcc(results),
        Some(tpch(results)),
        report(results),
        generators(results),
    ];
    let shared = of_calls(ON_ALL, [Part::Tcp, Part::Trpc, Part::Grpc]);
    let apart = of_calls(APART, [Part::TcpPinned, Part::TrpcPinned, Part::GrpcPinned]);
    let calls = shared.iter().chain(&apart).map(|section| section.text(results));
    sections.into_iter().chain(calls).flatten().collect()
}

impl Section {
    fn text(&self, results: &Results) -> Option<String> {
        let points = results.points(self.part);
        let names = self.contestants.iter().map(|contestant| contestant.name());
        let head: Vec<&str> = std::iter::once(self.first)
            .chain(names)
            .chain(self.ratios.iter().map(|(head, ..)| *head))
            .collect();
        let rows = points.iter().map(|point| {
            let cells = self.contestants.iter().map(|contestant| self.cell(*point, *contestant));
            let ratios = self.ratios.iter().map(|(_, pair, of)| shown(*point, *pair, *of));
            std::iter::once(point.connections.to_string()).chain(cells).chain(ratios).collect()
        });
        (!points.is_empty()).then(|| format!("\n## {}\n\n{}", self.heading(), table(&head, rows)))
    }

    fn heading(&self) -> String {
        match (self.place, self.words.split_once('\n')) {
            (Some(place), Some((title, text))) => format!("{title}, {place}\n{text}"),
            _ => self.words.to_owned(),
        }
    }

    /// Empty for a contestant that was not measured there.
    fn cell(&self, point: Point<'_>, contestant: Contestant) -> String {
        let cell =
            point.median(contestant, QueriesPerS).map(|_| (self.cell)(&figures(point, contestant)));
        cell.unwrap_or_default()
    }
}

fn figures(point: Point<'_>, contestant: Contestant) -> impl Fn(Quantity) -> f64 {
    move |quantity| point.median(contestant, quantity).unwrap_or_default()
}

fn shown(point: Point<'_>, pair: [Contestant; 2], quantity: Quantity) -> String {
    point.ratio(pair, quantity).map_or_else(String::new, |ratio| Seen::from(ratio).to_string())
}

fn memory(results: &Results) -> Option<String> {
    let point = *results.points(Part::Memory).first()?;
    let rows = [Dyno, Sysbench].into_iter().filter_map(|contestant| {
        let peak = point.median(contestant, PeakBytes)? / 1e6;
        Some(vec![contestant.name().to_owned(), format!("{peak:.1} MB")])
    });
    let table = table(&["", "peak"], rows);
    Some(format!("\n## Peak memory at {} connections\n\n{table}", point.connections))
}

fn prepare(results: &Results) -> Option<String> {
    let words = format!(
        "Prepare of 4 x 100,000 rows\n\n{CORES_AT_WORK} dyno's client CPU counts its verification too."
    );
    loads(results, Part::Prepare, &[Dyno, Sysbench], &words)
}

fn report(results: &Results) -> Option<String> {
    let point = results.at(Part::Report, TRIALS);
    point.median(Dyno, Seconds)?;
    let of = figures(point, Dyno);
    let row = vec![
        format!("{:.2} s", of(Seconds)),
        format!("{:.2} s", of(ClientCpuS)),
        format!("{:.0} MB", of(PeakBytes) / 1e6),
        format!("{:.1} MB", of(PageBytes) / 1e6),
    ];
    let table = table(&["wall clock", "CPU", "peak memory", "report.html"], [row].into_iter());
    Some(format!(
        "\n## Report of {TRIALS} trials\n\n`dyno report` on a record of 60 s each in intervals of 1 s, with twelve \
         operations: all views are written.\n\n{table}"
    ))
}

fn generators(results: &Results) -> Option<String> {
    let point = results.at(Part::Generators, GENERATORS);
    let of = figures(point, Dyno);
    let share = point.median(Dyno, CoordinatorCores)? * 100.0;
    let row = vec![format!("{share:.2} % of a core"), format!("{:.0}k/s", of(QueriesPerS) / 1e3)];
    let table = table(&["CPU of the coordinator", "throughput of all"], [row].into_iter());
    Some(format!(
        "\n## {GENERATORS} generators\n\nCPU of the process of the run, while {GENERATORS} generators on the same machine \
         offer its load and report each second.\n\n{table}"
    ))
}

const CORES_AT_WORK: &str = "Cores at work is CPU time of client and server over the wall clock: near \
    the number of cores, the CPU limits; far below, the disk or a lock does.";

fn tpch(results: &Results) -> String {
    let of = |(part, system, statistics): (Part, &str, &str)| {
        let words = format!(
            "Load of TPC-H at scale 1 on {system}\n\nThe 8.7 million rows of dbgen, with primary keys \
             alone, each load on a fresh server: dyno with INSERT, dyno with LOAD DATA LOCAL, and go-tpc \
             1.0.12 with {GO_TPC_LOADERS} threads. {statistics} {CORES_AT_WORK}"
        );
        loads(results, part, &[Dyno, DynoLocalRows, GoTpc], &words)
    };
    let mariadb = (Part::Tpch, "MariaDB", "dyno also gathers statistics.");
    let tidb = (Part::TpchTidb, "TiDB", "All gather statistics.");
    [mariadb, tidb].into_iter().filter_map(of).collect()
}

/// A table of loads.
fn loads(results: &Results, part: Part, contestants: &[Contestant], words: &str) -> Option<String> {
    let point = *results.points(part).first()?;
    let rows = contestants.iter().filter_map(|contestant| {
        let of = |quantity| point.median(*contestant, quantity);
        let (seconds, client, server) = (of(Seconds)?, of(ClientCpuS)?, of(ServerCpuS)?);
        let times = [seconds, client, server].map(|time| format!("{time:.2} s"));
        let cores = format!("{:.2}", (client + server) / seconds);
        Some([contestant.name().to_owned()].into_iter().chain(times).chain([cores]).collect())
    });
    let head = ["", "wall clock", "client CPU", "server CPU", "cores at work"];
    Some(format!("\n## {words}\n\n{}", table(&head, rows)))
}

fn tpcc(results: &Results) -> Option<String> {
    let [check, load, run] =
        [CHECKING, LOADING, CONNECTIONS].map(|connections| results.at(Part::Tpcc, connections));
    let dyno_load = load.median(Dyno, Seconds)?;
    let cell = |contestant| {
        let of = figures(run, contestant);
        format!("{:.0} [{:.0}], {:.0}/s", of(CpuUs), of(UserUs), of(QueriesPerS))
    };
    let [cpu, rate] = [CpuUs, QueriesPerS].map(|quantity| shown(run, [Dyno, GoTpc], quantity));
    let go_load = figures(load, GoTpc)(Seconds);
    let ratio = dyno_load / go_load.max(f64::MIN_POSITIVE);
    let rows = [
        [
            format!("transactions, {CONNECTIONS} connections"),
            cell(Dyno),
            cell(GoTpc),
            format!("CPU {cpu}, rate {rate}"),
        ],
        [
            "load of 2 warehouses".to_owned(),
            format!("{dyno_load:.1} s"),
            format!("{go_load:.1} s"),
            format!("{ratio:.2}"),
        ],
        [
            "check of 2 warehouses".to_owned(),
            format!("{:.1} s", figures(check, Dyno)(Seconds)),
            "does not end in minutes".to_owned(),
            String::new(),
        ],
    ];
    let head = ["TPC-C", "dyno", "go-tpc", "dyno / go-tpc"];
    Some(format!(
        "\n## TPC-C, server and client on all cores\n\nClient CPU for a transaction, us (in brackets the \
         user part), and transactions as the server counted them; 2 warehouses, mix 45/43/4/4/4, any \
         warehouse for each transaction, go-tpc 1.0.12. Each load is on a fresh server, go-tpc's with 4 \
         threads.\n\n{}",
        table(&head, rows.into_iter().map(Vec::from))
    ))
}

//! Measures a part: every contestant in every round, in shuffled order.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, ensure};
use jiff::Timestamp;
use net::Clock;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use serde_json::Value;

use super::Bench;
use super::parts::{Facts, Kind, Part, facts, facts_of_load, path, pinned};
use super::process::peak_bytes;
use super::results::{Case, Quantity, Values};
use super::server::Server;
use super::window::{Client, End, Window};
use crate::go::{GHZ, GO_TPC, GO_YCSB, TRPC_CLIENT};
use crate::{paths, shell};

/// The plan of a large run of a simulated system, in virtual time: it is made in minutes and is the same each time.
const LARGE_RUN: &str = "benchmarks/large-run.toml";
/// Between two looks at a process that is watched. Its peak is the kernel's, so that only one at the very end is missed.
const POLL_PERIOD: Duration = Duration::from_millis(5);

impl Bench {
    /// Measures a part.
    pub(super) fn measure(&mut self, name: &str) -> anyhow::Result<()> {
        let part = self.parts.get(name)?.clone();
        self.facts.extend(self.programs_of(&part)?);
        match part.kind {
            Kind::Queries | Kind::Transactions => {
                let server = self.filled(&part)?;
                let window = Window::new(self.window, part.kind, &server);
                self.in_rounds(name, &part, |bench, contestant, connections| {
                    let seconds = window.load_time().as_secs_f64();
                    let command =
                        bench.command(&part, contestant, &server, connections, seconds)?;
                    let is_endless = part.endless.iter().any(|it| it == contestant);
                    let (mut values, printed) =
                        window.look(command, is_endless, &bench.interrupt)?;
                    let unfairness = unfairness(contestant, &printed)?;
                    values
                        .extend(unfairness.map(|it| (Quantity::StandardDeviationOverClients, it)));
                    Ok(values)
                })
            }
            Kind::Load | Kind::Open => self.in_rounds(name, &part, |bench, contestant, loaders| {
                let server = bench.filled(&part)?;
                let command = bench.command(&part, contestant, &server, loaders, 0.0)?;
                bench.to_its_end(&part, &server, command)
            }),
            Kind::Start => self.in_rounds(name, &part, |bench, contestant, clients| {
                bench.start(&part, contestant, clients)
            }),
            Kind::Report => self.report(name, &part),
        }
    }

    fn in_rounds(
        &mut self,
        name: &str,
        part: &Part,
        once: impl Fn(&Self, &str, usize) -> anyhow::Result<Values>,
    ) -> anyhow::Result<()> {
        for round in 0..self.rounds {
            for connections in self.order.of(&part.connections) {
                for contestant in self.order.of(&part.contestants_with(connections)) {
                    let who = format!("{contestant} at {connections}");
                    let values =
                        once(self, &contestant, connections).with_context(|| who.clone())?;
                    let of = self.rounds;
                    eprintln!("xtask: {name} round {} of {of}, {who}: {values:?}", round + 1);
                    let part = name.to_owned();
                    self.results.add(&Case { part, contestant, connections, round }, values);
                }
            }
        }
        Ok(())
    }

    /// The programs in Go that a part needs; they are built now if they were never built.
    fn programs_of(&self, part: &Part) -> anyhow::Result<Facts> {
        let programs = [GO_YCSB, GO_TPC, TRPC_CLIENT, GHZ].into_iter().filter(|program| {
            let name = format!("{{{}}}", program.path);
            part.contestants.values().any(|it| self.parts.spelled(it).contains(&name))
        });
        let built = |program: crate::go::GoProgram| {
            Ok((program.path.to_owned(), path(&program.build(&self.interrupt)?)))
        };
        programs.map(built).collect()
    }

    /// The server of a part, with its data.
    fn filled(&self, part: &Part) -> anyhow::Result<Server> {
        let server = Server::start(part, self)?;
        if let Some(before) = &part.before {
            let facts = self.facts_with(&server, 1, 0.0);
            let mut fill = self.parts.command(before, &facts)?;
            shell::must(fill.stdout(Stdio::null()), &self.interrupt)?;
        }
        Ok(server)
    }

    fn facts_with(&self, server: &Server, connections: usize, seconds: f64) -> Facts {
        let of_load = facts_of_load(connections, seconds);
        self.facts.clone().into_iter().chain(server.facts()).chain(of_load).collect()
    }

    fn command(
        &self,
        part: &Part,
        contestant: &str,
        server: &Server,
        connections: usize,
        seconds: f64,
    ) -> anyhow::Result<Command> {
        // Records of rounds before are not mixed up with that of this one.
        let _ = fs::remove_dir_all(server.scratch().join("results"));
        let facts = self.facts_with(server, connections, seconds);
        let pinned = part.cores.as_ref().map(|[_, client]| pinned(client)).unwrap_or_default();
        self.parts.command(&format!("{pinned}{}", part.contestants[contestant]), &facts)
    }

    /// Runs a command to its end: its wall-clock time, and the CPU time of both sides. dyno's commands also verify and
    /// measure a little; where a load leaves a record, its phases count in place of the wall-clock time.
    fn to_its_end(
        &self,
        part: &Part,
        server: &Server,
        mut command: Command,
    ) -> anyhow::Result<Values> {
        let server_before = server.cpu()?;
        let mut values = self.watched(&mut command)?;
        if part.kind == Kind::Load {
            // The processes of a thousand sessions are still ending, where a server has one for each.
            let server_cpu = server.cpu()? - server_before;
            values.push((Quantity::ServerCpuS, server_cpu.as_secs_f64()));
        }
        if let Some(phases) = Phases::of_run_in(&server.scratch().join("results"))? {
            let get = |name| phases.get(name).with_context(|| format!("no phase {name}"));
            if part.kind == Kind::Open {
                let verified = get("verify")?;
                let opening = get("measure")?.began_s - verified.began_s - verified.duration_s;
                values.push((Quantity::OpeningSeconds, opening));
            } else {
                values[0].1 = get("prepare")?.duration_s;
                let checked = phases.get("check");
                values.extend(checked.map(|it| (Quantity::CheckSeconds, it.duration_s)));
            }
        }
        if let Some((table, rows)) = &part.rows {
            let found = server.count(table)?;
            ensure!(found == *rows, "it loaded {found} rows of {table}, not {rows}");
        }
        Ok(values)
    }

    /// Runs a command that starts its own server: the wall-clock time until its first measured transaction.
    fn start(&self, part: &Part, contestant: &str, clients: usize) -> anyhow::Result<Values> {
        let scratch = tempfile::tempdir_in(paths::target().join("bench"))?;
        let of_load = facts_of_load(clients, 0.0).into_iter().chain(self.facts.clone());
        let facts = of_load.chain(facts([("scratch", path(scratch.path()))])).collect();
        let mut command = self.parts.command(&part.contestants[contestant], &facts)?;
        let began_s = seconds_of(Timestamp::now());
        let mut values = self.watched(&mut command)?;
        let phases = Phases::of_run_in(&scratch.path().join("results"))?;
        let first = phases.as_ref().and_then(|it| it.get("measure"));
        let first_s = first.context("no phase measure in a record")?.began_s - began_s;
        values.push((Quantity::FirstSeconds, first_s));
        Ok(values)
    }

    /// Runs a command to its end, and watches its memory.
    fn watched(&self, command: &mut Command) -> anyhow::Result<Values> {
        let cpu_before = children_cpu_s()?;
        let clock = Clock::monotonic();
        let mut client = Client::start(command)?;
        let mut peak = 0;
        while client.ended()?.is_none() {
            self.interrupt.check()?;
            // A process that has just ended has no memory.
            peak = peak_bytes(client.pid()).unwrap_or(peak);
            thread::sleep(POLL_PERIOD);
        }
        let seconds = clock.now() as f64 / 1e9;
        client.finish(End::Own)?;
        Ok(vec![
            (Quantity::Seconds, seconds),
            (Quantity::ClientCpuS, children_cpu_s()? - cpu_before),
            (Quantity::PeakBytes, peak as f64),
        ])
    }

    /// Makes the record of a large run, and in each round a report of it.
    fn report(&mut self, name: &str, part: &Part) -> anyhow::Result<()> {
        let scratch = tempfile::tempdir_in(paths::target().join("bench"))?;
        let facts = facts([("out", path(scratch.path()))]).into_iter().chain(self.facts.clone());
        let run = format!("{{dyno}} run {LARGE_RUN} --quiet --out {{out}}");
        let mut run = self.parts.command(&run, &facts.collect())?;
        shell::must(run.stdout(Stdio::null()), &self.interrupt)?;
        let record = fs::read_dir(scratch.path())?.next().context("dyno left no record")??.path();
        self.in_rounds(name, part, |bench, contestant, trials| {
            let found = fs::read_dir(record.join("trials"))?.count();
            ensure!(found == trials, "{LARGE_RUN} has {found} trials, not {trials}");
            let mut report = bench.parts.command(&part.contestants[contestant], &bench.facts)?;
            let mut values = bench.watched(report.arg(&record))?;
            let page = fs::metadata(record.join("report.html"))?.len();
            values.push((Quantity::PageBytes, page as f64));
            Ok(values)
        })
    }
}

/// CPU time of all children that have ended, seconds.
fn children_cpu_s() -> anyhow::Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let us = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Ok(us as f64 / 1e6)
}

/// The phases of the first trial of a record.
struct Phases(BTreeMap<String, Times>);

/// When a phase began, s since 1970, and how long it took.
struct Times {
    began_s: f64,
    duration_s: f64,
}

impl Phases {
    /// Those of the only run in a folder; `None` without a run.
    fn of_run_in(folder: &Path) -> anyhow::Result<Option<Self>> {
        let Some(run) = fs::read_dir(folder).ok().and_then(|mut it| it.next()) else {
            return Ok(None);
        };
        let text = fs::read_to_string(run?.path().join("trials/0000/trial.json"))?;
        Self::read(&text).map(Some)
    }

    fn read(trial: &str) -> anyhow::Result<Self> {
        let trial: Value = serde_json::from_str(trial)?;
        let phases = trial["phases"].as_array().context("a trial has phases")?;
        let times = phases.iter().map(|phase| {
            let began: Timestamp = phase["started"].as_str()?.parse().ok()?;
            let duration_s = phase["duration_ns"].as_f64()? / 1e9;
            let times = Times { began_s: seconds_of(began), duration_s };
            Some((phase["phase"].as_str()?.to_owned(), times))
        });
        times.collect::<Option<_>>().map(Self).context("a phase without its times")
    }

    fn get(&self, name: &str) -> Option<&Times> {
        self.0.get(name)
    }
}

fn seconds_of(time: Timestamp) -> f64 {
    time.as_nanosecond() as f64 / 1e9
}

/// Standard deviation over clients of what each got done, as a share of the mean; `None` from a contestant that does
/// not count that.
fn unfairness(contestant: &str, printed: &str) -> anyhow::Result<Option<f64>> {
    if contestant == "sysbench" {
        let found = sysbench_unfairness(printed);
        return found.context("sysbench says nothing about its threads' fairness").map(Some);
    }
    if !contestant.starts_with("dyno") {
        return Ok(None);
    }
    let run: Value = serde_json::from_str(printed).context("dyno printed no JSON")?;
    let trial = run["trials"].get(0).context("dyno printed no trial")?;
    let number = |name: &str| trial["clients_fairness"][name].as_f64();
    let fairness = number("mean").zip(number("standard_deviation"));
    Ok(fairness.map(|(mean, deviation)| deviation / mean))
}

/// From the line `events (avg/stddev): 4511.5000/12.34`.
fn sysbench_unfairness(printed: &str) -> Option<f64> {
    let line =
        printed.lines().find(|line| line.trim_start().starts_with("events (avg/stddev):"))?;
    let (mean, deviation) = line.split_once("):")?.1.trim().split_once('/')?;
    Some(deviation.parse::<f64>().ok()? / mean.parse::<f64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_are_found_in_a_trial() {
        let trial = r#"{"phases":[{"phase":"measure","started":"1970-01-02T00:00:01.5Z","duration_ns":2e9}]}"#;
        let phases = Phases::read(trial).unwrap();
        let measured = phases.get("measure").unwrap();
        assert_eq!((measured.began_s, measured.duration_s), (86_401.5, 2.0));
        assert!(phases.get("check").is_none());
        assert!(Phases::read(r#"{"phases":[{"phase":"measure"}]}"#).is_err());
    }

    #[test]
    fn fairness_is_found_in_what_contestants_print() {
        let printed = "Threads fairness:\n    events (avg/stddev):           200.0000/5.00\n";
        assert_eq!(unfairness("sysbench", printed).unwrap(), Some(0.025));
        assert!(unfairness("sysbench", "").is_err());
        let printed = r#"{"trials":[{"clients_fairness":{"mean":50.0,"standard_deviation":5.0}}]}"#;
        assert_eq!(unfairness("dyno, watching", printed).unwrap(), Some(0.1));
        let alone = r#"{"trials":[{"clients_fairness":null}]}"#;
        assert_eq!(unfairness("dyno", alone).unwrap(), None);
        assert!(unfairness("dyno", "{}").is_err());
        assert_eq!(unfairness("floor", "").unwrap(), None);
    }
}

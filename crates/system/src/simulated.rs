//! A simulated system: servers, a queue, and service times and noise that are known beforehand.

use std::path::Path;
use std::time::Duration;

use driver::Timeouts;
use measure::{Nanos, nanos};
use plan::declared::{Choice, Named, Number, choice, named, number};
use plan::{
    Noise, OptionReader, Options, Problem, ServiceDistribution, SimulatedSystem, Stall,
    parse_duration, show_duration,
};

use crate::{Access, Identity, Kind, Offer, ProgressListener, Running, System};

const SERVICE_TIME: Duration = Duration::from_millis(1);

const SERVERS: Number<u64> = number(
    "servers",
    1,
    1..=1_000_000,
    "number of requests that are served at the same time, 1 to 1000000",
);
const OPERATIONS: Number<u64> =
    number("operations", 1, 1..=1_000, "kinds of requests, which are sent in turn, 1 to 1000");
const SERVICE_TIMES: Named =
    named("service_times", "1ms", "list of service times, which are used in turn");
const DISTRIBUTION: Choice<fn(f64) -> ServiceDistribution> = choice(
    "distribution",
    ("constant", |_| ServiceDistribution::Constant),
    &[
        ("constant", |_| ServiceDistribution::Constant),
        ("exponential", |_| ServiceDistribution::Exponential),
        ("lognormal", |variation| ServiceDistribution::Lognormal { variation }),
        ("pareto", |variation| ServiceDistribution::Pareto { variation }),
        ("bimodal", |variation| ServiceDistribution::Bimodal { variation }),
    ],
    "of service times around these: constant, exponential, lognormal, pareto, bimodal",
);
const VARIATION: Number<f64> = number(
    "variation",
    1.0,
    0.01..=100.0,
    "their standard deviation as a part of the mean, 0.01 to 100",
);
const STALLS: Named =
    named("stalls", "none", "pauses, counted from the first load: [{ at = \"5s\", for = \"1s\" }]");
const NOISE: Named = named(
    "noise",
    "none",
    "that of a machine over time: [{ kind = \"drift\", change = 0.1, over = \"1h\" }]",
);

pub(crate) static KIND: Kind = Kind {
    name: "simulated",
    summary: "servers behind one queue in exact virtual time: arithmetic, no database",
    argument: "simulated",
    options: &[&SERVERS, &OPERATIONS, &SERVICE_TIMES, &DISTRIBUTION, &VARIATION, &STALLS, &NOISE],
    read,
};

struct Simulated(SimulatedSystem);

/// Reads the options of a simulated system.
fn read(options: &Options, _folder: &Path) -> Result<Box<dyn System>, Vec<Problem>> {
    let mut reader = options.reader();
    let servers = SERVERS.read(&mut reader);
    let operations = OPERATIONS.read(&mut reader);
    let service_times_ns = service_times(&mut reader);
    let mut problems = Vec::new();
    let distribution = distribution(&mut reader);
    let stalls = stalls(&mut reader, &mut problems);
    let noise = noise(&mut reader, &mut problems);
    problems.extend(reader.finish().err().unwrap_or_default());
    if !problems.is_empty() {
        return Err(problems);
    }
    let servers = usize::try_from(servers).unwrap_or(usize::MAX);
    Ok(Box::new(Simulated(SimulatedSystem {
        servers,
        operations: u16::try_from(operations).unwrap_or(u16::MAX),
        service_times_ns,
        distribution,
        stalls,
        noise,
    })))
}

/// `stalls = [{ at = "5s", for = "1s" }]`, in any order.
fn stalls(reader: &mut OptionReader<'_>, problems: &mut Vec<Problem>) -> Vec<Stall> {
    let tables = reader.tables(STALLS.name);
    let read = |table: &Options| read_stall(table).map_err(|found| problems.extend(found)).ok();
    let mut stalls: Vec<Stall> = tables.iter().filter_map(read).collect();
    stalls.sort_by_key(|stall| stall.at_ns);
    if stalls.windows(2).any(|pair| pair[0].at_ns + pair[0].length_ns > pair[1].at_ns) {
        let message = "two of the `stalls` are at the same time";
        reader.reject(STALLS.name, message, "make one of them, or set them apart");
    }
    stalls
}

/// `distribution = "lognormal"` with `variation = 1.5`.
fn distribution(reader: &mut OptionReader<'_>) -> ServiceDistribution {
    let variation = VARIATION.read(reader);
    let chosen = DISTRIBUTION.read(reader)(variation);
    let is_fixed =
        matches!(chosen, ServiceDistribution::Constant | ServiceDistribution::Exponential);
    if is_fixed && reader.is_given(VARIATION.name) {
        let message = "this `distribution` has no `variation` of its own";
        reader.reject(
            VARIATION.name,
            message,
            "leave it out, or choose lognormal, pareto or bimodal",
        );
    }
    chosen
}

/// `noise = [{ kind = "drift", change = 0.1, over = "1h" }]`
fn noise(reader: &mut OptionReader<'_>, problems: &mut Vec<Problem>) -> Vec<Noise> {
    let tables = reader.tables(NOISE.name);
    let read = |table: &Options| read_noise(table).map_err(|found| problems.extend(found)).ok();
    tables.iter().filter_map(read).collect()
}

fn read_noise(table: &Options) -> Result<Noise, Vec<Problem>> {
    let mut reader = table.reader();
    let kinds = ["autocorrelated", "two-state", "pauses", "drift", "warm", "wave"];
    let kinds = kinds.map(|kind| (kind, kind));
    if !reader.is_given("kind") {
        let help = "write autocorrelated, two-state, pauses, drift, warm or wave";
        return Err(vec![table.problem("kind", "this noise has no `kind`", help)]);
    }
    let noise = match reader.choice("kind", "", &kinds) {
        "autocorrelated" => Noise::Autocorrelated {
            deviation: reader.float("deviation", 0.1, 0.0..=2.0),
            time_ns: required_ns(&mut reader, "time"),
        },
        "two-state" => Noise::TwoStates {
            slow: reader.float("slow", 2.0, 1.0..=1_000.0),
            fast_ns: required_ns(&mut reader, "fast_for"),
            slow_ns: required_ns(&mut reader, "slow_for"),
        },
        "pauses" => Noise::Pauses {
            every_ns: required_ns(&mut reader, "every"),
            length_ns: required_ns(&mut reader, "for"),
            shape: reader.float("shape", 1.5, 1.1..=10.0),
        },
        "drift" => Noise::Drift {
            change: reader.float("change", 0.1, -0.9..=100.0),
            over_ns: required_ns(&mut reader, "over"),
        },
        "warm" => Noise::Warm {
            slow: reader.float("slow", 2.0, 1.0..=1_000.0),
            slow_ns: required_ns(&mut reader, "for"),
            falling_ns: nanos(reader.duration("falling_for", Duration::ZERO)),
        },
        "wave" => Noise::Wave {
            swing: reader.float("swing", 0.1, 0.0..=0.9),
            period_ns: required_ns(&mut reader, "period"),
        },
        _ => {
            // The reader knows that the kind is none of these; the other keys depend on it.
            let known = reader.unasked();
            known.iter().for_each(|name| _ = reader.is_given(name));
            return Err(reader.finish().err().unwrap_or_default());
        }
    };
    if matches!(noise, Noise::Pauses { every_ns, length_ns, .. } if length_ns >= every_ns) {
        let message = "the pauses are as long as the time from one to the next";
        reader.reject("for", message, "make them shorter, or rarer");
    }
    reader.finish().map(|()| noise)
}

/// A time that has no default and is not 0.
fn required_ns(reader: &mut OptionReader<'_>, name: &str) -> Nanos {
    let time = reader.duration(name, Duration::ZERO);
    if time.is_zero() {
        let message = format!("this noise has no `{name}`");
        reader.reject(name, message, "write a time such as \"10s\"");
    }
    nanos(time)
}

fn read_stall(table: &Options) -> Result<Stall, Vec<Problem>> {
    let mut reader = table.reader();
    let mut time_ns = |name: &str| {
        if !reader.is_given(name) {
            let message = format!("a stall has no `{name}`");
            reader.reject(name, message, "write { at = \"5s\", for = \"1s\" }");
        }
        let time = reader.duration(name, Duration::ZERO);
        nanos(time)
    };
    let stall = Stall { at_ns: time_ns("at"), length_ns: time_ns("for") };
    reader.finish().map(|()| stall)
}

fn service_times(reader: &mut OptionReader<'_>) -> Vec<Nanos> {
    let mut times_ns = Vec::new();
    for text in reader.texts(SERVICE_TIMES.name) {
        match parse_duration(&text).and_then(|time| Nanos::try_from(time.as_nanos()).ok()) {
            Some(time_ns) => times_ns.push(time_ns),
            None => reader.reject(
                SERVICE_TIMES.name,
                format!("`{text}` is not a length of time"),
                "write a list such as [\"500us\", \"1ms\"]",
            ),
        }
    }
    if times_ns.is_empty() {
        times_ns.push(nanos(SERVICE_TIME));
    }
    times_ns
}

impl System for Simulated {
    fn offers(&self) -> Offer {
        Offer::Simulation
    }

    fn start(
        &self,
        _scratch: &Path,
        _timeouts: Timeouts,
        _listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<Running> {
        Ok(Running::simulated(Access::Simulated(self.0.clone()), self.identity()))
    }
}

impl Simulated {
    fn identity(&self) -> Identity {
        let times: Vec<String> = self.0.service_times_ns.iter().map(|time| show(*time)).collect();
        let mut settings = vec![
            ("servers".to_owned(), self.0.servers.to_string()),
            ("service_times".to_owned(), times.join(", ")),
        ];
        if self.0.operations > 1 {
            settings.push(("operations".to_owned(), self.0.operations.to_string()));
        }
        let stalls = self.0.stalls.iter();
        let stalls =
            stalls.map(|stall| format!("{} at {}", show(stall.length_ns), show(stall.at_ns)));
        if !self.0.stalls.is_empty() {
            settings.push(("stalls".to_owned(), stalls.collect::<Vec<_>>().join(", ")));
        }
        if self.0.distribution != ServiceDistribution::Constant {
            settings.push(("distribution".to_owned(), show_distribution(self.0.distribution)));
        }
        let noise: Vec<String> = self.0.noise.iter().map(show_noise).collect();
        if !noise.is_empty() {
            settings.push(("noise".to_owned(), noise.join(", ")));
        }
        Identity {
            product: "simulated system".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            build: None,
            storage: "none, exact virtual time".to_owned(),
            settings,
            remarks: Vec::new(),
            first_executions: None,
        }
    }
}

fn show(time_ns: Nanos) -> String {
    show_duration(Duration::from_nanos(time_ns))
}

fn show_distribution(distribution: ServiceDistribution) -> String {
    match distribution {
        ServiceDistribution::Constant => "constant".to_owned(),
        ServiceDistribution::Exponential => "exponential".to_owned(),
        ServiceDistribution::Lognormal { variation } => format!("lognormal, variation {variation}"),
        ServiceDistribution::Pareto { variation } => format!("pareto, variation {variation}"),
        ServiceDistribution::Bimodal { variation } => format!("bimodal, variation {variation}"),
    }
}

fn show_noise(noise: &Noise) -> String {
    match *noise {
        Noise::Autocorrelated { deviation, time_ns } => {
            format!("autocorrelated {deviation} over {}", show(time_ns))
        }
        Noise::TwoStates { slow, fast_ns, slow_ns } => {
            format!("two-state {slow} for {} after {}", show(slow_ns), show(fast_ns))
        }
        Noise::Pauses { every_ns, length_ns, shape } => {
            format!("pauses of {} every {}, shape {shape}", show(length_ns), show(every_ns))
        }
        Noise::Drift { change, over_ns } => format!("drift of {change} over {}", show(over_ns)),
        Noise::Warm { slow, slow_ns, falling_ns } => {
            format!("warm after {}, {slow} before, falling for {}", show(slow_ns), show(falling_ns))
        }
        Noise::Wave { swing, period_ns } => format!("wave of {swing} over {}", show(period_ns)),
    }
}

//! A simulated system: servers, a queue, and service times that are known beforehand.

use std::path::Path;
use std::time::Duration;

use driver::Timeouts;
use measure::{Nanos, nanos};
use plan::{OptionReader, Options, Problem, SimulatedSystem, Stall, parse_duration, show_duration};

use crate::{Access, Identity, ProgressListener, Running, System};

/// The default service time.
const SERVICE_TIME: Duration = Duration::from_millis(1);

struct Simulated(SimulatedSystem);

/// Reads the options of a simulated system.
pub(crate) fn read(options: &Options, _folder: &Path) -> Result<Box<dyn System>, Vec<Problem>> {
    let mut reader = options.reader();
    let servers = reader.integer("servers", 1, 1..=1_000_000);
    let service_times_ns = service_times(&mut reader);
    let mut problems = Vec::new();
    let stalls = stalls(&mut reader, &mut problems);
    problems.extend(reader.finish().err().unwrap_or_default());
    if !problems.is_empty() {
        return Err(problems);
    }
    let servers = usize::try_from(servers).unwrap_or(usize::MAX);
    Ok(Box::new(Simulated(SimulatedSystem { servers, service_times_ns, stalls })))
}

/// `stalls = [{ at = "5s", for = "1s" }]`, in any order.
fn stalls(reader: &mut OptionReader<'_>, problems: &mut Vec<Problem>) -> Vec<Stall> {
    let tables = reader.tables("stalls");
    let read = |table: &Options| read_stall(table).map_err(|found| problems.extend(found)).ok();
    let mut stalls: Vec<Stall> = tables.iter().filter_map(read).collect();
    stalls.sort_by_key(|stall| stall.at_ns);
    if stalls.windows(2).any(|pair| pair[0].at_ns + pair[0].length_ns > pair[1].at_ns) {
        let message = "two of the `stalls` are at the same time";
        reader.reject("stalls", message, "make one of them, or set them apart");
    }
    stalls
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
    for text in reader.texts("service_times") {
        match parse_duration(&text).and_then(|time| Nanos::try_from(time.as_nanos()).ok()) {
            Some(time_ns) => times_ns.push(time_ns),
            None => reader.reject(
                "service_times",
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
        let show = |time_ns: Nanos| show_duration(Duration::from_nanos(time_ns));
        let times: Vec<String> = self.0.service_times_ns.iter().map(|time| show(*time)).collect();
        let mut settings = vec![
            ("servers".to_owned(), self.0.servers.to_string()),
            ("service_times".to_owned(), times.join(", ")),
        ];
        let stalls = self.0.stalls.iter();
        let stalls =
            stalls.map(|stall| format!("{} at {}", show(stall.length_ns), show(stall.at_ns)));
        if !self.0.stalls.is_empty() {
            settings.push(("stalls".to_owned(), stalls.collect::<Vec<_>>().join(", ")));
        }
        Identity {
            product: "simulated system".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            build: None,
            storage: "none, exact virtual time".to_owned(),
            settings,
        }
    }
}

//! Measures how fast this machine is before a load, when none runs: the CPU time of fixed work on each CPU.
//!
//! A shared machine gets faster and slower, because of what its other users do with its caches, its memory and the
//! second thread of each core. CPU time shows that, and not how long other programs had the CPU.

use std::hint::black_box;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::panic;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use engine::MachineNoise;
use measure::{MachineSpeed, Nanos, nanos};
use plan::{SimulatedSystem, Trial};
use system::Access;

use crate::pacing;
use crate::{Experiment, RunListener};

/// How long the work is repeated on each CPU: at most so long, and at least, and between them a part of the load's time,
/// because the measurement takes time from the loads.
const LENGTH_MAX: Duration = Duration::from_millis(50);
const LENGTH_MIN: Duration = Duration::from_millis(10);
const LENGTH_PART: u32 = 20;
/// Numbers of 4 bytes in the memory of the arithmetic: 128 KiB, more than the caches that are private to a core's
/// first level have.
const NUMBERS: usize = 1 << 15;
/// Loads in a piece of arithmetic, each from where the one before says.
const LOADS: usize = 20_000;
/// Round trips in a piece.
const ROUND_TRIPS: u32 = 10;
/// Bytes of a request and of its answer.
const REQUEST: usize = 100;
const ANSWER: usize = 200;
/// Nothing is lost on the loopback interface; without a bound a fault would stop the run.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);
/// Of a simulated machine: the arithmetic without noise, ns. A round trip takes a hundredth of it.
const SIMULATED_NS: Nanos = 1_000_000;

/// The machine's speed before the load of a trial; `None` when the plan does not ask for it, and when it cannot be
/// measured, which is noted.
pub(crate) fn before(
    experiment: &Experiment,
    trial: Trial,
    access: &Access,
    listener: &mut dyn RunListener,
) -> Option<MachineSpeed> {
    if !experiment.plan.control {
        return None;
    }
    let measured = match access {
        Access::Simulated(system) => Ok(of_simulated(experiment, trial, system)),
        _ => of_this_machine(length(experiment)),
    };
    let note = |cause| {
        listener.on_note(&format!("the machine's speed was not measured: {cause:#}"));
    };
    measured.map_err(note).ok()
}

/// The speed of a simulated machine when a trial begins, by its noise. That its system has to get warm does not slow the
/// machine.
fn of_simulated(experiment: &Experiment, trial: Trial, system: &SimulatedSystem) -> MachineSpeed {
    let chance = pacing::simulated_chance(&experiment.plan, trial);
    let machine = MachineNoise::new(&system.noise, chance.noise, chance.origin_ns);
    let mut machine = machine.up_for(Nanos::MAX);
    let arithmetic_ns = machine.served(0, SIMULATED_NS) as f64;
    let round_trip_ns = arithmetic_ns / 100.0;
    MachineSpeed { arithmetic_ns, round_trip_ns, cpus: system.servers, length_ns: 0, cost_ns: 0 }
}

/// How long to measure beside each load of an experiment.
fn length(experiment: &Experiment) -> Duration {
    let time = experiment.plan.load.limit.time;
    time.map_or(LENGTH_MAX, |time| (time / LENGTH_PART).clamp(LENGTH_MIN, LENGTH_MAX))
}

/// Measures for so long on every CPU that dyno may use, at the same time.
fn of_this_machine(length: Duration) -> Result<MachineSpeed> {
    let cpus = net::usable_cpus().context("the CPUs that dyno may use are not known")?;
    let begun = net::kernel_ns();
    let start = |cpu| {
        let thread = thread::Builder::new().name("machine speed".to_owned());
        Ok((cpu, thread.spawn(move || CpuSpeed::of(cpu, length))?))
    };
    let threads = cpus.into_iter().map(start).collect::<io::Result<Vec<_>>>()?;
    let join = |(cpu, thread): (usize, thread::JoinHandle<io::Result<CpuSpeed>>)| {
        let speed = thread.join().unwrap_or_else(|cause| panic::resume_unwind(cause));
        speed.with_context(|| format!("CPU {cpu}"))
    };
    let speeds = threads.into_iter().map(join).collect::<Result<Vec<CpuSpeed>>>()?;
    let mean = |of: fn(&CpuSpeed) -> f64| {
        let logs: f64 = speeds.iter().map(|speed| of(speed).ln()).sum();
        (logs / speeds.len() as f64).exp()
    };
    Ok(MachineSpeed {
        arithmetic_ns: mean(|speed| speed.arithmetic_ns),
        round_trip_ns: mean(|speed| speed.round_trip_ns),
        cpus: speeds.len(),
        length_ns: net::kernel_ns() - begun,
        cost_ns: speeds.iter().map(|speed| speed.cost_ns).sum(),
    })
}

/// What the work takes on one CPU, as medians: a piece that was interrupted does not count.
#[derive(Debug)]
struct CpuSpeed {
    arithmetic_ns: f64,
    round_trip_ns: f64,
    /// CPU time of the measurement.
    cost_ns: Nanos,
}

impl CpuSpeed {
    /// Binds the calling thread to a CPU, and measures there.
    fn of(cpu: usize, length: Duration) -> io::Result<Self> {
        net::bind_thread([cpu])?;
        let numbers = numbers();
        let mut connection = Connection::open()?;
        // The first time counts no caches that are cold.
        black_box(arithmetic(&numbers));
        connection.round_trips()?;
        let end = net::kernel_ns() + nanos(length);
        let (mut of_arithmetic, mut of_round_trips) = (Vec::new(), Vec::new());
        while of_arithmetic.is_empty() || net::kernel_ns() < end {
            let begun = net::thread_cpu_ns();
            black_box(arithmetic(black_box(&numbers)));
            let between = net::thread_cpu_ns();
            connection.round_trips()?;
            of_arithmetic.push(between - begun);
            of_round_trips.push(net::thread_cpu_ns() - between);
        }
        Ok(Self {
            arithmetic_ns: median(of_arithmetic),
            round_trip_ns: median(of_round_trips) / f64::from(ROUND_TRIPS),
            cost_ns: net::thread_cpu_ns(),
        })
    }
}

/// The upper median of a list that is not empty; at least 1, so that it has a logarithm.
fn median(mut values: Vec<Nanos>) -> f64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0).max(1) as f64
}

/// Each number below [`NUMBERS`] once, scattered. Source of the factor: D. Knuth, The Art of Computer Programming,
/// volume 3, section 6.4.
fn numbers() -> Vec<u32> {
    (0..NUMBERS as u32).map(|at| at.wrapping_mul(2_654_435_761) % NUMBERS as u32).collect()
}

/// Loads and a multiplication in turn; where each load is from depends on the one before. Source of the factor: D.
/// Knuth, The Art of Computer Programming, volume 2, section 3.3.4 (MMIX).
fn arithmetic(numbers: &[u32]) -> u64 {
    let (mut at, mut mixed) = (0_usize, 1_u64);
    for step in 0..LOADS {
        at = numbers[(at + step) % NUMBERS] as usize;
        mixed = mixed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(at as u64);
    }
    mixed
}

/// Both ends of a connection over the loopback interface.
struct Connection {
    ends: [TcpStream; 2],
}

impl Connection {
    fn open() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let client = TcpStream::connect(listener.local_addr()?)?;
        let (server, peer) = listener.accept()?;
        if peer != client.local_addr()? {
            return Err(io::Error::other(format!(
                "{peer} has connected to the port of the measurement"
            )));
        }
        for end in [&client, &server] {
            end.set_nodelay(true)?;
            end.set_read_timeout(Some(ANSWER_TIMEOUT))?;
        }
        Ok(Self { ends: [client, server] })
    }

    fn round_trips(&mut self) -> io::Result<()> {
        let [client, server] = &mut self.ends;
        let mut bytes = [0; ANSWER];
        for _ in 0..ROUND_TRIPS {
            client.write_all(&bytes[..REQUEST])?;
            server.read_exact(&mut bytes[..REQUEST])?;
            server.write_all(&bytes)?;
            client.read_exact(&mut bytes)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_work_is_measured_on_every_cpu() {
        let sample = of_this_machine(LENGTH_MIN).unwrap();
        assert_eq!(sample.cpus, net::usable_cpus().unwrap().len());
        // A load and a multiplication take more than a tenth of a nanosecond, and four system calls more than 100 ns.
        assert!(sample.arithmetic_ns > LOADS as f64 / 10.0, "{sample:?}");
        assert!(sample.round_trip_ns > 100.0, "{sample:?}");
        assert!(sample.length_ns >= nanos(LENGTH_MIN) && sample.cost_ns > 0, "{sample:?}");
    }

    #[test]
    fn the_arithmetic_visits_scattered_memory_and_is_the_same_each_time() {
        let mut numbers = numbers();
        assert_eq!(arithmetic(&numbers), arithmetic(&numbers));
        assert!(
            numbers[1] > 1_000 && numbers.windows(2).all(|two| two[0].abs_diff(two[1]) > 1_000)
        );
        numbers.sort_unstable();
        assert!(numbers.iter().zip(0..).all(|(seen, expected)| *seen == expected));
    }

    #[test]
    fn an_interrupted_piece_does_not_change_the_median() {
        assert_eq!(median(vec![5, 7, 90_000]), 7.0);
        assert_eq!(median(vec![0]), 1.0);
    }
}

//! Seeks for the capacity under a bound on p99, on systems whose capacity is known.

use std::time::Duration;

use analysis::{BoundShare, Capacity, JudgedProbe, NextProbe, Seek, SeekOutcome, Step};
use engine::{Pacing, Schedule, SimulatedChance};
use measure::{BoundedFigure, SeekBound, SeekOver, SeekRange, nanos};
use plan::{Arrivals, Noise, Rate, ServiceDistribution, SimulatedSystem, split_mix};
use record::on_all_cores;

use super::noises::seed_of;
use super::table::Case;
use super::trial::{SimulatedTrial, probe};
use super::{normal, percent};

const S: u64 = 1_000_000_000;
/// The server's rate, a second.
const SERVER_PER_S: f64 = 500.0;
const WARM_UP: Duration = Duration::from_secs(2);
const PROBE_TIME: Duration = Duration::from_secs(5);
const CONFIRM_TIME: Duration = Duration::from_secs(30);
/// Long enough for a queue at 0.9 of its capacity to show the load of its p99 within half a percent.
const TRUTH_TIME: Duration = Duration::from_secs(4_000);
/// A mean over factors is a sum over so many, from -4 to 4 standard deviations.
const FACTORS: u32 = 400;
/// The capacities that are sought, as parts of the server's rate.
const PARTS: [f64; 7] = [0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9];

/// Seeks whose probes are disturbed.
pub(super) struct Sought {
    name: &'static str,
    noise: Disturbance,
}

#[derive(Clone, Copy)]
enum Disturbance {
    /// The percentile of each probe has a lognormal factor; there is no engine.
    Percentile(f64),
    /// Every trial meets a machine whose services take a lognormal factor longer or shorter.
    Machine(f64),
    /// Noise of the simulated system within trials, and on from each to the next.
    Autocorrelated(f64, Duration),
}

/// Results of seeks.
#[derive(Debug, Default)]
pub(super) struct Results {
    seeks: u64,
    not_told: u64,
    covered: u64,
    confirmed: u64,
    probes: usize,
    half_widths: f64,
    errors: Vec<f64>,
}

impl Case for Sought {
    const TITLE: &'static str = "Seeks for a capacity";
    const HEAD: &'static str = "\
| noise | capacity not told % | median error % | error below 5 % in % | 95 % interval has the truth, % \
| its half width, % | probes | longer trial kept the bound % |
|---|---|---|---|---|---|---|---|";
    type Found = Results;

    fn all() -> Vec<Self> {
        use Disturbance::{Autocorrelated, Machine, Percentile};
        let case = |name, noise| Self { name, noise };
        vec![
            case("p99 of each probe is 15 % off (model)", Percentile(0.15)),
            case("none, simulated", Machine(0.0)),
            case(
                "autocorrelated 15 %, 0.1 s, simulated",
                Autocorrelated(0.15, Duration::from_millis(100)),
            ),
            case(
                "autocorrelated 15 %, 1 s, simulated",
                Autocorrelated(0.15, Duration::from_secs(1)),
            ),
            case("each trial on a machine 15 % faster or slower, simulated", Machine(0.15)),
        ]
    }

    fn found(&self, seeks: u64, seed: u64) -> anyhow::Result<Results> {
        let parts = PARTS.map(|part| Ok((bound(part), truth(self, part, seed)?)));
        let parts = parts.into_iter().collect::<anyhow::Result<Vec<(SeekBound, f64)>>>()?;
        let numbers: Vec<u64> = (0..seeks).collect();
        let bound_of = |number: u64| parts[number as usize % parts.len()];
        let once = |number: &u64| sought(self, bound_of(*number).0, seed_of(seed, *number));
        let mut all = Results::default();
        for (seek, number) in on_all_cores(&numbers, once).into_iter().zip(0..) {
            all.add(&seek?, bound_of(number).1);
        }
        Ok(all)
    }

    fn row(&self, found: &Results) -> String {
        found.row(self)
    }
}

/// The bound that a queue with exponential services and Poisson arrivals, without noise, keeps up to this part of the
/// server's rate. Source: the response time is exponential, with the rate that the arrivals leave (Kleinrock, Queueing
/// Systems 1, section 5.7 on M/M/1).
fn bound(part: f64) -> SeekBound {
    let most = 100_f64.ln() / (SERVER_PER_S * (1.0 - part)) * 1e9;
    SeekBound { figure: BoundedFigure::Percentile(99.0), most }
}

/// The capacity: the load at which one transaction in a hundred is above the bound, over all time and all machines.
/// Without noise it is the formula's, otherwise by bisection.
fn truth(case: &Sought, part: f64, seed: u64) -> anyhow::Result<f64> {
    if matches!(case.noise, Disturbance::Machine(0.0)) {
        return Ok(SERVER_PER_S * part);
    }
    let (mut kept, mut broken) = (SERVER_PER_S * part / 2.0, SERVER_PER_S * part * 1.05);
    while broken / kept > 1.004 {
        let load = (kept * broken).sqrt();
        let is_kept = share_above(case, load, bound(part), seed)? <= 0.01;
        (kept, broken) = if is_kept { (load, broken) } else { (kept, load) };
    }
    Ok((kept * broken).sqrt())
}

/// The share of transactions above the bound, over all time and all machines.
fn share_above(case: &Sought, load: f64, bound: SeekBound, seed: u64) -> anyhow::Result<f64> {
    let asked = NextProbe { load, step: Step::Refine, bracket: (None, None) };
    let (Disturbance::Percentile(deviation) | Disturbance::Machine(deviation)) = case.noise else {
        let chance = SimulatedChance { services: seed, noise: seed ^ 1, origin_ns: 0, up_ns: 0 };
        let probe = probe(&trial(case, load, TRUTH_TIME, 1.0, seed), chance, asked, &[bound])?;
        return Ok(probe.shares[0].above);
    };
    let (mut above, mut all) = (0.0, 0.0);
    for number in 0..FACTORS {
        let normal = 8.0 * (f64::from(number) + 0.5) / f64::from(FACTORS) - 4.0;
        let density = (-normal * normal / 2.0).exp();
        let factor = (deviation * normal).exp();
        let probe = finished(case, asked, factor, bound, (seed, u64::from(number)))?;
        above += density * probe.shares[0].above * probe.shares[0].transactions;
        all += density * probe.shares[0].transactions;
    }
    Ok(above / all)
}

fn sought(case: &Sought, bound: SeekBound, seed: u64) -> anyhow::Result<Seek> {
    let over = SeekOver::Rate;
    let (from, to) = (SERVER_PER_S / 20.0, SERVER_PER_S * 50.0);
    let mut seek = Seek::new(SeekRange { over, from, to, precision: 0.05, probes_max: 50 });
    let mut next = seek.next(None);
    let mut draws = seed;
    for number in 0.. {
        let Some(asked) = next else { break };
        let factor = match case.noise {
            Disturbance::Percentile(deviation) | Disturbance::Machine(deviation) => {
                (deviation * normal(&mut draws)).exp()
            }
            Disturbance::Autocorrelated(..) => 1.0,
        };
        next = seek.next(Some(finished(case, asked, factor, bound, (seed, number))?));
    }
    Ok(seek)
}

fn finished(
    case: &Sought,
    asked: NextProbe,
    factor: f64,
    bound: SeekBound,
    (seed, number): (u64, u64),
) -> anyhow::Result<JudgedProbe> {
    if matches!(case.noise, Disturbance::Percentile(_)) {
        return Ok(modelled(asked, factor, bound));
    }
    let time = if asked.step == Step::Confirm { CONFIRM_TIME } else { PROBE_TIME };
    let services = split_mix::mix(seed ^ split_mix::mix(number + 1));
    let origin_ns = number * nanos(WARM_UP + CONFIRM_TIME);
    let chance = SimulatedChance { services, noise: seed, origin_ns, up_ns: origin_ns };
    probe(&trial(case, asked.load, time, factor, services), chance, asked, &[bound])
}

fn modelled(asked: NextProbe, factor: f64, bound: SeekBound) -> JudgedProbe {
    let left = SERVER_PER_S - asked.load;
    let p99 = if left > 0.0 { 100_f64.ln() / left * 1e9 } else { 1e15 };
    let seen = p99 * factor;
    // An exponential response time is above the bound in this part of the transactions.
    let above = 0.01_f64.powf(bound.most / seen);
    let transactions = asked.load * PROBE_TIME.as_secs_f64();
    JudgedProbe {
        load: asked.load,
        is_confirming: asked.step == Step::Confirm,
        transactions_per_s: asked.load.min(SERVER_PER_S),
        figures: vec![seen],
        shares: vec![BoundShare { above, allowed: 0.01, transactions }],
        is_kept: seen <= bound.most,
        is_coarse: false,
        is_crashed: false,
    }
}

fn trial(case: &Sought, load: f64, time: Duration, factor: f64, seed: u64) -> SimulatedTrial {
    let noise = match case.noise {
        Disturbance::Autocorrelated(deviation, time) => {
            vec![Noise::Autocorrelated { deviation, time_ns: nanos(time) }]
        }
        Disturbance::Percentile(_) | Disturbance::Machine(_) => Vec::new(),
    };
    let system = SimulatedSystem {
        servers: 1,
        operations: 1,
        service_times_ns: vec![(S as f64 / SERVER_PER_S * factor).round() as u64],
        distribution: ServiceDistribution::Exponential,
        stalls: Vec::new(),
        noise,
    };
    let schedule = Schedule::new(&Rate::constant(load), WARM_UP);
    let pacing = Pacing::Open { schedule, spread: Arrivals::Poisson, seed, backlog_max: 100_000 };
    let (clients, rate_per_s) = (2_000, Some(load));
    let interval = Duration::from_secs(1);
    SimulatedTrial { system, clients, pacing, rate_per_s, warm_up: WARM_UP, time, interval }
}

impl Results {
    fn add(&mut self, seek: &Seek, truth: f64) {
        self.seeks += 1;
        self.probes += seek.probes().len();
        self.confirmed += u64::from(seek.confirmed().is_some());
        let SeekOutcome::Found(Capacity { per_s, per_s_low, per_s_high, .. }) = seek.outcome()
        else {
            self.not_told += 1;
            return;
        };
        self.errors.push((per_s / truth - 1.0).abs());
        self.covered += u64::from((per_s_low..=per_s_high).contains(&truth));
        self.half_widths += (per_s_high / per_s_low).ln() / 2.0;
    }

    fn median_error(&self) -> f64 {
        let mut errors = self.errors.clone();
        errors.sort_by(f64::total_cmp);
        errors.get(errors.len() / 2).copied().unwrap_or(f64::NAN)
    }

    fn row(&self, case: &Sought) -> String {
        let told = self.seeks - self.not_told;
        let near = self.errors.iter().filter(|error| **error < 0.05).count() as u64;
        format!(
            "| {} | {} | {:.1} | {} | {} | {:.1} | {:.1} | {} |",
            case.name,
            percent(self.not_told, self.seeks),
            100.0 * self.median_error(),
            percent(near, told),
            percent(self.covered, told),
            100.0 * self.half_widths / told as f64,
            self.probes as f64 / self.seeks as f64,
            percent(self.confirmed, self.seeks),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A seek that tells no interval counts as one without the truth.
    #[test]
    fn seeks_on_a_simulated_system_find_the_capacity_of_the_formula() {
        let cases = Sought::all();
        let none = cases.iter().find(|case| case.name == "none, simulated").unwrap();
        let found = none.found(21, 1).unwrap();
        assert!(found.median_error() < 0.02, "{found:?}");
        assert!(found.covered >= 18, "{found:?}");
    }

    /// One transaction in a hundred is above, over all factors: `E[0.01^(r / f)] = 0.01` with f lognormal by 15 %,
    /// where r is the part of the server that the load leaves, by what it leaves without noise.
    #[test]
    fn the_truth_of_the_model_has_one_transaction_in_a_hundred_above_the_bound() {
        let load = truth(&Sought::all()[0], 0.75, 1).unwrap();
        let left = (SERVER_PER_S - load) / (SERVER_PER_S * 0.25);
        let mut draws = 7;
        let above = (0..200_000).map(|_| 0.01_f64.powf(left / (0.15 * normal(&mut draws)).exp()));
        let above = above.sum::<f64>() / 200_000.0;
        assert!((above / 0.01 - 1.0).abs() < 0.05, "{load}: {above}");
    }

    #[test]
    fn seeks_of_the_model_with_15_percent_of_noise_keep_their_promises() {
        let found = Sought::all()[0].found(200, 1).unwrap();
        assert_eq!(found.not_told, 0, "{found:?}");
        assert!(found.median_error() < 0.02 && found.covered >= 186, "{found:?}");
    }
}

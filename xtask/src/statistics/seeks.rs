//! Seeks for the capacity under a bound on p99, on systems whose capacity is known.

use analysis::{BoundShare, Capacity, JudgedProbe, NextProbe, Seek, SeekOutcome, Step, assess};
use anyhow::Context;
use measure::{BoundedFigure, ProbeFacts, SeekBound, SeekOver, SeekRange};
use plan::split_mix;

use super::normal;
use super::simulated::{exponential, open, run};
use super::simulation::{Case, Seen, Study};

/// The server's rate, a second.
const SERVER_PER_S: f64 = 500.0;
const WARM_UP_S: u64 = 2;
const PROBE_TIME_S: u64 = 5;
const CONFIRM_TIME_S: u64 = 30;
/// A mean over factors is a sum over so many, from -4 to 4 standard deviations.
const FACTORS: u32 = 400;
/// The capacities that are sought, as parts of the server's rate.
const PARTS: [f64; 7] = [0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9];

const COVERED: &str = "the 95 % interval has the capacity";

pub(super) static STUDY: Study = Study {
    name: "seeks",
    title: "Seeks for a capacity",
    goals: const { &[(COVERED, 93.0..=100.0)] },
    cases,
};

/// What a lognormal factor with this deviation, another one for each probe, is on.
#[derive(Clone, Copy)]
enum Disturbance {
    /// Its percentile; there is no engine.
    Percentile(f64),
    /// The services of its machine.
    Machine(f64),
}

fn cases() -> Vec<Case> {
    let all = [
        ("p99 of each probe is 15 % off (model)", Disturbance::Percentile(0.15)),
        ("none, simulated", Disturbance::Machine(0.0)),
        ("each probe on a machine 15 % faster or slower", Disturbance::Machine(0.15)),
    ];
    let case = |(name, noise): (&str, Disturbance)| {
        let capacities = PARTS.map(|part| capacity(noise, part));
        Case::new(name, move |seed| {
            let at = (seed % PARTS.len() as u64) as usize;
            Ok(seen(&sought(noise, bound(PARTS[at]), seed)?, capacities[at]))
        })
    };
    all.map(case).into()
}

fn seen(seek: &Seek, capacity: f64) -> Seen {
    let mut seen = Seen::default();
    let found = match seek.outcome() {
        SeekOutcome::Found(found) => Some(found),
        _ => None,
    };
    seen.is("a capacity is found", found.is_some());
    seen.is("the longer trial keeps the bound", seek.confirmed().is_some());
    seen.size("probes", seek.probes().len() as f64);
    if let Some(Capacity { per_s, per_s_low, per_s_high, .. }) = found {
        let error = (per_s / capacity - 1.0).abs();
        seen.is(COVERED, (per_s_low..=per_s_high).contains(&capacity));
        seen.is("the error is below 5 %", error < 0.05);
        seen.size("error, %", 100.0 * error);
        seen.size("half width of the interval, %", 100.0 * (per_s_high / per_s_low).ln() / 2.0);
    }
    seen
}

/// The bound that a queue with exponential services and Poisson arrivals, without noise, keeps up to this part of the
/// server's rate. Source: the response time is exponential, with the rate that the arrivals leave (Kleinrock, Queueing
/// Systems 1, section 5.7 on M/M/1).
fn bound(part: f64) -> SeekBound {
    let most = 100_f64.ln() / (SERVER_PER_S * (1.0 - part)) * 1e9;
    SeekBound { figure: BoundedFigure::Percentile(99.0), most }
}

/// The load at which one transaction in a hundred is above the bound, over all time and all machines, by bisection.
fn capacity(noise: Disturbance, part: f64) -> f64 {
    let (mut kept, mut broken) = (SERVER_PER_S * part / 2.0, SERVER_PER_S * part * 1.05);
    while broken / kept > 1.000_1 {
        let load = (kept * broken).sqrt();
        let is_kept = share_above(noise, load, bound(part)) <= 0.01;
        (kept, broken) = if is_kept { (load, broken) } else { (kept, load) };
    }
    (kept * broken).sqrt()
}

/// The share of transactions above the bound: the mean over the factors.
fn share_above(noise: Disturbance, load: f64, bound: SeekBound) -> f64 {
    let (Disturbance::Percentile(deviation) | Disturbance::Machine(deviation)) = noise;
    let of_factor = |number: u32| {
        let normal = 8.0 * (f64::from(number) + 0.5) / f64::from(FACTORS) - 4.0;
        let factor = (deviation * normal).exp();
        let left = match noise {
            Disturbance::Percentile(_) => (SERVER_PER_S - load) / factor,
            Disturbance::Machine(_) => SERVER_PER_S / factor - load,
        };
        let density = (-normal * normal / 2.0).exp();
        (density * (-left.max(0.0) * bound.most / 1e9).exp(), density)
    };
    let (above, all) = (0..FACTORS)
        .map(of_factor)
        .fold((0.0, 0.0), |(above, all), (share, density)| (above + share, all + density));
    above / all
}

fn sought(noise: Disturbance, bound: SeekBound, seed: u64) -> anyhow::Result<Seek> {
    let over = SeekOver::Rate;
    let (from, to) = (SERVER_PER_S / 20.0, SERVER_PER_S * 50.0);
    let mut seek = Seek::new(SeekRange { over, from, to, precision: 0.05, probes_max: 50 });
    let mut next = seek.next(None);
    let mut draws = seed;
    for number in 0.. {
        let Some(asked) = next else { break };
        let (Disturbance::Percentile(deviation) | Disturbance::Machine(deviation)) = noise;
        let factor = (deviation * normal(&mut draws)).exp();
        next = seek.next(Some(finished(noise, asked, factor, bound, (seed, number))?));
    }
    Ok(seek)
}

fn finished(
    noise: Disturbance,
    asked: NextProbe,
    factor: f64,
    bound: SeekBound,
    (seed, number): (u64, u64),
) -> anyhow::Result<JudgedProbe> {
    if matches!(noise, Disturbance::Percentile(_)) {
        return Ok(modelled(asked, factor, bound));
    }
    let is_confirming = asked.step == Step::Confirm;
    let time_s = if is_confirming { CONFIRM_TIME_S } else { PROBE_TIME_S };
    let server = exponential(1e9 / SERVER_PER_S * factor);
    let plan = format!("{server}{}time = \"{time_s}s\"\n", open(asked.load, WARM_UP_S));
    let trial = &run(&plan, split_mix::mix(seed ^ split_mix::mix(number + 1)))?.trials[0];
    let end = trial.end.as_ref().context("a probe without an end")?;
    let facts = ProbeFacts {
        load: asked.load,
        is_confirming,
        operations: &trial.header.operations,
        total: &trial.total,
        edges: &end.edges,
        seconds: trial.seconds(),
        status: &end.status,
    };
    Ok(assess(&[bound], &facts))
}

fn modelled(asked: NextProbe, factor: f64, bound: SeekBound) -> JudgedProbe {
    let left = SERVER_PER_S - asked.load;
    let p99 = if left > 0.0 { 100_f64.ln() / left * 1e9 } else { 1e15 };
    let seen = p99 * factor;
    // An exponential response time is above the bound in this part of the transactions.
    let above = 0.01_f64.powf(bound.most / seen);
    let transactions = asked.load * PROBE_TIME_S as f64;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// One transaction in a hundred is above, over all factors: `E[0.01^(r / f)] = 0.01` with f lognormal by 15 %,
    /// where r is the part of the server that the load leaves, by what it leaves without noise.
    #[test]
    fn the_capacity_of_the_model_has_one_transaction_in_a_hundred_above_the_bound() {
        let load = capacity(Disturbance::Percentile(0.15), 0.75);
        let left = (SERVER_PER_S - load) / (SERVER_PER_S * 0.25);
        let mut draws = 7;
        let above = (0..200_000).map(|_| 0.01_f64.powf(left / (0.15 * normal(&mut draws)).exp()));
        let above = above.sum::<f64>() / 200_000.0;
        assert!((above / 0.01 - 1.0).abs() < 0.05, "{load}: {above}");
        let without_noise = capacity(Disturbance::Machine(0.0), 0.75) / SERVER_PER_S;
        assert!((without_noise - 0.75).abs() < 1e-3, "{without_noise}");
    }
}

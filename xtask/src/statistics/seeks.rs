//! Seeks for the capacity under a bound on p99, on systems whose capacity is known.

use analysis::{
    BoundShare, Capacity, JudgedProbe, NextProbe, Seek, SeekOutcome, Step, transactions_needed,
};
use measure::{BoundedFigure, SeekBound, SeekOver, SeekRange};
use plan::split_mix;

use super::normal;
use super::simulation::{Case, Seen, Study};

/// The server's rate, a second.
const SERVER_PER_S: f64 = 500.0;
const WARM_UP_S: f64 = 2.0;
const PROBE_TIME_S: f64 = 5.0;
const CONFIRM_TIME_S: f64 = 30.0;
/// A mean over factors is a sum over so many, from -4 to 4 standard deviations.
const FACTORS: u32 = 400;
/// The capacities that are sought, as parts of the server's rate.
const PARTS: [f64; 7] = [0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9];

const COVERED: &str = "the 95 % interval has the capacity";
const ANSWERED: &str = "a capacity is found";
const RIGHT: &str = "the 95 % interval has the capacity of one of the states";

pub(super) static STUDY: Study = Study {
    name: "seeks",
    title: "Seeks for a capacity",
    goals: const { &[(ANSWERED, 95.0..=100.0), (RIGHT, 93.0..=100.0), (COVERED, 93.0..=100.0)] },
    cases,
};

/// What changes the speed of the machine.
#[derive(Clone, Copy)]
enum Disturbance {
    /// A lognormal factor with this deviation, another one for each probe.
    EachProbe(f64),
    /// This factor from a probe near the middle on.
    Change(f64),
}

fn cases() -> Vec<Case> {
    let all = [
        ("none", Disturbance::EachProbe(0.0)),
        ("each probe on a machine 15 % faster or slower", Disturbance::EachProbe(0.15)),
        ("40 % slower from one of the probes 15 to 30 on", Disturbance::Change(0.6)),
        ("40 % faster from one of the probes 15 to 30 on", Disturbance::Change(1.4)),
    ];
    let case = |(name, noise): (&str, Disturbance)| {
        let capacities = PARTS.map(|part| capacity(noise, part));
        Case::new(name, move |seed| {
            let at = (seed % PARTS.len() as u64) as usize;
            let bound = bound(PARTS[at]);
            Ok(seen(&sought(noise, bound, seed), capacities[at], noise, PARTS[at]))
        })
    };
    all.map(case).into()
}

fn seen(seek: &Seek, capacity: f64, noise: Disturbance, part: f64) -> Seen {
    let mut seen = Seen::default();
    let found = match seek.outcome() {
        SeekOutcome::Found(found) => Some(found),
        _ => None,
    };
    seen.is(ANSWERED, found.is_some());
    seen.is("the longer trial keeps the bound", seek.confirmed().is_some());
    seen.size("probes", seek.probes().len() as f64);
    seen.is("the system is told to have changed", seek.states().len() > 1);
    if let Some(Capacity { per_s, per_s_low, per_s_high, .. }) = found {
        let is_within = |capacity: f64| (per_s_low..=per_s_high).contains(&capacity);
        match noise {
            Disturbance::EachProbe(_) => seen.is(COVERED, is_within(capacity)),
            _ => seen.is(RIGHT, is_within(capacity) || is_within(SERVER_PER_S * part)),
        }
        let error = (per_s / capacity - 1.0).abs();
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
    let deviation = match noise {
        Disturbance::EachProbe(deviation) => deviation,
        // The bound leaves as much of the server's rate as before.
        Disturbance::Change(factor) => return SERVER_PER_S * (factor - (1.0 - part)),
    };
    let (mut kept, mut broken) = (SERVER_PER_S * part / 2.0, SERVER_PER_S * part * 1.05);
    while broken / kept > 1.000_1 {
        let load = (kept * broken).sqrt();
        let is_kept = share_above(deviation, load, bound(part)) <= 0.01;
        (kept, broken) = if is_kept { (load, broken) } else { (kept, load) };
    }
    (kept * broken).sqrt()
}

/// The share of transactions above the bound: the mean over the factors.
fn share_above(deviation: f64, load: f64, bound: SeekBound) -> f64 {
    let of_factor = |number: u32| {
        let normal = 8.0 * (f64::from(number) + 0.5) / f64::from(FACTORS) - 4.0;
        let left = SERVER_PER_S * (deviation * normal).exp() - load;
        let density = (-normal * normal / 2.0).exp();
        (density * (-left.max(0.0) * bound.most / 1e9).exp(), density)
    };
    let (above, all) = (0..FACTORS)
        .map(of_factor)
        .fold((0.0, 0.0), |(above, all), (share, density)| (above + share, all + density));
    above / all
}

fn sought(noise: Disturbance, bound: SeekBound, seed: u64) -> Seek {
    let over = SeekOver::Rate;
    let (from, to) = (SERVER_PER_S / 20.0, SERVER_PER_S * 50.0);
    let mut seek = Seek::new(SeekRange { over, from, to, precision: 0.05, probes_max: 50 });
    let mut next = seek.next(None);
    let mut draws = seed;
    for number in 0.. {
        let Some(asked) = next else { break };
        let speed = match noise {
            Disturbance::EachProbe(deviation) => (deviation * normal(&mut draws)).exp(),
            Disturbance::Change(factor) if number >= 15 + seed % 16 => factor,
            Disturbance::Change(_) => 1.0,
        };
        next = seek.next(Some(finished(asked, SERVER_PER_S * speed, bound, &mut draws)));
    }
    seek
}

/// A probe of a queue that is empty when its warm-up begins, as long as a run makes it. Source: Lindley's recursion
/// (Kleinrock, Queueing Systems 1, section 8.1).
fn finished(asked: NextProbe, server_per_s: f64, bound: SeekBound, draws: &mut u64) -> JudgedProbe {
    let NextProbe { load, step, .. } = asked;
    let needed_s = match step {
        Step::Raise => 0.0,
        Step::Bisect | Step::Refine => (1.2 * transactions_needed(&[bound]) / load).ceil(),
        Step::Confirm => CONFIRM_TIME_S,
    };
    let end_s = WARM_UP_S + needed_s.clamp(PROBE_TIME_S, CONFIRM_TIME_S);
    let mut exponential =
        || -(((split_mix::next(draws) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64).ln();
    let (mut at, mut free_at, mut all, mut above) = (exponential() / load, 0.0, 0.0, 0.0);
    while at < end_s {
        free_at = f64::max(free_at, at) + exponential() / server_per_s;
        if at >= WARM_UP_S {
            all += 1.0;
            above += f64::from(u8::from((free_at - at) * 1e9 > bound.most));
        }
        at += exponential() / load;
    }
    let above = above / f64::max(all, 1.0);
    JudgedProbe {
        load,
        is_confirming: step == Step::Confirm,
        transactions_per_s: load.min(server_per_s),
        figures: vec![above],
        shares: vec![BoundShare { above, allowed: 0.01, transactions: all }],
        is_kept: above <= 0.01,
        is_coarse: all < transactions_needed(&[bound]),
        is_crashed: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One transaction in a hundred is above, over all factors: `E[0.01^(r / f)] = 0.01`, where r f is the part of the server
    /// that the load leaves, by what it leaves without noise.
    #[test]
    fn the_capacity_has_one_transaction_in_a_hundred_above_the_bound() {
        let load = capacity(Disturbance::EachProbe(0.15), 0.75);
        let mut draws = 7;
        let left = |speed: f64| (SERVER_PER_S * speed - load).max(0.0) / (SERVER_PER_S * 0.25);
        let above = (0..200_000).map(|_| 0.01_f64.powf(left((0.15 * normal(&mut draws)).exp())));
        let above = above.sum::<f64>() / 200_000.0;
        assert!((above / 0.01 - 1.0).abs() < 0.05, "{load}: {above}");
        let without_noise = capacity(Disturbance::EachProbe(0.0), 0.75) / SERVER_PER_S;
        assert!((without_noise - 0.75).abs() < 1e-3, "{without_noise}");
    }
}

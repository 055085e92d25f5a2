//! Comparisons of two variants in windows, on a machine whose speed changes: how often equal variants raise an alarm, and
//! how often a true 3 % is found.

use analysis::{RoundFigure, Significance, compare, geometric_mean};
use anyhow::Context;
use engine::MachineNoise;
use plan::{Noise, Shuffle, balanced_rounds, split_mix};

use super::comparisons::{half_width, is_alarm};
use super::normal;
use super::simulation::{Case, Seen, Study};

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;
/// Windows of each variant in a round.
const WINDOWS: usize = 10;
/// The measured time of a window.
const TIME_NS: u64 = 2 * S;
/// From the end of a window to the begin of the next one.
const GAP_NS: u64 = 300 * MS;
/// From the last window of a round to the first of the next: all variants are started and filled.
const RESTART_NS: u64 = 30 * S;
/// So many samples of the machine's speed make up a window.
const STEPS: u64 = 20;
/// Standard deviations of logarithms: of what a restart changes, and of a window's own.
const OF_RESTART: f64 = 0.01;
const OF_WINDOW: f64 = 0.02;
/// The true ratio where there is a difference.
const FASTER: f64 = 1.03;

const ALARM: &str = "alarm for equal variants";

pub(super) static STUDY: Study = Study {
    name: "windows",
    title: "Variants in windows",
    goals: const { &[(ALARM, 0.0..=7.0)] },
    cases,
};

fn cases() -> Vec<Case> {
    let slow_noise = |time_ns| vec![Noise::Autocorrelated { deviation: 0.1, time_ns }];
    let machines = [
        ("as fast all the time", Vec::new()),
        ("autocorrelated, 1 s", slow_noise(S)),
        ("autocorrelated, 10 s", slow_noise(10 * S)),
        (
            "two states, 5 s each",
            vec![Noise::TwoStates { slow: 1.3, fast_ns: 5 * S, slow_ns: 5 * S }],
        ),
    ];
    let of = |(machine, noise): (&'static str, Vec<Noise>)| {
        [4, 8].map(|rounds| {
            let noise = noise.clone();
            Case::new(format!("{machine}, {rounds} rounds"), move |seed| once(&noise, rounds, seed))
        })
    };
    machines.into_iter().flat_map(of).collect()
}

fn once(noise: &[Noise], rounds: u32, seed: u64) -> anyhow::Result<Seen> {
    let figures = figures(noise, rounds, seed)?;
    let compared = |factor: f64| {
        let faster = figures[1].iter();
        let faster = faster.map(|it| RoundFigure::exact(it.round, it.place, it.value * factor));
        let faster: Vec<RoundFigure> = faster.collect();
        compare(&figures[0], &faster, plan::LEAST_DIFFERENCE).context("nothing to compare")
    };
    let (equal, mut seen) = (compared(1.0)?, Seen::default());
    seen.is(ALARM, is_alarm(&equal));
    seen.is("a true 3 % is found", compared(FASTER)?.verdict == Significance::Higher);
    seen.size("half width of the 95 % interval, %", half_width(&equal));
    Ok(seen)
}

/// The figure of each round of two equal variants: the geometric mean of its windows.
fn figures(noise: &[Noise], rounds: u32, seed: u64) -> anyhow::Result<[Vec<RoundFigure>; 2]> {
    let mut machine = MachineNoise::new(noise, seed, 0);
    let mut speed = |at: u64| MS as f64 / (machine.served(at, MS) - at) as f64;
    let mut draws = split_mix::mix(seed ^ split_mix::mix(1));
    let mut figures = [Vec::new(), Vec::new()];
    let mut at = 0;
    for round in 0..rounds {
        let restarts = [(); 2].map(|()| OF_RESTART * normal(&mut draws));
        let mut values = [Vec::new(), Vec::new()];
        let mut shuffle = Shuffle::new(split_mix::next(&mut draws));
        for side in balanced_rounds(&mut shuffle, &[0, 1], WINDOWS).concat() {
            let speeds = (1..=STEPS).map(|step| speed(at + step * TIME_NS / STEPS));
            let mean = speeds.sum::<f64>() / STEPS as f64;
            values[side].push(mean * (restarts[side] + OF_WINDOW * normal(&mut draws)).exp());
            at += TIME_NS + GAP_NS;
        }
        for (figures, values) in figures.iter_mut().zip(&values) {
            let value = geometric_mean(values).context("a round without windows")?;
            // Both variants have the same place in the order: their windows take turns.
            figures.push(RoundFigure::exact(round, 0, value));
        }
        at += RESTART_NS;
    }
    Ok(figures)
}

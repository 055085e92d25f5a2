//! Sweeps over clients: how often the intervals of the Universal Scalability Law have coefficients that are known, what
//! becomes of sweeps of a queue, which the law only approximates, and how often reports say that throughput grows.

use analysis::{Peak, Ranged, ScalingLevel, scaling};
use plan::LEAST_DIFFERENCE;

use super::normal;
use super::simulated::{has, report_of};
use super::simulation::{Case, Goal, Seen, Study};

/// The numbers of clients of a sweep.
const CLIENTS: [usize; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
/// The throughput of one client of a sweep on the law, a second.
const GAMMA: f64 = 1_000.0;
/// Service time of the queue, and the think time of its clients, s.
const SERVICE_S: f64 = 0.01;
const THINK_S: f64 = 0.1;
/// A curve is to be no farther from the truth than this at any number of clients that was measured.
const TOLERANCE: f64 = 0.1;

const REFUSED: &str = "refused";
const COVERED: &str = "the interval has the truth";
const NEAR: &str = "refused, or within 10 % of the truth at every number of clients";
const GOALS_ON_THE_LAW: &[Goal] = &[(REFUSED, 0.0..=2.0), (COVERED, 93.0..=100.0)];
const CLAIMED_FALSELY: &str =
    "says of equal loads that throughput grows, or where it stops growing";
const CLAIMED: &str = "says that throughput grows up to the last load";
const GOALS_OF_GROWTH: &[Goal] = &[(CLAIMED_FALSELY, 0.0..=5.0), (CLAIMED, 90.0..=100.0)];

pub(super) static ON_THE_LAW: Study = Study {
    name: "usl",
    title: "Sweeps on the Universal Scalability Law",
    goals: GOALS_ON_THE_LAW,
    cases: on_the_law,
};
pub(super) static QUEUES: Study = Study {
    name: "queue-sweeps",
    title: "Sweeps of a queue",
    goals: const { &[(NEAR, 93.0..=100.0)] },
    cases: queues,
};
pub(super) static GROWTH: Study = Study {
    name: "growth",
    title: "Whether throughput grows with the clients",
    goals: GOALS_OF_GROWTH,
    cases: growth,
};

/// A sweep whose throughput is that of known coefficients, times noise.
#[derive(Clone, Copy)]
struct OnTheLaw {
    alpha: f64,
    beta: f64,
    trials: usize,
    /// The standard deviation of the logarithm of a trial's throughput.
    noise: f64,
    /// So many times as large it is with the most clients as with one, and in proportion to a power of them between.
    growth: f64,
}

fn on_the_law() -> Vec<Case> {
    let sweeps = [
        ("peak at 49", 0.05, 0.000_4),
        ("peak at 22", 0.02, 0.002),
        ("peak at 222, beyond the sweep", 0.01, 0.000_02),
        ("no coherency", 0.05, 0.0),
        ("no contention", 0.0, 0.000_4),
    ];
    let noises = [
        (1, 0.01, 1.0),
        (2, 0.02, 1.0),
        (3, 0.02, 1.0),
        (5, 0.05, 1.0),
        (1, 0.01, 5.0),
        (3, 0.01, 5.0),
        (5, 0.01, 5.0),
    ];
    let of = |(name, alpha, beta): (&'static str, f64, f64)| {
        noises.map(|(trials, noise, growth)| {
            let law = OnTheLaw { alpha, beta, trials, noise, growth };
            let [first, last] = [noise, noise * growth].map(|noise| 100.0 * noise);
            let name = format!("{name}, {trials} of each, noise of {first:.0} to {last:.0} %");
            Case::new(name, move |seed| Ok(law.once(seed)))
        })
    };
    sweeps.into_iter().flat_map(of).collect()
}

impl OnTheLaw {
    fn once(self, seed: u64) -> Seen {
        let (found, mut seen) = (scaling(&self.sweep(seed), LEAST_DIFFERENCE), Seen::default());
        seen.is(REFUSED, found.is_err());
        let Ok(found) = found else { return seen };
        let mut covered = |figure, range: &Ranged, truth: f64| {
            let ends = [range.low, range.high.unwrap_or(f64::INFINITY)];
            seen.is(format!("{COVERED}: {figure}"), has(ends, truth));
        };
        covered("gamma", &found.gamma, GAMMA);
        covered("alpha", &found.alpha, self.alpha);
        covered("beta", &found.beta, self.beta);
        let most = *CLIENTS.last().unwrap_or(&1) as f64;
        let gain = self.law(2.0 * most) / self.law(most);
        covered("gain of twice the clients", &found.gain_of_twice(most), gain);
        match &found.peak {
            Peak::Within { clients, per_s } => {
                covered("clients of the peak", clients, self.peak());
                covered("throughput of the peak", per_s, self.law(self.peak()));
                let high = clients.high.unwrap_or(f64::INFINITY);
                let half_width = (high - clients.low) / 2.0 / self.peak();
                seen.size("half width of the clients of the peak, %", 100.0 * half_width);
            }
            Peak::Beyond { clients_low } => {
                let is_covered = *clients_low <= self.peak();
                seen.is(format!("{COVERED}: clients of the peak"), is_covered);
            }
        }
        seen
    }

    fn law(self, clients: f64) -> f64 {
        let time = 1.0 + self.alpha * (clients - 1.0) + self.beta * clients * (clients - 1.0);
        GAMMA * clients / time
    }

    /// Infinite without coherency.
    fn peak(self) -> f64 {
        ((1.0 - self.alpha) / self.beta).sqrt()
    }

    /// Half of the variance of single trials is seen within them.
    fn sweep(self, seed: u64) -> Vec<ScalingLevel> {
        let mut draws = seed;
        let most = CLIENTS.last().copied().unwrap_or(1) as f64;
        let level = |clients: usize| {
            let power = (clients as f64).ln() / most.ln();
            let noise = self.noise * self.growth.powf(power);
            let trial = |_| self.law(clients as f64) * (noise * normal(&mut draws)).exp();
            let per_s = (0..self.trials).map(trial).collect();
            let variance_within = (self.trials == 1).then_some(noise * noise / 2.0);
            let half_width_within = variance_within.map(|it| 1.96 * it.sqrt());
            ScalingLevel { clients, per_s, variance_within, half_width_within }
        };
        CLIENTS.map(level).to_vec()
    }
}

/// A sweep over the clients of servers behind one queue.
#[derive(Clone, Copy)]
struct Queueing {
    servers: usize,
    think_s: f64,
}

fn queues() -> Vec<Case> {
    let queues = [
        ("one server, thinking clients", 1, THINK_S),
        ("four servers, thinking clients", 4, THINK_S),
        ("four servers, no think time", 4, 0.0),
    ];
    let of = |(name, servers, think_s): (&'static str, usize, f64)| {
        [1, 3].map(|trials| {
            let plan = format!(
                "repetitions = {trials}\n[systems.simulated]\nservers = {servers}\n\
                 service_times = [\"10ms\"]\ndistribution = \"exponential\"\n[load]\nclients = {CLIENTS:?}\n\
                 think_time = \"{:.0}ms\"\nwarm_up = \"2s\"\ntime = \"10s\"\ninterval = \"500ms\"\n",
                1_000.0 * think_s
            );
            let queue = Queueing { servers, think_s };
            Case::new(format!("{name}, {trials} of each"), move |seed| queue.once(&plan, seed))
        })
    };
    queues.into_iter().flat_map(of).collect()
}

impl Queueing {
    fn once(self, plan: &str, seed: u64) -> anyhow::Result<Seen> {
        let found = report_of(plan, seed)?["scalability"][0].take();
        let mut seen = Seen::default();
        seen.is(REFUSED, found["fitted"] == false);
        let off = |level: &serde_json::Value| {
            let clients = level["clients"].as_u64()? as usize;
            Some((level["fitted_per_s"].as_f64()? / self.truth(clients) - 1.0).abs())
        };
        let levels = found["levels"].as_array();
        let farthest = levels.map(|levels| levels.iter().filter_map(off).fold(0.0, f64::max));
        seen.is(NEAR, farthest.is_none_or(|farthest| farthest <= TOLERANCE));
        if let Some(farthest) = farthest {
            seen.size("farthest from the truth, %", 100.0 * farthest);
        }
        Ok(seen)
    }

    /// The throughput of a closed queue of servers with exponential services, by the balance of its states: with `n` at
    /// the servers the clients that think come at `(clients - n) / think`, and leave at `min(n, servers) / service`. Source:
    /// Kleinrock, Queueing Systems 1, section 3.8 (the finite population model).
    fn truth(self, clients: usize) -> f64 {
        let rate = |at: usize| at.min(self.servers) as f64 / SERVICE_S;
        if self.think_s == 0.0 {
            return rate(clients);
        }
        let (mut weight, mut weights, mut leaving) = (1.0, 1.0, 0.0);
        for at in 1..=clients {
            weight *= (clients - at + 1) as f64 / self.think_s / rate(at);
            weights += weight;
            leaving += weight * rate(at);
            // Only their ratios count.
            if weights > 1e200 {
                (weight, weights, leaving) = (weight / 1e200, weights / 1e200, leaving / 1e200);
            }
        }
        leaving / weights
    }
}

/// Systems whose speed varies by 10 % with a memory of 3 s, in trials of ten intervals: one server, which as many
/// transactions keep busy under every load, and servers for all clients, of which each load has 30 % more than the one
/// before.
fn growth() -> Vec<Case> {
    let systems = [
        (
            "equal loads",
            "[1, 2, 3, 5, 8]",
            "servers = 1\nservice_times = [\"1ms\"]",
            CLAIMED_FALSELY,
        ),
        (
            "30 % more each",
            "[10, 13, 17, 22, 29]",
            "servers = 29\nservice_times = [\"10ms\"]",
            CLAIMED,
        ),
    ];
    let of = |(name, clients, servers, question): (&str, &str, &str, &'static str)| {
        [(1, 2), (3, 2), (1, 10)].map(|(trials, seconds)| {
            let plan = format!(
                "repetitions = {trials}\n[systems.simulated]\n{servers}\n\
                 distribution = \"exponential\"\n\
                 noise = [{{ kind = \"autocorrelated\", deviation = 0.1, time = \"3s\" }}]\n\
                 [load]\nclients = {clients}\nwarm_up = \"1s\"\ntime = \"{seconds}s\"\n\
                 interval = \"{}ms\"\n",
                seconds * 100
            );
            let name = format!("{name}, {trials} of each, {seconds} s");
            Case::new(name, move |seed| grows(&plan, question, seed))
        })
    };
    systems.into_iter().flat_map(of).collect()
}

/// What the report of a sweep concludes of its throughput.
fn grows(plan: &str, question: &str, seed: u64) -> anyhow::Result<Seen> {
    let report = report_of(plan, seed)?;
    let mut concluded = report["conclusions"].as_array().into_iter().flatten();
    let concluded =
        concluded.find(|it| it["code"].as_str().is_some_and(|it| it.contains("throughput")));
    let code = concluded.map_or("nothing", |it| it["code"].as_str().unwrap_or_default());
    let (grows, stops) = ("throughput-grows", "throughput-stops-growing");
    let mut seen = Seen::default();
    seen.is(question, code == grows || (question == CLAIMED_FALSELY && code == stops));
    for other in [grows, stops, "throughput-growth-undecided"] {
        seen.is(format!("concludes {other}"), code == other);
    }
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_truth_of_a_closed_queue_is_that_of_its_states() {
        let queue = |servers, think_s| Queueing { servers, think_s };
        // One client: a transaction in each 110 ms. Two at one server: the balance of three states.
        let of_one = queue(1, THINK_S);
        assert!((of_one.truth(1) - 1.0 / 0.11).abs() < 1e-9);
        let weights = [1.0, 20.0 / 100.0, 20.0 * 10.0 / 1e4];
        let expected = 100.0 * (weights[1] + weights[2]) / (weights[0] + weights[1] + weights[2]);
        assert!((of_one.truth(2) - expected).abs() < 1e-9);
        assert!((of_one.truth(128) - 100.0).abs() < 1e-3);
        assert_eq!((queue(4, 0.0).truth(3), queue(4, 0.0).truth(9)), (300.0, 400.0));
    }
}

//! Warm-ups until the load is steady, of systems whose warm-up is known: how often they end while it still goes on.

use std::time::Duration;

use engine::{Pacing, SimulatedChance};
use measure::SteadyState;
use plan::{Noise, ServiceDistribution, SimulatedSystem};

use super::goals::{Goals, Seen};
use super::share::Share;
use super::table::{Case, repeated};
use super::trial::{Decided, SimulatedTrial, decided, load_of};

const S: u64 = 1_000_000_000;
const SERVICE_NS: u64 = S / 100;
/// A drift of this part a minute is not overlooked.
const DRIFT_SEEN: f64 = 0.1;
/// A system is warm once services take less than this part longer than they do at last.
const WARM: f64 = 0.05;

/// A system that gets warm, the noise on it, and the warm-up of the plan.
pub(super) struct WarmUp {
    name: &'static str,
    getting_warm: Option<GettingWarm>,
    plan: &'static str,
    noise: Vary,
}

/// The warm-up of a plan without other wishes.
const STEADY: &str = "\"steady\"";
/// That of a plan that knows of a step after a minute.
const STEADY_FROM_90_S: &str = "{ until = \"steady\", at_least = \"90s\" }";

/// Why intervals of a steady load differ.
#[derive(Clone, Copy)]
enum Vary {
    /// Services vary by a tenth, and so the hundred of an interval by 1 %.
    Little,
    /// They vary by a fifth, and intervals by 2 %.
    Modest,
    /// They vary by half, and intervals by 5 %.
    Usual,
    /// The same on a machine whose speed varies by 5 %, with a memory of 2 s.
    Lasting,
}

impl Vary {
    const ALL: [Self; 4] = [Self::Little, Self::Modest, Self::Usual, Self::Lasting];

    fn name(self) -> &'static str {
        match self {
            Self::Little => "1 %",
            Self::Modest => "2 %",
            Self::Usual => "5 %",
            Self::Lasting => "5 %, and 5 % that last 2 s",
        }
    }
}

/// Services take `slow` times as long for `slow_ns`, and come down to 1 in `falling_ns` along a straight line.
#[derive(Clone, Copy)]
struct GettingWarm {
    slow: f64,
    slow_ns: u64,
    falling_ns: u64,
}

/// Warm-ups of a case.
#[derive(Debug, Default)]
pub(super) struct Endings {
    /// Those that ended before the system was warm, of those that ended by themselves.
    early: Share,
    /// Those that reached the limit.
    never: Share,
    /// Those whose true drift is larger than the one that they say would have been seen, of those that ended by
    /// themselves.
    understated: Share,
    /// When the others ended, s, ascending.
    ended_s: Vec<f64>,
    /// The largest drift of each that would not have been seen, % a minute, ascending.
    hidden: Vec<f64>,
}

impl GettingWarm {
    /// How much longer services take at a time, as a factor.
    fn factor(self, at_ns: u64) -> f64 {
        let fallen = at_ns.saturating_sub(self.slow_ns) as f64 / self.falling_ns.max(1) as f64;
        1.0 + (self.slow - 1.0) * (1.0 - fallen.min(1.0))
    }

    /// How fast a straight line through the service times of each second falls, as a part a minute.
    fn drift_per_minute(self, from_ns: u64, to_ns: u64) -> f64 {
        let seconds = (to_ns - from_ns) / S;
        let centre = (seconds as f64 - 1.0) / 2.0;
        let (products, squares) = (0..seconds).fold((0.0, 0.0), |(products, squares), second| {
            let (x, at_ns) = (second as f64 - centre, from_ns + second * S + S / 2);
            (products + x * self.factor(at_ns).ln(), squares + x * x)
        });
        -60.0 * products / squares
    }

    /// From when on the system is warm.
    fn warm_from_ns(self) -> u64 {
        let is_over = (1.0 - WARM / (self.slow - 1.0)).max(0.0);
        self.slow_ns + (self.falling_ns as f64 * is_over) as u64
    }
}

impl WarmUp {
    fn trial(&self) -> SimulatedTrial {
        let warm = self.getting_warm.map(|GettingWarm { slow, slow_ns, falling_ns }| Noise::Warm {
            slow,
            slow_ns,
            falling_ns,
        });
        let lasting = Noise::Autocorrelated { deviation: 0.05, time_ns: 2 * S };
        let (variation, lasting) = match self.noise {
            Vary::Little => (0.1, None),
            Vary::Modest => (0.2, None),
            Vary::Usual => (0.5, None),
            Vary::Lasting => (0.5, Some(lasting)),
        };
        let system = SimulatedSystem {
            servers: 1,
            operations: 1,
            service_times_ns: vec![SERVICE_NS],
            distribution: ServiceDistribution::Lognormal { variation },
            stalls: Vec::new(),
            noise: warm.into_iter().chain(lasting).collect(),
        };
        SimulatedTrial {
            system,
            clients: 1,
            pacing: Pacing::Closed { think_time_ns: 0 },
            rate_per_s: None,
            warm_up: Duration::ZERO,
            time: Duration::from_secs(1),
            interval: Duration::from_secs(1),
        }
    }

    fn once(&self, seed: u64) -> anyhow::Result<Option<SteadyState>> {
        let chance = SimulatedChance { services: seed, noise: seed ^ 1, origin_ns: 0, up_ns: 0 };
        let load = load_of(&format!("warm_up = {}\ntime = \"1s\"", self.plan))?;
        let Decided { ends, .. } = decided(&self.trial(), chance, &load)?;
        Ok(ends.warm_up.and_then(|it| it.steady))
    }

    /// From when on the system is warm.
    fn warm_from_ns(&self) -> u64 {
        self.getting_warm.map_or(0, GettingWarm::warm_from_ns)
    }

    /// Whether the rule can be expected to see that the system is not warm yet: from the shortest warm-up on there is
    /// a step, or a drift of a tenth a minute or more.
    fn is_seen(&self) -> bool {
        let shortest_ns = if self.plan == STEADY { 30 * S } else { 90 * S };
        self.getting_warm.is_none_or(|it| match it.falling_ns {
            0 => it.slow_ns <= shortest_ns,
            _ => it.drift_per_minute(it.slow_ns, it.slow_ns + it.falling_ns) >= DRIFT_SEEN,
        })
    }
}

impl Case for WarmUp {
    const TITLE: &'static str = "Warm-ups until the load is steady";
    const HEAD: &'static str = "\
| services at first | intervals vary by | ended too early % | reached the limit % | ended after, median s \
| nine in ten within, s \
| a drift that could hide, median % a minute | true drift is larger % |
|---|---|---|---|---|---|---|---|";
    type Found = Endings;

    fn all() -> Vec<Self> {
        let of = |name, slow, slow_s: u64, falling_s: u64| {
            let (slow_ns, falling_ns) = (slow_s * S, falling_s * S);
            (name, Some(GettingWarm { slow, slow_ns, falling_ns }))
        };
        let systems = [
            (("as later", None), STEADY),
            (of("twice as long for 20 s", 2.0, 20, 0), STEADY),
            (of("twice as long, falling for 60 s", 2.0, 1, 60), STEADY),
            (of("a fifth longer, falling for 60 s", 1.2, 1, 60), STEADY),
            (of("a fifth longer, falling for 240 s", 1.2, 1, 240), STEADY),
            (of("twice as long for 60 s, `at_least` 90 s", 2.0, 60, 0), STEADY_FROM_90_S),
            (of("twice as long for 60 s, unforeseen", 2.0, 60, 0), STEADY),
        ];
        let with = |((name, getting_warm), plan)| {
            Vary::ALL.map(|noise| Self { name, getting_warm, plan, noise })
        };
        systems.into_iter().flat_map(with).collect()
    }

    fn found(&self, repetitions: u64, seed: u64) -> anyhow::Result<Endings> {
        let mut all = Endings::default();
        for ended in repeated(repetitions, seed, |seed| self.once(seed))? {
            all.never.add(ended.is_none());
            let Some(SteadyState { from_ns, seen_ns, hidden_drift_per_minute }) = ended else {
                continue;
            };
            let drift = self.getting_warm.map_or(0.0, |it| it.drift_per_minute(from_ns, seen_ns));
            all.early.add(seen_ns < self.warm_from_ns());
            all.understated.add(drift > hidden_drift_per_minute);
            all.ended_s.push(seen_ns as f64 / 1e9);
            all.hidden.push(100.0 * hidden_drift_per_minute);
        }
        all.ended_s.sort_by(f64::total_cmp);
        all.hidden.sort_by(f64::total_cmp);
        Ok(all)
    }

    fn row(&self, found: &Endings) -> String {
        let at = |all: &[f64], part: f64, digits: usize| {
            let value = all.get((all.len() as f64 * part) as usize);
            value.map_or("-".to_owned(), |value| format!("{value:.digits$}"))
        };
        format!(
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            self.name,
            self.noise.name(),
            found.early,
            found.never,
            at(&found.ended_s, 0.5, 0),
            at(&found.ended_s, 0.9, 0),
            at(&found.hidden, 0.5, 1),
            found.understated,
        )
    }

    fn goals(found: &[(Self, Endings)], goals: &mut Goals) {
        let of = |share: fn(&Endings) -> Share, is_one: fn(&Self) -> bool| -> Seen {
            let seen = found.iter().filter(|(case, found)| is_one(case) && share(found).of > 0);
            seen.map(|(case, found)| {
                (format!("{}, {}", case.name, case.noise.name()), share(found))
            })
            .collect()
        };
        let early = of(|it| it.early, Self::is_seen);
        goals.at_most(
            "a warm-up ends before a step or a drift of 10 % a minute is over",
            10.0,
            &early,
        );
        let understated = of(|it| it.understated, |_| true);
        goals.at_most("a drift is larger than the one that is told", 10.0, &understated);
        let steady = of(|it| it.never, |it| it.getting_warm.is_none());
        goals.at_most("a steady load is warmed up to the limit", 10.0, &steady);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_is_warm_when_services_take_less_than_a_twentieth_longer() {
        let of = |slow, slow_ns, falling_ns| GettingWarm { slow, slow_ns, falling_ns };
        assert_eq!(of(2.0, 20 * S, 0).warm_from_ns(), 20 * S);
        // 2 - t / 60 s is 1.05 after 57 s; 1.2 - 0.2 t / 60 s after 45 s.
        assert_eq!(of(2.0, S, 60 * S).warm_from_ns(), 58 * S);
        assert_eq!(of(1.2, S, 60 * S).warm_from_ns(), 46 * S);
    }

    #[test]
    fn a_fall_has_the_drift_of_its_line() {
        let fall = GettingWarm { slow: 2.0, slow_ns: S, falling_ns: 60 * S };
        assert_eq!([0, 31 * S, 90 * S].map(|at| fall.factor(at)), [2.0, 1.5, 1.0]);
        // The derivative of ln (1 + x) in the middle of the fall.
        assert!((fall.drift_per_minute(31 * S, 61 * S) - 1.0 / 1.25).abs() < 0.02);
        // A step in the middle of 20 s: products 50 ln 2, squares (20^3 - 20) / 12.
        let step = GettingWarm { slow: 2.0, slow_ns: 10 * S, falling_ns: 0 };
        let expected = 60.0 * 50.0 * 2.0_f64.ln() / 665.0;
        assert!((step.drift_per_minute(0, 20 * S) - expected).abs() < 1e-9);
    }

    #[test]
    fn a_late_step_and_a_slow_drift_cannot_be_seen() {
        let mut unseen: Vec<&str> =
            WarmUp::all().iter().filter(|it| !it.is_seen()).map(|it| it.name).collect();
        unseen.dedup();
        // ln 1.2 is 18 %, in four minutes.
        let expected = ["a fifth longer, falling for 240 s", "twice as long for 60 s, unforeseen"];
        assert_eq!(unseen, expected);
    }

    /// A fall that noise hides at any one moment: before, half of these warm-ups and more ended too early.
    #[test]
    fn a_slow_fall_under_noise_does_not_end_a_warm_up_too_early() {
        let cases = WarmUp::all();
        let falls = cases.iter().filter(|it| it.name == "a fifth longer, falling for 60 s");
        for fall in falls {
            let found = fall.found(24, 1).unwrap();
            assert!(found.early.count <= 4, "{}: {found:?}", fall.noise.name());
        }
    }

    #[test]
    fn a_step_after_twenty_seconds_does_not_end_a_warm_up_too_early() {
        let cases = WarmUp::all();
        let step = cases.iter().find(|it| it.name == "twice as long for 20 s").unwrap();
        let found = step.found(24, 1).unwrap();
        assert_eq!(found.early.count, 0, "{found:?}");
        assert!(found.ended_s.iter().all(|seconds| *seconds >= 40.0), "{found:?}");
    }
}

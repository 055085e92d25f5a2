//! Warm-ups until the load is steady, of systems whose warm-up is known: how often they end while it still goes on.

use super::simulated::report_of;
use super::simulation::{Case, Goal, Seen, Study};

const S: u64 = 1_000_000_000;
/// A system is warm once services take less than this part longer than they do at last.
const WARM: f64 = 0.05;
/// The warm-up of a plan without other wishes, and that of one that knows of a step after a minute.
const STEADY: &str = "\"steady\"";
const STEADY_FROM_90_S: &str = "{ until = \"steady\", at_least = \"90s\" }";

const EARLY: &str = "ends before a step or a drift of 10 % a minute is over";
/// Nothing in the load tells that a step is still to come, or that the load drifts by less than 10 % a minute.
const EARLY_UNSEEN: &str = "ends before the system is warm, which cannot be seen";
const UNDERSTATED: &str = "the drift is larger than the report says";
const NEVER: &str = "reaches the limit";
const NEVER_STEADY: &str = "reaches the limit with a steady load";
const GOALS: &[Goal] =
    &[(EARLY, 0.0..=10.0), (UNDERSTATED, 0.0..=10.0), (NEVER_STEADY, 0.0..=10.0)];

pub(super) static STUDY: Study =
    Study { name: "warm-ups", title: "Warm-ups until the load is steady", goals: GOALS, cases };

/// Services take `slow` times as long for `slow_s`, and come down to 1 in `falling_s` along a straight line.
#[derive(Clone, Copy)]
struct Warming {
    slow: f64,
    slow_s: u64,
    falling_s: u64,
}

/// How much intervals of a steady load vary, the variation of services (an interval has a hundred), and more noise: the
/// machine's speed varies by 5 % too, with a memory of 2 s.
type Vary = (&'static str, f64, &'static str);
const LASTING: &str = "{ kind = \"autocorrelated\", deviation = 0.05, time = \"2s\" }";
const VARY: [Vary; 4] = [
    ("1 %", 0.1, ""),
    ("2 %", 0.2, ""),
    ("5 %", 0.5, ""),
    ("5 %, and 5 % that last 2 s", 0.5, LASTING),
];

/// Each with the warm-up of its plan, and the question whether that ends too early.
fn systems() -> [(&'static str, Warming, &'static str, &'static str); 7] {
    let of = |slow, slow_s, falling_s| Warming { slow, slow_s, falling_s };
    [
        ("steady", of(1.0, 0, 0), STEADY, EARLY),
        ("twice as long for 20 s", of(2.0, 20, 0), STEADY, EARLY),
        ("twice as long, falling for 60 s", of(2.0, 1, 60), STEADY, EARLY),
        ("a fifth longer, falling for 60 s", of(1.2, 1, 60), STEADY, EARLY),
        ("a fifth longer, falling for 240 s", of(1.2, 1, 240), STEADY, EARLY_UNSEEN),
        ("twice as long for 60 s, `at_least` 90 s", of(2.0, 60, 0), STEADY_FROM_90_S, EARLY),
        ("twice as long for 60 s, unforeseen", of(2.0, 60, 0), STEADY, EARLY_UNSEEN),
    ]
}

fn cases() -> Vec<Case> {
    let with = |(name, warming, plan, early)| {
        VARY.map(|vary| {
            let name = format!("{name}, intervals vary by {}", vary.0);
            Case::new(name, move |seed| once(warming, vary, plan, early, seed))
        })
    };
    systems().into_iter().flat_map(with).collect()
}

fn once(warming: Warming, vary: Vary, plan: &str, early: &str, seed: u64) -> anyhow::Result<Seen> {
    let report = report_of(&warming.plan(vary, plan), seed)?;
    let warm_up = &report["trials"][0]["decided_ends"]["warm_up"];
    let of = |key: &str| warm_up[key].as_f64();
    let mut seen = Seen::default();
    let hidden = of("hidden_drift_per_minute");
    seen.is(if warming.slow == 1.0 { NEVER_STEADY } else { NEVER }, hidden.is_none());
    if let (Some(from_ns), Some(seen_ns), Some(hidden)) =
        (of("steady_from_ns"), of("seen_ns"), hidden)
    {
        let [from_ns, seen_ns] = [from_ns, seen_ns].map(|ns| ns as u64);
        seen.is(early, seen_ns < warming.warm_from_ns());
        seen.is(UNDERSTATED, warming.drift_per_minute(from_ns, seen_ns) > hidden);
        seen.size("ends after, s", seen_ns as f64 / 1e9);
        seen.size("a drift that could hide, % a minute", 100.0 * hidden);
    }
    Ok(seen)
}

impl Warming {
    /// One client of a server of 100 a second.
    fn plan(self, (_, variation, lasting): Vary, warm_up: &str) -> String {
        let Self { slow, slow_s, falling_s } = self;
        let warm = format!(
            "{{ kind = \"warm\", slow = {slow:.1}, for = \"{slow_s}s\", falling_for = \"{falling_s}s\" }},"
        );
        let warm = if slow > 1.0 { &warm } else { "" };
        format!(
            "[systems.simulated]\nservice_times = [\"10ms\"]\ndistribution = \"lognormal\"\n\
             variation = {variation}\nnoise = [{warm} {lasting}]\n\
             [load]\nwarm_up = {warm_up}\ntime = \"1s\"\n"
        )
    }

    /// How much longer services take at a time, as a factor.
    fn factor(self, at_ns: u64) -> f64 {
        let falling_ns = (self.falling_s * S).max(1);
        let fallen = at_ns.saturating_sub(self.slow_s * S) as f64 / falling_ns as f64;
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
        self.slow_s * S + ((self.falling_s * S) as f64 * is_over) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn of(slow: f64, slow_s: u64, falling_s: u64) -> Warming {
        Warming { slow, slow_s, falling_s }
    }

    #[test]
    fn a_system_is_warm_when_services_take_less_than_a_twentieth_longer() {
        assert_eq!(of(1.0, 0, 0).warm_from_ns(), 0);
        assert_eq!(of(2.0, 20, 0).warm_from_ns(), 20 * S);
        // 2 - t / 60 s is 1.05 after 57 s; 1.2 - 0.2 t / 60 s after 45 s.
        assert_eq!(of(2.0, 1, 60).warm_from_ns(), 58 * S);
        assert_eq!(of(1.2, 1, 60).warm_from_ns(), 46 * S);
    }

    #[test]
    fn a_fall_has_the_drift_of_its_line() {
        let fall = of(2.0, 1, 60);
        assert_eq!([0, 31 * S, 90 * S].map(|at| fall.factor(at)), [2.0, 1.5, 1.0]);
        // The derivative of ln (1 + x) in the middle of the fall.
        assert!((fall.drift_per_minute(31 * S, 61 * S) - 1.0 / 1.25).abs() < 0.02);
        // A step in the middle of 20 s: products 50 ln 2, squares (20^3 - 20) / 12.
        let expected = 60.0 * 50.0 * 2.0_f64.ln() / 665.0;
        assert!((of(2.0, 10, 0).drift_per_minute(0, 20 * S) - expected).abs() < 1e-9);
    }

    #[test]
    fn what_cannot_be_seen_is_no_goal() {
        for (name, warming, plan, early) in systems() {
            let shortest_s = if plan == STEADY { 30 } else { 90 };
            let Warming { slow_s, falling_s, .. } = warming;
            let is_seen = match falling_s {
                0 => slow_s <= shortest_s,
                _ => warming.drift_per_minute(slow_s * S, (slow_s + falling_s) * S) >= 0.1,
            };
            assert_eq!(early == EARLY, is_seen, "{name}");
        }
    }
}

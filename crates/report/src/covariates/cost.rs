//! What measuring the machine's speed before windows took.

use measure::{Nanos, Phase};
use record::TrialRecord;

/// What the measurements before some windows took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cost {
    /// Number of measurements: one before each window.
    pub(super) samples: usize,
    /// The most CPUs that one of them was made on.
    pub(super) cpus: usize,
    /// How long they took.
    pub(super) length_ns: Nanos,
    /// Their CPU time.
    pub(super) cpu_ns: Nanos,
    /// The load beside them: warm-ups and measured times.
    load_ns: Nanos,
}

impl Cost {
    pub(super) fn of<'a>(windows: impl Iterator<Item = &'a TrialRecord>) -> Self {
        let mut all = Self::default();
        for window in windows {
            let Some(speed) = window.speed else { continue };
            all.samples += 1;
            all.cpus = all.cpus.max(speed.cpus);
            all.length_ns = all.length_ns.saturating_add(speed.length_ns);
            all.cpu_ns = all.cpu_ns.saturating_add(speed.cost_ns);
            let is_load = |phase: Phase| matches!(phase, Phase::WarmUp | Phase::Measure);
            let load = window.phases.iter().filter(|it| is_load(it.phase));
            let load_ns = load.map(|it| measure::nanos(it.duration));
            all.load_ns = load_ns.fold(all.load_ns, Nanos::saturating_add);
        }
        all
    }

    /// The part of the time of loads and measurements that the measurements took. The time to connect is in neither, which
    /// makes it rather too large.
    pub(super) fn part(&self) -> f64 {
        let [length, load] = [self.length_ns, self.load_ns].map(|ns| ns as f64);
        if length > 0.0 { length / (length + load) } else { 0.0 }
    }
}

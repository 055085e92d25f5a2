//! Facts about one of several generators of a load: its host, its clock, and its loss.

use serde::{Deserialize, Serialize};

use crate::Nanos;

/// The host of a generator and the program there, as that program reports them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostFacts {
    pub host: String,
    /// The architecture of its processor, such as `x86_64`.
    pub processor: String,
    /// Hardware threads that the generator may use; 0 when not known.
    pub cores: u32,
    /// The system's kernel with its version.
    pub kernel: String,
    pub build: String,
    /// Identifies the running kernel, and so the machine: it is the same in all containers of one. Empty when not known.
    #[serde(default)]
    pub boot: String,
}

impl HostFacts {
    /// Whether both are surely on one machine, or have the same name where the machine is not known.
    pub fn shares_machine_with(&self, other: &Self) -> bool {
        match (self.boot.as_str(), other.boot.as_str()) {
            ("", _) | (_, "") => self.host == other.host,
            (own, other) => own == other,
        }
    }
}

/// How far the clock of another host is from the coordinator's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockComparison {
    /// Its monotonic clock minus the coordinator's, ns.
    pub offset_ns: i64,
    /// How far the true offset may be from this, at most, ns.
    pub uncertainty_ns: Nanos,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GeneratorClock {
    /// Before the load; the trial's times of this generator are translated with it.
    pub start: ClockComparison,
    /// After the load; `None` when the generator was lost before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<ClockComparison>,
}

impl GeneratorClock {
    /// How far the true offset may be from the one that was used, at most, at either comparison, ns.
    pub fn uncertainty_ns(&self) -> Nanos {
        self.end.map_or(0, |end| end.uncertainty_ns).max(self.start.uncertainty_ns)
    }

    /// How far the clock moved against the coordinator's during the trial, ns; `None` when that is not known.
    pub fn drift_ns(&self) -> Option<i64> {
        self.end.map(|end| end.offset_ns.saturating_sub(self.start.offset_ns))
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GeneratorLoss {
    /// When it was noticed, on the trial's clock, warm-up included.
    pub at_ns: Nanos,
    /// Why, as far as it is known.
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_as_uncertain_as_its_worse_comparison_and_drifts_between_them() {
        let start = ClockComparison { offset_ns: -5_000, uncertainty_ns: 200 };
        let mut clock = GeneratorClock { start, end: None };
        assert_eq!((clock.uncertainty_ns(), clock.drift_ns()), (200, None));
        clock.end = Some(ClockComparison { offset_ns: -5_700, uncertainty_ns: 900 });
        assert_eq!((clock.uncertainty_ns(), clock.drift_ns()), (900, Some(-700)));
        clock.end = Some(ClockComparison { offset_ns: i64::MAX, uncertainty_ns: 1 });
        assert_eq!(clock.drift_ns(), Some(i64::MAX));
    }
}

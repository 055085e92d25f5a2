//! A figure, declared once for every view: its key, its label, its unit and the function that reads it.

use measure::{Nanos, Quantity};

use crate::{SampleWindow, ValueOrigin};

/// A figure. `Get` is the function that reads it.
#[derive(Clone, Copy, Debug)]
pub struct Metric<Get> {
    /// Name for programs; it ends with the unit, unless the value is a count.
    pub key: &'static str,
    /// Name for people.
    pub label: &'static str,
    pub unit: Quantity,
    /// Reads the value; `None` when it is not known.
    pub get: Get,
}

/// Two successive readings, between which a figure has one value.
#[derive(Clone, Copy, Debug)]
pub struct Between<'a, R> {
    pub(crate) from: &'a R,
    pub(crate) to: &'a R,
    pub(crate) seconds: f64,
    /// Main memory of the host; `None` when not known.
    pub(crate) memory_bytes: Option<u64>,
}

/// Reads a figure from two readings.
pub type OverTime<R> = fn(&Between<'_, R>) -> Option<f64>;

impl<R> Between<'_, R> {
    /// The growth of a counter in a second; `None` when it is not known or was reset.
    pub(crate) fn rate(&self, of: impl Fn(&R) -> Option<u64>) -> Option<f64> {
        Some(of(self.to)?.checked_sub(of(self.from)?)? as f64 / self.seconds)
    }
}

/// One sample window for each two readings at different times, if the figure is known; none up to a reading that
/// begins anew, whose times are `joints_ns`.
pub(crate) fn over_time<R>(
    (readings, joints_ns): (&[R], &[Nanos]),
    at_ns: impl Fn(&R) -> Nanos,
    value: impl Fn(&R, &R, f64) -> Option<f64>,
) -> Vec<SampleWindow> {
    let pairs = readings.windows(2).filter(|pair| {
        let to_ns = at_ns(&pair[1]);
        to_ns > at_ns(&pair[0]) && joints_ns.binary_search(&to_ns).is_err()
    });
    pairs
        .filter_map(|pair| {
            let (from_ns, to_ns) = (at_ns(&pair[0]), at_ns(&pair[1]));
            let mean = value(&pair[0], &pair[1], (to_ns - from_ns) as f64 / 1e9)?;
            Some(SampleWindow { from_ns, to_ns, mean, peak: mean, origin: ValueOrigin::Readings })
        })
        .collect()
}

/// Declares a set of figures: an enum of their names, the list of all in the order of tables, and the
/// [`Metric`] of each. The label is the documentation of the name.
macro_rules! metrics {
    (
        $(#[$of:meta])* $figures:ident: $get:ty;
        $($(#[$doc:meta])* $figure:ident = $key:literal, $label:literal, $unit:ident, $read:expr;)+
    ) => {
        $(#[$of])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $figures { $(#[doc = $label] $(#[$doc])* $figure,)+ }

        impl $figures {
            /// All of them, in the order of tables.
            pub const ALL: &'static [Self] = &[$(Self::$figure),+];

            /// Its key, label, unit and reading function.
            pub fn metric(self) -> $crate::Metric<$get> {
                match self {
                    $(Self::$figure => $crate::Metric::<$get> {
                        key: $key,
                        label: $label,
                        unit: measure::Quantity::$unit,
                        get: $read,
                    },)+
                }
            }
        }
    };
}

pub(crate) use metrics;

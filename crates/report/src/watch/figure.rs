//! The format of values.

use measure::Quantity;

use crate::number::{count, latency, memory, number, percent};

pub(crate) fn show(quantity: Quantity, value: f64) -> String {
    match quantity {
        Quantity::CpuThreads | Quantity::Count => whole(value),
        Quantity::PerSecond => format!("{} /s", number(value)),
        Quantity::BytesPerSecond => format!("{} MB/s", number(value / 1e6)),
        Quantity::Bytes => memory(value as u64),
        Quantity::Part => percent(value),
        Quantity::Seconds => latency(value * 1e9),
        Quantity::MicrosecondsPerQuery => format!("{} µs", number(value)),
        Quantity::PerQuery => number(value),
        Quantity::KilobytesPerQuery => format!("{} kB", number(value)),
    }
}

/// The axis label for such values, and the divisor for values on it.
pub(crate) fn axis(quantity: Quantity) -> (&'static str, f64) {
    match quantity {
        Quantity::CpuThreads => ("CPU threads", 1.0),
        Quantity::Count => ("number", 1.0),
        Quantity::PerSecond => ("per second", 1.0),
        Quantity::BytesPerSecond => ("MB per second", 1e6),
        Quantity::Bytes => ("MiB", 1024.0 * 1024.0),
        Quantity::Part => ("part", 1.0),
        Quantity::Seconds => ("milliseconds", 1e-3),
        Quantity::MicrosecondsPerQuery => ("µs for each query", 1.0),
        Quantity::PerQuery => ("for each query", 1.0),
        Quantity::KilobytesPerQuery => ("kB for each query", 1.0),
    }
}

/// Formats a count: whole numbers without a fraction, means with one.
pub(crate) fn whole(value: f64) -> String {
    if value.fract() == 0.0 { count(value as u64) } else { number(value) }
}

//! Axes: the position of a value, and the round values that get a tick.

use crate::number::{TimeUnit, latency, number, percent, short};

/// How values are spread along an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Scale {
    #[default]
    Linear,
    Log10,
    /// By powers of two, with a tick at each value that was measured: numbers of clients.
    Log2,
    /// HdrHistogram's percentile axis: by the powers of ten of 1 / (1 - quantile). Values are
    /// percentiles, 0 to below 100.
    Percentile,
    /// Names in a row; values are their places, from 0.
    Names,
}

/// Kind of numbers on an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Unit {
    #[default]
    Number,
    /// Nanoseconds, each tick in the unit that suits it.
    Latency,
    /// Percentiles, and parts of a hundred.
    Percent,
    /// Seconds on the clock of a trial.
    Seconds,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Axis {
    pub(crate) label: String,
    pub(crate) scale: Scale,
    pub(crate) unit: Unit,
    low: f64,
    high: f64,
    ticks: Vec<f64>,
    names: Vec<String>,
}

/// Approximate number of ticks of an axis.
const TICKS: f64 = 6.0;

/// Within less than this, a logarithmic axis of ratios has ticks at even steps.
const NARROW_RATIO: f64 = 3.0;

impl Axis {
    /// An axis whose range includes every value, widened to round ticks. A log axis leaves out values that are
    /// not positive.
    pub(crate) fn new(
        label: impl Into<String>,
        scale: Scale,
        unit: Unit,
        values: impl IntoIterator<Item = f64>,
    ) -> Self {
        let is_fit = |value: &f64| value.is_finite() && (scale == Scale::Linear || *value > 0.0);
        let mut values: Vec<f64> = match scale {
            Scale::Percentile => values.into_iter().filter(|value| value.is_finite()).collect(),
            _ => values.into_iter().filter(is_fit).collect(),
        };
        values.sort_by(f64::total_cmp);
        values.dedup();
        let low = values.first().copied().unwrap_or(1.0);
        let high = values.last().copied().unwrap_or(1.0);
        let (low, high, ticks) = match scale {
            Scale::Linear => linear(high),
            Scale::Log10 => decades(low, high),
            Scale::Log2 => measured(&values),
            Scale::Percentile => percentiles(high),
            Scale::Names => (low, high, values),
        };
        Self { label: label.into(), scale, unit, low, high, ticks, names: Vec::new() }
    }

    /// A logarithmic axis of ratios that covers the data, and at least 5 % on both sides of 1.
    pub(crate) fn ratios(label: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Self {
        let is_ratio = |value: &f64| value.is_finite() && *value > 0.0;
        let values: Vec<f64> = values.into_iter().filter(is_ratio).collect();
        let low = values.iter().copied().fold(1.0 / 1.05, f64::min);
        let high = values.iter().copied().fold(1.05, f64::max);
        let (low, high, ticks) =
            if high / low < NARROW_RATIO { steps(low, high) } else { decades(low, high) };
        Self {
            label: label.into(),
            scale: Scale::Log10,
            unit: Unit::Number,
            low,
            high,
            ticks,
            names: Vec::new(),
        }
    }

    /// An axis of time within a trial, in seconds, that ends with the data.
    pub(crate) fn seconds(end: f64) -> Self {
        let (_, _, ticks) = linear(end);
        let ticks = ticks.into_iter().filter(|tick| *tick <= end * 1.001).collect();
        Self {
            label: "time, s".to_owned(),
            scale: Scale::Linear,
            unit: Unit::Seconds,
            low: 0.0,
            high: end.max(f64::MIN_POSITIVE),
            ticks,
            names: Vec::new(),
        }
    }

    /// An axis of names, each in the middle of an equal part.
    pub(crate) fn names(label: impl Into<String>, names: Vec<String>) -> Self {
        Self {
            label: label.into(),
            scale: Scale::Names,
            unit: Unit::Number,
            low: -0.5,
            high: names.len() as f64 - 0.5,
            ticks: (0..names.len()).map(|place| place as f64).collect(),
            names,
        }
    }

    pub(crate) fn end(&self) -> f64 {
        self.high
    }

    /// Few ticks for a small plot, with numbers in few letters: every second one, every third one and so on.
    pub(crate) fn few_ticks(&self, most: usize) -> Vec<(f64, String)> {
        let all = self.ticks();
        let step = all.len().saturating_sub(1) / most + 1;
        let kept = all.into_iter().step_by(step);
        let is_count = self.unit == Unit::Number && self.scale != Scale::Names;
        kept.map(|(at, text)| (at, if is_count && at >= 1e4 { short(at) } else { text })).collect()
    }

    /// Position of a value, 0 at the low end to 1 at the high end; values outside are clamped to the ends.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let at = |value: f64| match self.scale {
            Scale::Linear | Scale::Names => value,
            Scale::Log10 | Scale::Log2 => value.max(f64::MIN_POSITIVE).ln(),
            Scale::Percentile => -(1.0 - value / 100.0).max(1e-9).ln(),
        };
        let (low, high) = (at(self.low), at(self.high));
        if high <= low {
            return 0.5;
        }
        ((at(value) - low) / (high - low)).clamp(0.0, 1.0)
    }

    pub(crate) fn ticks(&self) -> Vec<(f64, String)> {
        if self.scale == Scale::Names {
            return self.ticks.iter().copied().zip(self.names.iter().cloned()).collect();
        }
        self.ticks.iter().map(|tick| (*tick, self.text(*tick))).collect()
    }

    /// A value as the page's tables show it; empty beside the names of an axis of names.
    pub(crate) fn show(&self, value: f64) -> String {
        match (self.scale, self.unit) {
            (Scale::Names, _) if value.round() < 0.0 => String::new(),
            (Scale::Names, _) => {
                self.names.get(value.round() as usize).cloned().unwrap_or_default()
            }
            (Scale::Log2, _) => round(value),
            (Scale::Percentile, _) => percentile(value),
            (_, Unit::Number) => number(value),
            (_, Unit::Latency) => latency(value),
            (_, Unit::Percent) => percent(value / 100.0),
            (_, Unit::Seconds) => format!("{}", (value * 1e3).round() / 1e3),
        }
    }

    fn text(&self, value: f64) -> String {
        match self.unit {
            Unit::Number | Unit::Seconds => round(value),
            Unit::Latency => {
                let unit = TimeUnit::for_value(value);
                format!("{} {}", round(value / unit.ns()), unit.name())
            }
            Unit::Percent => format!("{}", (value * 1e6).round() / 1e6),
        }
    }
}

/// Label of a round value, without trailing zeros.
fn round(value: f64) -> String {
    let text = number(value);
    if text.contains('.') {
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    text
}

/// A percentile, to three digits of what is above it.
fn percentile(value: f64) -> String {
    // A little more, so that a power of ten that is not exact in binary has its own digits.
    let above = (100.0 - value).clamp(1e-6, 100.0) * 1.000_001;
    let decimals = (2.0 - above.log10().floor()).max(0.0) as usize;
    format!("{value:.decimals$}")
}

/// Ticks at round steps around both ends.
fn steps(low: f64, high: f64) -> (f64, f64, Vec<f64>) {
    let step = round_step((high - low) / TICKS);
    let (first, last) = ((low / step + 1e-9).floor(), (high / step - 1e-9).ceil());
    let ticks = (first as usize..=last as usize).map(|tick| tick as f64 * step).collect();
    (first * step, last * step, ticks)
}

/// From zero to the next round step.
fn linear(high: f64) -> (f64, f64, Vec<f64>) {
    let high = if high > 0.0 { high } else { 1.0 };
    let step = round_step(high / TICKS);
    let count = (high / step - 1e-9).ceil().max(1.0);
    let ticks = (0..=count as usize).map(|tick| tick as f64 * step).collect();
    (0.0, count * step, ticks)
}

/// The smallest of 1, 2 and 5 times a power of ten that is at least this value. Source: Heckbert, Nice Numbers
/// for Graph Labels, Graphics Gems (1990).
fn round_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= least * 0.999_999);
    factor.unwrap_or(10.0) * power
}

/// Ticks at 1, 2 and 5 of each decade, or only at powers of ten when there are many.
fn decades(low: f64, high: f64) -> (f64, f64, Vec<f64>) {
    let steps: &[f64] = match (high / low).log10() {
        span if span <= 2.2 => &[1.0, 2.0, 5.0],
        _ => &[1.0],
    };
    let first = (low * 1.000_001).log10().floor() as i32;
    let last = ((high * 0.999_999).log10().ceil() as i32).max(first + 1);
    let all: Vec<f64> = (first..=last)
        .flat_map(|power| steps.iter().map(move |step| step * 10_f64.powi(power)))
        .collect();
    let below = all.iter().copied().filter(|tick| *tick <= low * 1.000_001);
    let start = below.fold(f64::NAN, f64::max);
    // A single value that is itself a tick still needs a range.
    let is_above = |tick: &f64| *tick >= high * 0.999_999 && *tick > start;
    let end = all.iter().copied().find(is_above).unwrap_or(high);
    let inside = |tick: &f64| *tick >= start && *tick <= end;
    (start, end, all.into_iter().filter(inside).collect())
}

/// A tick at every measured value.
fn measured(values: &[f64]) -> (f64, f64, Vec<f64>) {
    let low = values.first().copied().unwrap_or(1.0);
    let high = values.last().copied().unwrap_or(2.0);
    (low, high, values.to_vec())
}

/// 0, 50, 90, 99, 99.9 ... up to the first that is not below the highest value.
fn percentiles(high: f64) -> (f64, f64, Vec<f64>) {
    let all = [0.0, 50.0, 90.0, 99.0, 99.9, 99.99, 99.999, 99.9999, 99.99999];
    let last = all.iter().position(|tick| *tick >= high).unwrap_or(all.len() - 1).max(3);
    (0.0, all[last], all[..=last].to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(axis: &Axis) -> Vec<String> {
        axis.ticks().into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn linear_ticks_are_round_and_hold_the_data() {
        let axis = Axis::new("tps", Scale::Linear, Unit::Number, [3.0, 13_695.0]);
        assert_eq!(texts(&axis), ["0", "5,000", "10,000", "15,000"]);
        let axis = Axis::new("tps", Scale::Linear, Unit::Number, [0.23]);
        assert_eq!(texts(&axis), ["0", "0.05", "0.1", "0.15", "0.2", "0.25"]);
        let nothing = Axis::new("tps", Scale::Linear, Unit::Number, []);
        assert_eq!(nothing.place(0.0), 0.0);
    }

    #[test]
    fn log_ticks_each_have_the_unit_that_suits() {
        let axis = Axis::new("latency", Scale::Log10, Unit::Latency, [0.3e6, 15e6]);
        assert_eq!(texts(&axis), ["200 µs", "500 µs", "1 ms", "2 ms", "5 ms", "10 ms", "20 ms"]);
        let wide = Axis::new("latency", Scale::Log10, Unit::Latency, [0.02e6, 4_500e6]);
        assert_eq!(texts(&wide), ["10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s"]);
        assert_eq!((wide.place(0.01e6), wide.place(1e13)), (0.0, 1.0));
    }

    #[test]
    fn a_single_value_has_a_range_around_it() {
        let axis = Axis::new("latency", Scale::Log10, Unit::Number, [1.0]);
        assert_eq!(texts(&axis), ["1", "2"]);
        let clients = Axis::new("clients", Scale::Log2, Unit::Number, [8.0, 8.0]);
        assert_eq!((clients.place(8.0), texts(&clients)), (0.5, vec!["8".to_owned()]));
    }

    #[test]
    fn names_share_the_axis_evenly() {
        let axis = Axis::names("system", vec!["a".to_owned(), "b".to_owned()]);
        assert_eq!((axis.place(0.0), axis.place(1.0)), (0.25, 0.75));
        assert_eq!(texts(&axis), ["a", "b"]);
    }

    #[test]
    fn ratios_are_as_far_from_one_as_their_inverses() {
        let axis = Axis::ratios("times", [0.98, 1.11]);
        assert_eq!(texts(&axis), ["0.95", "1", "1.05", "1.1", "1.15"]);
        assert_eq!((axis.place(0.9), axis.place(9.0)), (0.0, 1.0));
        assert_eq!(texts(&Axis::ratios("times", [1.0])).len(), 7);
        let wide = Axis::ratios("times", [0.036, 0.0, f64::NAN]);
        assert_eq!(texts(&wide), ["0.02", "0.05", "0.1", "0.2", "0.5", "1", "2"]);
        let far = |value: f64| wide.place(value) - wide.place(1.0);
        assert!((far(0.5) + far(2.0)).abs() < 1e-12, "half and twice are equally far");
        assert!(wide.place(0.036) > 0.1, "it does not hug the end: {}", wide.place(0.036));
    }

    #[test]
    fn values_are_shown_as_in_tables() {
        let numbers = Axis::new("tps", Scale::Linear, Unit::Number, [2_000.0]);
        assert_eq!(numbers.show(1_234.4), "1,234");
        let latencies = Axis::new("latency", Scale::Log10, Unit::Latency, [1e6]);
        assert_eq!(latencies.show(12_340_000.0), "12.3 ms");
        let errors = Axis::new("errors, %", Scale::Log10, Unit::Percent, [1.0]);
        assert_eq!(errors.show(0.12), "0.1 %");
        let clients = Axis::new("clients", Scale::Log2, Unit::Number, [8.0]);
        assert_eq!(clients.show(8.0), "8");
        let percentiles = Axis::new("percentile", Scale::Percentile, Unit::Percent, [99.0]);
        let shown = [0.0, 50.0, 99.9, 99.98764].map(|value| percentiles.show(value));
        assert_eq!(shown, ["0", "50.0", "99.900", "99.9876"]);
        assert_eq!(Axis::seconds(60.0).show(12.5), "12.5");
        let names = Axis::names("system", vec!["a".to_owned(), "b".to_owned()]);
        assert_eq!([-0.5, 0.2, 0.9, 1.5].map(|at| names.show(at)), ["", "a", "b", ""]);
    }

    #[test]
    fn nines_are_equally_far_apart() {
        let axis = Axis::new("percentile", Scale::Percentile, Unit::Percent, [0.0, 99.95]);
        assert_eq!(texts(&axis), ["0", "50", "90", "99", "99.9", "99.99"]);
        let steps = [axis.place(99.0) - axis.place(90.0), axis.place(99.9) - axis.place(99.0)];
        assert!((steps[0] - steps[1]).abs() < 1e-9);
        assert!((axis.place(99.99) - 1.0).abs() < 1e-9);
    }
}

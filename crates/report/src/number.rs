//! The format of numbers, the same in every view.

use std::time::Duration;

use measure::Nanos;

/// Six decimals show nothing of a smaller number.
const HALF_OF_LAST_DECIMAL: f64 = 5e-7;

/// Three significant digits but at least the whole part, in groups of three: `13,696`, `487`, `61.0`, `0.123`.
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    let magnitude = value.abs();
    if magnitude < HALF_OF_LAST_DECIMAL {
        return "0".to_owned();
    }
    let decimals = match magnitude {
        m if m >= 99.95 => 0,
        m if m >= 9.995 => 1,
        m if m >= 0.9995 => 2,
        m => (2 - m.log10().floor() as i32).clamp(3, 6) as usize,
    };
    grouped(&format!("{value:.decimals$}"))
}

/// A rate in few letters: `813k`, `15.2k`, `4,041`, `1.09M`.
pub(crate) fn short(value: f64) -> String {
    match value.abs() {
        magnitude if magnitude >= 999_500.0 => format!("{}M", number(value / 1e6)),
        magnitude if magnitude >= 9_999.5 => format!("{}k", number(value / 1e3)),
        _ => number(value),
    }
}

/// A whole number in groups of three.
pub(crate) fn count(value: u64) -> String {
    grouped(&value.to_string())
}

/// `1 trial`, `1,200 trials`.
pub fn several(value: u64, one: &str, more: &str) -> String {
    format!("{} {}", count(value), if value == 1 { one } else { more })
}

fn grouped(digits: &str) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |rest| ("-", rest));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mut out = sign.to_owned();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    if !fraction.is_empty() {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

pub(crate) fn percent(part: f64) -> String {
    let value = part * 100.0;
    let text = if value.abs() >= 9.95 || value == 0.0 {
        format!("{value:.0}")
    } else if value.abs() >= 0.095 {
        format!("{value:.1}")
    } else {
        number(value)
    };
    format!("{text} %")
}

/// A fraction in per cent with its sign.
pub(crate) fn signed_percent(part: f64) -> String {
    let sign = if part > 0.0 { "+" } else { "" };
    format!("{sign}{}", percent(part))
}

/// `p50`, `p99.9`.
pub(crate) fn percentile_name(percent: f64) -> String {
    format!("p{percent}")
}

/// A unit of time for a table or an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeUnit {
    Microsecond,
    Millisecond,
    Second,
}

impl TimeUnit {
    /// The unit that suits the smallest of several latencies.
    pub(crate) fn for_smallest(values_ns: impl IntoIterator<Item = f64>) -> Self {
        let positive = values_ns.into_iter().filter(|value| *value > 0.0);
        match positive.fold(f64::INFINITY, f64::min) {
            smallest if smallest < 100e3 => Self::Microsecond,
            smallest if smallest < 10e9 || !smallest.is_finite() => Self::Millisecond,
            _ => Self::Second,
        }
    }

    pub(crate) fn for_value(value_ns: f64) -> Self {
        match value_ns {
            value if value < 1e6 => Self::Microsecond,
            value if value < 1e9 => Self::Millisecond,
            _ => Self::Second,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Microsecond => "µs",
            Self::Millisecond => "ms",
            Self::Second => "s",
        }
    }

    pub(crate) fn ns(self) -> f64 {
        match self {
            Self::Microsecond => 1e3,
            Self::Millisecond => 1e6,
            Self::Second => 1e9,
        }
    }

    /// A length of time in this unit, without the unit's name.
    pub(crate) fn show(self, value_ns: f64) -> String {
        number(value_ns / self.ns())
    }

    /// [`TimeUnit::show`] of a length of time, and whether it is only a lower bound.
    pub(crate) fn show_bounded(self, (value_ns, is_bound): (f64, bool)) -> String {
        bounded(self.show(value_ns), is_bound)
    }
}

/// A figure that may be a lower bound only.
pub(crate) fn bounded(text: String, is_bound: bool) -> String {
    if is_bound { format!("\u{2265} {text}") } else { text }
}

pub fn latency(value_ns: f64) -> String {
    let unit = TimeUnit::for_value(value_ns);
    format!("{} {}", unit.show(value_ns), unit.name())
}

/// A latency in whole nanoseconds with the unit that suits it.
pub(crate) fn latency_ns(value_ns: Nanos) -> String {
    latency(value_ns as f64)
}

/// A length of time for people: `1.25 s`, `3 min 5 s`, `2 h 10 min`.
pub(crate) fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..60 => latency(duration.as_nanos() as f64),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

pub(crate) fn memory(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{} {}", number(value), UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_their_whole_part() {
        for (value, expected) in [
            (13_695.72, "13,696"),
            (-1e-8, "0"),
            (0.0, "0"),
            (6e-7, "0.000001"),
            (1_234_567.0, "1,234,567"),
            (487.13, "487"),
            (99.97, "100"),
            (61.01, "61.0"),
            (9.996, "10.0"),
            (6.104, "6.10"),
            (0.1234, "0.123"),
            (0.01234, "0.0123"),
            (0.0, "0"),
            (-1_234.0, "-1,234"),
            (f64::NAN, "-"),
        ] {
            assert_eq!(number(value), expected);
        }
    }

    #[test]
    fn short_numbers_have_three_digits() {
        let shown = [812_952.0, 15_243.0, 4_041.0, 1_090_000.0, 999_600.0, 9_999.6].map(short);
        assert_eq!(shown, ["813k", "15.2k", "4,041", "1.09M", "1.00M", "10.0k"]);
    }

    #[test]
    fn one_is_singular() {
        assert_eq!(several(1, "try", "tries"), "1 try");
        assert_eq!(several(0, "try", "tries"), "0 tries");
        assert_eq!(several(1_200, "try", "tries"), "1,200 tries");
    }

    #[test]
    fn durations_use_a_fitting_unit() {
        assert_eq!(latency(12_340.0), "12.3 µs");
        assert_eq!(latency(19_130_000.0), "19.1 ms");
        assert_eq!(latency(6_482_550_000.0), "6.48 s");
        assert_eq!(duration(Duration::from_secs(185)), "3 min 5 s");
        assert_eq!(duration(Duration::from_secs(7_800)), "2 h 10 min");
        assert_eq!(TimeUnit::for_smallest([90e3, 1e9]), TimeUnit::Microsecond);
        assert_eq!(TimeUnit::for_smallest([0.0, 2e6]), TimeUnit::Millisecond);
        assert_eq!(TimeUnit::for_smallest([]), TimeUnit::Millisecond);
    }

    #[test]
    fn shares_are_shown_in_percent() {
        assert_eq!(percent(0.5), "50 %");
        assert_eq!(percent(0.0123), "1.2 %");
        assert_eq!(percent(0.00012), "0.0120 %");
        assert_eq!(percent(0.0), "0 %");
        assert_eq!(signed_percent(0.2), "+20 %");
        assert_eq!(signed_percent(-0.051), "-5.1 %");
    }
}

//! Numbers as people write them: `100k`, `1h30m`, `64MiB`.

use std::time::Duration;

const COUNTS: &[(&str, u64)] =
    &[("", 1), ("k", 1_000), ("K", 1_000), ("M", 1_000_000), ("G", 1_000_000_000)];

const TIMES_NS: &[(&str, u64)] = &[
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
];

const SIZES: &[(&str, u64)] = &[
    ("", 1),
    ("B", 1),
    ("kB", 1_000),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

/// The longest duration that a plan may name: ten years, far below what 64 bits of nanoseconds hold.
const DURATION_MAX: Duration = Duration::from_secs(10 * 366 * 86_400);

/// A whole number: `4`, `100_000`, `100k`, `1.5M`.
pub fn parse_count(text: &str) -> Option<u64> {
    let (number, unit) = split(text.trim());
    scaled(number, unit, COUNTS)
}

/// The whole number that a text with another unit means: `100k` for `100kb`; `None` when it means none.
pub(crate) fn count_meant(text: &str) -> Option<String> {
    let (number, unit) = split(text.trim());
    let (factor, rest) = match unit.trim_start().split_at_checked(1)? {
        ("k" | "K", rest) => ("k", rest),
        ("m" | "M", rest) => ("M", rest),
        ("g" | "G", rest) => ("G", rest),
        _ => return None,
    };
    let meant = format!("{number}{factor}");
    let is_unit = ["", "b", "ib"].contains(&rest.to_lowercase().as_str());
    (is_unit && parse_count(&meant).is_some()).then_some(meant)
}

/// The list that a range means, each number twice the one before: `1,2,4,8` for `1..8`; `None` when it is no range.
pub(crate) fn list_meant(text: &str) -> Option<String> {
    const LENGTH_MAX: u64 = 1 << 20;
    let (from, to) = text.split_once("..").or_else(|| text.split_once('-'))?;
    let (from, to) = (parse_count(from)?, parse_count(to.trim_start_matches('='))?);
    if from == 0 || from >= to || to / from > LENGTH_MAX {
        return None;
    }
    let numbers = std::iter::successors(Some(from), |number| number.checked_mul(2));
    let numbers = numbers.take_while(|number| *number < to).chain([to]);
    Some(numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(","))
}

/// A length of time: `500ms`, `5s`, `2m`, `1h30m`, `1.5s`. A bare number has no meaning but `0`.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let mut rest = text.trim();
    if rest == "0" {
        return Some(Duration::ZERO);
    }
    let mut total_ns = 0_u64;
    loop {
        let (number, after) = split(rest);
        let unit_end = after.find(|c: char| c.is_ascii_digit() || c == ' ').unwrap_or(after.len());
        let (unit, next) = after.split_at(unit_end);
        total_ns = total_ns.checked_add(scaled(number, unit, TIMES_NS)?)?;
        rest = next.trim_start();
        if rest.is_empty() {
            return Some(Duration::from_nanos(total_ns)).filter(|time| *time <= DURATION_MAX);
        }
    }
}

/// A size in bytes: `4096`, `64MiB`, `1GB`. A bare `M` is refused because it is ambiguous.
pub fn parse_bytes(text: &str) -> Option<u64> {
    let (number, unit) = split(text.trim());
    scaled(number, unit.trim_start(), SIZES)
}

/// A part of a whole: `0.1%` or `0.001`.
pub(crate) fn parse_part(text: &str) -> Option<f64> {
    let (number, scale) = match text.strip_suffix('%') {
        Some(percent) => (percent.trim(), 100.0),
        None => (text, 1.0),
    };
    number.parse::<f64>().ok().filter(|number| number.is_finite()).map(|number| number / scale)
}

/// A length of time as a plan would write it, the shortest exact way: `1h30m`, `2.5s`, `0s`.
pub fn show_duration(time: Duration) -> String {
    if time < Duration::from_secs(1) && !time.is_zero() {
        return show_below_a_second(time.subsec_nanos());
    }
    let (hours, minutes, seconds) =
        (time.as_secs() / 3600, time.as_secs() / 60 % 60, time.as_secs() % 60);
    let mut shown = String::new();
    for (number, unit) in [(hours, "h"), (minutes, "m")] {
        if number > 0 {
            shown += &format!("{number}{unit}");
        }
    }
    let fraction = format!("{:09}", time.subsec_nanos());
    match fraction.trim_end_matches('0') {
        "" if seconds == 0 && !shown.is_empty() => shown,
        "" => format!("{shown}{seconds}s"),
        digits => format!("{shown}{seconds}.{digits}s"),
    }
}

fn show_below_a_second(time_ns: u32) -> String {
    match time_ns {
        ns if ns % 1_000_000 == 0 => format!("{}ms", ns / 1_000_000),
        ns if ns % 1_000 == 0 => format!("{}us", ns / 1_000),
        ns => format!("{ns}ns"),
    }
}

/// The leading number, and the text after it.
fn split(text: &str) -> (&str, &str) {
    let is_number = |c: char| c.is_ascii_digit() || c == '_' || c == '.';
    text.split_at(text.find(|c| !is_number(c)).unwrap_or(text.len()))
}

/// `number` times its unit; `None` unless the result is a whole number of 64 bits.
fn scaled(number: &str, unit: &str, units: &[(&str, u64)]) -> Option<u64> {
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || whole.starts_with('_') || number.ends_with(['.', '_']) {
        return None;
    }
    let digits = format!("{whole}{fraction}").replace('_', "");
    let scale = 10_u128.checked_pow(u32::try_from(fraction.replace('_', "").len()).ok()?)?;
    let product = digits.parse::<u128>().ok()?.checked_mul(u128::from(*factor))?;
    (product % scale == 0).then(|| u64::try_from(product / scale).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts() {
        for (text, count) in [
            ("0", 0),
            ("4", 4),
            ("100_000", 100_000),
            ("100k", 100_000),
            ("1M", 1_000_000),
            ("1.5M", 1_500_000),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(parse_count(text), Some(count), "{text}");
        }
        for text in ["", "k", "-1", "1.5", "1.", "_1", "1_", "4 tables", "1e3", "99999999999999G"] {
            assert_eq!(parse_count(text), None, "{text}");
        }
    }

    #[test]
    fn counts_and_lists_that_are_meant() {
        for (text, meant) in [
            ("100kb", Some("100k")),
            ("2 MB", Some("2M")),
            ("1.5mib", Some("1.5M")),
            ("3m", Some("3M")),
            ("1..8", None),
            ("k", None),
            ("1.5", None),
            ("100 kilo", None),
        ] {
            assert_eq!(count_meant(text).as_deref(), meant, "{text}");
        }
        for (text, meant) in [
            ("1..8", Some("1,2,4,8")),
            ("1..=6", Some("1,2,4,6")),
            ("3-20", Some("3,6,12,20")),
            ("0..8", None),
            ("8..1", None),
            ("1..18446744073709551615", None),
            ("8", None),
        ] {
            assert_eq!(list_meant(text).as_deref(), meant, "{text}");
        }
    }

    #[test]
    fn durations() {
        for (text, ms) in [
            ("0", 0),
            ("0s", 0),
            ("500ms", 500),
            ("5s", 5_000),
            ("1.5s", 1_500),
            ("2m", 120_000),
            ("2min", 120_000),
            ("1h30m", 5_400_000),
            ("1h 30m", 5_400_000),
            ("1d", 86_400_000),
        ] {
            assert_eq!(parse_duration(text), Some(Duration::from_millis(ms)), "{text}");
        }
        assert_eq!(parse_duration("250us"), Some(Duration::from_micros(250)));
        assert_eq!(parse_duration("250µs"), Some(Duration::from_micros(250)));
        for text in ["", "5", "s", "5 s", "5x", "-5s", "1h30", "0.1ns", "100000d", "5s,"] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
    }

    #[test]
    fn sizes() {
        for (text, bytes) in [
            ("4096", 4096),
            ("64MiB", 64 << 20),
            ("64 MiB", 64 << 20),
            ("1GB", 1_000_000_000),
            ("1.5KiB", 1536),
            ("10kB", 10_000),
        ] {
            assert_eq!(parse_bytes(text), Some(bytes), "{text}");
        }
        for text in ["", "64M", "64mib", "0.3B", "MiB", "99999999TiB"] {
            assert_eq!(parse_bytes(text), None, "{text}");
        }
    }

    #[test]
    fn shown_durations_are_read_back() {
        for text in
            ["0s", "500ms", "250us", "7ns", "5s", "2.5s", "2m", "1h30m", "1h5s", "1h30m0.25s"]
        {
            let time = parse_duration(text).unwrap();
            assert_eq!(show_duration(time), text);
        }
    }
}

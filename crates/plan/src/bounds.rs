//! How long a plan waits for the system under test.

use std::time::Duration;

use crate::OptionReader;
use crate::keys::{Form, Key};
use crate::units::show_duration;
use crate::value::Value;

/// Time limits for waiting; `None` means no limit (`off`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// For a connection, login included.
    pub connect_timeout: Duration,
    /// For the answer to each statement of the load.
    pub query_timeout: Option<Duration>,
    /// For each of prepare, verify, check and cleanup as a whole.
    pub phase_timeout: Option<Duration>,
    /// How long a client that lost its connection tries to open another one; `None` ends the trial when the first
    /// connection is lost.
    pub reconnect_limit: Option<Duration>,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            query_timeout: Some(Duration::from_secs(60)),
            phase_timeout: None,
            reconnect_limit: Some(Duration::from_secs(30)),
        }
    }
}

/// The shortest limit of a statement. Waits are checked every 20 ms, so with a shorter limit most late answers would
/// count as in time.
const QUERY_TIMEOUT_MIN: Duration = Duration::from_millis(40);

/// Keys of `[load]` that this file reads.
pub(crate) fn keys() -> Vec<Key> {
    let key = |name, meaning| Key::new(name, Form::Limit, meaning);
    vec![
        Key::new("connect_timeout", Form::Time, "longest wait for a connection, login included")
            .or("10s"),
        key("query_timeout", "longest wait for the answer to a statement of the load").or("60s"),
        key("phase_timeout", "longest time for each of prepare, verify, check and cleanup")
            .or("off"),
        key("reconnect_limit", "how long a client tries to connect again").or("30s"),
    ]
}

/// Reads them.
pub(crate) fn read(reader: &mut OptionReader<'_>) -> Bounds {
    let default = Bounds::default();
    let connect_timeout = reader.duration("connect_timeout", default.connect_timeout);
    if connect_timeout.is_zero() {
        let message = "`connect_timeout` is 0, so no client could connect";
        reader.reject("connect_timeout", message, "write a duration, such as \"10s\"");
    }
    let query_timeout = bound(reader, "query_timeout", default.query_timeout);
    if let Some(short) = query_timeout.filter(|bound| *bound < QUERY_TIMEOUT_MIN) {
        let message =
            format!("`query_timeout` is {}, too short to be enforced", show_duration(short));
        reader.reject("query_timeout", message, "allowed: 40ms or more, or \"off\"");
    }
    Bounds {
        connect_timeout,
        query_timeout,
        phase_timeout: bound(reader, "phase_timeout", default.phase_timeout),
        reconnect_limit: bound(reader, "reconnect_limit", default.reconnect_limit),
    }
}

/// A length of time; `"off"`, `false` or 0 means no limit.
fn bound(reader: &mut OptionReader<'_>, name: &str, default: Option<Duration>) -> Option<Duration> {
    let is_off = match reader.placed(name).map(|placed| &placed.value) {
        None => return default,
        Some(Value::Text(text)) => text.trim().eq_ignore_ascii_case("off"),
        Some(value) => matches!(value, Value::Boolean(false) | Value::Integer(0)),
    };
    if is_off {
        return None;
    }
    reader.duration_given(name).filter(|time| !time.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;

    fn read_bounds(text: &str) -> Bounds {
        let options = Options::parse(text).unwrap();
        let mut reader = options.reader();
        let bounds = read(&mut reader);
        reader.finish().unwrap();
        bounds
    }

    #[test]
    fn missing_bounds_have_defaults() {
        assert_eq!(read_bounds(""), Bounds::default());
    }

    #[test]
    fn each_bound_can_be_set_or_switched_off() {
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        let all = read_bounds(
            "connect_timeout = '3s'\nquery_timeout = '500ms'\nphase_timeout = '1h'\n\
             reconnect_limit = '2m'",
        );
        assert_eq!(all.connect_timeout, Duration::from_secs(3));
        assert_eq!(all.query_timeout, Some(Duration::from_millis(500)));
        assert_eq!((all.phase_timeout, all.reconnect_limit), (seconds(3600), seconds(120)));
        for off in ["0", "'0s'", "'off'", "false"] {
            let none = read_bounds(&format!("query_timeout = {off}\nreconnect_limit = {off}"));
            assert_eq!((none.query_timeout, none.reconnect_limit), (None, None), "{off}");
        }
    }

    #[test]
    fn invalid_bounds_are_refused() {
        for text in [
            "connect_timeout = '0s'",
            "query_timeout = 5",
            "query_timeout = '39ms'",
            "reconnect_limit = 'on'",
        ] {
            let options = Options::parse(text).unwrap();
            let mut reader = options.reader();
            read(&mut reader);
            assert_eq!(reader.finish().unwrap_err().len(), 1, "{text}");
        }
    }
}

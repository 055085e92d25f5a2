//! Formats of values whose types have no serde attributes, for serde's `with`.

use std::time::Duration;

use plan::{Arrivals, Rate, RateStep};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Whether a value is the default, so that its field is left out.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A length of time in nanoseconds.
pub(crate) mod nanos {
    use super::{Deserialize, Deserializer, Duration, Serializer};

    pub(crate) fn serialize<S: Serializer>(duration: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(duration.as_nanos().try_into().unwrap_or(u64::MAX))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::from_nanos)
    }
}

pub(crate) mod loaded_rows {
    use measure::LoadedRows;

    use super::{Deserialize, Deserializer, Duration, Error, Serialize, Serializer, nanos};
    use crate::hlog;

    #[derive(Serialize, Deserialize)]
    struct LoadedFile {
        rows: u64,
        #[serde(rename = "duration_ns", with = "nanos")]
        duration: Duration,
        /// Encoded as in latency.hlog.
        inserts: String,
    }

    pub(crate) fn serialize<S: Serializer>(
        loaded: &Option<LoadedRows>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let file = |it: &LoadedRows| LoadedFile {
            rows: it.rows,
            duration: it.duration,
            inserts: hlog::encode(&it.inserts),
        };
        loaded.as_ref().map(file).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<LoadedRows>, D::Error> {
        let Some(file) = Option::<LoadedFile>::deserialize(from)? else { return Ok(None) };
        let inserts = hlog::decode(&file.inserts).map_err(D::Error::custom)?;
        Ok(Some(LoadedRows { rows: file.rows, duration: file.duration, inserts }))
    }
}

pub(crate) mod arrivals {
    use super::{Arrivals, Deserialize, Deserializer, Error, Serializer};

    pub(crate) fn serialize<S: Serializer>(arrivals: &Arrivals, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(arrivals.name())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Arrivals, D::Error> {
        let name = String::deserialize(from)?;
        Arrivals::from_name(&name)
            .ok_or_else(|| D::Error::custom(format!("`{name}` is no spread of arrivals")))
    }
}

pub(crate) mod steps {
    use super::{Deserialize, Deserializer, Error, Rate, Serialize, Serializer, Step};

    pub(crate) fn serialize<S: Serializer>(rate: &Rate, to: S) -> Result<S::Ok, S::Error> {
        rate.steps().iter().map(Step::from).collect::<Vec<_>>().serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Rate, D::Error> {
        let steps = Vec::<Step>::deserialize(from)?;
        Rate::of(steps.into_iter().map(Into::into).collect())
            .ok_or_else(|| D::Error::custom("an open loop has no steps"))
    }
}

#[derive(Serialize, Deserialize)]
struct Step {
    #[serde(rename = "length_ns", with = "nanos")]
    length: Duration,
    from_per_s: f64,
    to_per_s: f64,
}

impl From<&RateStep> for Step {
    fn from(step: &RateStep) -> Self {
        let RateStep { length, from_per_s, to_per_s } = *step;
        Self { length, from_per_s, to_per_s }
    }
}

impl From<Step> for RateStep {
    fn from(step: Step) -> Self {
        let Step { length, from_per_s, to_per_s } = step;
        Self { length, from_per_s, to_per_s }
    }
}

/// Refuses a list that is longer than any real one: a report of it would take more memory and time than there is.
pub(crate) fn at_most(what: &str, count: usize, most: usize) -> Result<(), String> {
    if count > most {
        return Err(format!("{count} {what}, more than {most}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use measure::{LatencyHistogram, LoadedRows};

    use super::*;
    use crate::PhaseRecord;

    #[test]
    fn what_a_phase_loaded_is_kept_and_older_phases_loaded_nothing() {
        let older = r#"{"phase":"prepare","started":"2026-07-30T12:00:00Z","duration_ns":9}"#;
        let mut phase: PhaseRecord = serde_json::from_str(older).unwrap();
        assert_eq!(phase.loaded, None);
        assert_eq!(serde_json::to_string(&phase).unwrap(), older);
        let mut inserts = LatencyHistogram::new();
        (1..50).for_each(|ms| inserts.record(ms * 1_000_000));
        phase.loaded = Some(LoadedRows { rows: 7, duration: Duration::from_secs(3), inserts });
        let text = serde_json::to_string(&phase).unwrap();
        assert!(
            text.contains(r#""loaded":{"rows":7,"duration_ns":3000000000,"inserts":"#),
            "{text}"
        );
        assert_eq!(serde_json::from_str::<PhaseRecord>(&text).unwrap(), phase);
        let damaged = text.replace(r#""inserts":""#, r#""inserts":"?"#);
        assert!(serde_json::from_str::<PhaseRecord>(&damaged).is_err());
    }
}

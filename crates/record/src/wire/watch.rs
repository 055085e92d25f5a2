//! One line of watch.jsonl: a watched host or server, or a sample of one.

use measure::{
    Answer, ConnectionsReading, Gap, Host, HostReading, NewSeries, Server, ServerKind, Watched,
};
use serde::{Deserialize, Serialize};
use serde_json::Number;

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub(crate) enum WatchLine {
    Host(Host),
    Reading {
        host: usize,
        #[serde(flatten)]
        reading: Box<HostReading>,
    },
    ServerKinds {
        kinds: Vec<ServerKind>,
    },
    Server(Server),
    Answer(AnswerFile),
    Gap {
        server: usize,
        #[serde(flatten)]
        gap: Gap,
    },
    Connections(ConnectionsReading),
    NoConnections {
        reason: String,
    },
    /// Lines that a later dyno of this format version may add.
    #[serde(other)]
    Other,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AnswerFile {
    server: usize,
    at_ns: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    families: Vec<String>,
    /// Name with labels, first value, and its time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    new: Vec<(String, Number, u64)>,
    values: Vec<(usize, Number)>,
}

impl WatchLine {
    pub(crate) fn answer(server: usize, answer: &Answer) -> Self {
        let new = |new: &NewSeries| (new.key.clone(), short(new.first), new.first_ns);
        Self::Answer(AnswerFile {
            server,
            at_ns: answer.at_ns,
            families: answer.families.clone(),
            new: answer.new.iter().map(new).collect(),
            values: answer.values.iter().map(|(number, value)| (*number, short(*value))).collect(),
        })
    }

    pub(crate) fn text(&self) -> String {
        let mut line = serde_json::to_string(self)
            .expect("plain structs with text keys always have a JSON form");
        line.push('\n');
        line
    }

    /// Adds the line's data, or returns a description of the error.
    pub(crate) fn add_to(self, watched: &mut Watched) -> Result<(), String> {
        match self {
            Self::Host(host) => watched.hosts.push(host),
            Self::Reading { host, reading } => {
                let host = watched.hosts.get_mut(host).ok_or("its host is not declared")?;
                host.readings.push(*reading);
            }
            Self::ServerKinds { kinds } => watched.kinds = kinds,
            Self::Server(server) => watched.servers.push(server),
            Self::Answer(answer) => server(watched, answer.server)?.add(&answer.into_answer()),
            Self::Gap { server: number, gap } => server(watched, number)?.gaps.push(gap),
            Self::Connections(reading) => watched.connections.readings.push(reading),
            Self::NoConnections { reason } => watched.connections.absent = Some(reason),
            Self::Other => {}
        }
        Ok(())
    }
}

fn server(watched: &mut Watched, number: usize) -> Result<&mut Server, String> {
    watched.servers.get_mut(number).ok_or_else(|| "its server is not declared".to_owned())
}

/// Writes whole numbers without a fraction, as most figures are. All figures are finite.
fn short(value: f64) -> Number {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() < EXACT {
        return Number::from(value as i64);
    }
    Number::from_f64(value).unwrap_or_else(|| Number::from(0))
}

fn value(number: &Number) -> f64 {
    number.as_f64().unwrap_or_default()
}

impl AnswerFile {
    fn into_answer(self) -> Answer {
        let new = |(key, first, first_ns): (String, Number, u64)| {
            let first = value(&first);
            NewSeries { key, first, first_ns }
        };
        Answer {
            at_ns: self.at_ns,
            families: self.families,
            new: self.new.into_iter().map(new).collect(),
            values: self.values.iter().map(|(number, it)| (*number, value(it))).collect(),
        }
    }
}

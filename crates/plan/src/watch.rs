//! The data sources that a plan watches during its load.

use crate::keys::{Form, Key};
use crate::value::{Spanned, Value};
use crate::{OptionReader, Options, Place, Problem};

const HELP: &str = "write \"http://127.0.0.1:9100/metrics\" for a page of metrics, \"ssh://db1\" for a host, or a table such as { name = \"node 1\", url = \"ssh://db1\" }";
/// More processes than this are not watched on a host.
const PROCESSES_MAX: usize = 32;

/// The data sources that are watched in every trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchPlan {
    pub is_on: bool,
    /// Servers and hosts of every trial, in addition to those that systems know themselves.
    pub endpoints: Vec<EndpointPlan>,
}

/// A source of figures beside this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointPlan {
    /// Its name in reports; by default its host and port, or its place.
    pub name: String,
    pub source: EndpointSource,
}

impl EndpointPlan {
    /// Whether it is a host, which a dyno there watches.
    pub(crate) fn is_host(&self) -> bool {
        matches!(self.source, EndpointSource::Host { .. })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndpointSource {
    /// A server, in the text format of Prometheus.
    Page {
        /// The URL of its metrics, over HTTP.
        url: String,
    },
    Host {
        place: Place,
        /// Names of processes to watch there, beside those that listen on the system's addresses.
        processes: Vec<String>,
    },
}

impl Default for WatchPlan {
    fn default() -> Self {
        Self { is_on: true, endpoints: Vec::new() }
    }
}

/// The key at the top of a plan.
pub(crate) fn key() -> Key {
    let form = Form::Either(vec![Form::Flag, Form::Table(vec![endpoints_key()])]);
    Key::new("watch", form, "servers that report their metrics, and other hosts").or("on")
}

/// The key for endpoints, of all systems and of one.
pub(crate) fn endpoints_key() -> Key {
    let keys = vec![
        Key::new("url", Form::Text, "a page of metrics, or a host such as `ssh://db1`"),
        Key::new("name", Form::Text, "its name in reports"),
        Key::new("processes", Form::Texts, "names of processes to watch on a host"),
    ];
    let one = || vec![Form::Text, Form::Table(keys.clone())];
    let form = Form::Either([one(), vec![Form::List(one())]].concat());
    Key::new("endpoints", form, "servers that report their metrics, and hosts")
}

/// Reads `watch` at the top of a plan: a table, or `"off"`.
pub(crate) fn read(reader: &mut OptionReader<'_>, problems: &mut Vec<Problem>) -> WatchPlan {
    let mut plan = WatchPlan::default();
    match reader.placed("watch").map(|placed| &placed.value) {
        None => {}
        Some(Value::Table(table)) => {
            let mut own = table.reader();
            plan.endpoints = read_endpoints(&mut own, problems);
            problems.extend(own.finish().err().unwrap_or_default());
        }
        Some(_) => plan.is_on = reader.boolean("watch", true),
    }
    plan
}

/// Reads `endpoints`: URLs, or tables with `url`, `name` and `processes`, one or a list of them.
pub(crate) fn read_endpoints(
    reader: &mut OptionReader<'_>,
    problems: &mut Vec<Problem>,
) -> Vec<EndpointPlan> {
    let Some(placed) = reader.placed("endpoints") else { return Vec::new() };
    let one = std::slice::from_ref(placed);
    let items = if let Value::List(items) = &placed.value { items } else { one };
    items.iter().filter_map(|item| read_endpoint(item, problems)).collect()
}

fn read_endpoint(item: &Spanned, problems: &mut Vec<Problem>) -> Option<EndpointPlan> {
    let given = match &item.value {
        Value::Text(url) => Given { url: url.clone(), ..Given::default() },
        Value::Table(table) => read_table(table, problems)?,
        other => {
            let message = format!("an endpoint is {}, not a URL or a table", other.kind());
            let span = item.span.clone();
            problems.push(Problem { span, message, help: Some(HELP.to_owned()) });
            return None;
        }
    };
    match given.endpoint() {
        Ok(endpoint) => Some(endpoint),
        Err(message) => {
            let span = item.span.clone();
            problems.push(Problem { span, message, help: Some(HELP.to_owned()) });
            None
        }
    }
}

/// An endpoint as it stands in a plan.
#[derive(Default)]
struct Given {
    url: String,
    name: Option<String>,
    processes: Vec<String>,
}

impl Given {
    fn endpoint(self) -> Result<EndpointPlan, String> {
        let Self { url, name, processes } = self;
        let (own_name, source) = if url.starts_with("http") {
            if !processes.is_empty() {
                return Err(
                    "an endpoint has `processes` and is a page of metrics: they are for hosts"
                        .to_owned(),
                );
            }
            (host_of(&url)?, EndpointSource::Page { url })
        } else {
            let place =
                Place::parse(&url).map_err(|why| format!("an endpoint is not a place: {why}"))?;
            if place == Place::Local {
                return Err("an endpoint is `local`: this machine is watched anyway".to_owned());
            }
            if processes.len() > PROCESSES_MAX || processes.iter().any(String::is_empty) {
                return Err(format!(
                    "`processes` of an endpoint are at most {PROCESSES_MAX} names"
                ));
            }
            (place.to_string(), EndpointSource::Host { place, processes })
        };
        Ok(EndpointPlan { name: name.unwrap_or(own_name), source })
    }
}

fn read_table(table: &Options, problems: &mut Vec<Problem>) -> Option<Given> {
    let mut reader = table.reader();
    let (url, name) = (reader.text("url"), reader.text("name"));
    let processes = reader.texts("processes");
    if url.is_none() && !reader.is_given("url") {
        reader.reject("url", "an endpoint has no `url`", HELP);
    }
    problems.extend(reader.finish().err().unwrap_or_default());
    Some(Given { url: url?, name, processes })
}

/// Host and port of a URL that dyno can query, or the problem with it. The message does not repeat the URL: it may
/// contain a password.
fn host_of(url: &str) -> Result<String, String> {
    let Some(rest) = url.strip_prefix("http://") else {
        return Err("an endpoint does not begin with `http://`: metrics are read over plain HTTP"
            .to_owned());
    };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if host.contains('@') {
        return Err("an endpoint has a login in its URL: metrics are read without one".to_owned());
    }
    let is_host = |letter: char| letter.is_ascii_graphic();
    if host.is_empty() || !rest.chars().all(is_host) {
        return Err("an endpoint has no host, or blanks in its URL".to_owned());
    }
    Ok(host.to_owned())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use crate::{EndpointPlan, EndpointSource, Place, Plan, Source};

    const HEAD: &str = "system = \"sqlite\"\nworkload = \"sysbench/oltp_read_write\"\n";

    fn parse(watch: &str) -> Result<Plan, String> {
        let text = if watch.starts_with('[') {
            format!("{HEAD}{watch}")
        } else {
            format!("{watch}\n{HEAD}")
        };
        let source = Source { name: "plan.toml".to_owned(), text, folder: PathBuf::new() };
        Plan::parse(source).map_err(|problems| problems.to_string())
    }

    fn endpoint(name: &str, url: &str) -> EndpointPlan {
        let source = EndpointSource::Page { url: url.to_owned() };
        EndpointPlan { name: name.to_owned(), source }
    }

    #[test]
    fn endpoints_are_urls_or_tables_with_a_name() {
        let node = "http://10.0.0.7:9100/metrics";
        let plan = parse(&format!(
            "[watch]\nendpoints = [\"{node}\", {{ name = \"second\", url = \"{node}\" }}]\n"
        ));
        let watch = plan.unwrap().watch;
        assert!(watch.is_on);
        assert_eq!(watch.endpoints, [endpoint("10.0.0.7:9100", node), endpoint("second", node)]);
    }

    #[test]
    fn endpoints_are_hosts_by_their_places() {
        let plan = parse(
            "[watch]\nendpoints = [\"ssh://db1\", { name = \"store\", url = \"docker://c\", processes = [\"serverd\"] }]\n",
        );
        let host = |name: &str, place: &str, processes: &[&str]| EndpointPlan {
            name: name.to_owned(),
            source: EndpointSource::Host {
                place: Place::parse(place).unwrap(),
                processes: processes.iter().map(|&it| it.to_owned()).collect(),
            },
        };
        let expected =
            [host("ssh://db1", "ssh://db1", &[]), host("store", "docker://c", &["serverd"])];
        assert_eq!(plan.unwrap().watch.endpoints, expected);
    }

    #[test]
    fn watching_is_on_unless_it_is_off() {
        assert!(parse("").unwrap().watch.is_on);
        for off in ["watch = \"off\"", "watch = false"] {
            assert!(!parse(off).unwrap().watch.is_on);
        }
    }

    #[test]
    fn an_unusable_endpoint_is_reported_without_its_url() {
        for (endpoint, expected) in [
            ("\"https://h/metrics\"", "plain HTTP"),
            ("\"http://u:secret@h/metrics\"", "a login"),
            ("\"ftp://h/metrics\"", "allowed: local, ssh://"),
            ("\"ssh://u:secret@h\"", "a password"),
            ("\"local\"", "watched anyway"),
            ("{ url = \"http://h/\", processes = \"x\" }", "they are for hosts"),
            ("{ url = \"ssh://h\", processes = \"\" }", "at most 32 names"),
            ("\"http:///metrics\"", "no host"),
            ("\"http://h /metrics\"", "no host"),
            ("4", "a whole number"),
            ("{ name = \"n\" }", "no `url`"),
            ("{ url = \"http://h/\", nam = \"n\" }", "unknown key `nam`"),
        ] {
            let told = parse(&format!("[watch]\nendpoints = [{endpoint}]\n")).unwrap_err();
            assert!(told.contains(expected), "{endpoint}: {told}");
            assert!(!told.contains("secret"), "{told}");
        }
        assert!(parse("[watch]\nendpoint = \"http://h/\"\n").unwrap_err().contains("endpoints"));
    }
}

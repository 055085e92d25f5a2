//! The data sources that a plan watches during its load.

use crate::value::{Spanned, Value};
use crate::{OptionReader, Options, Problem};

const HELP: &str = "write \"http://127.0.0.1:9100/metrics\" or { name = \"node 1\", url = \"http://127.0.0.1:9100/metrics\" }";

/// The data sources that are watched in every trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchPlan {
    /// Whether anything is watched at all.
    pub is_on: bool,
    /// Servers of every trial that report metrics, in addition to those that systems know themselves.
    pub endpoints: Vec<EndpointPlan>,
}

/// A server that reports its metrics in the text format of Prometheus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointPlan {
    /// Its name in reports; by default its host and port.
    pub name: String,
    /// The URL of its metrics, over HTTP.
    pub url: String,
}

impl Default for WatchPlan {
    fn default() -> Self {
        Self { is_on: true, endpoints: Vec::new() }
    }
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

/// Reads `endpoints`: URLs, or tables with `url` and `name`, one or a list of them.
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
    let (url, name) = match &item.value {
        Value::Text(url) => (url.clone(), None),
        Value::Table(table) => read_table(table, problems)?,
        other => {
            let message = format!("an endpoint is {}, not a URL or a table", other.kind());
            let span = item.span.clone();
            problems.push(Problem { span, message, help: Some(HELP.to_owned()) });
            return None;
        }
    };
    match host_of(&url) {
        Ok(host) => Some(EndpointPlan { name: name.unwrap_or(host), url }),
        Err(message) => {
            let span = item.span.clone();
            problems.push(Problem { span, message, help: Some(HELP.to_owned()) });
            None
        }
    }
}

fn read_table(table: &Options, problems: &mut Vec<Problem>) -> Option<(String, Option<String>)> {
    let mut reader = table.reader();
    let (url, name) = (reader.text("url"), reader.text("name"));
    if url.is_none() && !reader.is_given("url") {
        reader.reject("url", "an endpoint has no `url`", HELP);
    }
    problems.extend(reader.finish().err().unwrap_or_default());
    Some((url?, name))
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

    use crate::{EndpointPlan, Plan, Source};

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
        EndpointPlan { name: name.to_owned(), url: url.to_owned() }
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

//! The changes between successive answers of a server that is polled for its figures.

use crate::{Nanos, Series, Server};

/// The changes from one answer of a server to the next.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// When the answer came, on the trial's clock.
    pub at_ns: Nanos,
    /// Names of all metrics in the answer; in the first answer only.
    pub families: Vec<String>,
    /// Figures that are recorded from this answer on, in the order of their numbers.
    pub new: Vec<NewSeries>,
    /// New values by the number of their figure. Figures are numbered from 0 in the order in which they were
    /// first recorded.
    pub values: Vec<(usize, f64)>,
}

/// A figure that is recorded from this answer on.
#[derive(Clone, Debug, PartialEq)]
pub struct NewSeries {
    /// Name and labels as the server writes them, such as `http_requests_total{code="200"}`.
    pub key: String,
    /// Its value in the first answer that contained it.
    pub first: f64,
    pub first_ns: Nanos,
}

impl Server {
    /// Adds the next answer. Values whose figure was never announced as new are ignored.
    pub fn add(&mut self, answer: &Answer) {
        self.answers_ns.push(answer.at_ns);
        self.families.extend_from_slice(&answer.families);
        for new in &answer.new {
            let mut series = Series::parse(&new.key);
            series.points.push((new.first_ns, new.first));
            self.series.push(series);
        }
        for (number, value) in &answer.values {
            if let Some(series) = self.series.get_mut(*number) {
                series.points.push((answer.at_ns, *value));
            }
        }
    }
}

impl Series {
    /// Splits a name with labels. Malformed parts stay in the name or are dropped.
    pub fn parse(key: &str) -> Self {
        let Some((name, labels)) = key.split_once('{') else {
            return Self { name: key.trim().to_owned(), ..Self::default() };
        };
        let name = name.trim().to_owned();
        Self { name, labels: parse_labels(labels), points: Vec::new() }
    }
}

/// `a="b",c="d"}`, with `\\`, `\"` and `\n` in values. Source: Prometheus, Exposition formats.
fn parse_labels(mut rest: &str) -> Vec<(String, String)> {
    let mut labels = Vec::new();
    while let Some((name, after)) = rest.split_once("=\"") {
        let name = name.trim_matches([',', ' ', '}']).to_owned();
        let (value, after) = parse_value(after);
        labels.push((name, value));
        rest = after;
    }
    labels
}

/// The text up to the closing quote, and the text after it.
fn parse_value(text: &str) -> (String, &str) {
    let mut value = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return (value, &text[at + 1..]),
            '\\' => match letters.next() {
                Some((_, 'n')) => value.push('\n'),
                Some((_, escaped)) => value.push(escaped),
                None => {}
            },
            _ => value.push(letter),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_labels_are_parsed() {
        let series =
            Series::parse(r#"queries_total{type="Select", path="C:\\a \"b\"\n", le="+Inf",}"#);
        assert_eq!(series.name, "queries_total");
        assert_eq!(series.label("type"), Some("Select"));
        assert_eq!(series.label("path"), Some("C:\\a \"b\"\n"));
        assert_eq!(series.label("le"), Some("+Inf"));
        assert_eq!(series.label("none"), None);
        assert_eq!(Series::parse("go_goroutines").name, "go_goroutines");
    }

    #[test]
    fn malformed_answers_are_read_up_to_the_error() {
        for key in
            ["", "{", "a{", "a{b", "a{b=\"", "a{b=\"c\\", "a{=\"\"}", "}{", "a{b=\"c\"d=\"e\"}"]
        {
            let _ = Series::parse(key);
        }
    }

    #[test]
    fn answers_add_up_to_series_that_hold_between_changes() {
        let mut server = Server::default();
        let first = NewSeries { key: "up".to_owned(), first: 1.0, first_ns: 10 };
        let families = vec!["up".to_owned(), "down".to_owned()];
        server.add(&Answer { at_ns: 10, families, new: vec![first], values: Vec::new() });
        server.add(&Answer { at_ns: 20, ..Answer::default() });
        let second = NewSeries { key: "down".to_owned(), first: 0.0, first_ns: 10 };
        let values = vec![(0, 2.0), (1, 7.0), (9, 1.0)];
        server.add(&Answer { at_ns: 30, families: Vec::new(), new: vec![second], values });
        assert_eq!(server.answers_ns, [10, 20, 30]);
        assert_eq!(server.series[0].points, [(10, 1.0), (30, 2.0)]);
        assert_eq!(server.series[1].points, [(10, 0.0), (30, 7.0)]);
        let values = [5, 10, 29, 30, 99].map(|at| server.series[0].at(at));
        assert_eq!(values, [None, Some(1.0), Some(1.0), Some(2.0), Some(2.0)]);
    }
}

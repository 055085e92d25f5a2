//! The text format of metrics. Source: Prometheus, Exposition formats, text-based format 0.0.4.

/// A line with content.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Line<'a> {
    Type {
        family: &'a str,
        kind: &'a str,
    },
    Sample {
        /// Its name with labels, as in the text.
        key: &'a str,
        /// Its name without labels.
        name: &'a str,
        value: f64,
    },
}

/// The lines of a text, without those that have no content, are malformed, or have no finite value.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    text.lines().filter_map(|line| parse(line.trim()))
}

fn parse(line: &str) -> Option<Line<'_>> {
    if let Some(comment) = line.strip_prefix('#') {
        let mut words = comment.split_ascii_whitespace();
        let is_type = words.next() == Some("TYPE");
        return is_type.then_some(Line::Type { family: words.next()?, kind: words.next()? });
    }
    let name_end = line.bytes().position(|byte| !is_of_name(byte))?;
    let (name, rest) = line.split_at(name_end);
    if name.is_empty() || name.as_bytes()[0].is_ascii_digit() {
        return None;
    }
    let labels_end = if rest.starts_with('{') { end_of_labels(rest)? } else { 0 };
    let (key, rest) = line.split_at(name_end + labels_end);
    // A timestamp may follow; the time of the answer is accurate enough.
    let value: f64 = rest.split_ascii_whitespace().next()?.parse().ok()?;
    let is_apart = labels_end > 0 || rest.starts_with([' ', '\t']);
    (is_apart && value.is_finite()).then_some(Line::Sample { key, name, value })
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':')
}

/// The end of the labels in braces: after the first `}` outside of quotes.
fn end_of_labels(text: &str) -> Option<usize> {
    let mut is_quoted = false;
    let mut bytes = text.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' if is_quoted => {
                bytes.next();
            }
            b'"' => is_quoted = !is_quoted,
            b'}' if !is_quoted => return Some(at + 1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sample<'a>(key: &'a str, name: &'a str, value: f64) -> Line<'a> {
        Line::Sample { key, name, value }
    }

    #[test]
    fn lines_are_read_as_the_format_has_them() {
        let text = "# HELP up Whether.\n# TYPE up gauge\nup 1\n\n  a:b_total{x=\"1\"} 2.5e+06 1395066363000\n\
                    c{x=\"}\\\"{\",y=\"\"}\t3\nd_bucket{le=\"+Inf\"} 4\n";
        let read: Vec<Line<'_>> = lines(text).collect();
        assert_eq!(
            read,
            [
                Line::Type { family: "up", kind: "gauge" },
                sample("up", "up", 1.0),
                sample("a:b_total{x=\"1\"}", "a:b_total", 2.5e6),
                sample("c{x=\"}\\\"{\",y=\"\"}", "c", 3.0),
                sample("d_bucket{le=\"+Inf\"}", "d_bucket", 4.0),
            ]
        );
    }

    #[test]
    fn invalid_metric_lines_are_skipped() {
        for line in [
            "",
            "#",
            "# TYPE",
            "# TYPE a",
            "a",
            "a{",
            "a{b=\"c\"",
            "a{b=\"}",
            "a b",
            "1a 2",
            " {} 1",
            "a{}",
            "a NaN",
            "a +Inf",
            "a -Inf",
            "a1.5",
            "<html><body>404</body></html>",
            "é 1",
            "a{b=\"\\",
        ] {
            assert_eq!(lines(line).next(), None, "{line:?}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(text in any::<String>()) {
            lines(&text).for_each(drop);
        }

        #[test]
        fn similar_text_never_panics(
            text in "[a-z_:]{0,3}[{]{0,2}([a-z]{0,2}=?\"?[a-z\\\\\"{},é]{0,4}){0,3}[}]{0,2} ?[-+0-9.eEInfNa]{0,6}( [0-9]{1,3})?\n?"
        ) {
            for line in lines(&text) {
                if let Line::Sample { key, name, value } = line {
                    prop_assert!(key.starts_with(name) && text.contains(key) && value.is_finite());
                    measure::Series::parse(key);
                }
            }
        }

        #[test]
        fn a_written_metric_is_read_back(
            name in "[a-z_:][a-z0-9_:]{0,8}",
            label in "[^\\x00-\\x1f]{0,8}",
            value in any::<f64>().prop_filter("finite", |value| value.is_finite()),
        ) {
            let escaped = label.replace('\\', "\\\\").replace('"', "\\\"");
            let text = format!("{name}{{x=\"{escaped}\"}} {value}");
            let read: Vec<Line<'_>> = lines(&text).collect();
            let key = format!("{name}{{x=\"{escaped}\"}}");
            prop_assert_eq!(read, vec![sample(&key, &name, value)]);
            let series = measure::Series::parse(&key);
            prop_assert_eq!(series.label("x"), Some(label.as_str()));
        }
    }
}

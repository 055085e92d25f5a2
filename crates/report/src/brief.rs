//! A run or a comparison in at most 25 lines of Markdown, the verdict first: for a pull request.

use crate::fail_if;
use crate::front;
use crate::number::several;
use crate::reading::Reading;
use crate::sections::head;
use crate::table::escape_markdown;
use crate::visible::visible;

/// The most lines.
pub(crate) const LINES_MAX: usize = 25;
const BOUNDS_MAX: usize = 5;
const DOUBTS_MAX: usize = 2;
/// A table has two lines above its rows.
const TABLE_HEAD: usize = 2;

/// The run with its bounds, its loads and its doubts.
pub fn brief(reading: &Reading<'_>) -> String {
    let head = head(reading);
    let digest = &reading.digest;
    let mut out =
        Lines::new(&verdict(reading, head.status, &head.trials, &head.failed), &head.title);
    if let Some(cause) = front::cause(digest) {
        out.paragraph(&cause);
        return out.text();
    }
    let bounds = fail_if::lines(&reading.checks);
    out.list(&bounds, BOUNDS_MAX);
    let doubts = front::care(reading);
    let below = doubts.len().min(DOUBTS_MAX) + 4;
    if !digest.points.is_empty() {
        out.table(&front::loads_table(digest).markdown(), below, "load", "loads");
    }
    out.list(&doubts, DOUBTS_MAX);
    out.paragraph(&head.under_test);
    out.text()
}

fn verdict(reading: &Reading<'_>, status: &str, trials: &str, failed: &str) -> String {
    if let Some(crossed) = reading.crossed() {
        return format!("Failed: {crossed}");
    }
    let failed = if failed.is_empty() { String::new() } else { format!(", {failed}") };
    match reading.checks.len() {
        0 => format!("{status}, {trials}{failed}"),
        checks => {
            let checks = several(checks as u64, "bound", "bounds");
            format!("{status}, {checks} kept, {trials}{failed}")
        }
    }
}

/// Lines of Markdown up to the limit.
pub(crate) struct Lines(Vec<String>);

impl Lines {
    pub(crate) fn new(verdict: &str, title: &str) -> Self {
        let [verdict, title] = [verdict, title].map(escape_markdown);
        Self(vec![format!("**{verdict}** \u{b7} {title}")])
    }

    pub(crate) fn paragraph(&mut self, text: &str) {
        let text = text.replace('\n', " ");
        self.0.extend([String::new(), escape_markdown(&text)]);
    }

    /// So many of the items, and how many more there are.
    pub(crate) fn list(&mut self, items: &[String], most: usize) {
        if items.is_empty() {
            return;
        }
        self.0.push(String::new());
        let item = |text: &String| format!("- {}", escape_markdown(&text.replace('\n', " ")));
        self.0.extend(items.iter().take(most).map(item));
        if let Some(more) = items.len().checked_sub(most).filter(|more| *more > 0) {
            self.0.push(format!("- and {more} more"));
        }
    }

    /// As many rows as there is room for above so many other lines.
    pub(crate) fn table(&mut self, markdown: &str, below: usize, one: &str, more: &str) {
        let lines: Vec<&str> = markdown.trim_end().lines().collect();
        let room = LINES_MAX.saturating_sub(self.0.len() + below + 3).max(TABLE_HEAD + 1);
        self.0.push(String::new());
        self.0.extend(lines.iter().take(room).map(|line| (*line).to_owned()));
        if let Some(left) = lines.len().checked_sub(room).filter(|left| *left > 0) {
            self.0.extend([String::new(), format!("and {} more", several(left as u64, one, more))]);
        }
    }

    pub(crate) fn text(self) -> String {
        let text = self.0[..self.0.len().min(LINES_MAX)].join("\n");
        format!("{}\n", visible(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_brief_report_has_the_verdict_first_and_at_most_25_lines() {
        for mut run in [
            sample::run(),
            sample::quick(),
            sample::large(),
            sample::variants(),
            sample::failed(),
            sample::stalled(),
            sample::sought(20e6, 1.0, 1_024.0),
        ] {
            let texts = ["p99 > 1us", "mean > 1us", "errors > 0%", "throughput < 1"];
            run.header.fail_if =
                texts.iter().map(|text| plan::FailIf::parse(text).unwrap()).collect();
            let text = brief(&Reading::new(&run));
            assert!(text.starts_with("**Failed: of "), "{text}");
            assert!(text.lines().count() <= LINES_MAX, "{text}");
            run.header.fail_if.clear();
            let text = brief(&Reading::new(&run));
            assert!(!text.starts_with("**Failed"), "{text}");
            assert!(text.lines().count() <= LINES_MAX, "{text}");
        }
    }
}

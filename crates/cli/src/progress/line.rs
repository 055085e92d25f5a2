//! The line that is redrawn while a trial runs: as much as fits its terminal.

use std::time::Duration;

use unicode_width::UnicodeWidthStr;

const BAR: usize = 20;

/// What is known of the trial and of its phase.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    /// `[3/48]`, and the title of the trial.
    pub(super) number: String,
    pub(super) title: String,
    pub(super) phase: &'static str,
    /// How long the phase takes; `None` when that is not known.
    pub(super) planned: Option<Duration>,
    /// Figures of the last interval, the most important first.
    pub(super) figures: Vec<String>,
    /// Time left of all load, when the last interval ended.
    pub(super) left: Option<Duration>,
    pub(super) may_end_sooner: bool,
    /// When the last interval ended, in the phase.
    pub(super) told_at: Duration,
}

impl Line {
    /// In a width, so long after the phase began: without what there is no room for, the least important first.
    pub(super) fn text(&self, elapsed: Duration, width: usize) -> String {
        let clock = format!("{} {} s", self.phase, elapsed.as_secs());
        let left = self.left.map(|left| {
            let passed = elapsed.saturating_sub(self.told_at);
            let most = if self.may_end_sooner { " at most" } else { "" };
            format!("{} s left{most}", left.saturating_sub(passed).as_secs())
        });
        let bar = self.planned.map(|planned| {
            let part = elapsed.as_secs_f64() / planned.as_secs_f64().max(f64::MIN_POSITIVE);
            let full = (part.min(1.0) * BAR as f64) as usize;
            format!("{}{}", "\u{2588}".repeat(full), "\u{2591}".repeat(BAR - full))
        });
        let head = format!("{} {}", self.number, self.title);
        let text = |head: &str, bar: Option<&String>, figures: usize| {
            let figures = self.figures.iter().take(figures).cloned();
            let said: Vec<String> =
                std::iter::once(clock.clone()).chain(figures).chain(left.clone()).collect();
            let parts = [Some(head.trim_end()), bar.map(String::as_str)];
            let parts: Vec<&str> = parts.into_iter().flatten().collect();
            format!("{} {}", parts.join(" "), said.join(", "))
        };
        let all = self.figures.len();
        let ways = [
            text(&head, bar.as_ref(), all),
            text(&head, bar.as_ref(), 2),
            text(&head, None, 2),
            text(&self.number, None, 2),
            text(&self.number, None, 1),
            text(&self.number, None, 0),
        ];
        let shortest = ways[ways.len() - 1].clone();
        let fits = ways.into_iter().find(|way| way.width() < width);
        fits.unwrap_or_else(|| shortest.chars().take(width.saturating_sub(1)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line() -> Line {
        Line {
            number: "[1/3]".to_owned(),
            title: "mysql · oltp_read_write · 1 client".to_owned(),
            phase: "measure",
            planned: Some(Duration::from_secs(20)),
            figures: ["100 tx/s", "p99 25.3 ms", "2,001 queries/s"].map(str::to_owned).to_vec(),
            left: Some(Duration::from_secs(12)),
            may_end_sooner: false,
            told_at: Duration::from_secs(10),
        }
    }

    #[test]
    fn what_is_least_important_gives_way_first() {
        let shown = |width| line().text(Duration::from_millis(11_400), width);
        insta::assert_snapshot!([140, 100, 80, 60, 40, 30].map(shown).join("\n"), @r"
        [1/3] mysql · oltp_read_write · 1 client ███████████░░░░░░░░░ measure 11 s, 100 tx/s, p99 25.3 ms, 2,001 queries/s, 10 s left
        [1/3] mysql · oltp_read_write · 1 client measure 11 s, 100 tx/s, p99 25.3 ms, 10 s left
        [1/3] measure 11 s, 100 tx/s, p99 25.3 ms, 10 s left
        [1/3] measure 11 s, 100 tx/s, p99 25.3 ms, 10 s left
        [1/3] measure 11 s, 100 tx/s, 10 s left
        [1/3] measure 11 s, 10 s left
        ");
    }

    #[test]
    fn it_is_never_as_wide_as_its_terminal() {
        for width in 1..160 {
            let text = line().text(Duration::from_secs(3), width);
            assert!(text.width() < width.max(1) || text.is_empty(), "{width}: {text}");
        }
    }
}

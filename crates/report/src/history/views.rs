//! The sections of a history, its text for a terminal, and its JSON.

use std::path::Path;

use analysis::{ChangePoint, ChangeTest, fewest_values};
use serde_json::{Value, json};

use super::chart::chart;
use super::{ChangeCriteria, History, HistoryRun, RunChange, Series};
use crate::document::{Section, Weight};
use crate::number::{number, percent, several, signed_percent};
use crate::table::Table;
use crate::terminal;
use crate::visible::{pretty_json, visible};

const VERSION: u32 = 1;
/// The levels of a line of characters.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Before the first run after a change.
const CHANGED: char = '│';
/// A line of characters has at most so many runs, the newest.
const DRAWN_MAX: usize = 60;
/// More runs that are left out, or missing in a series, are not listed in a terminal.
const LEFT_OUT_MAX: usize = 20;
const LEFT_OUT: &str = "Left out";
const MISSING: &str = "Missing in a series";

impl History {
    /// For a terminal; with a width, no line is wider but for words that are.
    pub fn text(&self, width: Option<usize>) -> String {
        let sections = terminal::sections(&self.sections(), Weight::Summary, width);
        visible(&format!("{}\n\n{}", self.title(), sections.trim_end())).into_owned() + "\n"
    }

    /// The answer first, then the figures that it comes from.
    pub(crate) fn sections(&self) -> Vec<Section<'static>> {
        let mut changes = Section::new("changes", "Changes");
        for change in &self.changes {
            let (told, differences) = self.differences(change);
            let at = self.run_name(change.run);
            changes = changes
                .captioned(Weight::Summary, &at, self.changed_table(change.run))
                .facts(Weight::Summary, [told])
                .captioned(Weight::Summary, "What differs", differences.unwrap_or_default());
        }
        let none = self.changes.is_empty() && !self.series.is_empty();
        let none = none.then(|| "No figure changed.".to_owned());
        let test = (!self.series.is_empty()).then(|| self.test_text());
        let series = Section::new("series", "Series").table(Weight::Summary, self.table());
        let charts = self.series.iter().map(|series| chart(self, series)).collect();
        let runs = Section::new("runs", "Runs").table(Weight::Report, self.runs_table());
        let listed = [(LEFT_OUT, self.left_out_table()), (MISSING, self.missing_table())];
        let listed = listed.into_iter().fold(runs, |runs, (caption, table)| {
            let is_short = table.rows() <= LEFT_OUT_MAX;
            let weight = if is_short { Weight::Summary } else { Weight::Report };
            let count = format!("{caption}: {} runs; `--html` lists them.", table.rows());
            let count = (!is_short).then_some(count);
            runs.captioned(weight, caption, table).facts(Weight::Summary, count)
        });
        let all = [
            changes.facts(Weight::Summary, none),
            series.facts(Weight::Summary, test),
            Section::new("plots", "Plots").charts("h".to_owned(), charts),
            listed,
        ];
        all.into_iter().filter(|section| !section.is_empty()).collect()
    }

    /// The plan, its runs, and from when to when they are.
    pub(crate) fn title(&self) -> String {
        let runs = several(self.runs.len() as u64, "run", "runs");
        let span = match (self.runs.first(), self.runs.last()) {
            (Some(first), Some(last)) => {
                let day = |started: jiff::Timestamp| started.strftime("%Y-%m-%d").to_string();
                format!(" from {} to {}", day(first.started), day(last.started))
            }
            _ => String::new(),
        };
        let left_out = match self.left_out.len() {
            0 => String::new(),
            count => format!(", {count} left out"),
        };
        format!("History of {}: {runs}{span}{left_out}", self.plan)
    }

    pub(crate) fn table(&self) -> Table {
        let mut table = ["workload", "system", "load", "figure"]
            .into_iter()
            .fold(Table::new(), Table::words)
            .numbers("runs")
            .words("history")
            .numbers("at first")
            .numbers("now")
            .numbers("changes");
        for series in &self.series {
            let (first, last) = series.levels();
            let show = |value: Option<f64>| value.map_or("-".to_owned(), |it| series.show(it));
            let mut row = series.names();
            row.extend([
                series.values.len().to_string(),
                series.drawn(),
                show(first),
                show(last),
                series.changes.len().to_string(),
            ]);
            table.row(row);
        }
        table
    }

    pub(crate) fn test_text(&self) -> String {
        let ChangeCriteria { test, level } = self.criteria;
        let percent_of_level = percent(level);
        let how = match test {
            ChangeTest::Permutation => {
                let count = self.series.len();
                let all = 1.0 - (1.0 - level).powi(i32::try_from(count).unwrap_or(i32::MAX));
                format!(
                    "Changes by the permutation test of E-divisive means at {percent_of_level} for each series: a change \
                     is told after so many runs that random orders seldom look like it, so a single run at the end is \
                     none. Of {} without any change one or more would show one in up to {} of histories.{}",
                    several(count as u64, "series", "series"),
                    percent(all),
                    self.too_few_text()
                )
            }
            ChangeTest::Student => format!(
                "Changes by Student's t on the places of E-divisive means at {percent_of_level}. It takes the place of a \
                 change as known before, so that a series without any change shows one several times as often."
            ),
        };
        format!(
            "{how} The columns \"at first\" and \"now\" are the means before the first and after the last change."
        )
    }

    /// How many series have too few runs for any change, when some have.
    fn too_few_text(&self) -> String {
        let fewest = fewest_values(self.criteria.level);
        let is_short = |series: &&Series| series.values.len() < fewest;
        let (short, all) = (self.series.iter().filter(is_short).count(), self.series.len());
        if short == 0 {
            return String::new();
        }
        let which = if short == all {
            "No series has".to_owned()
        } else {
            format!("{short} of {all} series do not have")
        };
        format!(" {which} the {fewest} runs that a change at this level needs at least.")
    }

    pub(crate) fn runs_table(&self) -> Table {
        let mut table = Table::new().numbers("run").words("began").words("dyno").words("folder");
        for (at, run) in self.runs.iter().enumerate() {
            table.row(vec![
                (at + 1).to_string(),
                run.started.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
                run.dyno.version.clone(),
                run.folder.display().to_string(),
            ]);
        }
        table
    }

    /// The folders of runs that are missing in a series although they have figures, each with the reason.
    fn missing(&self) -> impl Iterator<Item = (&Path, &str)> {
        self.runs.iter().flat_map(|HistoryRun { folder, missing, .. }| {
            missing.iter().map(move |reason| (folder.as_path(), reason.as_str()))
        })
    }

    pub(crate) fn missing_table(&self) -> Table {
        let mut table = Table::new().words("folder").words("missing because");
        self.missing().for_each(|(folder, reason)| {
            table.row(vec![folder.display().to_string(), reason.to_owned()]);
        });
        table
    }

    pub(crate) fn left_out_table(&self) -> Table {
        let mut table = Table::new().words("folder").words("left out because");
        for it in &self.left_out {
            table.row(vec![it.folder.display().to_string(), it.reason.clone()]);
        }
        table
    }

    /// When a run began, and its folder.
    pub(crate) fn run_name(&self, run: usize) -> String {
        let started = self.runs[run].started.strftime("%Y-%m-%d %H:%M:%S UTC");
        format!("{started}, {}", self.folder(run).display())
    }

    pub(crate) fn changed_table(&self, run: usize) -> Table {
        let mut table = ["workload", "system", "load", "figure"]
            .into_iter()
            .fold(Table::new(), Table::words)
            .numbers("before")
            .numbers("after")
            .numbers("change")
            .numbers("p");
        for (series, change) in self.at(run) {
            let mut row = series.names();
            row.extend([
                series.show(change.before),
                series.show(change.after),
                change_text(change),
                p_value_text(change.p_value),
            ]);
            table.row(row);
        }
        table
    }

    /// What differs from the run before a change, in a sentence and a table.
    pub(crate) fn differences(&self, change: &RunChange) -> (String, Option<Table>) {
        let before = self.run_name(change.before);
        match &change.differences {
            None => (format!("What differs from the run before ({before}) is not known."), None),
            Some(none) if none.is_empty() => (
                format!("Nothing else in the record differs from the run before ({before})."),
                None,
            ),
            Some(all) => {
                let heads = ["of", "fact", "before", "after"];
                let mut table = heads.into_iter().fold(Table::new(), Table::words);
                for it in all {
                    let names = vec![it.of.clone(), it.fact.clone()];
                    table.row([names, it.values.clone()].concat());
                }
                (format!("What differs from the run before ({before}):"), Some(table))
            }
        }
    }

    pub fn json(&self) -> String {
        let runs = self.runs.iter().map(|run| {
            json!({
                "folder": run.folder.display().to_string(),
                "started": run.started.to_string(),
                "dyno": { "version": run.dyno.version, "build": run.dyno.build },
                "missing": run.missing,
            })
        });
        let left_out = self
            .left_out
            .iter()
            .map(|it| json!({ "folder": it.folder.display().to_string(), "reason": it.reason }));
        let value = json!({
            "format": "dyno-history",
            "version": VERSION,
            "plan": self.plan,
            "test": test_name(self.criteria.test),
            "level": self.criteria.level,
            "runs": runs.collect::<Vec<_>>(),
            "left_out": left_out.collect::<Vec<_>>(),
            "series": self.series.iter().map(|it| self.series_json(it)).collect::<Vec<_>>(),
            "changes": self.changes.iter().map(|it| self.change_json(it)).collect::<Vec<_>>(),
        });
        pretty_json(&value)
    }

    fn series_json(&self, series: &Series) -> Value {
        let values = series.values.iter().map(|(run, value)| json!({ "run": run, "value": value }));
        let changes = series.changes.iter().map(|change| {
            let run = series.values[change.at].0;
            json!({
                "run": run,
                "folder": self.folder(run).display().to_string(),
                "before": change.before,
                "after": change.after,
                "change": change.change(),
                "p_value": change.p_value,
            })
        });
        json!({
            "workload": series.of.workload,
            "system": series.of.system,
            "load": series.of.load,
            "figure": series.of.figure.column(),
            "values": values.collect::<Vec<_>>(),
            "changes": changes.collect::<Vec<_>>(),
        })
    }

    fn change_json(&self, change: &RunChange) -> Value {
        let difference = |it: &crate::run_comparison::Difference| json!({ "of": it.of, "fact": it.fact, "values": it.values });
        let known = change.differences.as_ref();
        json!({
            "run": change.run,
            "folder": self.folder(change.run).display().to_string(),
            "run_before": change.before,
            "folder_before": self.folder(change.before).display().to_string(),
            "differences": known.map(|all| all.iter().map(difference).collect::<Vec<_>>()),
        })
    }
}

fn test_name(test: ChangeTest) -> &'static str {
    match test {
        ChangeTest::Permutation => "permutation",
        ChangeTest::Student => "student-t",
    }
}

/// The change of a mean; without one before, as from no throughput at all, there is none.
pub(crate) fn change_text(change: &ChangePoint) -> String {
    let part = change.change();
    if part.is_finite() { signed_percent(part) } else { "-".to_owned() }
}

fn p_value_text(p_value: f64) -> String {
    if p_value < 0.001 { "below 0.001".to_owned() } else { number(p_value) }
}

impl Series {
    pub(crate) fn names(&self) -> Vec<String> {
        let of = &self.of;
        vec![of.workload.clone(), of.system.clone(), of.load.clone(), of.figure.key()]
    }

    /// Whether its values are times, ns.
    pub(crate) fn is_latency(&self) -> bool {
        self.of.figure.is_time()
    }

    pub(crate) fn show(&self, value: f64) -> String {
        self.of.figure.show_alone(value)
    }

    /// The means before the first and after the last change.
    fn levels(&self) -> (Option<f64>, Option<f64>) {
        let mean = || {
            let sum: f64 = self.values.iter().map(|(_, value)| value).sum();
            (!self.values.is_empty()).then(|| sum / self.values.len() as f64)
        };
        match (self.changes.first(), self.changes.last()) {
            (Some(first), Some(last)) => (Some(first.before), Some(last.after)),
            _ => (mean(), mean()),
        }
    }

    /// The newest values as a line of characters, from the least value to the most, with a mark before each change.
    fn drawn(&self) -> String {
        let values = || self.values.iter().map(|(_, value)| *value);
        let low = values().fold(f64::INFINITY, f64::min);
        let high = values().fold(f64::NEG_INFINITY, f64::max);
        let left_out = self.values.len().saturating_sub(DRAWN_MAX);
        let mut line = if left_out > 0 { "…".to_owned() } else { String::new() };
        for (at, value) in values().enumerate().skip(left_out) {
            if self.changes.iter().any(|change| change.at == at) {
                line.push(CHANGED);
            }
            let part = if high > low { (value - low) / (high - low) } else { 0.5 };
            let bar = (part * BARS.len() as f64) as usize;
            line.push(BARS[bar.min(BARS.len() - 1)]);
        }
        line
    }
}

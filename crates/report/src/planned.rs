//! The trials of a plan before they run: the views of `--dry-run`.

use std::time::Duration;

use serde_json::{Value, json};

use crate::csv::line;
use crate::table::{Table, escape_markdown};
use crate::wrap::fold;

#[derive(Clone, Debug, Default)]
pub struct Planned {
    /// In the order in which they would run; of a seek, one for each.
    pub trials: Vec<PlannedTrial>,
    pub workloads: Vec<(String, String)>,
    pub notes: Vec<String>,
    /// How long they take, in a sentence.
    pub duration: String,
    /// The load of all trials; `None` when it is not known.
    pub load: Option<Duration>,
    /// Whether the load may take less time, because phases end by what is measured.
    pub may_end_sooner: bool,
}

#[derive(Clone, Debug)]
pub struct PlannedTrial {
    pub number: usize,
    pub system: String,
    pub workload: String,
    /// How many clients, or the range in which they are sought.
    pub clients: String,
    /// The rate, or the range in which it is sought; `None` in a closed loop.
    pub rate: Option<String>,
    pub repetition: u32,
    /// From 1, where the load alternates between variants; otherwise `None`.
    pub window: Option<u32>,
}

const HEADS: [&str; 6] = ["trial", "system", "workload", "clients", "rate", "repetition"];
/// The name of the last column, of trials in windows.
const WINDOW: &str = "window";

impl PlannedTrial {
    fn cells(&self, closed: &str) -> Vec<String> {
        let cells = [
            self.number.to_string(),
            self.system.clone(),
            self.workload.clone(),
            self.clients.clone(),
            self.rate.clone().unwrap_or_else(|| closed.to_owned()),
            self.repetition.to_string(),
        ];
        cells.into_iter().chain(self.window.map(|window| window.to_string())).collect()
    }
}

impl Planned {
    /// A table and sentences, for a terminal; with a width, no line is wider.
    pub fn text(&self, width: Option<usize>) -> String {
        let lines: String = self.lines().map(|line| format!("{line}\n")).collect();
        let table = self.table().text_within(width);
        fold(&format!("{table}\n{lines}\n{}\n", self.duration), width)
    }

    pub fn markdown(&self) -> String {
        let lines: String =
            self.lines().map(|line| format!("{}\n\n", escape_markdown(&line))).collect();
        format!("{}\n{lines}{}\n", self.table().markdown(), escape_markdown(&self.duration))
    }

    /// A row for each trial; the rate of a closed loop is empty.
    pub fn csv(&self) -> String {
        let heads = line(self.heads().map(str::to_owned));
        let rows = self.trials.iter().map(|trial| line(trial.cells("").into_iter()));
        std::iter::once(heads).chain(rows).collect()
    }

    pub fn json(&self) -> String {
        let number = |text: &String| {
            text.parse::<u64>().map_or_else(|_| Value::from(text.as_str()), Value::from)
        };
        let trial = |trial: &PlannedTrial| {
            let mut value = json!({
                "number": trial.number,
                "system": trial.system,
                "workload": trial.workload,
                "clients": number(&trial.clients),
                "rate": trial.rate,
                "repetition": trial.repetition,
            });
            if let Some(window) = trial.window {
                value[WINDOW] = window.into();
            }
            value
        };
        let workload = |(name, description): &(String, String)| json!({ "name": name, "description": description });
        let value = json!({
            "format": "dyno-planned-trials",
            "version": 1,
            "trials": self.trials.iter().map(trial).collect::<Vec<_>>(),
            "workloads": self.workloads.iter().map(workload).collect::<Vec<_>>(),
            "notes": self.notes,
            "load_s": self.load.map(|load| load.as_secs_f64()),
            "may_end_sooner": self.may_end_sooner,
        });
        format!("{value:#}\n")
    }

    fn table(&self) -> Table {
        let mut table = self.heads().fold(Table::new(), |table, head| table.words(head));
        self.trials.iter().for_each(|trial| table.row(trial.cells("closed loop")));
        table
    }

    /// The names of the columns; all trials are in windows, or none.
    fn heads(&self) -> impl Iterator<Item = &'static str> {
        let has_windows = self.trials.iter().any(|trial| trial.window.is_some());
        HEADS.into_iter().chain(has_windows.then_some(WINDOW))
    }

    fn lines(&self) -> impl Iterator<Item = String> {
        let workloads = self.workloads.iter();
        let workloads = workloads.map(|(name, description)| format!("{name}: {description}"));
        workloads.chain(self.notes.iter().cloned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_has_the_same_trials() {
        let trial = |number, clients: &str, rate: Option<&str>| PlannedTrial {
            number,
            system: "lite".to_owned(),
            workload: "reads".to_owned(),
            clients: clients.to_owned(),
            rate: rate.map(str::to_owned),
            repetition: 1,
            window: None,
        };
        let planned = Planned {
            trials: vec![trial(1, "8", None), trial(2, "1 to 64", Some("500/s"))],
            workloads: vec![("reads".to_owned(), "reads one row".to_owned())],
            notes: vec!["a remark".to_owned()],
            duration: "2 trials, 22s of load".to_owned(),
            load: Some(Duration::from_secs(22)),
            may_end_sooner: false,
        };
        let all = [
            planned.text(None),
            planned.markdown(),
            planned.csv().replace("\r\n", "\n"),
            planned.json(),
        ];
        insta::assert_snapshot!(all.join("----\n"));
    }
}

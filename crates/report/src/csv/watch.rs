//! Watched data as CSV: a row for each figure and sample window.

use analysis::{SampleWindow, thin};
use record::TrialHeader;

use super::line as csv_line;
use crate::digest::Digest;
use crate::watch::listing::{Line, of_trial};

/// Above this number, neighbouring sample windows are merged, means to means and peaks to peaks, to keep the
/// file of a long run readable. The record has all of them.
const SAMPLE_WINDOWS_MAX: usize = 240;

struct Row<'t> {
    trial: &'t TrialHeader,
    line: &'t Line,
    sample_window: SampleWindow,
}

type Cell = fn(&Row<'_>) -> String;

/// Each head with the function that fills its cells.
const COLUMNS: [(&str, Cell); 14] = [
    ("trial", |row| (row.trial.index + 1).to_string()),
    ("system", |row| row.trial.system.clone()),
    ("workload", |row| row.trial.workload.name.clone()),
    ("clients", |row| row.trial.clients.to_string()),
    ("repetition", |row| (row.trial.repetition + 1).to_string()),
    ("of", |row| row.line.subject.name().to_owned()),
    ("source", |row| row.line.source.clone()),
    ("part", |row| row.line.part.clone()),
    ("figure", |row| row.line.key.clone()),
    ("unit", |row| row.line.quantity.unit().to_owned()),
    ("from_s", |row| (row.sample_window.from_ns as f64 / 1e9).to_string()),
    ("to_s", |row| (row.sample_window.to_ns as f64 / 1e9).to_string()),
    ("mean", |row| row.sample_window.mean.to_string()),
    ("peak", |row| row.sample_window.peak.to_string()),
];

/// Hosts, processes, dyno's connections and panels of servers over the time of each trial. Contains only the
/// heads when nothing was watched. Times are seconds on the clock of the intervals, warm-up included.
pub fn watch_csv(digest: &Digest<'_>) -> String {
    let mut out = csv_line(COLUMNS.iter().map(|(head, _)| (*head).to_owned()));
    for trial in &digest.trials {
        for line in of_trial(trial) {
            for sample_window in thin(&line.sample_windows, SAMPLE_WINDOWS_MAX) {
                let row = Row { trial: &trial.record.header, line: &line, sample_window };
                out.push_str(&csv_line(COLUMNS.iter().map(|(_, cell)| cell(&row))));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::sample;

    #[test]
    fn watched_data_as_csv() {
        let mut run = sample::watched();
        run.trials.truncate(1);
        let text = watch_csv(&Digest::new(&run)).replace("\r\n", "\n");
        let first_second = |line: &&str| line.contains(",0,1,") || line.ends_with(",peak");
        insta::assert_snapshot!(text.lines().filter(first_second).collect::<Vec<_>>().join("\n"));
    }

    #[test]
    fn a_long_trial_has_bounded_rows_and_keeps_peaks() {
        let mut run = sample::watched();
        run.trials.truncate(1);
        let readings = &mut run.trials[0].watched.connections.readings;
        let first = readings[0];
        readings.extend((6..2_000).map(|at| measure::ConnectionsReading {
            at_ns: at * 1_000_000_000,
            open: if at == 777 { 99 } else { 3 },
            ..first
        }));
        let text = watch_csv(&Digest::new(&run));
        let open = text.lines().filter(|line| line.contains(",connections,dyno,,connections,"));
        assert!((100..=SAMPLE_WINDOWS_MAX).contains(&open.clone().count()));
        assert_eq!(open.filter(|line| line.ends_with(",99")).count(), 1);
    }
}

//! What was watched beside the load as CSV: a row for each figure and each stretch of time.

use analysis::thin;
use record::Run;

use super::line;
use crate::digest::{Digest, Trial};
use crate::watch::figure::QuantityText;
use crate::watch::listing::{Line, of_trial};

/// More stretches of time than this are merged, means to means and peaks to peaks, so that the file of a
/// long run stays readable; the record has all of them.
const SPELLS_MAX: usize = 240;

const HEADS: [&str; 14] = [
    "trial",
    "system",
    "workload",
    "clients",
    "repetition",
    "of",
    "source",
    "part",
    "figure",
    "unit",
    "from_s",
    "to_s",
    "mean",
    "peak",
];

/// Hosts, processes, dyno's connections and servers' panels over the time of each trial; the head alone
/// when nothing was watched. Times are seconds on the clock of the intervals, warm-up included.
pub fn watch_csv(run: &Run) -> String {
    let mut out = line(&HEADS.map(str::to_owned));
    for trial in &Digest::new(run).trials {
        for figure in of_trial(trial) {
            rows(&mut out, trial, &figure);
        }
    }
    out
}

fn rows(out: &mut String, trial: &Trial<'_>, figure: &Line) {
    let header = &trial.record.header;
    let lead = [
        &header.index.to_string(),
        &header.system,
        &header.workload.name,
        &header.clients.to_string(),
        &header.repetition.to_string(),
        figure.subject.name(),
        &figure.source,
        &figure.part,
        &figure.key,
        figure.quantity.unit(),
    ];
    for spell in thin(&figure.spells, SPELLS_MAX) {
        let seconds = |ns: u64| ns as f64 / 1e9;
        let figures = [seconds(spell.from_ns), seconds(spell.to_ns), spell.mean, spell.peak];
        let cells = lead.iter().map(ToString::to_string);
        let cells: Vec<String> = cells.chain(figures.map(|it| it.to_string())).collect();
        out.push_str(&line(&cells));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn what_was_watched_as_csv() {
        let mut run = sample::watched();
        run.trials.truncate(1);
        let text = watch_csv(&run).replace("\r\n", "\n");
        let first_second = |line: &&str| line.contains(",0,1,") || line.ends_with(",peak");
        insta::assert_snapshot!(text.lines().filter(first_second).collect::<Vec<_>>().join("\n"));
    }

    #[test]
    fn a_long_trial_has_bearably_many_rows_and_loses_no_peak() {
        let mut run = sample::watched();
        run.trials.truncate(1);
        let readings = &mut run.trials[0].watched.connections.readings;
        let first = readings[0];
        readings.extend((6..2_000).map(|at| measure::ConnectionsReading {
            at_ns: at * 1_000_000_000,
            open: if at == 777 { 99 } else { 3 },
            ..first
        }));
        let text = watch_csv(&run);
        let open = text.lines().filter(|line| line.contains(",connections,dyno,,connections,"));
        assert!((100..=SPELLS_MAX).contains(&open.clone().count()));
        assert_eq!(open.filter(|line| line.ends_with(",99")).count(), 1);
    }
}

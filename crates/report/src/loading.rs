//! What loading the data took: rows, rate, and the times of the INSERTs.

use measure::LoadedRows;
use serde_json::{Value, json};

use crate::digest::{Digest, Trial};
use crate::latency_json::percentile_map;
use crate::number::{TimeUnit, count, duration, number, percentile_name};
use crate::table::Table;

/// Says how to read the table.
pub(crate) const NOTE: &str = "From the first row to the last commit, over all sessions that load; the time of an INSERT \
                               is from its sending to its answer. An INSERT of a load can have many rows, so it is \
                               no insert of the workload.";

/// A row for each phase that loaded rows; empty when there is none.
pub(crate) fn table(digest: &Digest<'_>) -> Table {
    let percentiles = &digest.run.header.percentiles;
    let all: Vec<(&Trial<'_>, &LoadedRows)> =
        digest.trials.iter().flat_map(|trial| of(trial).map(move |one| (trial, one))).collect();
    let unit = TimeUnit::for_smallest(all.iter().map(|(_, loaded)| loaded.inserts.mean_ns()));
    let mut table = Table::new()
        .words("system")
        .words("workload")
        .numbers("rows")
        .numbers("took")
        .numbers("rows per s")
        .numbers("INSERTs")
        .numbers(format!("mean {}", unit.name()));
    for percent in percentiles {
        table = table.numbers(format!("{} {}", percentile_name(*percent), unit.name()));
    }
    table = table.numbers(format!("max {}", unit.name()));
    for (trial, loaded) in all {
        let (header, inserts) = (&trial.record.header, &loaded.inserts);
        let mut row = vec![header.system.clone(), header.workload.name.clone()];
        row.extend([count(loaded.rows), duration(loaded.duration), number(rows_per_s(loaded))]);
        row.extend([count(inserts.count()), unit.show(inserts.mean_ns())]);
        row.extend(percentiles.iter().map(|it| unit.show(inserts.percentile_ns(*it) as f64)));
        row.push(unit.show(inserts.max_ns() as f64));
        table.row(row);
    }
    table
}

fn of<'t>(trial: &'t Trial<'_>) -> impl Iterator<Item = &'t LoadedRows> {
    trial.record.phases.iter().filter_map(|phase| phase.loaded.as_ref())
}

fn rows_per_s(loaded: &LoadedRows) -> f64 {
    loaded.rows as f64 / loaded.duration.as_secs_f64().max(f64::MIN_POSITIVE)
}

/// The same of one trial; `None` when nothing was loaded before it.
pub(crate) fn json(trial: &Trial<'_>, percentiles: &[f64]) -> Option<Value> {
    let loaded = of(trial).next()?;
    let inserts = &loaded.inserts;
    let at = percentiles.iter().map(|percent| (*percent, Some(inserts.percentile_ns(*percent))));
    Some(json!({
        "rows": loaded.rows,
        "seconds": loaded.duration.as_secs_f64(),
        "rows_per_s": rows_per_s(loaded),
        "inserts": {
            "count": inserts.count(),
            "mean_ns": inserts.mean_ns(),
            "min_ns": inserts.min_ns(),
            "max_ns": inserts.max_ns(),
            "percentiles": percentile_map(at),
        },
    }))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use measure::{LatencyHistogram, Phase};
    use record::PhaseRecord;

    use super::*;
    use crate::Reading;
    use crate::sample;

    /// The sample's run, whose first trial loaded 20,000 rows in 4 s with 100 INSERTs of 1 ms to 100 ms.
    fn reading_of_a_load(check: impl FnOnce(&Reading<'_>)) {
        let mut run = sample::run();
        let mut inserts = LatencyHistogram::new();
        (1..=100).for_each(|ms| inserts.record(ms * 1_000_000));
        let loaded = LoadedRows { rows: 20_000, duration: Duration::from_secs(4), inserts };
        let started = run.header.started;
        let (phase, duration) = (Phase::Prepare, Duration::from_secs(5));
        let prepare = PhaseRecord {
            phase,
            started,
            duration,
            loaded_again: 0,
            loaded: Some(loaded),
            remarks: Vec::new(),
        };
        run.trials[0].phases.insert(0, prepare);
        check(&Reading::new(&run));
    }

    #[test]
    fn a_load_has_its_rows_rate_and_the_times_of_its_inserts() {
        reading_of_a_load(|reading| {
            insta::assert_snapshot!(table(&reading.digest).text(), @"
            system  workload             rows    took  rows per s  INSERTs  mean ms  p50 ms  p95 ms  p99 ms  p99.9 ms  max ms
            sqlite  oltp_point_select  20,000  4.00 s       5,000      100     50.5    50.0    95.0    99.0       100     100
            ");
            let json = json(&reading.digest.trials[0], &[50.0]).unwrap();
            assert_eq!(
                (&json["rows_per_s"], &json["inserts"]["count"]),
                (&5000.0.into(), &100.into())
            );
            // Three significant digits: at most 0.1 % above 50 ms.
            let median = json["inserts"]["percentiles"]["p50_ns"].as_u64().unwrap();
            assert!((50_000_000..=50_050_000).contains(&median), "{median}");
            assert!(super::json(&reading.digest.trials[1], &[50.0]).is_none());
        });
    }

    #[test]
    fn every_view_but_the_terminal_has_the_load() {
        reading_of_a_load(|reading| {
            assert!(crate::markdown(reading).contains("### Loading the data"));
            assert!(crate::whole_html(reading).contains("Loading the data"));
        });
        assert!(!crate::whole_html(&Reading::new(&sample::run())).contains("Loading the data"));
    }
}

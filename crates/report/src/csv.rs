//! The report as CSV: a row for each trial and each of its operations.

pub(crate) mod columns;
mod watch;

use crate::reading::Reading;
use crate::visible::visible;
use columns::{Row, columns};

pub use watch::watch_csv;

/// A row for each trial with `TOTAL` in `operation`, then one for each of its operations. Rows of
/// operations leave the figures of a whole trial empty. `failed` of a whole trial includes time-outs. Lines end
/// as RFC 4180 requires; numbers are in full, units are in the column heads.
pub fn csv(reading: &Reading<'_>) -> String {
    let digest = &reading.digest;
    let columns = columns(&digest.run.header.percentiles);
    let row = |row: &Row<'_>| line(columns.iter().map(|column| (column.cell)(row)));
    let mut out = line(columns.iter().map(|column| column.head.clone()));
    for trial in &digest.trials {
        out.push_str(&row(&Row::of_trial(trial)));
        for operation in &trial.summary.operations {
            out.push_str(&row(&Row::of_operation(trial, operation)));
        }
    }
    out
}

pub(crate) fn line(cells: impl Iterator<Item = String>) -> String {
    let quoted: Vec<String> = cells.map(|cell| quote(&cell)).collect();
    format!("{}\r\n", quoted.join(","))
}

/// Source: RFC 4180. A cell that a spreadsheet would read as a formula gets an apostrophe; the signs are also read
/// as such after blanks, and in their wide forms (OWASP, CSV Injection).
fn quote(cell: &str) -> String {
    let is_number = cell.parse::<f64>().is_ok();
    let cell = visible(cell);
    let cell = match cell.trim_start().chars().next() {
        Some('=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠') if !is_number => {
            format!("'{cell}")
        }
        _ => cell.into_owned(),
    };
    if cell.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", cell.replace('"', "\"\""));
    }
    cell
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_run_as_csv() {
        insta::assert_snapshot!(csv(&Reading::new(&sample::run())).replace("\r\n", "\n"));
    }

    #[test]
    fn missing_values_are_empty_cells_not_zeros() {
        let run = sample::failed();
        let text = csv(&Reading::new(&run));
        let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let heads = lines.next().unwrap();
        for row in lines {
            let cell = |name: &str| row[heads.iter().position(|head| *head == name).unwrap()];
            assert_eq!((cell("seconds"), cell("succeeded"), cell("per_s")), ("0", "0", "0"));
            assert_eq!((cell("mean_ns"), cell("p99_ns"), cell("max_ns")), ("", "", ""));
        }
    }

    #[test]
    fn cells_are_quoted_and_never_formulas() {
        assert_eq!(quote("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(quote("=1+1"), "'=1+1");
        assert_eq!(quote("-1.5"), "-1.5");
        assert_eq!(quote("\t=1"), "'\t=1");
        assert_eq!(quote(" ＝1"), "' ＝1");
        assert_eq!(quote("\r\n@x"), "\"␍\n@x\"");
        assert_eq!(quote("\u{1b}[31m"), "␛[31m");
    }
}

//! Figures as a JSON list of name, unit and value, for programs that keep series of benchmarks, such as
//! github-action-benchmark and Bencher. Their files have one direction each.

use serde_json::json;

use crate::history::HistoryRun;
use crate::reading::Reading;
use crate::visible::pretty_json;

/// Which values of a list are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// The list has throughputs.
    Bigger,
    /// The list has latencies.
    Smaller,
}

/// A list of the figures that the run has in a history ([`HistoryRun`]); empty when it has none.
pub fn figure_list(reading: &Reading<'_>, better: Better) -> String {
    let run = HistoryRun::of(&reading.digest).ok();
    let figures = run.iter().flat_map(HistoryRun::named_figures);
    let wanted = figures.filter(|(_, is_time, _)| *is_time == (better == Better::Smaller));
    let entry = |(name, is_time, value): (String, bool, f64)| {
        let (unit, value) = if is_time { ("ms", value / 1e6) } else { ("1/s", value) };
        json!({ "name": name, "unit": unit, "value": value })
    };
    pretty_json(&wanted.map(entry).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_run_as_lists_of_figures() {
        let run = sample::run();
        let reading = Reading::new(&run);
        let lists = [Better::Bigger, Better::Smaller].map(|better| figure_list(&reading, better));
        insta::assert_snapshot!(lists.join("\n"));
    }

    #[test]
    fn a_run_without_figures_is_an_empty_list() {
        let mut run = sample::run();
        run.trials.clear();
        assert_eq!(figure_list(&Reading::new(&run), Better::Bigger).trim(), "[]");
    }
}

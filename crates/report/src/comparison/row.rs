//! Rows of the table of variants: what the comparison of a point, or of all points of a variant, has found.

use analysis::Comparison;

use crate::figure::Figure;
use crate::noise_floor;
use crate::number::TimeUnit;
use crate::table::Ratio;

#[derive(Debug)]
pub(crate) struct Row {
    /// Variant, workload and load.
    pub(super) lead: [String; 3],
    /// The place of its point in the digest; `None` over all loads.
    pub(super) point: Option<usize>,
    pub(super) judged_by: Figure,
    pub(super) figures: [Compared; 2],
    pub(super) crashes: usize,
}

#[derive(Debug)]
pub(super) struct Compared {
    pub(super) figure: Figure,
    pub(super) found: Option<Comparison>,
    /// The noise floor, as a logarithm.
    pub(super) floor: Option<f64>,
    pub(super) rounds_needed: Option<usize>,
}

impl Row {
    pub(super) fn by(&self, figure: Figure) -> Option<&Compared> {
        self.figures.iter().find(|it| it.figure == figure)
    }

    /// The cells of the plot of ratios: names, the ratio that decides with its verdict, and throughput of both.
    pub(super) fn forest(&self) -> Vec<String> {
        let judged = self.by(self.judged_by);
        let verdict = judged.and_then(Compared::verdict);
        let mut row = self.lead.to_vec();
        row.push(verdict.unwrap_or_else(|| "not compared".to_owned()));
        let ratio = |it: &Compared| {
            let ratio = it.found?.ratio;
            let ends = ratio.logs.has_interval().then_some((ratio.low, ratio.high));
            Some(Ratio {
                value: Some(ratio.ratio),
                ends,
                floor: it.floor.map(|it| it.exp_m1().abs()),
            })
        };
        row.push(judged.and_then(ratio).unwrap_or_default().cell());
        for it in &self.figures {
            let text = it.found.map(|found| {
                let unit = TimeUnit::for_value(found.variant.min(found.baseline));
                let name =
                    if it.figure.is_time() { format!(" {}", unit.name()) } else { String::new() };
                let [one, other] =
                    [found.variant, found.baseline].map(|value| it.figure.show(value, unit));
                format!("{one} / {other}{name}")
            });
            row.push(text.unwrap_or_else(|| "-".to_owned()));
        }
        row
    }

    pub(super) fn cells(&self, unit: TimeUnit) -> Vec<String> {
        let judged_by = self.judged_by;
        let judged = self.by(judged_by);
        let verdict = judged.and_then(Compared::verdict);
        let rounds = judged.and_then(|it| it.found).map_or(0, |found| found.ratio.rounds);
        let rounds_needed = judged.and_then(|it| it.rounds_needed);
        let mut row = self.lead.to_vec();
        row.extend([verdict.unwrap_or_else(|| "not compared".to_owned()), judged_by.name()]);
        for it in &self.figures {
            let found = it.found;
            let cell =
                |of: &dyn Fn(&Comparison) -> String| found.as_ref().map_or("-".to_owned(), of);
            row.push(cell(&|it| format!("{:.3}", it.ratio.ratio)));
            row.push(found.map_or(String::new(), |found| interval(&found)));
            row.push(it.floor.map_or(String::new(), noise_floor::show));
            row.push(cell(&|found| it.figure.show(found.variant, unit)));
            row.push(cell(&|found| it.figure.show(found.baseline, unit)));
        }
        row.push(rounds.to_string());
        row.push(rounds_needed.map_or(String::new(), |count| format!("about {count}")));
        row.push(self.crashes.to_string());
        row
    }
}

impl Compared {
    fn verdict(&self) -> Option<String> {
        let found = self.found?;
        let mark = noise_floor::mark(noise_floor::is_within(&found, self.floor));
        Some(format!("{}{mark}", self.figure.verdict(found.verdict)))
    }
}

/// The 95 % interval of a ratio; empty when there is none.
fn interval(found: &Comparison) -> String {
    let ratio = found.ratio;
    match ratio.logs.has_interval() {
        true => format!("{:.3} to {:.3}", ratio.low, ratio.high),
        false => String::new(),
    }
}

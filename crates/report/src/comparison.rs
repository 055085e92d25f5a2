//! Variants of a system side by side: how many times the first one's figures each other's are.

use analysis::{Comparison, RoundFigure, Significance, Summary, compare, over_points};
use record::VariantRecord;

use crate::digest::{Digest, Point, load_text};
use crate::number::{count, percentile_name};
use crate::table::Table;

/// Variants of one system, the first of which the others are compared with.
pub(crate) struct Group<'d, 'a> {
    /// The system that they are variants of.
    pub(crate) of: &'a str,
    /// Names of the variants in the order of the plan.
    pub(crate) names: Vec<&'a str>,
    digest: &'d Digest<'a>,
}

/// A figure that variants are compared by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Figure {
    /// Transactions a second.
    Throughput,
    /// The latency at this percentile, ns.
    Latency(f64),
}

impl Figure {
    fn of(self, summary: &Summary) -> f64 {
        match self {
            Self::Throughput => summary.transactions_per_s,
            Self::Latency(percent) => {
                summary.latency.percentile_ns(percent).unwrap_or_default() as f64
            }
        }
    }

    fn name(self) -> String {
        match self {
            Self::Throughput => "throughput".to_owned(),
            Self::Latency(percent) => percentile_name(percent),
        }
    }
}

/// Every group of variants of the run.
pub(crate) fn groups<'d, 'a>(digest: &'d Digest<'a>) -> Vec<Group<'d, 'a>> {
    let mut groups: Vec<Group<'d, 'a>> = Vec::new();
    for point in &digest.points {
        let Some(VariantRecord { of, name, .. }) = point.variant else { continue };
        match groups.iter_mut().find(|group| group.of == of) {
            Some(group) if group.names.contains(&name.as_str()) => {}
            Some(group) => group.names.push(name),
            None => groups.push(Group { of, names: vec![name], digest }),
        }
    }
    groups
}

impl<'d, 'a> Group<'d, 'a> {
    /// Every variant but the first, which is the baseline.
    pub(crate) fn others(&self) -> impl Iterator<Item = &'a str> {
        self.names.iter().skip(1).copied()
    }

    pub(crate) fn baseline(&self) -> &'a str {
        self.names.first().copied().unwrap_or_default()
    }

    /// The points of one variant, in the order of the plan.
    pub(crate) fn points(&self, name: &str) -> Vec<&'d Point<'a>> {
        let is_one = |point: &&Point<'_>| {
            point.variant.is_some_and(|variant| variant.of == self.of && variant.name == name)
        };
        self.digest.points.iter().filter(is_one).collect()
    }

    /// The baseline's point under the same load as this one.
    fn beside(&self, point: &Point<'_>) -> Option<&'d Point<'a>> {
        let is_alike = |other: &&Point<'_>| {
            (other.workload, other.clients, other.rate)
                == (point.workload, point.clients, point.rate)
        };
        self.points(self.baseline()).into_iter().find(is_alike)
    }

    /// How a variant's point compares with the baseline's.
    pub(crate) fn compare(&self, point: &Point<'_>, figure: Figure) -> Option<Comparison> {
        let base = self.beside(point)?;
        compare(&self.rounds(base, figure), &self.rounds(point, figure))
    }

    /// How a variant compares over all its points.
    fn overall(&self, name: &str, figure: Figure) -> Option<Comparison> {
        let of = |name: &str| -> Vec<RoundFigure> {
            let points = self.points(name);
            let points: Vec<_> = points.iter().map(|point| self.rounds(point, figure)).collect();
            over_points(&points)
        };
        compare(&of(self.baseline()), &of(name))
    }

    /// A figure in each round that was complete.
    fn rounds(&self, point: &Point<'_>, figure: Figure) -> Vec<RoundFigure> {
        let trials = point.trials.iter().map(|at| &self.digest.trials[*at]);
        trials
            .filter(|trial| trial.is_complete())
            .map(|trial| RoundFigure {
                round: trial.record.header.repetition,
                value: figure.of(&trial.summary),
            })
            .collect()
    }

    /// Trials of a variant that ended with the server's death.
    fn crashes(&self, points: &[&Point<'_>]) -> usize {
        let trials = points.iter().flat_map(|point| &point.trials);
        trials.filter(|at| self.digest.trials[**at].has_crashed()).count()
    }

    /// The percentile that stands in the table: the second of the run's, or what there is.
    fn percentile(&self) -> f64 {
        let percentiles = &self.digest.run.header.percentiles;
        percentiles.get(1).or(percentiles.first()).copied().unwrap_or(95.0)
    }

    /// A row for each variant and load, and one over all loads: ratios to the baseline with their 95 %
    /// intervals, and what may be said of throughput.
    pub(crate) fn table(&self) -> Table {
        let figures = [Figure::Throughput, Figure::Latency(self.percentile())];
        let mut table = Table::new().words("variant").words("workload").words("load");
        table = table.words("verdict");
        for figure in figures {
            table = table.numbers(figure.name()).numbers("95 % interval");
        }
        table = table.numbers("rounds").numbers("crashed");
        for name in self.others() {
            let points = self.points(name);
            for point in &points {
                let load = load_text(point.clients, point.rate);
                let lead = [name, point.workload, &load];
                let found = figures.map(|figure| self.compare(point, figure));
                table.row(row(lead, &found, self.crashes(&[point])));
            }
            if points.len() > 1 {
                let found = figures.map(|figure| self.overall(name, figure));
                table.row(row([name, "all", "all"], &found, self.crashes(&points)));
            }
        }
        table.without_columns(|head, cells| {
            head == "crashed" && cells.iter().all(|cell| *cell == "0")
                || head != "crashed" && cells.iter().all(|cell| cell.is_empty() || *cell == "-")
        })
    }

    /// What all of them are: products with versions and storage.
    pub(crate) fn under_test(&self) -> String {
        self.digest.under_test()
    }

    /// What the table is about.
    pub(crate) fn caption(&self) -> String {
        let crashes = self.crashes(&self.points(self.baseline()));
        let crashed = match crashes {
            0 => String::new(),
            1 => "; 1 trial of it crashed".to_owned(),
            more => format!("; {} trials of it crashed", count(more as u64)),
        };
        format!("{}: times as much as {}{crashed}", self.of, self.baseline())
    }
}

fn row(lead: [&str; 3], found: &[Option<Comparison>], crashes: usize) -> Vec<String> {
    let mut row = lead.map(str::to_owned).to_vec();
    let throughput = found.first().copied().flatten();
    row.push(throughput.map_or("not compared", |found| verdict(found.verdict)).to_owned());
    for comparison in found {
        let ratio = comparison.map(|found| found.ratio);
        row.push(ratio.map_or("-".to_owned(), |it| format!("{:.3}", it.ratio)));
        let interval = ratio.filter(|it| it.rounds > 1);
        let text = |it: analysis::Ratio| format!("{:.3} to {:.3}", it.low, it.high);
        row.push(interval.map_or(String::new(), text));
    }
    row.push(throughput.map_or(0, |found| found.ratio.rounds).to_string());
    row.push(crashes.to_string());
    row
}

/// What may be said, in two words.
pub(crate) fn verdict(verdict: Significance) -> &'static str {
    match verdict {
        Significance::Higher => "faster",
        Significance::Lower => "slower",
        Significance::NoDifferenceShown => "no difference shown",
        Significance::TooFewRounds => "one round",
    }
}

/// How to read the table.
pub(crate) const NOTE: &str = "Ratios are geometric means over rounds, each of which measured every variant once, started afresh, in a \
     balanced order. Faster and slower are said of throughput when the whole 95 % interval lies on one side \
     of 1; of twenty such rows one says so by chance.";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn variants_side_by_side() {
        let run = sample::variants();
        let digest = Digest::new(&run);
        let groups = groups(&digest);
        assert_eq!(groups.len(), 1);
        assert_eq!(groups[0].names, ["v1", "v3"]);
        insta::assert_snapshot!(format!("{}\n\n{}", groups[0].caption(), groups[0].table().text()));
    }
}

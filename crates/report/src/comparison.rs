//! Variants of a system side by side: ratios of each variant's figures to those of the first.

mod row;

use analysis::{Comparison, LEVEL, ROUNDS_MIN, RoundFigure, Significance, compare_by, over_points};
use measure::RoundsRule;
use record::VariantRecord;

use crate::digest::{Digest, Point, load_text};
use crate::figure::Figure;
use crate::noise_floor;
use crate::number::{TimeUnit, count};
use crate::table::Table;

use self::row::Compared;
pub(crate) use self::row::Row;

/// Variants of one system. The others are compared with the first.
pub(crate) struct Group<'d, 'a> {
    /// The system that they are variants of.
    pub(crate) of: &'a str,
    /// Names of the variants in the order of the plan.
    pub(crate) names: Vec<&'a str>,
    /// The name of the first of them where every round measured it once more: no variant to compare, but the noise floor.
    pub(crate) again: Option<&'a str>,
    digest: &'d Digest<'a>,
    rows: &'d [Row],
}

/// What is compared in each group of variants of the run.
pub(crate) fn compared(digest: &Digest<'_>) -> Vec<Vec<Row>> {
    of_points(digest).iter().map(Group::compare_all).collect()
}

/// Every group of variants of the run, with what is compared in each.
pub(crate) fn groups<'d, 'a>(
    digest: &'d Digest<'a>,
    compared: &'d [Vec<Row>],
) -> Vec<Group<'d, 'a>> {
    let mut groups = of_points(digest);
    for (group, rows) in groups.iter_mut().zip(compared) {
        group.rows = rows;
    }
    groups
}

pub(crate) fn place(point: &Point<'_>, figure: Figure) -> String {
    let load = load_text(point.clients, point.rate);
    format!("{}, {}, {load}: {}", point.system, point.workload, figure.name())
}

/// The groups without their comparisons. Without a trial of the baseline, as after an interruption, there is none.
fn of_points<'d, 'a>(digest: &'d Digest<'a>) -> Vec<Group<'d, 'a>> {
    let mut groups: Vec<Group<'d, 'a>> = Vec::new();
    let mut variants: Vec<_> = digest.points.iter().filter_map(|point| point.variant).collect();
    variants.sort_by_key(|variant| variant.place);
    for VariantRecord { of, name, place, is_baseline_again } in variants {
        match groups.iter_mut().find(|group| group.of == of) {
            Some(group) if *is_baseline_again => group.again = Some(name),
            Some(group) if group.names.contains(&name.as_str()) => {}
            Some(group) => group.names.push(name),
            None if *place == 0 => {
                groups.push(Group { of, names: vec![name], again: None, digest, rows: &[] });
            }
            None => {}
        }
    }
    groups
}

impl<'d, 'a> Group<'d, 'a> {
    pub(crate) fn rule(&self) -> Option<&'a RoundsRule> {
        self.digest.run.header.rounds.as_ref()
    }

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

    /// The point of a variant under the same load.
    fn alike(&self, name: &str, point: &Point<'_>) -> Option<&'d Point<'a>> {
        self.points(name).into_iter().find(|other| other.load() == point.load())
    }

    /// The baseline's point under the same load.
    pub(crate) fn beside(&self, point: &Point<'_>) -> Option<&'d Point<'a>> {
        self.alike(self.baseline(), point)
    }

    /// Compares the baseline with itself under a point's load: the noise floor.
    pub(crate) fn noise(&self, point: &Point<'_>, figure: Figure) -> Option<Comparison> {
        self.compare(self.alike(self.again?, point)?, figure)
    }

    /// How many rounds would decide an undecided comparison.
    pub(crate) fn rounds_needed(&self, found: &Comparison) -> Option<usize> {
        let least = self.least_difference().ln_1p();
        let is_undecided = found.verdict == Significance::Undecided;
        is_undecided.then(|| found.ratio.logs.repetitions_needed(least, LEVEL)).flatten()
    }

    /// The comparison of a variant's point with the baseline's. Those of the table's figures are known.
    pub(crate) fn compare(&self, point: &Point<'_>, figure: Figure) -> Option<Comparison> {
        match self.row(point).and_then(|row| row.by(figure)) {
            Some(known) => known.found,
            None => self.alone(point, figure),
        }
    }

    fn row(&self, point: &Point<'_>) -> Option<&'d Row> {
        let at = self.place_of(point)?;
        self.rows.iter().find(|row| row.point == Some(at))
    }

    fn place_of(&self, point: &Point<'_>) -> Option<usize> {
        self.digest.points.iter().position(|known| std::ptr::eq(known, point))
    }

    /// The rows of the table: all but those of the baseline that was measured again.
    fn shown(&self) -> impl Iterator<Item = &'d Row> {
        let again = self.again;
        self.rows.iter().filter(move |row| Some(row.lead[0].as_str()) != again)
    }

    /// A figure in the rounds of the baseline and of a variant's point; `None` when there is nothing to compare.
    fn sides(&self, point: &Point<'_>, figure: Figure) -> Option<[Vec<RoundFigure>; 2]> {
        Some([self.rounds(self.beside(point)?, figure)?, self.rounds(point, figure)?])
    }

    fn compare_sides(&self, [baseline, variant]: &[Vec<RoundFigure>; 2]) -> Option<Comparison> {
        compare_by(self.rule(), baseline, variant, self.least_difference())
    }

    /// Compares a variant's point with the baseline's.
    fn alone(&self, point: &Point<'_>, figure: Figure) -> Option<Comparison> {
        self.compare_sides(&self.sides(point, figure)?)
    }

    /// Compares a variant with the baseline over all its points: each round has their geometric mean. `None` when one of
    /// the points is not compared.
    fn overall(&self, name: &str, figure: Figure) -> Option<Comparison> {
        let of_point = |point| {
            let sides = self.sides(point, figure)?;
            self.compare_sides(&sides).map(|_| sides)
        };
        let points = self.points(name).into_iter().map(of_point).collect::<Option<Vec<_>>>()?;
        let (baseline, variant): (Vec<_>, Vec<_>) = points.into_iter().map(<(_, _)>::from).unzip();
        self.compare_sides(&[over_points(&baseline), over_points(&variant)])
    }

    /// The comparison of a variant with the baseline over all its points, by the figure that decides.
    pub(crate) fn verdict(&self, name: &str) -> (Figure, Option<Comparison>) {
        let figure = self.judged_by(&self.points(name));
        (figure, self.last_row(name).and_then(|row| row.by(figure)?.found))
    }

    /// The last row of a variant, which is over all its points, or of its only one.
    fn last_row(&self, name: &str) -> Option<&'d Row> {
        self.rows.iter().rfind(|row| row.lead[0] == name)
    }

    /// How many rounds there were, whole or not.
    pub(crate) fn rounds_begun(&self) -> u32 {
        let points = self.names.iter().flat_map(|name| self.points(name));
        let trials = points.flat_map(|point| &point.trials);
        let rounds = trials.map(|at| self.digest.trials[*at].record.header.repetition + 1);
        rounds.max().unwrap_or(0)
    }

    fn rounds(&self, point: &Point<'_>, figure: Figure) -> Option<Vec<RoundFigure>> {
        figure.in_rounds(self.digest, point)
    }

    /// Number of a variant's trials in which the server crashed.
    fn crashes(&self, points: &[&Point<'_>]) -> usize {
        let trials = points.iter().flat_map(|point| &point.trials);
        trials.filter(|at| self.digest.trials[**at].has_crashed()).count()
    }

    /// The latency that is compared: the one by which rounds end, else at the second percentile of the run's, or at what
    /// there is.
    pub(crate) fn latency(&self) -> Figure {
        let of_rule = self.rule().map(|rule| Figure::of_rule(rule.figure));
        let of_run = || Figure::latency_of(&self.digest.run.header.percentiles);
        of_rule.filter(|figure| figure.is_time()).unwrap_or_else(of_run)
    }

    pub(crate) fn least_difference(&self) -> f64 {
        self.digest.run.header.least_difference
    }

    /// The figure that decides: the one by which rounds end, else throughput; under a rate, which sets the throughput, the
    /// response time.
    pub(crate) fn judged_by(&self, points: &[&Point<'_>]) -> Figure {
        if let Some(rule) = self.rule() {
            return Figure::of_rule(rule.figure);
        }
        let has_rate = points.iter().any(|point| point.rate.is_some());
        if has_rate { self.latency() } else { Figure::Throughput }
    }

    /// What too few rounds mean, when some point has too few of them.
    pub(crate) fn too_few_rounds(&self) -> Option<String> {
        if self.rule().is_some() {
            return None;
        }
        let has_too_few = |point: &Point<'_>| {
            let judged_by = self.judged_by(&[point]);
            let found = self.compare(point, judged_by);
            let is_unknown = || self.is_unknown(point, judged_by);
            found.map_or_else(|| !is_unknown(), |found| found.ratio.rounds < ROUNDS_MIN)
        };
        let mut points = self.others().flat_map(|name| self.points(name));
        points.any(has_too_few).then(|| {
            let run = self.digest.run;
            let is_one_round = run.trials.iter().all(|trial| trial.header.repetition == 0);
            // After an interruption more rounds may have been planned.
            let advice = match is_one_round && run.trials.len() >= run.trials_planned() {
                true => format!(" Set `repetitions` to {ROUNDS_MIN} or more."),
                false => String::new(),
            };
            format!(
                "With fewer than {ROUNDS_MIN} rounds in which both variants ended as planned no difference \
                 can be shown, however large.{advice}"
            )
        })
    }

    /// Whether a point or the baseline under its load has a complete round in which the figure has no upper bound.
    pub(crate) fn is_unknown(&self, point: &Point<'_>, figure: Figure) -> bool {
        let beside = self.beside(point);
        let points = [Some(point), beside];
        points.into_iter().flatten().any(|point| self.rounds(point, figure).is_none())
    }

    /// A row for each variant and load, and one over all loads: ratios to the baseline with their 95 %
    /// intervals, the figures that they are made of, and a verdict.
    pub(crate) fn table(&self) -> Table {
        let latencies = self.shown().filter_map(|row| row.figures[1].found);
        let unit = TimeUnit::for_smallest(latencies.flat_map(|it| [it.variant, it.baseline]));
        let mut table = Table::new().words("variant").words("workload").words("load");
        table = table.group().words("verdict").words("by");
        for figure in self.figures() {
            let unit = figure.unit_name(unit);
            table = table.group().numbers(figure.name()).numbers("95 % interval");
            table = table.numbers(noise_floor::HEAD).numbers(&unit);
            table = table.numbers(format!("{unit} of {}", self.baseline()));
        }
        table = table.group().numbers("rounds").numbers("rounds to decide").numbers("crashed");
        self.shown().for_each(|row| table.row(row.cells(unit)));
        table.without_columns(|head, cells| {
            head == "crashed" && cells.iter().all(|cell| *cell == "0")
                || head != "crashed" && cells.iter().all(|cell| cell.is_empty() || *cell == "-")
        })
    }

    /// The ratio that decides of each variant and load, and of all loads, drawn beside 1.
    pub(crate) fn forest(&self) -> Table {
        let mut table =
            Table::new().words("variant").words("workload").words("load").words("verdict");
        table = table.ratios(format!("ratio to {} (95 %)", self.baseline()));
        for figure in self.figures() {
            table = table.numbers(format!("{}, of both", figure.name()));
        }
        self.shown().for_each(|row| table.row(row.forest()));
        table
    }

    fn figures(&self) -> [Figure; 2] {
        [Figure::Throughput, self.latency()]
    }

    /// Compares every variant, and the baseline that was measured again, with the baseline: a row for each load, and
    /// one over several loads.
    fn compare_all(&self) -> Vec<Row> {
        let figures = |found: &dyn Fn(Figure) -> [Option<Comparison>; 2]| {
            self.figures().map(|figure| {
                let [found, noise] = found(figure);
                let rounds_needed = found.and_then(|found| self.rounds_needed(&found));
                let floor = noise_floor::of(noise);
                Compared { figure, found, floor, rounds_needed }
            })
        };
        let again = |point: &Point<'_>| self.alike(self.again?, point);
        let noise = |point, figure| self.alone(again(point)?, figure);
        let mut rows = Vec::new();
        for name in self.others().chain(self.again) {
            let points = self.points(name);
            for point in &points {
                let load = load_text(point.clients, point.rate);
                rows.push(Row {
                    lead: [name.to_owned(), point.workload.to_owned(), load],
                    point: self.place_of(point),
                    judged_by: self.judged_by(&[point]),
                    figures: figures(&|it| [self.alone(point, it), noise(point, it)]),
                    crashes: self.crashes(&[point]),
                });
            }
            if points.len() > 1 {
                let noise = |figure| self.again.and_then(|again| self.overall(again, figure));
                rows.push(Row {
                    lead: [name, "all", "all"].map(str::to_owned),
                    point: None,
                    judged_by: self.judged_by(&points),
                    figures: figures(&|figure| [self.overall(name, figure), noise(figure)]),
                    crashes: self.crashes(&points),
                });
            }
        }
        rows
    }

    pub(crate) fn digest(&self) -> &'d Digest<'a> {
        self.digest
    }

    /// Products with versions and storage of all variants.
    pub(crate) fn under_test(&self) -> String {
        let points = self.names.iter().flat_map(|name| self.points(name));
        let systems: Vec<&str> = points.map(|point| point.system).collect();
        self.digest.under_test_in(|header| systems.contains(&header.system.as_str()))
    }

    pub(crate) fn caption(&self) -> String {
        let crashes = self.crashes(&self.points(self.baseline()));
        let crashed = match crashes {
            0 => String::new(),
            1 => "; 1 trial of it crashed".to_owned(),
            more => format!("; {} trials of it crashed", count(more as u64)),
        };
        format!("{}: ratios to variant {}{crashed}", self.of, self.baseline())
    }
}

pub(crate) const NOTE: &str = "Ratios are geometric means over rounds, each of which measured every variant once, started afresh, in a \
     balanced order. Beside each ratio are the figures that it is made of: geometric means over the rounds in which \
     both variants ended as planned. Tables of results have medians over every trial that counts instead, so they can \
     differ from these, and even in the other direction; the ratio is what is judged. The verdict is by throughput, \
     under a rate by response time. Faster and slower: the whole 95 % interval lies on one side of 1, and the ratio \
     differs from 1 by 1 % or more; of twenty rows without a difference about one says so by chance. Equal: the whole \
     90 % interval is within 1 % of 1. Undecided: neither was shown; rounds to decide: so many would, in nine of ten \
     cases, unless the difference is about 1 %.";

#[cfg(test)]
mod tests;

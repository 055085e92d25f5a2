//! Variants of a system side by side: ratios of each variant's figures to those of the first.

use analysis::{Comparison, LEVEL, ROUNDS_MIN, RoundFigure, Significance};
use measure::RoundsRule;
use record::VariantRecord;

use crate::bounded;
use crate::compared_figure::Figure;
use crate::covariates::{self, Controlled};
use crate::differences;
use crate::digest::{Digest, Point, load_text};
use crate::noise_floor;
use crate::number::{TimeUnit, count};
use crate::rounds;
use crate::table::Table;
use crate::variance::ratios;
use crate::windows;

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

/// Every group of variants of the run. What they are compared to is computed once, for all views.
pub(crate) fn groups<'d, 'a>(digest: &'d Digest<'a>) -> Vec<Group<'d, 'a>> {
    let mut groups = of_points(digest);
    let rows = digest.compared.get_or_init(|| groups.iter().map(Group::compare_all).collect());
    for (group, rows) in groups.iter_mut().zip(rows) {
        group.rows = rows;
    }
    groups
}

/// Names a figure of a point in findings.
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
    /// When the rounds end by themselves.
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
        let at = self.digest.points.iter().position(|known| std::ptr::eq(known, point));
        let row = self.rows.iter().find(|row| row.point.is_some() && row.point == at);
        let known = row.and_then(|row| row.by(figure));
        match known {
            Some(known) => known.found(),
            None => Some(self.alone(point, figure)?.answer()),
        }
    }

    /// What covariates make of the comparison of a variant's point with the baseline's, by a figure of the table.
    pub(crate) fn control(&self, point: &Point<'_>, figure: Figure) -> Option<&'d Controlled> {
        let at = self.digest.points.iter().position(|known| std::ptr::eq(known, point));
        let row = self.rows.iter().find(|row| row.point.is_some() && row.point == at)?;
        row.by(figure)?.controlled.as_ref()
    }

    /// What covariates make of the comparison of each row, by the figure that decides.
    pub(crate) fn controls(
        &self,
    ) -> impl Iterator<Item = (&'d [String; 3], Figure, &'d Controlled)> {
        self.shown().filter_map(|row| {
            let judged = row.by(row.judged_by)?;
            Some((&row.lead, judged.figure, judged.controlled.as_ref()?))
        })
    }

    /// The rows of the table: all but those of the baseline that was measured again.
    fn shown(&self) -> impl Iterator<Item = &'d Row> {
        let again = self.again;
        self.rows.iter().filter(move |row| Some(row.lead[0].as_str()) != again)
    }

    /// Compares a variant's point with the baseline's.
    fn alone(&self, point: &Point<'_>, figure: Figure) -> Option<Controlled> {
        let points = [self.beside(point)?, point];
        covariates::compared(self.digest, points, figure, self.least_difference())
    }

    /// Compares a variant with the baseline over all its points.
    fn overall(&self, name: &str, figure: Figure) -> Option<Controlled> {
        let points = self.points(name).into_iter().map(|point| self.alone(point, figure));
        let points = points.collect::<Option<Vec<_>>>()?;
        covariates::over_all(self.rule(), &points, self.least_difference())
    }

    /// The comparison of a variant with the baseline over all its points, by the figure that decides.
    pub(crate) fn verdict(&self, name: &str) -> (Figure, Option<Comparison>) {
        let figure = self.judged_by(&self.points(name));
        (figure, self.last_row(name).and_then(|row| row.by(figure)?.found()))
    }

    /// Whether what covariates explain is taken out of that comparison.
    pub(crate) fn is_adjusted(&self, name: &str) -> bool {
        let figure = self.judged_by(&self.points(name));
        let controlled = self.last_row(name).and_then(|row| row.by(figure)?.controlled.as_ref());
        controlled.is_some_and(Controlled::is_adjusted)
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

    /// The least relative difference that matters.
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

    /// Remarks below the table.
    pub(crate) fn notes(&self) -> Vec<String> {
        let noise = self.again.map(|_| noise_floor::NOTE.to_owned());
        let windows = windows::note(self.digest);
        let ended = rounds::ended(self).map(|ended| ended.text());
        let [unknown, within] = [bounded::unknown(self), bounded::within(self)];
        let rounds = [windows, ended, self.too_few_rounds(), unknown, within];
        let below = [ratios::note(self), noise, covariates::note(self)];
        rounds.into_iter().chain(below).flatten().collect()
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
        let latencies = self.shown().filter_map(|row| row.figures[1].found());
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

    /// The figures of the table.
    fn figures(&self) -> [Figure; 2] {
        [Figure::Throughput, self.latency()]
    }

    /// Compares every variant, and the baseline that was measured again, with the baseline: a row for each load, and
    /// one over several loads.
    fn compare_all(&self) -> Vec<Row> {
        let figures = |found: &dyn Fn(Figure) -> [Option<Controlled>; 2]| {
            self.figures().map(|figure| {
                let [controlled, noise] = found(figure);
                let found = controlled.as_ref().map(Controlled::answer);
                let rounds_needed = found.and_then(|found| self.rounds_needed(&found));
                let floor = noise_floor::of(noise.as_ref().map(Controlled::answer));
                Compared { figure, controlled, floor, rounds_needed }
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
                    point: self.digest.points.iter().position(|it| std::ptr::eq(it, *point)),
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

    /// The facts of the variants' identities that are not the same for all of them: a row for each, a column for each
    /// variant.
    pub(crate) fn differences(&self) -> Table {
        let systems = self.digest.systems();
        let facts = |name: &str| {
            let system = self.points(name).first().map(|point| point.system);
            let known = systems.iter().find(|(name, _)| Some(*name) == system);
            known.map_or(Vec::new(), |(_, identity)| differences::facts(identity))
        };
        let columns: Vec<_> = self.names.iter().map(|name| (*name, facts(name))).collect();
        differences::table(&columns)
    }

    /// The tables below that of the comparison, each with its caption; those that do not apply are empty.
    pub(crate) fn tables_below(&self) -> [(&'static str, Table); 4] {
        [
            (ratios::TITLE, ratios::table(self)),
            (covariates::RATIOS, covariates::ratios(self)),
            (covariates::COVARIATES, covariates::covariates(self)),
            (DIFFERENCES, self.differences()),
        ]
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

    /// The table's caption.
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

/// The caption of the table of differences.
const DIFFERENCES: &str = "What distinguishes the variants";

/// A row of the table.
#[derive(Debug)]
pub(crate) struct Row {
    /// Variant, workload and load.
    lead: [String; 3],
    /// The place of its point in the digest; `None` over all loads.
    point: Option<usize>,
    judged_by: Figure,
    figures: [Compared; 2],
    crashes: usize,
}

/// A figure of a row.
#[derive(Debug)]
struct Compared {
    figure: Figure,
    controlled: Option<Controlled>,
    /// The noise floor, as a logarithm.
    floor: Option<f64>,
    rounds_needed: Option<usize>,
}

impl Row {
    fn by(&self, figure: Figure) -> Option<&Compared> {
        self.figures.iter().find(|it| it.figure == figure)
    }

    fn cells(&self, unit: TimeUnit) -> Vec<String> {
        let judged_by = self.judged_by;
        let judged = self.by(judged_by);
        let verdict = judged.and_then(Compared::verdict);
        let rounds = judged.and_then(Compared::found).map_or(0, |found| found.ratio.rounds);
        let rounds_needed = judged.and_then(|it| it.rounds_needed);
        let mut row = self.lead.to_vec();
        row.extend([verdict.unwrap_or_else(|| "not compared".to_owned()), judged_by.name()]);
        for it in &self.figures {
            let found = it.found();
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

/// The 95 % interval of a ratio; empty when there is none.
pub(crate) fn interval(found: &Comparison) -> String {
    let ratio = found.ratio;
    match ratio.logs.has_interval() {
        true => format!("{:.3} to {:.3}", ratio.low, ratio.high),
        false => String::new(),
    }
}

impl Compared {
    /// The comparison that counts.
    fn found(&self) -> Option<Comparison> {
        self.controlled.as_ref().map(Controlled::answer)
    }

    fn verdict(&self) -> Option<String> {
        let found = self.found()?;
        let mark = noise_floor::mark(noise_floor::is_within(&found, self.floor));
        Some(format!("{}{mark}", self.figure.verdict(found.verdict)))
    }
}

/// How to read the table.
pub(crate) const NOTE: &str = "Ratios are geometric means over rounds, each of which measured every variant once, started afresh, in a \
     balanced order. Beside each ratio are the figures that it is made of: geometric means over the rounds in which \
     both variants ended as planned. Tables of results have medians over every trial that counts instead, so they can \
     differ from these, and even in the other direction; the ratio is what is judged. The verdict is by throughput, under a rate by response time. Faster and slower: the whole \
     95 % interval lies on one side of 1, and the ratio differs from 1 by 1 % or more; of twenty rows without a \
     difference about one says so by chance. Equal: the whole 90 % interval is within 1 % of 1. Undecided: neither \
     was shown; rounds to decide: so many would, in nine of ten cases, unless the difference is about 1 %.";

#[cfg(test)]
mod tests {
    use analysis::Significance;

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

    #[test]
    fn what_distinguishes_variants_stands_beside_their_verdict() {
        let mut run = sample::variants();
        let procs = |number: &str| vec![("GOMAXPROCS".to_owned(), number.to_owned())];
        for trial in &mut run.trials {
            let is_v1 = trial.header.system == "tidb.v1";
            let identity = &mut trial.header.identity;
            identity.product = "Database".to_owned();
            identity.version = "8.5.0".to_owned();
            identity.storage = "memory".to_owned();
            identity.settings = procs(if is_v1 { "1" } else { "2" });
            let shared = ("txn_mode".to_owned(), "pessimistic".to_owned());
            identity.settings.push(shared);
            if !is_v1 {
                identity.settings.push(("arguments".to_owned(), "-P 1".to_owned()));
            }
        }
        let digest = Digest::new(&run);
        let group = &groups(&digest)[0];
        insta::assert_snapshot!(group.differences().text(), @r"
        setting     v1  v3
        GOMAXPROCS  1   2
        arguments   -   -P 1
        ");
        let page = crate::html(&digest);
        let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}"));
        assert!(place("ratio to v1, log scale<") < place(DIFFERENCES));
        assert!(place(DIFFERENCES) < place("<h2>Plots"));
        for view in [crate::terminal(&digest), crate::markdown(&digest)] {
            let beside = view.split_once(DIFFERENCES).unwrap().1;
            assert!(beside.contains("GOMAXPROCS"), "{view}");
        }
    }

    /// The variants under a rate, which both achieve: v3 answers in eleven times the time of v1.
    fn under_a_rate() -> record::Run {
        let mut run = sample::variants();
        for trial in &mut run.trials {
            let rate = plan::Rate::constant(100.0);
            trial.header.load.open = Some(record::OpenRecord {
                rate,
                rate_per_s: 100.0,
                arrivals: plan::Arrivals::Poisson,
                backlog_max: 1_000,
            });
            let is_v3 = trial.header.system == "tidb.v3";
            let mut tally = measure::Tally::new(2);
            let latency = if is_v3 { 11_000_000 } else { 1_000_000 };
            // A transaction more or less at the edges of a round.
            for _ in 0..1_000 - u64::from(is_v3) {
                let kind = measure::OperationKind::Transaction;
                tally.success(measure::OperationId(0), kind, latency);
            }
            trial.total = tally;
        }
        run
    }

    #[test]
    fn variants_under_a_rate_are_judged_by_response_time() {
        let run = under_a_rate();
        let digest = Digest::new(&run);
        let groups = groups(&digest);
        let figure = Figure::Latency(95.0);
        for point in groups[0].points("v3") {
            let by_throughput = groups[0].compare(point, Figure::Throughput).unwrap();
            assert_eq!(by_throughput.verdict, Significance::Equal, "{by_throughput:?}");
            assert_eq!(groups[0].judged_by(&[point]), figure);
            let found = groups[0].compare(point, figure).unwrap();
            assert_eq!(figure.verdict(found.verdict), "slower");
        }
        insta::assert_snapshot!(groups[0].table().text());
    }

    #[test]
    fn the_figures_beside_a_ratio_are_those_that_it_is_made_of() {
        let mut run = sample::variants();
        run.trials.retain(|trial| trial.header.clients == 4);
        // Medians of 275 and 261 say slower, geometric means faster.
        let rates = |name: &str| if name == "tidb.v1" { [275, 100, 300] } else { [261, 400, 250] };
        for trial in &mut run.trials {
            let round = trial.header.repetition as usize;
            trial.total.transactions = 2 * rates(&trial.header.system)[round];
        }
        let digest = Digest::new(&run);
        let group = &groups(&digest)[0];
        let text = group.table().text();
        let row = text.lines().nth(1).unwrap();
        // (261 x 400 x 250 / 275 / 100 / 300) ^ (1/3), 296.6 and 202.1.
        let cells: Vec<&str> = row.split_whitespace().collect();
        assert_eq!(cells[6], "1.468", "{text}");
        assert_eq!(cells[10..12], ["297", "202"], "{text}");
        let results = crate::tables::results(&digest, None).text();
        assert!(results.contains("275") && results.contains("261"), "{results}");
        assert!(NOTE.contains("medians over every trial that counts instead"));
        let json: serde_json::Value = serde_json::from_str(&crate::json(&digest)).unwrap();
        let compared = &json["variants"][0]["compared"][0]["throughput"];
        let figures = [&compared["variant"], &compared["baseline"]].map(|it| it.as_f64().unwrap());
        assert!((figures[0] / figures[1] / compared["ratio"].as_f64().unwrap() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn latencies_that_are_bounds_are_not_compared_and_the_table_says_why() {
        let mut run = under_a_rate();
        let unanswered = run.trials.iter_mut().find(|it| it.header.system == "tidb.v3").unwrap();
        let edges = &mut unanswered.end.as_mut().unwrap().edges;
        (0..1_000).for_each(|_| edges.unsent.record(5_000_000_000));
        let digest = Digest::new(&run);
        let group = &groups(&digest)[0];
        let text = group.table().text();
        assert!(text.lines().nth(1).unwrap().contains("not compared"), "{text}");
        let note = group.notes().concat();
        assert!(note.starts_with("p95 is not compared, because"), "{note}");
        assert!(note.ends_with("tidb.v3 oltp_point_select, 4 clients, 100/s."), "{note}");
        assert!(!note.contains("Set `repetitions`"), "{note}");
        for view in [crate::terminal(&digest), crate::html(&digest), crate::markdown(&digest)] {
            assert!(view.contains("is known only from below"), "{view}");
        }
    }

    /// Each trial of v3 leaves one of 1,000 transactions unanswered after 1 ms. Its p95 is the 949th of the others if that is
    /// its latency, 11 ms, and the 950th if it is longer, 11.055 ms.
    #[test]
    fn a_latency_within_close_bounds_is_compared_by_the_worst_of_them() {
        let exact = under_a_rate();
        let mut run = under_a_rate();
        for trial in run.trials.iter_mut().filter(|it| it.header.system == "tidb.v3") {
            let mut tally = measure::Tally::new(2);
            for at in 1..1_000 {
                let latency_ns = if at <= 949 { 11_000_000 } else { 11_055_000 };
                let kind = measure::OperationKind::Transaction;
                tally.success(measure::OperationId(0), kind, latency_ns);
            }
            trial.total = tally;
            trial.end.as_mut().unwrap().edges.unsent.record(1_000_000);
        }
        let figure = Figure::Latency(95.0);
        let found = |run: &record::Run| {
            let digest = Digest::new(run);
            let group = &groups(&digest)[0];
            let point = group.points("v3")[0];
            let found = group.compare(point, figure).unwrap();
            (found, group.notes().concat())
        };
        let (compared, note) = found(&run);
        assert_eq!(figure.verdict(compared.verdict), "slower", "{compared:?}");
        // The interval has both ends: without noise 11 and 11.055, as far as a histogram tells.
        let ratio = compared.ratio;
        assert!(
            (ratio.low / 11.0 - 1.0).abs() < 0.001 && (ratio.high / 11.055 - 1.0).abs() < 0.001
        );
        assert!(note.contains("p95 is known only within bounds"), "{note}");
        assert!(
            note.contains("half their width 0.3 %") && !note.contains("is not compared"),
            "{note}"
        );
        let (compared, note) = found(&exact);
        assert!(compared.ratio.logs.slack == 0.0 && !note.contains("within bounds"), "{note}");
    }

    /// Every round measured v1 twice; the second time it was faster by so much, and v3 by 3 %.
    fn with_noise(again: f64) -> record::Run {
        let mut run = sample::variants();
        run.trials.retain(|trial| trial.header.clients == 4);
        let mut others: Vec<_> =
            run.trials.iter().filter(|it| it.header.system == "tidb.v1").cloned().collect();
        for trial in &mut others {
            trial.header.system.push_str(".again");
            let variant = trial.header.variant.as_mut().unwrap();
            variant.name.push_str(".again");
            (variant.place, variant.is_baseline_again) = (2, true);
        }
        run.trials.extend(others);
        run.header.trials_planned = run.trials.len();
        // Rounds differ from each other by 10 %, and each measurement by -1, 0 or 1 % in its own order.
        let own = |shift: u32, round: u32| 1.0 + 0.01 * (f64::from((round + shift) % 3) - 1.0);
        for trial in &mut run.trials {
            let round = trial.header.repetition;
            let (factor, shift) = match trial.header.system.as_str() {
                "tidb.v1" => (1.0, 0),
                "tidb.v3" => (1.05, 0),
                _ => (again, 1),
            };
            let rate = 10_000.0 * (1.0 + 0.1 * f64::from(round)) * own(shift, round) * factor;
            trial.total.transactions = (2.0 * rate).round() as u64;
            trial.end.as_mut().unwrap().status = record::TrialStatus::Complete;
        }
        run
    }

    #[test]
    fn the_baseline_measured_twice_is_the_noise_floor_of_the_others() {
        let run = with_noise(1.0);
        let digest = Digest::new(&run);
        let group = &groups(&digest)[0];
        assert_eq!((&group.names[..], group.again), (&["v1", "v3"][..], Some("v1.again")));
        let text = group.table().text();
        assert_eq!(text.lines().count(), 2, "it has no row of its own: {text}");
        // Logarithms of 1 / 0.99, 1.01 / 1 and 0.99 / 1.01: 0.01005, 0.00995 and -0.02000, whose mean is 0 and whose
        // deviation is 0.01732: 4.3027 x 0.01732 / sqrt 3 = 0.04303, or 4.4 %.
        let row = text.lines().nth(1).unwrap();
        assert!(row.contains("faster ") && row.contains("1.050 to 1.050"), "{text}");
        assert!(row.contains(" 4.4 %"), "{text}");
        assert!(digest.findings.is_empty(), "{:?}", digest.findings);
        let json: serde_json::Value = serde_json::from_str(&crate::json(&digest)).unwrap();
        let variants = &json["variants"][0];
        assert_eq!(variants["compared"].as_array().unwrap().len(), 1);
        assert_eq!(variants["compared"][0]["within_noise_floor"], false);
        let floor = variants["compared"][0]["throughput"]["noise_floor"].as_f64().unwrap();
        assert!((floor - 0.04397).abs() < 1e-4, "{variants}");
        assert_eq!(variants["noise"]["variant"], "v1.again");
        assert_eq!(variants["noise"]["compared"][0]["throughput"]["noise_floor"], floor);
        for view in [crate::terminal(&digest), crate::html(&digest), crate::markdown(&digest)] {
            assert!(view.contains("every round measured the baseline twice"), "{view}");
            assert!(view.contains("noise floor") && view.contains("4.4 %"), "{view}");
        }
    }

    #[test]
    fn a_baseline_that_differs_from_itself_is_warned_of_and_covers_smaller_verdicts() {
        let run = with_noise(1.2);
        let digest = Digest::new(&run);
        let text = groups(&digest)[0].table().text();
        assert!(text.contains("faster, within the noise floor"), "{text}");
        let found = &digest.findings;
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].code, analysis::Code::BaselineDiffers);
        let told = crate::terminal(&digest);
        let place = "tidb.v1.again, oltp_point_select, 4 clients: throughput: +20 %";
        assert!(
            told.contains("The baseline differs from itself") && told.contains(place),
            "{told}"
        );
    }

    #[test]
    fn without_a_trial_of_the_baseline_nothing_is_compared() {
        let mut run = sample::variants();
        run.trials.retain(|trial| trial.header.system != "tidb.v1");
        assert!(groups(&Digest::new(&run)).is_empty());
        // The order of the trials is another one in each round.
        let mut run = sample::variants();
        run.trials.reverse();
        assert_eq!(groups(&Digest::new(&run))[0].names, ["v1", "v3"]);
    }

    #[test]
    fn one_round_is_said_to_show_no_difference() {
        let mut run = sample::variants();
        run.trials.retain(|trial| trial.header.repetition == 0);
        let told = |run: &record::Run| groups(&Digest::new(run))[0].too_few_rounds().unwrap();
        assert!(!told(&run).contains("Set `repetitions`"), "more were planned: {}", told(&run));
        run.header.trials_planned = run.trials.len();
        assert!(told(&run).contains("Set `repetitions` to 2 or more"), "{}", told(&run));
        let run = sample::variants();
        let digest = Digest::new(&run);
        assert_eq!(groups(&digest)[0].too_few_rounds(), None);
    }
}

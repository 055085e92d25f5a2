//! Where the variance of a variant's ratio lies when the load alternates between variants: from window to window within a
//! round, or between rounds, which start the servers anew.

use analysis::{Levels, Purchase, TrialCost, TrialFigure};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::deviation;
use crate::comparison::Group;
use crate::digest::{Digest, Point, Trial, load_text};
use crate::number::{count, percent};
use crate::table::Table;

pub(crate) const TITLE: &str = "Where the variance of the ratio lies";
const NOTE: &str = "Where the variance of the ratio lies: standard deviations of the ratio of one round, as parts of it. Within rounds \
     is what differs from window to window, and between rounds what another start of the servers, or a slower change of the \
     machine, adds. The last column says which of more windows in a round or more rounds makes the interval narrower for the \
     same time.";

/// The fewest windows that a plan can have.
const WINDOWS_MIN: f64 = 2.0;

/// The variance of the ratio of a variant under one load.
struct RatioVariance {
    levels: Levels,
    /// Windows of each variant in a round, on average.
    windows: f64,
    purchase: Purchase,
    best_windows: Option<f64>,
}

impl RatioVariance {
    /// `None` without windows, and with too few rounds.
    fn of(group: &Group<'_, '_>, point: &Point<'_>) -> Option<Self> {
        let figure = group.judged_by(&[point]);
        let rounds = rounds(group.digest(), [group.beside(point)?, point]);
        let figures = rounds.iter().map(|sides| {
            let [baseline, variant] = sides.map(|trial| {
                trial.windows.iter().map(|window| figure.of(window)).collect::<Option<Vec<f64>>>()
            });
            TrialFigure::of_windows(&baseline?, &variant?)
        });
        let levels = Levels::of(&figures.collect::<Option<Vec<_>>>()?)?;
        let count = rounds.len() as f64;
        let windows =
            rounds.iter().map(|[_, trial]| trial.windows.len() as f64).sum::<f64>() / count;
        let cost = cost(group, point, &rounds)?;
        let purchase = levels.worth_repeating(cost);
        let in_windows = |best_s: f64| (windows * best_s / cost.measured_s).max(WINDOWS_MIN);
        let best_windows = match purchase {
            Purchase::LongerTrials(best_s) => best_s.map(in_windows),
            Purchase::MoreTrials(best_s) => Some(in_windows(best_s)),
            Purchase::Either => None,
        };
        Some(Self { levels, windows, purchase, best_windows })
    }

    fn advice(&self) -> String {
        let best = self.best_windows.map(|windows| windows.round() as u64);
        match (self.purchase, best) {
            (Purchase::LongerTrials(_), Some(best)) => {
                format!("more windows in a round, about {}", count(best))
            }
            (Purchase::LongerTrials(_), None) => "more windows in a round".to_owned(),
            (Purchase::MoreTrials(_), best) => {
                format!("more rounds, of about {} windows", count(best.unwrap_or_default()))
            }
            (Purchase::Either, _) => "either".to_owned(),
        }
    }
}

/// The rounds in which both sides ran to their end, in windows: the baseline's trial and the variant's.
fn rounds<'d, 'a>(
    digest: &'d Digest<'a>,
    [baseline, variant]: [&'d Point<'_>; 2],
) -> Vec<[&'d Trial<'a>; 2]> {
    let in_windows = |trial: &&Trial<'_>| !trial.windows.is_empty();
    let baselines: Vec<&'d Trial<'a>> = digest.complete(baseline).filter(in_windows).collect();
    let round = |trial: &Trial<'_>| trial.record.header.repetition;
    let pair = |theirs: &'d Trial<'a>| {
        let base = baselines.iter().find(|base| round(base) == round(theirs))?;
        Some([*base, theirs])
    };
    digest.complete(variant).filter(in_windows).filter_map(pair).collect()
}

/// What a round costs: the time from its first window to its last, which grows with their number, and a load's share of
/// the rest.
fn cost(group: &Group<'_, '_>, point: &Point<'_>, rounds: &[[&Trial<'_>; 2]]) -> Option<TrialCost> {
    let run = group.digest().run;
    let count = rounds.len() as f64;
    let spans: Option<Vec<f64>> = rounds.iter().map(span_s).collect();
    let measured_s = spans?.iter().sum::<f64>() / count;
    let took_s = run.ended?.duration_since(run.header.started).as_secs_f64();
    let loads = group.points(&point.variant?.name).len() as f64;
    let other_s = (took_s / count / loads - measured_s).max(0.0);
    (measured_s > 0.0).then_some(TrialCost { measured_s, other_s })
}

/// From the begin of the first window of a round to the end of the last, s.
fn span_s(sides: &[&Trial<'_>; 2]) -> Option<f64> {
    let times = sides.iter().flat_map(|trial| &trial.windows).map(Trial::measured);
    let times: Vec<[Timestamp; 2]> =
        times.map(|[began, ended]| Some([began?, ended?])).collect::<Option<_>>()?;
    let began = times.iter().map(|time| time[0]).min()?;
    let ended = times.iter().map(|time| time[1]).max()?;
    Some(ended.duration_since(began).as_secs_f64())
}

/// A row for each variant and load; empty without windows.
pub(crate) fn table(group: &Group<'_, '_>) -> Table {
    let mut table = Table::new().words("variant").words("workload").words("load").group();
    table = table.numbers("rounds").numbers("windows of each in a round").group();
    table = table.numbers("within rounds").numbers("between rounds").numbers("part between");
    table = table.words("what would narrow it");
    for name in group.others() {
        for point in group.points(name) {
            let Some(found) = RatioVariance::of(group, point) else { continue };
            let Levels { within, between, trials } = found.levels;
            table.row(vec![
                name.to_owned(),
                point.workload.to_owned(),
                load_text(point.clients, point.rate),
                trials.to_string(),
                count(found.windows.round() as u64),
                percent(within.sqrt()),
                deviation(between),
                percent(found.levels.share_between()),
                found.advice(),
            ]);
        }
    }
    table
}

/// What the table shows; `None` when it is empty.
pub(crate) fn note(group: &Group<'_, '_>) -> Option<String> {
    (!table(group).is_empty()).then(|| NOTE.to_owned())
}

pub(crate) fn json(group: &Group<'_, '_>, point: &Point<'_>) -> Option<Value> {
    let RatioVariance { levels, windows, purchase, best_windows } =
        RatioVariance::of(group, point)?;
    let worth = match purchase {
        Purchase::LongerTrials(_) => "more-windows",
        Purchase::MoreTrials(_) => "more-rounds",
        Purchase::Either => "either",
    };
    Some(json!({
        "within_rounds": levels.within,
        "between_rounds": levels.between,
        "rounds": levels.trials,
        "windows": windows,
        "worth_repeating": worth,
        "best_windows": best_windows,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reading;

    use crate::sample;

    #[test]
    fn what_both_variants_have_in_common_is_not_variance_of_their_ratio() {
        let run = sample::in_windows();
        let reading = Reading::new(&run);
        let report: Value = serde_json::from_str(&crate::json(&reading)).unwrap();
        let variance = &report["variants"][0]["compared"][0]["variance"];
        let number = |key: &str| variance[key].as_f64().unwrap();
        assert_eq!((number("rounds"), number("windows")), (3.0, 9.0));
        assert!(number("within_rounds") < 1e-12, "the machine changes for both: {variance}");
        // The rounds' ratios are e^-0.16, e^0.17 and e^-0.15 times 1.03.
        let ratios = [-0.16_f64, 0.17, -0.15].map(f64::exp);
        let mean = ratios.iter().sum::<f64>() / 3.0;
        let all = ratios.iter().map(|ratio| (ratio / mean - 1.0).powi(2)).sum::<f64>() / 2.0;
        assert!((number("between_rounds") / all - 1.0).abs() < 1e-6, "{variance}");
        assert_eq!(variance["worth_repeating"], "more-rounds");
        assert!(report["points"].as_array().unwrap().iter().all(|it| it["variance"].is_null()));
        for view in
            [crate::terminal(&reading), crate::markdown(&reading), crate::whole_html(&reading)]
        {
            assert!(
                view.contains(TITLE) && view.contains("more rounds, of about 2 windows"),
                "{view}"
            );
        }
    }

    /// The variant's windows are 10 % faster and slower in turn, five and four of them: the ratio of a round has a variance of
    /// ln(1.1)^2 x (1 - 1 / 81) x 9 / 8 over nine windows, and rounds do not differ.
    #[test]
    fn noise_from_window_to_window_asks_for_more_of_them() {
        let mut run = sample::in_windows();
        for trial in &mut run.trials {
            let is_variant = trial.header.variant.as_ref().unwrap().place == 1;
            for (window, it) in trial.windows.iter_mut().enumerate() {
                let factor = if window % 2 == 0 { 1.1 } else { 1.0 / 1.1 };
                it.total.transactions = (if is_variant { 1e9 * factor } else { 1e9_f64 }) as u64;
            }
        }
        let reading = Reading::new(&run);
        let group = &reading.groups()[0];
        let found = RatioVariance::of(group, group.points("v3")[0]).unwrap();
        let expected = 1.1_f64.ln().powi(2) * 10.0 / 81.0;
        assert!((found.levels.within / expected - 1.0).abs() < 1e-6, "{:?}", found.levels);
        assert!(found.levels.between < 0.0);
        assert_eq!(found.advice(), "more windows in a round");
        let row = table(group).text();
        assert!(row.contains("none seen"), "{row}");
    }

    #[test]
    fn rounds_of_whole_trials_have_no_such_table() {
        let run = sample::variants();
        let reading = Reading::new(&run);
        assert!(reading.groups().iter().all(|group| table(group).is_empty()));
        assert!(!crate::markdown(&reading).contains(TITLE));
    }
}

//! Where the variance of throughput lies over the runs of a side: within trials, between trials, or between runs.

use analysis::{Levels, RunLevels, RunPurchase, TrialFigure};

use super::RunComparison;
use super::blocks::system;
use super::sides::{RunPoint, SIDES};
use crate::digest::Trial;
use crate::document::{Section, Weight};
use crate::number::{number, percent};
use crate::table::Table;
use crate::variance::{TITLE, deviation, figures, purchase_text, trial_cost};

const NOTE: &str = "Standard deviations of the throughput of one trial, as parts of it: what noise within the measured \
                    time explains, what differs between the trials of a run beyond that, and what differs between \
                    runs beyond both. The last column says which repetition makes the interval over runs narrower for \
                    the same time.";

/// A row for each load of a side that has three runs or more, with several trials.
pub(super) fn section(compared: &RunComparison<'_, '_>) -> Section<'static> {
    let mut table = Table::new().words("side").words("system").words("workload").words("load");
    table = table.numbers("runs").numbers("within trials").numbers("between trials");
    table = table.numbers("between runs").words("what would narrow it");
    for matched in &compared.sides.matched {
        for (side, name) in SIDES.iter().enumerate() {
            let Some((levels, advice)) = of_runs(&matched.points[side]) else { continue };
            let RunLevels { of_trials: Levels { within, between, .. }, between_runs, runs } =
                levels;
            let load = [matched.workload.to_owned(), matched.load()].to_vec();
            let lead = vec![(*name).to_owned(), system(matched.systems)];
            let deviations = [within.sqrt()].map(percent).into_iter();
            let deviations = deviations.chain([between, between_runs].map(deviation));
            let last = deviations.chain([advice]).collect();
            table.row([lead, load, vec![runs.to_string()], last].concat());
        }
    }
    Section::new("variance", TITLE).table(Weight::Report, table).note(NOTE)
}

fn counted<'d, 'a>(of: RunPoint<'d, 'a>) -> Vec<&'d Trial<'a>> {
    of.point.counted.iter().map(|at| &of.digest.trials[*at]).collect()
}

/// The levels of a load over its runs, and what to repeat.
fn of_runs(points: &[RunPoint<'_, '_>]) -> Option<(RunLevels, String)> {
    let trials: Vec<Vec<&Trial<'_>>> = points.iter().map(|it| counted(*it)).collect();
    let runs: Option<Vec<Vec<TrialFigure>>> = trials.iter().map(|it| figures(it)).collect();
    let levels = RunLevels::of(&runs?)?;
    let cost = trial_cost(&trials.concat())?;
    // All trials of a run share the time that none of them takes.
    let other = |it: &RunPoint<'_, '_>| {
        let run = it.digest.run;
        let took = run.ended?.duration_since(run.header.started).as_secs_f64();
        let each = cost.measured_s + cost.other_s;
        Some((took - each * it.digest.trials.len() as f64).max(0.0))
    };
    let others: Vec<f64> = points.iter().filter_map(other).collect();
    let other_s = others.iter().sum::<f64>() / others.len().max(1) as f64;
    let advice = match levels.worth_repeating(cost, other_s) {
        RunPurchase::MoreRuns(best) => format!("more runs, of about {} trials", number(best)),
        RunPurchase::WithinRuns(purchase) => purchase_text(purchase),
        RunPurchase::Either => "either".to_owned(),
    };
    Some((levels, advice))
}

//! The tables of covariates, and how to read them.

use std::time::Duration;

use analysis::{Comparison, CovariateRole, Timing};

use super::cost::Cost;
use super::{Control, Controlled};
use crate::comparison::{Group, interval};
use crate::number::{duration, number, percent};
use crate::table::Table;

/// The caption of the table of ratios.
pub(crate) const RATIOS: &str = "Ratios with and without covariates";
/// The caption of the table of covariates.
pub(crate) const COVARIATES: &str = "What covariates explain, and what the variant does to them";

/// The ratio that decides with and without what covariates explain: a row for each load, and one over several loads.
/// Empty without covariates.
pub(crate) fn ratios(group: &Group<'_, '_>) -> Table {
    let mut table = Table::new().words("variant").words("workload").words("load");
    table = table.group().words("by").words("counts");
    table = table.group().numbers("as measured").numbers("95 % interval");
    table = table.group().numbers("adjusted").numbers("95 % interval");
    table = table.group().numbers("explained").numbers("cost").numbers("explained by all");
    for (lead, figure, controlled) in group.controls() {
        let Controlled { measured, control, adjusted } = controlled;
        if control.is_none() && adjusted.is_none() {
            continue;
        }
        let counts = if adjusted.is_some() { "adjusted" } else { "as measured" };
        let mut row = lead.to_vec();
        row.extend([figure.name(), counts.to_owned()]);
        row.extend(ratio(&measured.found));
        row.extend(
            adjusted.as_ref().map_or(["-".to_owned(), String::new()], |it| ratio(&it.found)),
        );
        let adjustment = control.as_ref().map(|control| &control.adjustment);
        let cost = control.as_ref().map(|control| control.cost);
        let parts = adjustment.map(|it| [it.explained, cost, it.explained_by_all]);
        let parts = parts.unwrap_or_default();
        row.extend(parts.map(|part| part.map_or("-".to_owned(), percent)));
        table.row(row);
    }
    table
}

/// Each covariate of each comparison. Empty without covariates.
pub(crate) fn covariates(group: &Group<'_, '_>) -> Table {
    let mut table =
        Table::new().words("variant").words("workload").words("load").words("covariate");
    table = table.group().words("measured").words("used").numbers("coefficient");
    table = table.group().numbers("variant's effect on it").numbers("95 % interval");
    for (lead, _, controlled) in group.controls() {
        let Some(Control { covariates, adjustment, .. }) = &controlled.control else { continue };
        for (covariate, figure) in covariates.iter().zip(&adjustment.covariates) {
            let measured = match covariate.timing() {
                Timing::BeforeLoad => "before the load",
                Timing::DuringLoad => "during the load",
            };
            let mut row = lead.to_vec();
            row.extend([covariate.name(), measured, role(figure.role)].map(str::to_owned));
            row.push(figure.coefficient.map_or("-".to_owned(), number));
            row.extend(ratio(&figure.effect));
            table.row(row);
        }
    }
    table
}

fn ratio(found: &Comparison) -> [String; 2] {
    [format!("{:.3}", found.ratio.ratio), interval(found)]
}

fn role(role: CovariateRole) -> &'static str {
    match role {
        CovariateRole::Used => "yes",
        CovariateRole::MayBeMoved => "no, the variant may move it",
        CovariateRole::Redundant => "no, it says nothing new",
        CovariateRole::TooFewWindows => "no, too few windows",
        CovariateRole::ExplainsNothing => "no, nothing is explained",
        CovariateRole::NotWorthIt => "no, it costs more than it explains",
    }
}

/// How to read both tables, and what measuring the machine's speed took; `None` without covariates.
pub(crate) fn note(group: &Group<'_, '_>) -> Option<String> {
    group.controls().find(|(_, _, controlled)| controlled.control.is_some())?;
    let windows = group.digest().run.trials.iter().flat_map(|trial| &trial.windows);
    let cost = Cost::of(windows);
    let Cost { samples, cpus, length_ns, cpu_ns, .. } = cost;
    let [length, cpu] = [length_ns, cpu_ns].map(|ns| duration(Duration::from_nanos(ns)));
    let part = percent(cost.part());
    Some(format!(
        "Covariates are figures from beside each window: the CPU time of fixed work on each CPU before the load \
         ({samples} samples on up to {cpus} CPUs took {length}, {part} of the time of windows with them, and {cpu} of CPU \
         time), and dyno's own CPU time under load. How the difference of two variants varies from turn to turn gives the \
         coefficients: so many per cent for each per cent of the covariate. Explained: the part of that variance, each round \
         predicted from the others. Where it is larger than the cost, the part of the time that more windows could have had, \
         the adjusted ratio counts, and otherwise the one as measured; the ratios do not decide. A covariate of the load is \
         used only if what the variant does to it can bias the ratio by a quarter of the least difference at most. One from \
         before the load cannot depend on the variant that gets the load, and what the variant before has left is taken out. \
         If they are never worth their cost, set `control = false`."
    ))
}

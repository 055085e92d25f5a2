//! Variants side by side: a plot of ratios with their intervals, and the same figures as tables.

use crate::comparison::{Group, NOTE};
use crate::differences::{self, Facts};
use crate::document::{Section, Weight};
use crate::plots::compared;
use crate::reading::Reading;
use crate::variance::ratios;

pub(super) fn section<'d>(reading: &'d Reading<'d>) -> Section<'d> {
    let mut section = Section::new("compared", "Variants compared");
    for group in reading.groups() {
        let columns = columns(&group);
        let differing = differences::of(&columns);
        let differing = differing.iter().map(|(name, values)| (name.as_str(), &values[..]));
        let note = differences::encryption_note(differing);
        section = section
            .captioned(Weight::Page, &group.caption(), group.forest())
            .captioned(
                Weight::Summary,
                "What distinguishes the variants",
                differences::table(&columns),
            )
            .facts(Weight::Summary, note);
    }
    section
}

/// The same with all figures, and how they were computed.
pub(super) fn in_full<'d>(reading: &'d Reading<'d>) -> Section<'d> {
    let mut section = Section::new("ratios", "Ratios");
    section = section.folded("noise floor, rounds to decide, where differences come from");
    for (at, group) in reading.groups().iter().enumerate() {
        let workloads = reading.digest.workloads().into_iter();
        let charts = workloads.filter_map(|workload| compared::chart(group, workload));
        section = section
            .charts(format!("v{at}"), charts.collect())
            .captioned(Weight::Summary, &group.caption(), group.table())
            .captioned(Weight::Summary, ratios::TITLE, ratios::table(group))
            .facts(Weight::Summary, crate::comparison_notes::notes(group));
    }
    section.note(NOTE)
}

/// The facts of the identity of each variant.
fn columns<'a>(group: &'a Group<'_, '_>) -> Vec<(&'a str, Facts)> {
    let systems = group.digest().systems();
    let facts = |name: &str| {
        let system = group.points(name).first().map(|point| point.system);
        let known = systems.iter().find(|(name, _)| Some(*name) == system);
        known.map_or(Vec::new(), |(_, identity)| differences::facts(identity))
    };
    group.names.iter().map(|name| (*name, facts(name))).collect()
}

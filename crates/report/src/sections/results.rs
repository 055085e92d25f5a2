//! The figures of every point, workload by workload.

use crate::document::{Section, Weight};
use crate::reading::Reading;
use crate::{confidence, ending, failures, rules, tables};

const IN_AN_OPEN_LOOP: &str = "In an open loop latencies are response times, from when a transaction was meant to start. \
     Service times, from when it did, leave out how long it waited for a client.";
const FIGURES: &str = "Latencies are those of transactions that were due in the measured time and succeeded, and of those that \
     timed out at their bound; \u{2265} marks those that are known only from below, because transactions were \
     never answered. tps and qps are transactions that succeeded and statements per second.";

pub(super) fn section<'d>(reading: &'d Reading<'d>) -> Section<'d> {
    let digest = &reading.digest;
    let mut section =
        Section::new("results", "Figures").folded("intervals of all figures, service times");
    if digest.points.is_empty() {
        return section;
    }
    for workload in digest.workloads() {
        let of = |what: &str| format!("{workload}: {what}");
        let only = Some(workload);
        section = section
            .captioned(Weight::Summary, &digest.caption(workload), tables::results(digest, only))
            .captioned(Weight::Summary, &of("95 % intervals"), confidence::table(digest, only))
            .captioned(
                Weight::Summary,
                &of("figures and conditions of its own"),
                rules::table(digest, only),
            )
            .captioned(
                Weight::Summary,
                &of("service times, from the actual start"),
                tables::service(digest, only),
            )
            .captioned(
                Weight::Summary,
                &of("failures by kind"),
                failures::by_point(digest, workload),
            );
    }
    section = section
        .facts(Weight::Summary, rules::notes(digest))
        .facts(Weight::Summary, tables::queues_note(digest))
        .facts(Weight::Summary, ending::sentences(digest))
        .facts(Weight::Summary, tables::repeated_note(digest).map(str::to_owned))
        .facts(Weight::Summary, confidence::note(digest).map(str::to_owned));
    if digest.is_open() {
        section = section.note(IN_AN_OPEN_LOOP);
    }
    if digest.trials.iter().any(|trial| !failures::of_trial(trial).is_empty()) {
        section = section.note(failures::NOTE);
    }
    section.note(FIGURES)
}

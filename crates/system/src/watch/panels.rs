//! The kinds of servers whose metrics dyno knows, and the metrics that every process has.

use measure::MetricFunction::{CountRate, Gauge, Rate};
use measure::Quantity::{Bytes, Count, CpuThreads, PerSecond};
use measure::{
    INSTANCE, MetricFunction, MetricQuery, Panel, PanelLine, Quantity, ServerKind, SharedLoad,
};

use crate::{go_echo, tidb};

/// Every kind of server whose metrics dyno knows, in the order of a page. A record keeps all of them, whatever its
/// systems: a plan may name any additional server to watch. The last kind matches every server that no other kind
/// matches.
pub fn server_kinds() -> Vec<ServerKind> {
    let mut kinds = tidb::server_kinds();
    kinds.extend(go_echo::server_kinds());
    kinds.push(ServerKind {
        name: "server".to_owned(),
        panels: vec![cpu(), memory(), goroutines(), garbage_collections()],
        ..ServerKind::default()
    });
    kinds
}

pub(crate) fn cpu() -> Panel {
    panel("CPU by instance", CpuThreads, vec![line("", cpu_by_instance())])
}

pub(crate) fn cpu_by_instance() -> MetricQuery {
    MetricQuery::new(Rate, "process_cpu_seconds_total").by(INSTANCE)
}

pub(crate) fn memory() -> Panel {
    panel("memory by instance", Bytes, any(Gauge, "process_resident_memory_bytes", INSTANCE))
}

pub(crate) fn goroutines() -> Panel {
    panel("goroutines by instance", Count, any(Gauge, "go_goroutines", INSTANCE))
}

pub(crate) fn garbage_collections() -> Panel {
    let collections = any(CountRate, "go_gc_duration_seconds", INSTANCE);
    panel("garbage collections by instance", PerSecond, collections)
}

pub(crate) fn panel(title: &str, quantity: Quantity, lines: Vec<PanelLine>) -> Panel {
    Panel { title: title.to_owned(), quantity, lines }
}

pub(crate) fn line(name: &str, query: MetricQuery) -> PanelLine {
    PanelLine { name: name.to_owned(), query }
}

pub(crate) fn any(function: MetricFunction, family: &str, label: &str) -> Vec<PanelLine> {
    vec![line("", MetricQuery::new(function, family).by(label))]
}

pub(crate) fn shared(what: &str, query: MetricQuery, least: f64) -> SharedLoad {
    SharedLoad { what: what.to_owned(), query, least }
}

pub(crate) fn marks(beginnings: &[&str]) -> Vec<String> {
    beginnings.iter().map(|&beginning| beginning.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The part of a current record that the report's own tests draw.
    const IN_A_RECORD: &str = include_str!("../../../report/src/panels/tidb-8.5/server-kinds.json");

    #[test]
    fn the_kinds_that_are_recorded_are_those_that_the_report_is_tested_with() {
        let kept: Vec<ServerKind> = serde_json::from_str(IN_A_RECORD).unwrap();
        assert_eq!(server_kinds(), kept);
    }
}

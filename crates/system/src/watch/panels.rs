//! Panels of the metrics that every process has, and the parts of which those of each kind of server are made.

use measure::MetricFunction::{CountRate, Gauge, Rate};
use measure::Quantity::{Bytes, Count, CpuThreads, PerSecond};
use measure::{INSTANCE, MetricFunction, MetricQuery, Panel, PanelLine, Quantity, SharedLoad};

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

//! Seeks: the capacity of each system under each workload, how sure it is, and the probes that it comes from.

use analysis::{Capacity, CapacityBasis, JudgedProbe, Seek, SeekOutcome, SystemState};
use measure::{BoundedFigure, SeekBound, SeekOver};
use record::SeekRecord;
use serde_json::{Value, json};

use crate::digest::{Digest, Event, Trial, clients_text};
use crate::number::{duration, latency, number, percent, percentile_name, several, short};
use crate::table::Table;

pub(crate) const TITLE: &str = "Capacity";
pub(crate) const NOTE: &str = "The capacity is the throughput at the highest load that keeps the bounds, with a 95 % \
                               interval from a curve through the shares of transactions above the bounds in the \
                               probes near it. Transactions that failed, timed out or were never answered count as \
                               infinitely slow. Confirmed is the throughput of the longer trial at the highest load \
                               that kept the bounds.";

pub(crate) struct Sought<'d, 'a> {
    pub(crate) record: &'a SeekRecord,
    pub(crate) trials: Vec<&'d Trial<'a>>,
    pub(crate) outcome: SeekOutcome,
    pub(crate) event: Event,
    seek: Seek,
}

pub(crate) fn all<'d, 'a>(digest: &'d Digest<'a>) -> Vec<Sought<'d, 'a>> {
    let Some(record) = &digest.run.header.seek else { return Vec::new() };
    let mut groups: Vec<Vec<&'d Trial<'a>>> = Vec::new();
    for trial in digest.trials.iter().filter(|trial| trial.record.header.probe.is_some()) {
        match groups.iter_mut().find(|group| place(group[0]) == place(trial)) {
            Some(group) => group.push(trial),
            None => groups.push(vec![trial]),
        }
    }
    groups.into_iter().map(|trials| Sought::new(digest, record, trials)).collect()
}

fn place<'d>(trial: &'d Trial<'_>) -> (&'d str, &'d str, u32) {
    let header = &trial.record.header;
    (&header.system, &header.workload.name, header.repetition)
}

impl<'d, 'a> Sought<'d, 'a> {
    fn new(digest: &Digest<'_>, record: &'a SeekRecord, trials: Vec<&'d Trial<'a>>) -> Self {
        let event = digest.event_of(&trials[0].record.header.workload.name);
        let mut seek = Seek::new(record.range);
        seek.next(None);
        for probe in trials.iter().filter_map(|trial| trial.probe.as_ref()) {
            seek.next(Some(probe.clone()));
        }
        let outcome = seek.outcome();
        Self { record, trials, outcome, event, seek }
    }

    /// The system, the workload and, with several, the repetition.
    pub(crate) fn name(&self, digest: &Digest<'_>) -> String {
        let (system, workload, repetition) = place(self.trials[0]);
        let is_repeated =
            digest.trials.iter().any(|trial| trial.record.header.repetition != repetition);
        let repetition =
            if is_repeated { format!(", repetition {}", repetition + 1) } else { String::new() };
        format!("{system} {workload}{repetition}")
    }

    pub(crate) fn under_test(&self) -> String {
        self.trials[0].record.header.identity.title()
    }

    pub(crate) fn capacity(&self) -> Option<&Capacity> {
        match &self.outcome {
            SeekOutcome::Found(capacity) => Some(capacity),
            _ => None,
        }
    }

    pub(crate) fn bounds(&self) -> String {
        let bounds: Vec<String> = self.record.bounds.iter().map(bound).collect();
        bounds.join(" and ")
    }

    fn load(&self, load: f64) -> String {
        match self.record.range.over {
            SeekOver::Clients => clients_text(load as usize),
            SeekOver::Rate => format!("{}/s", number(load)),
        }
    }

    fn figures(&self, probe: &JudgedProbe) -> String {
        let shown = self.record.bounds.iter().zip(&probe.figures);
        let shown: Vec<String> = shown
            .map(|(bound, value)| format!("{} {}", name(bound.figure), show(bound.figure, *value)))
            .collect();
        shown.join(", ")
    }

    /// The longer trials that were to confirm the capacity.
    fn confirming(&self) -> impl Iterator<Item = &JudgedProbe> {
        self.seek.probes().iter().filter(|probe| probe.is_confirming)
    }

    /// The capacity in few letters, and what keeps the bounds; `None` when it is not known.
    pub(crate) fn headline(&self) -> Option<(String, String)> {
        let capacity = self.capacity()?;
        let event = self.event.per_s();
        Some((short(capacity.per_s), format!("{event} keep {}", self.bounds())))
    }

    /// How sure that is, or what is known instead.
    pub(crate) fn answer(&self) -> String {
        let Some(it) = self.capacity() else { return self.sentences() };
        let with = match self.record.range.over {
            SeekOver::Clients => format!(", with {}", clients_text(it.load as usize)),
            SeekOver::Rate => String::new(),
        };
        let confirmed = self.seek.confirmed().map_or_else(
            || "no longer trial has confirmed it".to_owned(),
            |probe| format!("confirmed {} in a longer trial", short(probe.transactions_per_s)),
        );
        let sure = match it.basis {
            CapacityBasis::Curve => "95 %",
            CapacityBasis::Probes => "between",
        };
        let changed = if self.changes().is_empty() { "" } else { "; the system has changed" };
        let (low, high) = (short(it.per_s_low), short(it.per_s_high));
        format!("{sure}: {low} to {high}{with}; {confirmed}{changed}")
    }

    /// The states of the system, if it changed.
    fn changes(&self) -> Vec<SystemState> {
        let states = self.seek.states();
        if states.len() > 1 { states } else { Vec::new() }
    }

    /// A capacity with its interval, and what it keeps.
    fn found(&self, it: &Capacity) -> String {
        let (bounds, event) = (self.bounds(), self.event.per_second());
        let [low, high] = [it.per_s_low, it.per_s_high].map(number);
        let is_closed = self.record.range.over == SeekOver::Clients;
        match it.basis {
            CapacityBasis::Curve => {
                let (clients, load) = (clients_text(it.load as usize), (it.load_low, it.load_high));
                let with = format!(", with {clients} ({} to {})", load.0, load.1);
                let with = if is_closed { &with } else { "" };
                format!("{} {event} ({low} to {high}) keep {bounds}{with}", number(it.per_s))
            }
            CapacityBasis::Probes => {
                let clients = clients_text(it.load_high as usize);
                let with = format!(", with {} to {clients}", it.load_low);
                let with = if is_closed { &with } else { "" };
                format!(
                    "Between {low} and {high} {event} keep {bounds}{with}: no probe with less load broke them, and none \
                     with more kept them"
                )
            }
        }
    }

    /// Each state of a system that changed.
    fn told_states(&self) -> String {
        let told = |it: &SystemState| {
            let (first, last) = it.probes;
            let Some(capacity) = &it.capacity else {
                return format!("in probes {first} to {last} it is not known");
            };
            let [per_s, low, high] =
                [capacity.per_s, capacity.per_s_low, capacity.per_s_high].map(number);
            format!("in probes {first} to {last} it was {per_s} ({low} to {high})")
        };
        let states: Vec<String> = self.changes().iter().map(told).collect();
        if states.is_empty() {
            return String::new();
        }
        let event = self.event.per_second();
        format!(
            " The system changed during the seek. The capacity in {event}: {}. The last state counts.",
            states.join("; ")
        )
    }

    pub(crate) fn sentences(&self) -> String {
        let bounds = self.bounds();
        let range = self.record.range;
        let mut text = match &self.outcome {
            SeekOutcome::Found(it) => format!("{}.", self.found(it)),
            SeekOutcome::BelowRange => format!(
                "Even the smallest load, {}, breaks {bounds} ({}): the capacity is unknown and lies below the range of \
                 the seek.",
                self.load(range.from),
                self.seek.probes().last().map_or(String::new(), |probe| self.figures(probe)),
            ),
            SeekOutcome::AboveRange => format!(
                "Even the largest load, {}, keeps {bounds}: the capacity is unknown and lies above the range of the \
                 seek.",
                self.load(range.to)
            ),
            SeekOutcome::TooFewTransactions => format!(
                "The probes near the bound have too few transactions for {bounds}, so the capacity is unknown: set a \
                 `probe_time` longer than {}.",
                duration(self.record.probe_time)
            ),
            SeekOutcome::Undecided => {
                "The capacity is unknown: the probes are too few, or contradict each other."
                    .to_owned()
            }
        };
        if self.capacity().is_none() {
            text.push_str(&self.bracket());
        }
        text.push_str(&self.told_states());
        text.push_str(&self.confirmation());
        text.push_str(&self.ending());
        text
    }

    fn bracket(&self) -> String {
        match self.seek.bracket() {
            (Some(kept), Some(broken)) => format!(
                " Every load up to {} kept the bounds, and {} broke them{}.",
                self.load(kept),
                self.load(broken),
                self.contradictions(broken)
            ),
            (Some(kept), None) if self.outcome == SeekOutcome::Undecided => {
                format!(" Every load up to {} kept the bounds.", self.load(kept))
            }
            _ => String::new(),
        }
    }

    /// How often this load, which broke the bounds, and those above kept them.
    fn contradictions(&self, broken: f64) -> String {
        let kept_of = |is_asked: &dyn Fn(f64) -> bool| {
            let asked = self.seek.present().iter().filter(|it| is_asked(it.load));
            let kept = asked.clone().filter(|it| it.is_kept).count();
            (kept, asked.count())
        };
        let (kept, all) = kept_of(&|load| load == broken);
        let times =
            if kept > 0 { format!(" in {} of {all} probes", all - kept) } else { String::new() };
        let (kept, all) = kept_of(&|load| load > broken);
        let above = format!(
            "; {kept} of {} with more load kept them",
            several(all as u64, "probe", "probes")
        );
        if kept > 0 { times + &above } else { times }
    }

    fn confirmation(&self) -> String {
        let time = duration(self.record.confirm_time);
        if let Some(probe) = self.seek.confirmed() {
            return format!(
                " A trial of {time} at {} kept them: {} {}, {}.",
                self.load(probe.load),
                number(probe.transactions_per_s),
                self.event.per_second(),
                self.figures(probe)
            );
        }
        let broken: Vec<String> = self.confirming().map(|probe| self.load(probe.load)).collect();
        if broken.is_empty() {
            return if self.capacity().is_some() {
                " No longer trial has confirmed it.".to_owned()
            } else {
                String::new()
            };
        }
        format!(
            " No longer trial has confirmed it: {} of {time} at {} broke the bounds. Over a longer time the system does \
             less than in short probes.",
            several(broken.len() as u64, "trial", "trials"),
            broken.join(", ")
        )
    }

    /// Why the seek ended early, if it did.
    fn ending(&self) -> String {
        let Some(last) = self.trials.last() else { return String::new() };
        match (last.status(), last.reason()) {
            ("crashed", _) => " The server crashed, which ended the seek.".to_owned(),
            ("interrupted", _) => " The seek was interrupted.".to_owned(),
            ("cut", _) => " The seek was cut.".to_owned(),
            ("failed", Some(reason)) if last.probe.is_none() => {
                format!(" The seek ended, because a load could not begin: {reason}.")
            }
            _ => String::new(),
        }
    }
}

/// `p99 ≤ 10 ms`.
fn bound(bound: &SeekBound) -> String {
    format!("{} \u{2264} {}", name(bound.figure), show(bound.figure, bound.most))
}

pub(crate) fn name(figure: BoundedFigure) -> String {
    match figure {
        BoundedFigure::Percentile(percent) => percentile_name(percent),
        BoundedFigure::Mean => "mean".to_owned(),
        BoundedFigure::Max => "max".to_owned(),
        BoundedFigure::Errors => "errors".to_owned(),
    }
}

fn show(figure: BoundedFigure, value: f64) -> String {
    match figure {
        _ if value.is_infinite() => "\u{221e}".to_owned(),
        BoundedFigure::Errors => percent(value),
        _ => latency(value),
    }
}

pub(crate) fn table(digest: &Digest<'_>, seeks: &[Sought<'_, '_>]) -> Table {
    let mut table = Table::new()
        .words("system, workload")
        .group()
        .words("bounds")
        .group()
        .numbers("capacity per s")
        .numbers("95 % interval")
        .numbers("at clients")
        .group()
        .numbers("confirmed per s")
        .numbers("probes");
    for sought in seeks {
        let capacity = sought.capacity();
        let is_closed = sought.record.range.over == SeekOver::Clients;
        table.row(vec![
            sought.name(digest),
            sought.bounds(),
            capacity.map_or("unknown".to_owned(), |it| number(it.per_s)),
            capacity.map_or(String::new(), |it| {
                format!("{} to {}", number(it.per_s_low), number(it.per_s_high))
            }),
            match capacity {
                Some(it) if is_closed => it.load.to_string(),
                _ => sought.trials[0].record.header.clients.to_string(),
            },
            sought
                .seek
                .confirmed()
                .map_or("no".to_owned(), |probe| number(probe.transactions_per_s)),
            sought.seek.probes().len().to_string(),
        ]);
    }
    table
}

/// A row for each probe of a seek, in order.
pub(crate) fn probes(sought: &Sought<'_, '_>) -> Table {
    let mut table = Table::new().numbers("probe");
    table = match sought.record.range.over {
        SeekOver::Clients => table.numbers("clients"),
        SeekOver::Rate => table.numbers("offered per s"),
    };
    table = table.numbers("tps");
    for bound in &sought.record.bounds {
        table = table.numbers(name(bound.figure));
    }
    table = table.words("bounds").remarks();
    for trial in &sought.trials {
        let header = &trial.record.header;
        let number_of = header.probe.map_or(0, |probe| probe.number + 1);
        let mut row = vec![
            number_of.to_string(),
            match sought.record.range.over {
                SeekOver::Clients => header.clients.to_string(),
                SeekOver::Rate => number(sought.record.load(trial.record)),
            },
            number(trial.summary.transactions_per_s),
        ];
        let figures = trial.probe.as_ref().map(|probe| &probe.figures);
        row.extend(sought.record.bounds.iter().enumerate().map(|(at, bound)| {
            let value = figures.and_then(|figures| figures.get(at));
            value.map_or("-".to_owned(), |value| show(bound.figure, *value))
        }));
        row.push(trial.probe.as_ref().map_or("-", |it| verdict(it.is_kept)).to_owned());
        row.push(remark(trial));
        table.row(row);
    }
    table.without_empty_remarks()
}

fn verdict(is_kept: bool) -> &'static str {
    if is_kept { "kept" } else { "broken" }
}

fn remark(trial: &Trial<'_>) -> String {
    let ending = if trial.is_complete() { None } else { Some(trial.status()) };
    let coarse = trial.probe.as_ref().is_some_and(|probe| probe.is_coarse);
    let confirming = trial.record.header.probe.is_some_and(|probe| probe.is_confirming);
    let words =
        [confirming.then_some("confirming"), ending, coarse.then_some("too few transactions")];
    words.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Every seek for programs; null for a run with fixed loads.
pub(crate) fn json(digest: &Digest<'_>) -> Value {
    let seeks = all(digest);
    let Some(record) = &digest.run.header.seek else { return Value::Null };
    let bounds = record.bounds.iter().map(|bound| {
        json!({ "figure": name(bound.figure), "most": bound.most, "unit": unit(bound.figure) })
    });
    json!({
        "bounds": bounds.collect::<Vec<_>>(),
        "over": record.range.over,
        "from": record.range.from,
        "to": record.range.to,
        "seeks": seeks.iter().map(one_json).collect::<Vec<_>>(),
    })
}

fn unit(figure: BoundedFigure) -> &'static str {
    if figure == BoundedFigure::Errors { "part" } else { "ns" }
}

fn one_json(sought: &Sought<'_, '_>) -> Value {
    let (system, workload, repetition) = place(sought.trials[0]);
    let (kept, broken) = sought.seek.bracket();
    let confirmed = sought.seek.confirmed();
    json!({
        "system": system,
        "workload": workload,
        "repetition": repetition + 1,
        "outcome": match sought.outcome {
            SeekOutcome::Found(_) => "found",
            SeekOutcome::BelowRange => "below-range",
            SeekOutcome::AboveRange => "above-range",
            SeekOutcome::TooFewTransactions => "too-few-transactions",
            SeekOutcome::Undecided => "undecided",
        },
        "capacity": sought.capacity().map(|it| json!({
            "per_s": it.per_s,
            "low_95": it.per_s_low,
            "high_95": it.per_s_high,
            "load": it.load,
            "load_low_95": it.load_low,
            "load_high_95": it.load_high,
            "probes_fitted": it.probes,
            "basis": basis(it),
        })),
        "states": sought.changes().iter().map(|it| json!({
            "first_probe": it.probes.0,
            "last_probe": it.probes.1,
            "per_s": it.capacity.map(|it| it.per_s),
            "low_95": it.capacity.map(|it| it.per_s_low),
            "high_95": it.capacity.map(|it| it.per_s_high),
            "basis": it.capacity.as_ref().map(basis),
        })).collect::<Vec<_>>(),
        "highest_kept": kept,
        "lowest_broken": broken,
        "confirmed": confirmed.map(|probe| json!({
            "load": probe.load,
            "transactions_per_s": probe.transactions_per_s,
            "figures": figures(probe),
        })),
        "text": sought.sentences(),
        "probes": sought.trials.iter().map(|trial| probe_json(sought, trial)).collect::<Vec<_>>(),
    })
}

fn basis(capacity: &Capacity) -> &'static str {
    match capacity.basis {
        CapacityBasis::Curve => "curve",
        CapacityBasis::Probes => "probes",
    }
}

/// Figures in the order of the bounds; null when they have no upper bound.
fn figures(probe: &JudgedProbe) -> Vec<Option<f64>> {
    probe.figures.iter().map(|value| value.is_finite().then_some(*value)).collect()
}

fn probe_json(sought: &Sought<'_, '_>, trial: &Trial<'_>) -> Value {
    let probe = trial.probe.as_ref();
    json!({
        "trial": trial.record.header.index,
        "load": sought.record.load(trial.record),
        "confirming": trial.record.header.probe.is_some_and(|probe| probe.is_confirming),
        "transactions_per_s": trial.summary.transactions_per_s,
        "figures": probe.map(figures),
        "kept": probe.map(|probe| probe.is_kept),
        "too_few_transactions": probe.map(|probe| probe.is_coarse),
        "status": trial.status(),
    })
}

#[cfg(test)]
mod tests;

//! All families of metrics: one table, of which the page, the sends and the list in docs/metrics.md are made.

use measure::Phase;

use super::counts::{Buckets, Counts, Labels, LoadCounts};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Counter,
    Gauge,
    Histogram,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

pub(super) struct Family {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// As OpenTelemetry writes it (UCUM).
    pub(super) unit: &'static str,
    pub(super) help: &'static str,
    pub(super) samples: fn(&Counts) -> Vec<Sample>,
}

#[derive(Clone, Debug)]
pub(super) struct Sample {
    pub(super) labels: Labels,
    pub(super) value: Value,
}

#[derive(Clone, Debug)]
pub(super) enum Value {
    Number(f64),
    Histogram(Box<Buckets>),
}

pub(super) const FAMILIES: [Family; 20] = [
    Family {
        name: "dyno_build_info",
        kind: Kind::Gauge,
        unit: "1",
        help: "This dyno; always 1.",
        samples: |_| {
            let labels = [
                ("version", env!("CARGO_PKG_VERSION")),
                ("commit", env!("DYNO_COMMIT")),
                ("profile", env!("DYNO_PROFILE")),
            ];
            one(labels.map(|(name, value)| (name, value.to_owned())), 1.0)
        },
    },
    Family {
        name: "dyno_run_info",
        kind: Kind::Gauge,
        unit: "1",
        help: "The plan, and the name of the folder of the run's record; always 1.",
        samples: |counts| one([("plan", counts.plan.clone()), ("run", counts.run.clone())], 1.0),
    },
    Family {
        name: "dyno_trials_planned",
        kind: Kind::Gauge,
        unit: "1",
        help: "Trials of the run; absent when their results decide how many there are.",
        samples: |counts| maybe(counts.trials_planned.map(|trials| trials as f64)),
    },
    Family {
        name: "dyno_trial_number",
        kind: Kind::Gauge,
        unit: "1",
        help: "Number of the current trial, or of the last one, from 1.",
        samples: |counts| maybe(counts.trial.map(|trial| trial as f64)),
    },
    Family {
        name: "dyno_trials_total",
        kind: Kind::Counter,
        unit: "1",
        help: "Trials that have ended, by how: complete, interrupted, failed or crashed.",
        samples: |counts| {
            let of = |status: &&'static str| {
                let ended = counts.ended.get(status).copied().unwrap_or_default();
                number([("status", (*status).to_owned())], ended as f64)
            };
            ["complete", "interrupted", "failed", "crashed"].iter().map(of).collect()
        },
    },
    Family {
        name: "dyno_phase",
        kind: Kind::Gauge,
        unit: "1",
        help: "1 for what the current trial is doing, 0 for everything else; all are 0 between trials.",
        samples: |counts| {
            let phases = std::iter::once("start").chain(Phase::ALL.map(Phase::name));
            let of = |phase: &'static str| {
                let is_it = counts.phase == Some(phase);
                number([("phase", phase.to_owned())], f64::from(u8::from(is_it)))
            };
            phases.map(of).collect()
        },
    },
    Family {
        name: "dyno_load_planned_seconds",
        kind: Kind::Gauge,
        unit: "s",
        help: "Time of load of all trials, warm-up included; at most, where phases may end sooner. Absent when events or results decide.",
        samples: |counts| maybe(counts.load_planned_s),
    },
    Family {
        name: "dyno_clients",
        kind: Kind::Gauge,
        unit: "1",
        help: "Clients of the current trial; absent between trials.",
        samples: |counts| {
            let current = counts.current.iter();
            current.map(|load| number(load.labels.clone(), load.clients as f64)).collect()
        },
    },
    Family {
        name: "dyno_target_transactions_per_second",
        kind: Kind::Gauge,
        unit: "1/s",
        help: "Arrival rate of the current trial in an open loop, as planned.",
        samples: |counts| {
            let of = counts.current.iter().filter_map(|load| Some((load, load.target_per_s?)));
            of.map(|(load, target)| number(load.labels.clone(), target)).collect()
        },
    },
    Family {
        name: "dyno_load_seconds_total",
        kind: Kind::Counter,
        unit: "s",
        help: "Time of load so far.",
        samples: |counts| each(counts, |load| load.seconds),
    },
    Family {
        name: "dyno_transactions_total",
        kind: Kind::Counter,
        unit: "1",
        help: "Transactions that succeeded.",
        samples: |counts| each(counts, |load| load.transactions as f64),
    },
    Family {
        name: "dyno_failed_transactions_total",
        kind: Kind::Counter,
        unit: "1",
        help: "Transactions that failed and were not tried again.",
        samples: |counts| each(counts, |load| load.failed as f64),
    },
    Family {
        name: "dyno_arrivals_total",
        kind: Kind::Counter,
        unit: "1",
        help: "Transactions that were due in an open loop, whether or not a client was free.",
        samples: |counts| {
            let open = counts.loads.iter().filter(|load| load.is_open);
            open.map(|load| number(load.labels.clone(), load.arrivals as f64)).collect()
        },
    },
    Family {
        name: "dyno_errors_total",
        kind: Kind::Counter,
        unit: "1",
        help: "Errors by class, and by how clients handled them: retried, ignored (the transaction was given up) or fatal (the client ended).",
        samples: |counts| {
            several(counts, |load| {
                let of = load.errors.iter().map(|(&(class, handled), &count)| {
                    ([("class", class.name()), ("handled", handled)], Value::Number(count as f64))
                });
                of.collect()
            })
        },
    },
    Family {
        name: "dyno_statements_total",
        kind: Kind::Counter,
        unit: "1",
        help: "Statements sent and answered: read, write, or other ones such as COMMIT.",
        samples: |counts| {
            several(counts, |load| {
                let of = load.queries;
                let kinds = [("read", of.read), ("write", of.write), ("other", of.other)];
                kinds.map(|(kind, count)| ([("kind", kind)], Value::Number(count as f64))).to_vec()
            })
        },
    },
    Family {
        name: "dyno_reconnects_total",
        kind: Kind::Counter,
        unit: "1",
        help: "Connections that were established again.",
        samples: |counts| each(counts, |load| load.reconnects as f64),
    },
    Family {
        name: "dyno_sent_bytes_total",
        kind: Kind::Counter,
        unit: "By",
        help: "Bytes that clients sent, without the headers of TCP and the layers below it.",
        samples: |counts| each(counts, |load| load.traffic.sent_bytes as f64),
    },
    Family {
        name: "dyno_received_bytes_total",
        kind: Kind::Counter,
        unit: "By",
        help: "Bytes that clients received, likewise.",
        samples: |counts| each(counts, |load| load.traffic.received_bytes as f64),
    },
    Family {
        name: "dyno_busy_seconds_total",
        kind: Kind::Counter,
        unit: "s",
        help: "Time of clients in transactions, summed over the clients: its rate is the number in flight.",
        samples: |counts| each(counts, |load| load.busy_s),
    },
    Family {
        name: "dyno_latency_seconds",
        kind: Kind::Histogram,
        unit: "s",
        help: "Latencies of transactions and of their statements, in an open loop from the intended start; time-outs count at their bound, other failures do not.",
        samples: |counts| {
            several(counts, |load| {
                let of = load.operations.iter().map(|it| {
                    let names =
                        [("operation", &*it.operation.name), ("kind", it.operation.kind.name())];
                    (names, Value::Histogram(Box::new(it.latencies.clone())))
                });
                of.collect()
            })
        },
    },
];

fn number(labels: impl Into<Labels>, value: f64) -> Sample {
    Sample { labels: labels.into(), value: Value::Number(value) }
}

fn one(labels: impl Into<Labels>, value: f64) -> Vec<Sample> {
    vec![number(labels, value)]
}

fn maybe(value: Option<f64>) -> Vec<Sample> {
    value.map(|value| number([], value)).into_iter().collect()
}

/// One number of each load and phase.
fn each(counts: &Counts, of: fn(&LoadCounts) -> f64) -> Vec<Sample> {
    counts.loads.iter().map(|load| number(load.labels.clone(), of(load))).collect()
}

/// Several values of each load and phase, told apart by more labels.
fn several<'c, const N: usize>(
    counts: &'c Counts,
    of: impl Fn(&'c LoadCounts) -> Vec<([(&'static str, &'c str); N], Value)>,
) -> Vec<Sample> {
    let mut samples = Vec::new();
    for load in &counts.loads {
        for (more, value) in of(load) {
            let more = more.map(|(name, text)| (name, text.to_owned()));
            let labels = load.labels.iter().cloned().chain(more).collect();
            samples.push(Sample { labels, value });
        }
    }
    samples
}

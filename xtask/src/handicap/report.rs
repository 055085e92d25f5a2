//! What a comparison needs of dyno's report in JSON.

use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A report of a run with two variants.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Report {
    started: String,
    ended: Option<String>,
    dyno: Program,
    environment: Environment,
    systems: Vec<SystemIdentity>,
    variants: Vec<Group>,
    trials: Vec<Trial>,
}

#[derive(Clone, Debug, Deserialize)]
struct Program {
    version: String,
    build: String,
}

#[derive(Clone, Debug, Deserialize)]
struct Environment {
    cpu_model: String,
    usable_threads: Option<u32>,
    virtualization: Option<String>,
    kernel: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
struct SystemIdentity {
    product: String,
    version: String,
}

#[derive(Clone, Debug, Deserialize)]
struct Group {
    of: String,
    baseline: String,
    compared: Vec<Compared>,
}

#[derive(Clone, Debug, Deserialize)]
struct Compared {
    variant: String,
    verdict: Option<String>,
    throughput: Option<Throughput>,
}

#[derive(Clone, Debug, Deserialize)]
struct Throughput {
    #[serde(flatten)]
    answer: Interval,
    control: Option<Control>,
}

/// What the machine's own speed explains, where dyno measured it between the windows.
#[derive(Clone, Copy, Debug, Deserialize)]
struct Control {
    measured: Interval,
    /// `None` where it explains nothing; otherwise this is the answer.
    adjusted: Option<Interval>,
    /// The part of the variance that it explains.
    explained: Option<f64>,
}

/// A ratio with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Interval {
    pub ratio: f64,
    #[serde(rename = "low_95")]
    pub low: f64,
    #[serde(rename = "high_95")]
    pub high: f64,
}

#[derive(Clone, Debug, Deserialize)]
struct Trial {
    system: String,
    repetition: u32,
    status: String,
    transactions: u64,
    seconds: f64,
}

/// The machine and the program that measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Machine {
    pub cpu: String,
    pub threads: Option<u32>,
    pub virtualization: Option<String>,
    pub kernel: Option<String>,
    pub dyno: String,
}

/// What dyno concluded of two variants.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Conclusion {
    /// As measured.
    pub raw: Interval,
    /// With the machine's own speed removed.
    pub adjusted: Option<Interval>,
    /// The part of the variance that the machine's speed explains.
    pub explained: Option<f64>,
    pub verdict: String,
}

impl Interval {
    /// Whether it excludes that the second variant is as fast as the first, or faster.
    pub(super) fn is_slower(&self) -> bool {
        self.high < 1.0
    }

    pub(super) fn has(&self, ratio: f64) -> bool {
        (self.low..=self.high).contains(&ratio)
    }

    pub(super) fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }
}

impl Report {
    /// Reads `report.json` of a run.
    ///
    /// # Errors
    /// When there is none, or a field of it is missing.
    pub(super) fn read(run: &Path) -> anyhow::Result<Self> {
        let path = run.join("report.json");
        let text = fs::read_to_string(&path).with_context(|| format!("no {}", path.display()))?;
        Self::parse(&text).with_context(|| path.display().to_string())
    }

    fn parse(text: &str) -> anyhow::Result<Self> {
        Ok(serde_json::from_str(text)?)
    }

    /// The time of the whole run, starts of servers included, min.
    pub(super) fn minutes(&self) -> anyhow::Result<f64> {
        let ended = self.ended.as_deref().context("the run has no end")?;
        let [started, ended] = [self.started.parse::<Timestamp>()?, ended.parse()?];
        Ok(ended.duration_since(started).as_secs_f64() / 60.0)
    }

    pub(super) fn machine(&self) -> Machine {
        let Environment { cpu_model, usable_threads, virtualization, kernel } =
            self.environment.clone();
        Machine {
            cpu: cpu_model,
            threads: usable_threads,
            virtualization,
            kernel,
            dyno: format!("{} ({})", self.dyno.version, self.dyno.build),
        }
    }

    /// The product and version of the system.
    pub(super) fn product(&self) -> String {
        self.systems.first().map_or_else(String::new, |it| format!("{} {}", it.product, it.version))
    }

    /// Transactions a second of the first and the second variant, for each round that measured both to its end.
    /// Windows of one round are one measurement.
    pub(super) fn rounds(&self) -> anyhow::Result<Vec<[f64; 2]>> {
        let (group, compared) = self.compared()?;
        let rounds = self.trials.iter().map(|trial| trial.repetition).max().unwrap_or(0);
        let rate = |variant: &str, round: u32| {
            let system = format!("{}.{variant}", group.of);
            let is_one = |trial: &&Trial| {
                trial.system == system && trial.repetition == round && trial.status == "complete"
            };
            let trials = || self.trials.iter().filter(is_one);
            let seconds: f64 = trials().map(|trial| trial.seconds).sum();
            let transactions: u64 = trials().map(|trial| trial.transactions).sum();
            (transactions > 0).then(|| transactions as f64 / seconds)
        };
        let both = |round| Some([rate(&group.baseline, round)?, rate(&compared.variant, round)?]);
        let rounds: Vec<_> = (1..=rounds).filter_map(both).collect();
        ensure!(!rounds.is_empty(), "no round has both variants");
        Ok(rounds)
    }

    /// What dyno concluded.
    ///
    /// # Errors
    /// When it has no interval, as with fewer than two rounds.
    pub(super) fn conclusion(&self) -> anyhow::Result<Conclusion> {
        let (_, compared) = self.compared()?;
        let Throughput { answer, control } =
            compared.throughput.as_ref().context("no ratio of the throughputs")?;
        Ok(Conclusion {
            raw: control.map_or(*answer, |control| control.measured),
            adjusted: control.and_then(|control| control.adjusted),
            explained: control.and_then(|control| control.explained),
            verdict: compared.verdict.clone().unwrap_or_default(),
        })
    }

    /// The variants, and the comparison of the second with the first.
    fn compared(&self) -> anyhow::Result<(&Group, &Compared)> {
        let group = self.variants.first().context("the report compares no variants")?;
        let compared = group.compared.first().context("the report has no second variant")?;
        Ok((group, compared))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// A report with three rounds. The last one has no complete window of the second variant.
    pub(crate) fn example() -> Value {
        let trial = |variant: &str, repetition: u32, status: &str, transactions: u64| {
            json!({
                "system": format!("echo.{variant}"),
                "repetition": repetition,
                "status": status,
                "transactions": transactions,
                "seconds": 2.0,
            })
        };
        json!({
            "started": "2026-11-23T10:00:00.5Z",
            "ended": "2026-11-23T10:10:30.5Z",
            "dyno": { "version": "0.1.0", "build": "optimised" },
            "environment": {
                "cpu_model": "A CPU", "usable_threads": 2, "virtualization": null, "kernel": "Linux 6",
            },
            "systems": [{ "product": "trpc-go", "version": "1.0.4" }],
            "variants": [{
                "of": "echo",
                "baseline": "plain",
                "compared": [{
                    "variant": "handicapped",
                    "verdict": "slower",
                    "throughput": { "ratio": 0.97, "low_95": 0.96, "high_95": 0.98, "low_90": 0.965 },
                }],
            }],
            "trials": [
                trial("plain", 1, "complete", 100),
                trial("handicapped", 1, "complete", 90),
                trial("plain", 1, "complete", 300),
                trial("handicapped", 1, "complete", 270),
                trial("plain", 2, "complete", 80),
                trial("handicapped", 2, "complete", 40),
                trial("handicapped", 2, "crashed", 4),
                trial("plain", 3, "complete", 80),
                trial("handicapped", 3, "crashed", 80),
            ],
        })
    }

    #[test]
    fn windows_of_a_round_are_one_measurement() {
        let report = Report::parse(&example().to_string()).unwrap();
        // 400 transactions and 360 in 4 s; 80 and 40 in 2 s.
        assert_eq!(report.rounds().unwrap(), [[100.0, 90.0], [40.0, 20.0]]);
        assert_eq!(report.minutes().unwrap(), 10.5);
        assert_eq!(report.product(), "trpc-go 1.0.4");
        assert_eq!(report.machine().dyno, "0.1.0 (optimised)");
    }

    #[test]
    fn the_conclusion_has_the_adjusted_ratio_where_dyno_made_one() {
        let mut example = example();
        let raw = Interval { ratio: 0.97, low: 0.96, high: 0.98 };
        let conclusion = Report::parse(&example.to_string()).unwrap().conclusion().unwrap();
        let verdict = "slower".to_owned();
        let unadjusted = Conclusion { raw, adjusted: None, explained: None, verdict };
        assert_eq!(conclusion, unadjusted);
        let throughput = &mut example["variants"][0]["compared"][0]["throughput"];
        throughput["control"] = json!({
            "measured": { "ratio": 0.98, "low_95": 0.94, "high_95": 1.02 },
            "adjusted": { "ratio": 0.97, "low_95": 0.96, "high_95": 0.98 },
            "explained": 0.4,
        });
        let conclusion = Report::parse(&example.to_string()).unwrap().conclusion().unwrap();
        let measured = Interval { ratio: 0.98, low: 0.94, high: 1.02 };
        assert_eq!((conclusion.raw, conclusion.adjusted), (measured, Some(raw)));
        assert_eq!(conclusion.explained, Some(0.4));
        example["variants"][0]["compared"][0]["throughput"]["control"]["adjusted"] = Value::Null;
        let conclusion = Report::parse(&example.to_string()).unwrap().conclusion().unwrap();
        assert_eq!((conclusion.raw, conclusion.adjusted), (measured, None));
    }

    #[test]
    fn a_report_without_an_interval_is_an_error() {
        let mut example = example();
        example["variants"][0]["compared"][0]["throughput"] = Value::Null;
        let report = Report::parse(&example.to_string()).unwrap();
        assert!(report.conclusion().is_err());
        example["variants"] = json!([]);
        assert!(Report::parse(&example.to_string()).unwrap().rounds().is_err());
    }

    #[test]
    fn an_interval_excludes_one_or_has_the_truth() {
        let interval = Interval { ratio: 0.97, low: 0.95, high: 0.99 };
        assert!(interval.is_slower() && interval.has(0.95) && !interval.has(0.94));
        assert!((interval.half_width() - 0.02).abs() < 1e-12);
        assert!(!Interval { high: 1.001, ..interval }.is_slower());
    }
}

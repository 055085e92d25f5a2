//! How throughput grows with the clients: the Universal Scalability Law of each system under each workload, as a table and
//! as a line in the plot, or the reason why a sweep does not carry it.

use analysis::{NoScaling, Peak, Ranged, Scaling, ScalingLevel, Validity, scaling};
use serde_json::{Value, json};

use crate::digest::{Digest, Point};
use crate::number::{count, number, percent, several, signed_percent};
use crate::svg::{Dot, Series};
use crate::table::Table;

pub(crate) const TITLE: &str = "How throughput grows with clients";
pub(crate) const LAW: &str = "Universal Scalability Law";
pub(crate) const NOTE: &str = "The Universal Scalability Law (Gunther), fitted to the throughput of each number of clients: contention is the part \
     of a transaction that is done for one client at a time, coherency what each client costs each other. 95 % intervals \
     are by profile likelihood, in brackets. They rest on the scatter of the trials around the curve; with a single trial \
     of each number of clients, what differs from trial to trial is seen only as far as it takes points off the curve. \
     The last column is the probability of residuals as large as these if the law holds but for the least difference; \
     below 1 % the law is refused. Figures beyond the highest number of clients that was measured are the curve's.";

const CLIENTS_MIN: usize = 3;
/// A smaller probability is told as a bound.
const LEAST_PROBABILITY: f64 = 1e-5;
/// The curve is drawn at so many places for each doubling of the clients.
const DRAWN_PER_DOUBLING: f64 = 4.0;

/// A sweep over clients.
#[derive(Debug)]
pub(crate) struct Sweep {
    pub(crate) system: String,
    pub(crate) workload: String,
    pub(crate) found: Result<Scaling, NoScaling>,
}

/// The law of a system under a workload; `None` when it was not swept or does not carry the law.
pub(crate) fn of<'s>(sweeps: &'s [Sweep], system: &str, workload: &str) -> Option<&'s Scaling> {
    sweep(sweeps, system, workload)?.found.as_ref().ok()
}

fn sweep<'s>(sweeps: &'s [Sweep], system: &str, workload: &str) -> Option<&'s Sweep> {
    sweeps.iter().find(|sweep| sweep.system == system && sweep.workload == workload)
}

/// Fits every sweep over three numbers of clients or more in a closed loop.
pub(crate) fn fitted(digest: &Digest<'_>) -> Vec<Sweep> {
    if digest.run.header.seek.is_some() {
        return Vec::new();
    }
    let workloads = digest.workloads().into_iter();
    let systems: Vec<&str> = digest.systems().into_iter().map(|(name, _)| name).collect();
    let pairs =
        workloads.flat_map(|workload| systems.iter().map(move |system| (*system, workload)));
    let of_pair = |(system, workload): (&str, &str)| {
        let points = points_of(digest, system, workload);
        let is_open = points.iter().any(|point| point.rate.is_some());
        if is_open || points.len() < CLIENTS_MIN {
            return None;
        }
        let levels: Vec<ScalingLevel> = points.iter().map(|point| level(digest, point)).collect();
        Some(Sweep {
            system: system.to_owned(),
            workload: workload.to_owned(),
            found: scaling(&levels, digest.run.header.least_difference),
        })
    };
    pairs.filter_map(of_pair).collect()
}

/// The points with figures, by their clients. Nothing is said of points whose trials are all invalid.
fn points_of<'d, 'a>(digest: &'d Digest<'a>, system: &str, workload: &str) -> Vec<&'d Point<'a>> {
    let mut points = digest.points_of(system, workload);
    points.retain(|point| {
        let trials: Vec<_> = point.counted.iter().map(|at| &digest.trials[*at]).collect();
        !trials.iter().all(|trial| trial.validity() == Validity::Invalid)
    });
    points.sort_by_key(|point| point.clients);
    points
}

fn level(digest: &Digest<'_>, point: &Point<'_>) -> ScalingLevel {
    let summaries = point.counted.iter().map(|at| &digest.trials[*at].summary);
    let within = match point.counted[..] {
        [only] => Some(&digest.trials[only].summary.within),
        _ => None,
    };
    ScalingLevel {
        clients: point.clients,
        per_s: summaries.map(|summary| summary.transactions_per_s).collect(),
        variance_within: within.and_then(|it| it.throughput_variance),
        half_width_within: within.and_then(|it| it.transactions_per_s?.log_half_width()),
    }
}

/// Why a sweep does not carry the law, in words.
fn reason(refused: &NoScaling) -> String {
    match refused {
        NoScaling::FewLevels { levels, needed } => format!(
            "{levels} numbers of clients, and {needed} are needed to see whether the law holds"
        ),
        NoScaling::NoThroughput(clients) => {
            format!("no throughput with {}", several(*clients as u64, "client", "clients"))
        }
        NoScaling::LackOfFit { p_value, clients, deviation } => format!(
            "with {} throughput is {} off the curve (p {})",
            several(*clients as u64, "client", "clients"),
            signed_percent(*deviation),
            probability(*p_value)
        ),
        NoScaling::NegativeContention { alpha_high } => format!(
            "contention is below zero ({} at most): throughput grows faster than the clients, or its curve bends more \
             sharply than the law allows",
            number(*alpha_high)
        ),
        NoScaling::NegativeCoherency { beta_high } => format!(
            "the more clients, the less each of them adds to the time of the others: coherency is below zero ({} at most)",
            small(*beta_high)
        ),
        NoScaling::NotDetermined => "no curve of the law is nearest to the figures".to_owned(),
    }
}

fn code(refused: &NoScaling) -> &'static str {
    match refused {
        NoScaling::FewLevels { .. } => "few-numbers-of-clients",
        NoScaling::NoThroughput(_) => "no-throughput",
        NoScaling::LackOfFit { .. } => "lack-of-fit",
        NoScaling::NegativeContention { .. } => "negative-contention",
        NoScaling::NegativeCoherency { .. } => "negative-coherency",
        NoScaling::NotDetermined => "not-determined",
    }
}

/// A change that is known only to be above this one could be any.
const LOW_CHANGE_MIN: f64 = -0.9;

/// A probability; one so small that its digits say nothing is shown as a bound.
fn probability(p_value: f64) -> String {
    if p_value < LEAST_PROBABILITY {
        format!("less than {}", percent(LEAST_PROBABILITY))
    } else {
        percent(p_value)
    }
}

/// Coherency is far below one in a thousand.
fn small(value: f64) -> String {
    if value != 0.0 && value.abs() < 1e-3 { format!("{value:.2e}") } else { number(value) }
}

/// `40.0 (35.1 to 46.2)`, `40.0 (35.1 or more)`; `40.0 (-)` where the interval says nothing.
pub(crate) fn with_interval(range: &Ranged, show: impl Fn(f64) -> String) -> String {
    let (value, low) = (show(range.value), show(range.low));
    match range.high {
        Some(high) => format!("{value} ({low} to {})", show(high)),
        // No coefficient is below 0, and no change is below -100 %.
        None if range.low == 0.0 || range.low <= LOW_CHANGE_MIN => format!("{value} (-)"),
        None => format!("{value} ({low} or more)"),
    }
}

pub(crate) fn table(sweeps: &[Sweep]) -> Table {
    let mut table = Table::new()
        .words("system")
        .words("workload")
        .numbers("1 client, per s")
        .numbers("contention")
        .numbers("coherency")
        .numbers("peak clients")
        .numbers("peak per s")
        .numbers("twice the clients")
        .words("fit");
    for Sweep { system, workload, found } in sweeps {
        let Ok(found) = found else { continue };
        let mut row = vec![system.clone(), workload.clone()];
        row.extend(cells(found));
        table.row(row);
    }
    table
}

/// A line for each sweep that does not carry the law, with the reason.
pub(crate) fn refusals(sweeps: &[Sweep]) -> Vec<String> {
    let line = |Sweep { system, workload, found }: &Sweep| {
        let reason = reason(found.as_ref().err()?);
        Some(format!("No USL fit of {system} under {workload}: {reason}."))
    };
    sweeps.iter().filter_map(line).collect()
}

fn cells(found: &Scaling) -> [String; 7] {
    let [clients, per_s] = match &found.peak {
        Peak::Within { clients, per_s } => {
            [with_interval(clients, |it| count(it.round() as u64)), with_interval(per_s, number)]
        }
        Peak::Beyond { clients_low } => {
            [format!("{} or more", number(clients_low.floor())), "-".to_owned()]
        }
    };
    let gain = gain_of_most(found);
    [
        with_interval(&found.gamma, number),
        with_interval(&found.alpha, small),
        with_interval(&found.beta, small),
        clients,
        per_s,
        gain.map_or("-".to_owned(), |gain| with_interval(&gain, signed_percent)),
        match found.quality.p_value {
            Some(p_value) => percent(p_value),
            None => "not known without intervals of the points".to_owned(),
        },
    ]
}

/// By how much throughput changes with twice as many clients, as a part of it.
pub(crate) fn gain_of_twice(found: &Scaling, clients: usize) -> Ranged {
    let gain = found.gain_of_twice(clients as f64);
    let high = gain.high.map(|high| high - 1.0);
    Ranged { value: gain.value - 1.0, low: gain.low - 1.0, high }
}

fn gain_of_most(found: &Scaling) -> Option<Ranged> {
    found.levels.last().map(|level| gain_of_twice(found, level.clients))
}

pub(crate) fn json(sweeps: &[Sweep]) -> Vec<Value> {
    let one = |Sweep { system, workload, found }: &Sweep| {
        let mut value = match found {
            Ok(found) => fitted_json(found),
            Err(refused) => {
                json!({ "fitted": false, "refused": code(refused), "reason": reason(refused) })
            }
        };
        value["system"] = system.as_str().into();
        value["workload"] = workload.as_str().into();
        value
    };
    sweeps.iter().map(one).collect()
}

fn fitted_json(found: &Scaling) -> Value {
    let range = |it: &Ranged| json!({ "value": it.value, "low_95": it.low, "high_95": it.high });
    let levels = found.levels.iter().map(|level| {
        json!({
            "clients": level.clients,
            "measured_per_s": level.measured_per_s,
            "fitted_per_s": level.fitted_per_s,
            "deviation": level.deviation(),
        })
    });
    let peak = match &found.peak {
        Peak::Within { clients, per_s } => {
            json!({ "clients": range(clients), "per_s": range(per_s) })
        }
        Peak::Beyond { clients_low } => {
            json!({ "clients": { "low_95": clients_low }, "per_s": null })
        }
    };
    json!({
        "fitted": true,
        "law": "universal-scalability-law",
        "gamma_per_s": range(&found.gamma),
        "alpha": range(&found.alpha),
        "beta": range(&found.beta),
        "peak": peak,
        "gain_of_twice_the_most_clients": gain_of_most(found).as_ref().map(range),
        "levels": levels.collect::<Vec<_>>(),
        "lack_of_fit_p": found.quality.p_value,
        "trials": found.quality.trials,
        "is_repeated": found.quality.is_repeated,
    })
}

/// The curve of a system as far as it was measured; `None` without one.
pub(crate) fn curve(
    sweeps: &[Sweep],
    system: &str,
    workload: &str,
    colour: usize,
) -> Option<Series> {
    let found = of(sweeps, system, workload)?;
    let (first, last) = (found.levels.first()?.clients, found.levels.last()?.clients);
    let doublings = (last as f64 / first as f64).log2();
    let steps = (doublings * DRAWN_PER_DOUBLING).ceil();
    let between = (0..=steps as usize).map(|at| {
        let power = doublings * at as f64 / steps;
        (first as f64 * power.exp2()).round() as usize
    });
    let mut clients: Vec<usize> =
        between.chain(found.levels.iter().map(|level| level.clients)).collect();
    clients.sort_unstable();
    clients.dedup();
    let dots = clients.into_iter().map(|clients| {
        let dot = Dot::at(clients as f64, found.per_s(clients as f64));
        Dot { place: Some(count(clients as u64)), ..dot }
    });
    let line = Series::line(format!("{system}, {LAW}"), colour, dots.collect());
    Some(Series { dash: 1, ..line })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Reading, json as report_json, markdown, sample, terminal};

    /// Throughput is 2,000 N / (N + 1.5) a second and more or less 4 %: contention of 1 / 2.5, and no coherency.
    #[test]
    fn a_sweep_has_the_coefficients_that_it_was_made_with() {
        let run = sample::large();
        let reading = Reading::new(&run);
        let found = of(&reading.sweeps, "sqlite", "oltp_point_select").unwrap();
        assert!((found.alpha.value - 0.4).abs() < 0.02, "{found:?}");
        assert!((found.gamma.value - 800.0).abs() < 30.0, "{found:?}");
        let Peak::Beyond { clients_low } = found.peak else { panic!("{found:?}") };
        assert!(clients_low > 30.0, "{found:?}");
        let report: Value = serde_json::from_str(&report_json(&reading)).unwrap();
        let of_json = report["scalability"].as_array().unwrap();
        assert_eq!(of_json.len(), 6);
        assert_eq!(
            (&of_json[0]["system"], &of_json[0]["fitted"]),
            (&"sqlite".into(), &true.into())
        );
        assert_eq!(of_json[0]["levels"].as_array().unwrap().len(), 4);
        assert!(markdown(&reading).contains(TITLE) && crate::whole_html(&reading).contains(LAW));
    }

    #[test]
    fn a_curve_passes_every_number_of_clients_that_was_measured() {
        let run = sample::large();
        let reading = Reading::new(&run);
        let curve = curve(&reading.sweeps, "sqlite", "oltp_point_select", 0).unwrap();
        let places: Vec<&str> = curve.dots.iter().filter_map(|dot| dot.place.as_deref()).collect();
        assert!(["1", "4", "16", "64"].iter().all(|it| places.contains(it)), "{places:?}");
        assert!(places.len() > 12 && places.len() < 30, "{places:?}");
    }

    #[test]
    fn a_sweep_without_repetitions_and_few_numbers_of_clients_says_why_it_has_no_curve() {
        let run = sample::quick();
        let reading = Reading::new(&run);
        assert!(of(&reading.sweeps, "sqlite", "oltp_point_select").is_none());
        let why = &refusals(&reading.sweeps)[0];
        assert_eq!(
            why,
            "No USL fit of sqlite under oltp_point_select: 4 numbers of clients, and 5 are needed to see whether the \
             law holds."
        );
        assert!(
            !crate::whole_html(&reading).contains(TITLE),
            "a law that nothing follows has no place on the page"
        );
        assert!(!terminal(&Reading::new(&sample::large())).contains("No USL fit"));
        let report: Value = serde_json::from_str(&report_json(&reading)).unwrap();
        assert_eq!(report["scalability"][0]["refused"], "few-numbers-of-clients");
    }

    #[test]
    fn one_number_of_clients_and_rates_are_not_a_sweep_over_clients() {
        for run in [sample::compared(), sample::open(), sample::sought(20e6, 1.0, 64.0)] {
            let reading = Reading::new(&run);
            assert!(reading.sweeps.is_empty());
            assert!(!markdown(&reading).contains(TITLE));
        }
    }
}

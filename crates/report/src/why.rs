//! What holds a system back, as a sentence, as shares of the time for a transaction and as the ladder of all slow-downs.

mod evidence;
mod lasting;
mod members;
mod pictures;
mod profiles;
mod words;

use analysis::{
    Lasting, NotDecided, Ranged95, Value, Verdict, WhyEffects, WhyPlace, why_effects, why_looks,
    why_verdict,
};
use measure::Why;
use serde_json::json;

use crate::digest::{Digest, Trial};
use crate::number::{latency, number, percent, signed_percent};
use crate::table::Table;
use crate::template;
use evidence::Evidence;

pub(crate) use members::table as members;
pub(crate) use pictures::charts;
pub(crate) use profiles::{charts as flame_graphs, missing as unprofiled, table as hottest};
pub(crate) use words::{REST, place};

pub(crate) const TITLE: &str = "What holds it back";
/// Explains the tables of [`shares`] and [`ladder`].
pub(crate) const NOTE: &str = "After the measured load, small slow-downs were switched on and off, each in half of all \
    windows, in an order in which none hides another. A microsecond for each transaction at a place costs the \
    whole system as many microseconds as the table says; one by that figure is how many transactions can be there at once. The \
    shares of all places sum to 100 %: what is left was not reached.";

/// What surely holds back by less than this part is excluded.
const LITTLE: f64 = 0.15;

/// The experiment of a trial, with what it says.
pub(crate) struct Answer<'a> {
    pub(crate) why: &'a Why,
    pub(crate) effects: Option<WhyEffects>,
    pub(crate) verdict: Verdict,
    /// Whether the system runs within dyno, so that dyno's CPU time is the system's too.
    is_embedded: bool,
    evidence: Evidence<'a>,
    /// The effects that change within a window, those that change most first.
    lasting: Vec<Lasting>,
    /// What longer windows say, where there were some.
    long: Option<Box<Self>>,
}

impl<'a> Answer<'a> {
    /// `None` for a trial without an experiment.
    pub(crate) fn of(trial: &Trial<'a>) -> Option<Self> {
        let why = trial.record.why.as_ref()?;
        let long = why.long.as_deref().map(|long| Box::new(Self::of_one(trial, long)));
        Some(Self { long, ..Self::of_one(trial, why) })
    }

    fn of_one(trial: &Trial<'a>, why: &'a Why) -> Self {
        // As often as the experiment looked at what it had.
        let cycle = analysis::why_cycle(why.used.len()) as u64;
        let cycles = why.at_most_ns / why.window_ns.max(1) / cycle;
        let looks = why_looks(usize::try_from(cycles).unwrap_or(1).max(1)).len();
        let effects = why_effects(why, looks);
        let too_short = Verdict::NotDecided(NotDecided::TooShort { times: 6.0 });
        let verdict = effects.as_ref().map_or(too_short, why_verdict);
        let is_embedded = trial.record.header.is_embedded;
        let (evidence, lasting) = (Evidence::of(trial), lasting::of(why));
        Self { why, effects, verdict, is_embedded, evidence, lasting, long: None }
    }

    pub(crate) fn code(&self) -> &'static str {
        words::code(self.verdict)
    }

    fn template(&self) -> &'static str {
        match self.verdict {
            Verdict::Generator if self.is_embedded => words::EMBEDDED,
            verdict => words::sentence(verdict),
        }
    }

    /// The answer in one or two sentences.
    pub(crate) fn sentence(&self) -> String {
        let values = self.values();
        let text = template::fill(self.template(), &values, None);
        let mut text = text.unwrap_or_else(|| words::code(self.verdict).to_owned());
        let advice = words::advice(self.verdict);
        if let Some(advice) = advice.and_then(|advice| template::fill(advice, &values, None)) {
            text.push_str(". ");
            text.push_str(&advice);
        }
        if let Some(parts) = members::parts(self) {
            text.push_str(&parts);
        }
        if let Some(toggled) = self.toggled() {
            text.push_str(&toggled);
        }
        let excluded = self.excluded();
        if !excluded.is_empty() {
            text.push_str(&format!(". Surely not: {}", excluded.join(", ")));
        }
        if let Some(evidence) = self.evidence.sentence(self) {
            text.push_str(". ");
            text.push_str(&evidence);
        }
        if let Some(profile) = profiles::sentence(&self.why.profiles) {
            text.push_str(". ");
            text.push_str(&profile);
        }
        if let Some(lasting) = lasting::sentence(self) {
            text.push_str(&lasting);
        }
        if let Some(cut) = &self.why.cut_short {
            text.push_str(&format!("; the experiment was cut short: {cut}"));
        }
        text
    }

    /// What the toggle of the plan does to the rate, with a word where that is no more than noise.
    fn toggled(&self) -> Option<String> {
        let effect = self.effects.as_ref()?.lever(measure::Lever::Toggle)?;
        let name = self.why.toggle.as_deref()?;
        // Of the rate: the other way round than that of the time.
        let rate = |time: f64| signed_percent((1.0 + time.max(-0.99)).recip() - 1.0);
        let change = effect.change;
        let reversed = Ranged95 { low: change.high, high: change.low, ..change };
        let is_shown = if effect.responds { "" } else { ", which is not more than noise" };
        let change = with_interval(reversed, rate);
        Some(format!(". With \"{name}\" the rate changes by {change}{is_shown}"))
    }

    /// The places whose share of the time is surely within [`LITTLE`] of nothing, each with the most that it may be. The
    /// bounds hold for all estimates together, and an interval within a margin is two one-sided tests. None when
    /// nothing is decided.
    ///
    /// Source: D. J. Schuirmann, A comparison of the two one-sided tests procedure, J. Pharmacokinet. Biopharm. 15 (1987).
    fn excluded(&self) -> Vec<String> {
        let Some(effects) =
            self.effects.as_ref().filter(|_| !matches!(self.verdict, Verdict::NotDecided(_)))
        else {
            return Vec::new();
        };
        let is_little = |it: &Ranged95| -LITTLE <= it.surely_low && it.surely_high <= LITTLE;
        let most = |it: Ranged95| percent(it.surely_high.max(0.0));
        let of_share = |place: &analysis::PlaceEffect| {
            let share = place.share.filter(is_little)?;
            Some(format!("{} ({} of the time at most)", words::place(place.place).1, most(share)))
        };
        let wait =
            effects.place(WhyPlace::Outside).map(|it| it.beta.scaled(effects.clients as f64));
        let wait = wait.filter(is_little);
        let wait =
            wait.map(|it| format!("the way to the server ({} of a delay shows at most)", most(it)));
        effects.places.iter().filter_map(of_share).chain(wait).collect()
    }

    /// What a verdict that names nothing tells, after so many seconds.
    fn undecided(&self, seconds: f64) -> Option<(&'static str, Value)> {
        let Verdict::NotDecided(why) = self.verdict else { return None };
        match why {
            NotDecided::TooShort { times } => {
                let more = (seconds * (times - 1.0)).max(seconds * 0.5) / 60.0;
                Some(("more_min", Value::Number(more.ceil().max(1.0))))
            }
            NotDecided::OthersBusy { cores } => Some(("others", Value::Number(cores))),
            NotDecided::SharesAboveOne { sum } => Some(("sum", Value::Part(sum))),
            NotDecided::Failures { part } => Some(("failed", Value::Part(part))),
            NotDecided::NullResponds => None,
        }
    }

    /// The figures of the sentence, by name.
    pub(crate) fn values(&self) -> Vec<(&'static str, Value)> {
        let mut values = vec![("clients", Value::Small(self.why.clients as u64))];
        let seconds = self.why.windows.len() as f64 * self.why.window_ns as f64 / 1e9;
        values.push(("seconds", Value::Number(seconds.round())));
        values.extend(self.undecided(seconds));
        let Some(effects) = &self.effects else { return values };
        let shares = [
            (WhyPlace::ServerCpu, ["server", "server_low", "server_high"]),
            (WhyPlace::ClientCpu, ["client", "client_low", "client_high"]),
            (WhyPlace::Flush, ["flush", "flush_low", "flush_high"]),
        ];
        for (place, names) in shares {
            if let Some(share) = effects.place(place).and_then(|it| it.share) {
                let bounds = [share.value, share.low, share.high];
                values.extend(names.into_iter().zip(bounds.map(Value::Part)));
            }
        }
        values.push(("client_busy", Value::Number(effects.client_busy)));
        values.push(("rest", Value::Part(effects.rest.value)));
        values.push((
            "response",
            Value::Nanos((1e9 * effects.clients as f64 / effects.rate_per_s) as u64),
        ));
        let outside =
            effects.place(WhyPlace::Outside).map(|it| it.beta.value * effects.clients as f64);
        // One client more of N: 1 / N of what the rate follows the number of clients.
        let client = effects.client_elasticity.map(|it| it.value).or(outside);
        let one_more =
            client.map(|elasticity| elasticity.clamp(-1.0, 1.0) / effects.clients as f64);
        values.extend(one_more.map(|change| ("one_more", Value::Change(change))));
        let at_once = |it: &analysis::PlaceEffect| Value::Number(it.beta.value.max(1e-3).recip());
        values.extend(effects.place(WhyPlace::Asleep).map(|it| ("slots", at_once(it))));
        if let Verdict::Member(number) = self.verdict {
            values.extend(members::values(self.why, effects, number));
        }
        if let Some(server) = effects.place(WhyPlace::ServerCpu) {
            let name = if server.share.is_some() { "at_once" } else { "unseen_at_once" };
            values.push((name, at_once(server)));
            values.extend(server.share.map(|share| ("less_work", less(share))));
            let more =
                server.share.zip(effects.server_cores).map(|(share, cores)| more(share, cores));
            values.extend(more.map(|more| ("core_more", more)));
        }
        if let Some(share) = effects.place(WhyPlace::ClientCpu).and_then(|it| it.share) {
            values.push(("less_client", less(share)));
        }
        let betas = [
            (WhyPlace::Inside, "inside"),
            (WhyPlace::Outside, "outside"),
            (WhyPlace::Flush, "flush_beta"),
        ];
        for (place, name) in betas {
            values.extend(effects.place(place).map(|it| (name, Value::Number(it.beta.value))));
        }
        values.extend(
            effects.fewer_cores.map(|it| ("fewer", Value::Change((1.0 + it.value).recip() - 1.0))),
        );
        values.extend(effects.server_cores.map(|cores| ("cores", Value::Small(cores as u64))));
        values.extend(effects.throttled.map(|part| ("throttled", Value::Part(part))));
        if let Some(busy) = effects.server_busy {
            values.push(("busy", Value::Number(busy)));
            values.push(("idle", Value::Number(effects.idle_cores().max(0.0))));
        }
        values
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        let range = range_json;
        let effects = self.effects.as_ref();
        let places = effects.map(|effects| {
            effects
                .places
                .iter()
                .map(|it| {
                    json!({
                        "place": words::place(it.place).0,
                        "dose_ns": it.dose_ns,
                        "beta": range(it.beta),
                        "share": it.share.map(range),
                    })
                })
                .collect::<Vec<_>>()
        });
        let levers = effects.map(|effects| {
            effects.levers.iter().map(|it| {
                json!({
                    "lever": words::lever_code(it.lever),
                    "member": words::member_of(it.lever).map(|number| members::name(self.why, number)),
                    "change": range(it.change),
                    "responds": it.responds,
                })
        }).collect::<Vec<_>>()
        });
        json!({
            "verdict": self.code(),
            "text": self.sentence(),
            "values": template::json(&self.values()),
            "places": places,
            "levers": levers,
            "members": members::json(self),
            "rest": effects.map(|it| range(it.rest)),
            "client_elasticity": effects.and_then(|it| it.client_elasticity).map(range),
            "evidence": self.why.evidence,
            "cycles": effects.map(|it| it.cycles),
            "profiles": profiles::json(&self.why.profiles),
            "not_used": self.why.unused,
            "window_ns": self.why.window_ns,
            "lasting": lasting::json(self),
            "long": self.long.as_ref().map(|long| long.json()),
        })
    }
}

fn range_json(range: Ranged95) -> serde_json::Value {
    json!({"value": range.value, "low_95": range.low, "high_95": range.high})
}

/// What a fifth less of a place's work would bring at most: the next limit may come before.
fn less(share: Ranged95) -> Value {
    Value::Change((1.0 - 0.2 * share.value.clamp(0.0, 1.0)).recip() - 1.0)
}

/// What one core more would bring at most.
fn more(share: Ranged95, cores: usize) -> Value {
    Value::Change((1.0 - share.value.clamp(0.0, 1.0) / (cores + 1) as f64).recip() - 1.0)
}

/// The shares of all places in the time for a transaction.
pub(crate) fn shares(digest: &Digest<'_>) -> Table {
    let mut table = Table::new().words("trial").words("place").bars("share").numbers("95 %");
    for (trial, effects) in each(digest) {
        let known =
            effects.places.iter().filter_map(|it| Some((words::place(it.place).1, it.share?)));
        let rest = std::iter::once((words::REST, effects.rest));
        for (at, (place, share)) in known.chain(rest).enumerate() {
            let name = if at == 0 { trial.name() } else { String::new() };
            table.row(vec![
                name,
                place.to_owned(),
                percent(share.value.max(0.0)),
                between(share.low, share.high, percent),
            ]);
        }
    }
    table
}

/// Every lever with what it did.
pub(crate) fn ladder(digest: &Digest<'_>) -> Table {
    let mut table = Table::new()
        .words("trial")
        .words("slow-down")
        .numbers("for each transaction")
        .numbers("change of the time")
        .numbers("95 %")
        .numbers("1 µs costs, µs")
        .numbers("95 %")
        .numbers("at once");
    for (trial, effects) in each(digest) {
        for (at, it) in effects.levers.iter().enumerate() {
            let name = if at == 0 { trial.name() } else { String::new() };
            let mut places = effects.places.iter().chain(&effects.members);
            let place = places.find(|place| words::lever_of(place.place) == it.lever);
            let why = trial.record.why.as_ref();
            let lever = why.map(|why| members::lever_name(why, it.lever)).unwrap_or_default();
            let mut cells = vec![
                name,
                lever,
                place.map_or(String::new(), |place| latency(place.dose_ns)),
                signed_percent(it.change.value),
                between(it.change.low, it.change.high, signed_percent),
            ];
            cells.extend(match place {
                None => [String::new(), String::new(), String::new()],
                Some(place) => {
                    let at_once = place.beta.value.recip();
                    let is_known = place.beta.surely_low > 0.0;
                    let at_once = if is_known { number(at_once) } else { String::new() };
                    [
                        number(place.beta.value),
                        between(place.beta.low, place.beta.high, number),
                        at_once,
                    ]
                }
            });
            table.row(cells);
        }
    }
    table
}

/// What could not be slowed down, and why.
pub(crate) fn not_used(digest: &Digest<'_>) -> Vec<String> {
    let of_trial = |trial: &Trial<'_>| {
        let unused = trial.record.why.as_ref()?.unused.iter();
        let unused = unused.map(|it| format!("{} ({})", words::lever(it.lever), it.reason));
        let all: Vec<String> = unused.chain(members::left_out(trial)).collect();
        (!all.is_empty()).then(|| format!("{}: not used: {}", trial.name(), all.join("; ")))
    };
    digest.trials.iter().filter_map(of_trial).collect()
}

fn each<'d, 'a>(digest: &'d Digest<'a>) -> impl Iterator<Item = (&'d Trial<'a>, WhyEffects)> {
    digest.trials.iter().filter_map(|trial| Some((trial, Answer::of(trial)?.effects?)))
}

/// The ends of an interval; empty where they are not known.
pub(crate) fn between(low: f64, high: f64, show: impl Fn(f64) -> String) -> String {
    if low.is_finite() { format!("{} to {}", show(low), show(high)) } else { String::new() }
}

/// The value, with the ends of its interval where they are known.
fn with_interval(range: Ranged95, show: impl Fn(f64) -> String) -> String {
    match between(range.low, range.high, &show) {
        between if between.is_empty() => show(range.value),
        between => format!("{} ({between})", show(range.value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::Reading;
    use crate::sample;

    fn run() -> record::Run {
        let mut run = sample::run();
        run.trials[0].why = Some(sample::experiment(8_000));
        run
    }

    #[test]
    fn a_load_that_waits_for_itself_is_told_with_shares_that_sum_to_one() {
        let run = run();
        let reading = Reading::new(&run);
        let answer = Answer::of(&reading.digest.trials[0]).unwrap();
        assert_eq!(answer.code(), "latency");
        let text = answer.sentence();
        assert!(
            text.starts_with("nothing is full: each client waits for its own answers. Of the 20"),
            "{text}"
        );
        assert!(text.contains("One client more brings about +"), "{text}");
        assert!(text.contains("Surely not: dyno's CPU ("), "{text}");
        let json = answer.json();
        let share = |at: usize| json["places"][at]["share"]["value"].as_f64();
        let known: f64 = (0..3).filter_map(share).sum();
        assert!((known + json["rest"]["value"].as_f64().unwrap() - 1.0).abs() < 1e-9, "{json:#}");
        assert!(
            (json["places"][0]["beta"]["value"].as_f64().unwrap() - 0.5).abs() < 0.05,
            "{json:#}"
        );
        let text = crate::markdown(&reading);
        for part in [
            "## What holds it back",
            "a wait before a transaction",
            "one core fewer (one core only)",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn the_bar_of_a_load_ends_at_all_of_the_time_and_the_ladder_has_each_place() {
        let run = run();
        let charts = charts(&Reading::new(&run).digest);
        let [bar, ladder] = charts.as_slice() else { panic!("{charts:?}") };
        let last = bar.bands.last().unwrap();
        assert!((last.to - 100.0).abs() < 1e-9, "{:?}", bar.bands);
        assert_eq!(bar.bands.len(), 3);
        assert!(bar.bands.windows(2).all(|pair| pair[0].to == pair[1].from), "{:?}", bar.bands);
        let dots = &ladder.series[0].dots;
        assert_eq!(dots.len(), 3);
        assert!((dots[0].y - 0.5).abs() < 0.05 && dots[0].error.is_some(), "{dots:?}");
    }

    #[test]
    fn a_toggle_tells_what_it_does_to_the_rate() {
        let mut run = run();
        let why = run.trials[0].why.as_mut().unwrap();
        // The pause of a client doubles the time: as a toggle it halves the rate.
        let pause = why.used.iter_mut().find(|it| it.lever == measure::Lever::Clients).unwrap();
        pause.lever = measure::Lever::Toggle;
        why.toggle = Some("no cache".to_owned());
        for window in &mut why.windows {
            let is_on = window.setting & measure::Lever::Clients.bit() != 0;
            window.setting &= !measure::Lever::Clients.bit();
            window.setting |= if is_on { measure::Lever::Toggle.bit() } else { 0 };
        }
        let reading = Reading::new(&run);
        let text = Answer::of(&reading.digest.trials[0]).unwrap().sentence();
        assert!(
            text.contains("With \"no cache\" the rate changes by -50 % (-50 % to -50 %)"),
            "{text}"
        );
    }

    #[test]
    fn every_verdict_has_a_sentence_without_gaps() {
        let mut run = run();
        let stopped = measure::ServerEvidence {
            span_ns: 10,
            throttled_ns: Some(4),
            ..measure::ServerEvidence::default()
        };
        run.trials[0].why.as_mut().unwrap().evidence = Some(stopped);
        let reading = Reading::new(&run);
        let mut on_a_cluster = sample::run();
        on_a_cluster.trials[0].why = Some(sample::experiment_on_a_cluster());
        let cluster = Reading::new(&on_a_cluster);
        let refused = [
            NotDecided::TooShort { times: 3.0 },
            NotDecided::NullResponds,
            NotDecided::OthersBusy { cores: 1.5 },
            NotDecided::SharesAboveOne { sum: 1.6 },
            NotDecided::Failures { part: 0.2 },
        ];
        let found = [
            Verdict::Generator,
            Verdict::Latency,
            Verdict::ServerCpu,
            Verdict::OneAtATime,
            Verdict::ServerWork,
            Verdict::Slots,
            Verdict::Member(0),
            Verdict::OtherPrograms,
            Verdict::Quota,
            Verdict::SharedCpu,
            Verdict::Held,
            Verdict::FlushShared,
            Verdict::FlushSerial,
            Verdict::Untouched,
            Verdict::TooManyClients,
            Verdict::Several,
        ];
        let mut told = std::collections::BTreeSet::new();
        for verdict in found.into_iter().chain(refused.map(Verdict::NotDecided)) {
            let reading = if matches!(verdict, Verdict::Member(_)) { &cluster } else { &reading };
            let answer = Answer { verdict, ..Answer::of(&reading.digest.trials[0]).unwrap() };
            let text = answer.sentence();
            assert!(text.len() > 30 && !text.contains(['{', '[']), "{verdict:?}: {text}");
            assert!(told.insert(text), "{verdict:?}");
        }
    }
}

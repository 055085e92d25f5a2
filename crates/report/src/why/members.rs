//! The servers of a cluster, each slowed down on its own: which of them holds it back.

use analysis::{PlaceEffect, Ranged95, Value, Verdict, WhyEffects, WhyPlace};
use measure::{Lever, Why};
use serde_json::json;

use super::{Answer, between, each, less, range_json, with_interval, words};
use crate::digest::{Digest, Trial};
use crate::number::{number, percent};
use crate::table::Table;

/// What is said of a server whose share was not seen apart from that of others.
const NOT_KNOWN: &str = "not known";

/// So many servers that share a limit are named.
const NAMED: usize = 3;

/// The name of a member; its number where the record has none.
pub(super) fn name(why: &Why, number: u8) -> String {
    let known = why.members.get(usize::from(number));
    known.map_or_else(|| format!("server {}", number + 1), |member| member.name.clone())
}

/// What a slow-down is called; that of one server has its name.
pub(super) fn lever_name(why: &Why, lever: Lever) -> String {
    match lever {
        Lever::Member(number) => alone(&name(why, number)),
        lever => words::lever(lever).to_owned(),
    }
}

fn alone(server: &str) -> String {
    format!("work in {server} alone")
}

fn number_of(it: &PlaceEffect) -> Option<u8> {
    match it.place {
        WhyPlace::Member(number) => Some(number),
        _ => None,
    }
}

/// The most that a member's share can be: surely, or because a core does one thing at a time.
fn most(effects: &WhyEffects, it: &PlaceEffect) -> Option<f64> {
    let surely = it.share.map(|share| share.surely_high.max(0.0));
    [surely, effects.busy_cores(it)].into_iter().flatten().reduce(f64::min)
}

/// The figures of the sentence that names a member.
pub(super) fn values(why: &Why, effects: &WhyEffects, found: u8) -> Vec<(&'static str, Value)> {
    let mut values = vec![("member", Value::Text(name(why, found)))];
    let (own, others): (Vec<&PlaceEffect>, Vec<&PlaceEffect>) =
        effects.members.iter().partition(|it| number_of(it) == Some(found));
    let Some((own, share)) = own.into_iter().find_map(|it| Some((it, it.share?))) else {
        return values;
    };
    values.extend([
        ("member_share", Value::Part(share.value)),
        ("member_low", Value::Part(share.low)),
        ("member_high", Value::Part(share.high)),
        ("member_at_once", Value::Number(own.beta.value.max(1e-3).recip())),
        ("member_less", less(share)),
    ]);
    values.extend(effects.busy_cores(own).map(|cores| ("member_busy", Value::Number(cores))));
    let others = others.into_iter().filter_map(|it| most(effects, it));
    values.extend(others.reduce(f64::max).map(|part| ("others_most", Value::Part(part))));
    values
}

/// What the servers of a cluster have of the limit that they share, those with the most first; `None` where it is another one,
/// or one of them has it alone.
pub(super) fn parts(answer: &Answer<'_>) -> Option<String> {
    let is_shared = matches!(
        answer.verdict,
        Verdict::ServerCpu | Verdict::ServerWork | Verdict::OneAtATime | Verdict::SharedCpu
    );
    let effects = answer.effects.as_ref().filter(|_| is_shared)?;
    let known = effects.members.iter().filter_map(|it| Some((number_of(it)?, it.share?)));
    let mut known: Vec<(u8, Ranged95)> = known.collect();
    known.sort_by(|one, other| other.1.value.total_cmp(&one.1.value));
    let part = |(number, share): &(u8, Ranged95)| {
        format!("`{}` has {}", name(answer.why, *number), with_interval(*share, percent))
    };
    let parts: Vec<String> = known.iter().take(NAMED).map(part).collect();
    (!parts.is_empty()).then(|| format!(". Of its servers {}", parts.join(", ")))
}

/// Every server of every cluster.
pub(crate) fn table(digest: &Digest<'_>) -> Table {
    let mut table = Table::new()
        .words("trial")
        .words("server")
        .numbers("cores busy")
        .numbers("share of the time")
        .numbers("95 %")
        .numbers("1 µs costs, µs")
        .numbers("95 %");
    for (trial, effects) in each(digest) {
        let Some(why) = trial.record.why.as_ref() else { continue };
        for (at, it) in effects.members.iter().enumerate() {
            let share = it.share;
            table.row(vec![
                if at == 0 { trial.name() } else { String::new() },
                number_of(it).map(|number| name(why, number)).unwrap_or_default(),
                effects.busy_cores(it).map_or(String::new(), number),
                share.map_or(NOT_KNOWN.to_owned(), |share| percent(share.value.max(0.0))),
                share.map_or(String::new(), |share| between(share.low, share.high, percent)),
                number(it.beta.value),
                between(it.beta.low, it.beta.high, number),
            ]);
        }
    }
    table
}

/// The servers without a slow-down of their own, each with the reason.
pub(super) fn left_out(trial: &Trial<'_>) -> Vec<String> {
    let members = trial.record.why.iter().flat_map(|why| &why.members);
    let of_member = |member: &measure::WhyMember| {
        let reason = member.left_out.as_ref()?;
        Some(format!("{} ({reason})", alone(&member.name)))
    };
    members.filter_map(of_member).collect()
}

pub(super) fn json(answer: &Answer<'_>) -> serde_json::Value {
    let effects = answer.effects.as_ref();
    let of_member = |(at, member): (usize, &measure::WhyMember)| {
        let is_it = |it: &&PlaceEffect| number_of(it).map(usize::from) == Some(at);
        let found = effects.and_then(|effects| effects.members.iter().find(is_it));
        let found = found.filter(|_| member.left_out.is_none());
        json!({
            "name": member.name,
            "busy_cores": effects
                .and_then(|effects| effects.busy_cores(found?))
                .or(member.busy),
            "left_out": member.left_out,
            "dose_ns": found.map(|it| it.dose_ns),
            "beta": found.map(|it| range_json(it.beta)),
            "share": found.and_then(|it| it.share).map(range_json),
        })
    };
    answer.why.members.iter().enumerate().map(of_member).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::Reading;
    use crate::sample;

    #[test]
    fn the_store_that_holds_a_cluster_back_is_named_with_its_share_in_every_view() {
        let mut run = sample::run();
        run.trials[0].why = Some(sample::experiment_on_a_cluster());
        let reading = Reading::new(&run);
        let answer = Answer::of(&reading.digest.trials[0]).unwrap();
        assert_eq!(answer.code(), "member");
        let text = answer.sentence();
        let expected = "`store-2` holds the cluster back: its work has 80 % of the time (";
        assert!(text.starts_with(expected), "{text}");
        assert!(text.contains("it keeps 0.800 cores busy"), "{text}");
        assert!(text.contains("20 % less of its work would bring at most +19 %"), "{text}");
        let json = answer.json();
        assert_eq!(json["values"]["member"], "store-2", "{json:#}");
        let members = json["members"].as_array().unwrap();
        let share = |at: usize| members[at]["share"]["value"].as_f64().unwrap();
        assert!((share(0) - 0.8).abs() < 0.02 && share(1).abs() < 0.02, "{json:#}");
        assert!((members[0]["beta"]["value"].as_f64().unwrap() - 1.0).abs() < 0.02, "{json:#}");
        assert_eq!(members[3]["left_out"], "it keeps 0.004 of a core busy");
        assert!(members[3]["share"].is_null(), "{json:#}");
        let lever = json["levers"].as_array().unwrap().iter().find(|it| it["lever"] == "member");
        assert_eq!(lever.unwrap()["member"], "store-2");
        let text = crate::markdown(&reading);
        for part in [
            "Each server of the cluster, slowed down alone",
            "work in store-2 alone",
            "work in store-3 alone (it keeps 0.004 of a core busy)",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn servers_that_share_a_limit_are_told_with_their_parts_of_it() {
        let mut run = sample::run();
        run.trials[0].why = Some(sample::experiment_on_a_cluster());
        let reading = Reading::new(&run);
        let answer = Answer::of(&reading.digest.trials[0]).unwrap();
        let answer = Answer { verdict: Verdict::SharedCpu, ..answer };
        let text = parts(&answer).unwrap();
        assert!(text.starts_with(". Of its servers `store-2` has 80 % ("), "{text}");
        assert!(text.contains(", `front` has "), "{text}");
        assert_eq!(parts(&Answer { verdict: Verdict::Latency, ..answer }), None);
    }

    #[test]
    fn a_system_of_one_server_has_no_table_of_servers() {
        let mut run = sample::run();
        run.trials[0].why = Some(sample::experiment(8_000));
        let text = crate::markdown(&Reading::new(&run));
        assert!(!text.contains("Each server of the cluster"), "{text}");
    }
}

//! Why rounds that end by themselves ended: the rule, repeated on the record, in words and for programs.

use analysis::{RoundsLook, rounds_are_over};
use measure::{RoundsGoal, RoundsRule};
use serde_json::{Value, json};

use crate::comparison::Group;
use crate::figure::Figure;
use crate::number::{percent, several};

/// How the rounds of a group of variants ended.
pub(crate) struct Ended<'a> {
    rule: &'a RoundsRule,
    baseline: &'a str,
    rounds: u32,
    /// What they show of every variant but the baseline, over all its loads; `None` without a round to compare.
    looks: Vec<(&'a str, Option<RoundsLook>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    /// What the rule asks for is known of every variant.
    Reached,
    /// The most rounds were measured.
    AtMost,
    /// A variant has no round to be compared in; of the others it is known.
    NotCompared,
    /// The run ended before.
    Early,
}

/// How the rounds of a group ended; `None` where their number was set.
pub(crate) fn ended<'a>(group: &Group<'_, 'a>) -> Option<Ended<'a>> {
    let rule = group.rule()?;
    let look = |name: &'a str| {
        let (_, found) = group.verdict(name);
        (name, found.map(|found| RoundsLook::at(rule, &found)))
    };
    let looks = group.others().map(look).collect();
    Some(Ended { rule, baseline: group.baseline(), rounds: group.rounds_begun(), looks })
}

impl Ended<'_> {
    fn reason(&self) -> Reason {
        let looks: Vec<Option<RoundsLook>> = self.looks.iter().map(|(_, look)| *look).collect();
        let is_known = |look: &Option<RoundsLook>| look.is_some_and(|look| look.is_reached);
        if !rounds_are_over(self.rule, self.rounds, &looks) {
            Reason::Early
        } else if looks.iter().all(is_known) {
            Reason::Reached
        } else if self.rounds >= self.rule.at_most {
            Reason::AtMost
        } else {
            Reason::NotCompared
        }
    }

    /// In a few sentences: the rule, why the rounds ended, and what the intervals allow for.
    pub(crate) fn text(&self) -> String {
        let RoundsRule { goal, figure, at_least, at_most } = *self.rule;
        let figure = Figure::of_rule(figure).name();
        let rule = match goal {
            RoundsGoal::Decide(margin) => format!(
                "the {figure} of every variant is shown to differ from that of {} (and the ratio does by {margin} or \
                 more), or to be within {margin} of it",
                self.baseline,
                margin = percent(margin)
            ),
            RoundsGoal::Width(width) => format!(
                "half the width of the 95 % interval of every ratio of {figure} is at most {}",
                percent(width)
            ),
        };
        let intervals = match goal {
            RoundsGoal::Decide(_) => {
                "The 95 % intervals allow for that: they are those of a confidence sequence, which holds in whichever \
                 round one looks at it, and is wider than Student's."
            }
            RoundsGoal::Width(_) => {
                "The 95 % intervals allow for that: they are Student's, widened by 1 + 2 / (degrees of freedom)."
            }
        };
        let rounds = several(self.rounds.into(), "round", "rounds");
        format!(
            "Rounds ended by themselves: when {rule}, after {at_least} rounds at the earliest and {at_most} at the \
             latest. {} after {rounds}{} {intervals}",
            if self.reason() == Reason::Early { "The run ended" } else { "They ended" },
            self.why()
        )
    }

    fn why(&self) -> String {
        match self.reason() {
            Reason::Reached => format!(", because that was reached: {}.", self.told(true)),
            Reason::AtMost => {
                format!(", the most, and that was not reached: {}.", self.told(false))
            }
            Reason::NotCompared => {
                format!(", because there is nothing to wait for: {}.", self.told(false))
            }
            Reason::Early if self.looks.is_empty() => ", before that was reached.".to_owned(),
            Reason::Early => format!(", before that was reached: {}.", self.told(false)),
        }
    }

    /// The variants of which it is known, or is not.
    fn told(&self, is_reached: bool) -> String {
        let is_asked =
            |look: &Option<RoundsLook>| look.is_some_and(|look| look.is_reached) == is_reached;
        let asked = self.looks.iter().filter(|(_, look)| is_asked(look));
        let told = asked.map(|(name, look)| match look {
            None => format!("{name} has no round to be compared in"),
            Some(look) => format!("{name} ({})", told(look)),
        });
        told.collect::<Vec<_>>().join("; ")
    }

    pub(crate) fn json(&self) -> Value {
        let RoundsRule { goal, figure, at_least, at_most } = *self.rule;
        let (goal, part) = match goal {
            RoundsGoal::Width(width) => ("width", width),
            RoundsGoal::Decide(margin) => ("decide", margin),
        };
        let looks = self.looks.iter().map(|(name, look)| {
            json!({
                "variant": name,
                "rounds": look.map_or(0, |look| look.rounds),
                "half_width": look.and_then(|look| look.half_width),
                "reached": look.is_some_and(|look| look.is_reached),
                "rounds_needed": look.and_then(|look| look.rounds_needed()),
            })
        });
        let ended = match self.reason() {
            Reason::Reached => "reached",
            Reason::AtMost => "at-most",
            Reason::NotCompared => "not-compared",
            Reason::Early => "early",
        };
        json!({
            "goal": goal,
            "part": part,
            "figure": Figure::of_rule(figure).name(),
            "at_least": at_least,
            "at_most": at_most,
            "rounds": self.rounds,
            "ended": ended,
            "variants": looks.collect::<Vec<_>>(),
            "text": self.text(),
        })
    }
}

fn told(look: &RoundsLook) -> String {
    let half = look.half_width.map(|half| format!("half width {}", percent(half)));
    let needed = look.rounds_needed().map(|needed| format!("about {needed} rounds would do"));
    let parts: Vec<String> = half.into_iter().chain(needed).collect();
    if parts.is_empty() { "without an interval".to_owned() } else { parts.join(", ") }
}

#[cfg(test)]
mod tests {
    use measure::RoundsGoal::{Decide, Width};

    use super::*;
    use crate::Reading;

    use crate::sample;

    /// The first row of the table, the text, and the value for programs.
    fn views(run: &record::Run) -> (String, String, Value) {
        let reading = Reading::new(run);
        let group = &reading.groups()[0];
        let row = group.table().text().lines().nth(1).unwrap().to_owned();
        let json: Value = serde_json::from_str(&crate::json(&reading)).unwrap();
        let rounds = json["variants"][0]["rounds"].clone();
        let text = ended(group).unwrap().text();
        assert_eq!(rounds["text"], text.as_str());
        for view in
            [crate::terminal(&reading), crate::whole_html(&reading), crate::markdown(&reading)]
        {
            assert!(view.contains("Rounds ended by themselves"), "{view}");
        }
        (row, text, rounds)
    }

    /// A standard error of 0.01 x sqrt (6 / 5 / 6) = 0.004 472 with 5 degrees of freedom: 2.5706 x (1 + 2 / 5) of them are
    /// 0.016 095, and exp that is 1.6 % more.
    #[test]
    fn rounds_that_ended_by_their_width_have_the_widened_interval() {
        let (row, text, json) = views(&sample::rounds(Width(0.02), 6, 1.2, 0.01));
        assert!(row.contains("faster") && row.contains("1.181 to 1.219"), "{row}");
        assert!(
            text.contains(
                "They ended after 6 rounds, because that was reached: v3 (half width 1.6 %)."
            ),
            "{text}"
        );
        assert!(text.contains("every ratio of throughput is at most 2.0 %"), "{text}");
        assert_eq!((&json["goal"], &json["part"]), (&"width".into(), &0.02.into()));
        assert_eq!((&json["ended"], &json["rounds"]), (&"reached".into(), &6.into()));
        let half = json["variants"][0]["half_width"].as_f64().unwrap();
        assert!((half - 0.016_095_f64.exp_m1()).abs() < 1e-5, "{json}");
    }

    /// The same standard error. R = (20 sqrt 7) ^ (1 / 3) = 3.7540, so t is sqrt (5 (R - 1) / (1 - R / 7)) = 5.449: 0.024 370.
    #[test]
    fn rounds_that_ended_by_a_decision_have_the_interval_of_the_sequence() {
        let (row, text, json) = views(&sample::rounds(Decide(0.03), 6, 1.2, 0.01));
        assert!(row.contains("faster") && row.contains("1.171 to 1.230"), "{row}");
        assert!(text.contains("differ from that of v1 (and the ratio does by 3.0 % or more), or to be within 3.0 % of it"), "{text}");
        assert!(text.contains("because that was reached: v3 (half width 2.5 %)."), "{text}");
        assert_eq!((&json["goal"], &json["ended"]), (&"decide".into(), &"reached".into()));
        let (row, _, json) = views(&sample::rounds(Decide(0.03), 6, 1.0, 0.002));
        assert!(row.contains("equal") && json["ended"] == "reached", "{row} {json}");
    }

    #[test]
    fn rounds_that_did_not_reach_it_tell_how_many_would() {
        let (row, text, json) = views(&sample::rounds(Width(0.02), 8, 1.0, 0.1));
        assert!(row.contains("undecided"), "{row}");
        assert!(
            text.contains(
                "They ended after 8 rounds, the most, and that was not reached: v3 (half width"
            ),
            "{text}"
        );
        assert_eq!(json["ended"], "at-most");
        // The deviation of eight is 0.106 904. With 119 rounds 1.980 27 x (1 + 2 / 118) x that / sqrt 119 is 0.019 735, less
        // than ln 1.02 = 0.019 803; with 118 it is 0.019 823.
        assert_eq!(json["variants"][0]["rounds_needed"], 119);
        assert!(text.contains("about 119 rounds would do"), "{text}");
        let (_, text, json) = views(&sample::rounds(Width(0.02), 6, 1.0, 0.1));
        assert!(text.contains("The run ended after 6 rounds, before that was reached"), "{text}");
        assert_eq!(json["ended"], "early");
    }

    #[test]
    fn a_variant_without_a_round_is_not_waited_for() {
        let mut run = sample::rounds(Decide(0.03), 5, 1.2, 0.01);
        for trial in run.trials.iter_mut().filter(|it| it.header.system == "tidb.v3") {
            trial.end.as_mut().unwrap().status = record::TrialStatus::Failed("no".to_owned());
        }
        let reading = Reading::new(&run);
        let ended = ended(&reading.groups()[0]).unwrap();
        assert_eq!(ended.reason(), Reason::NotCompared);
        assert!(ended.text().contains("v3 has no round to be compared in"), "{}", ended.text());
    }

    /// Three rounds of a decision have no interval, and no ends of one.
    #[test]
    fn too_few_rounds_for_a_sequence_show_no_interval() {
        let run = sample::rounds(Decide(0.03), 3, 1.2, 0.01);
        let (row, text, json) = views(&run);
        assert!(row.contains("too few rounds") && !row.contains(" to "), "{row}");
        assert!(
            text.contains(
                "The run ended after 3 rounds, before that was reached: v3 (without an interval"
            ),
            "{text}"
        );
        assert!(json["variants"][0]["half_width"].is_null(), "{json}");
        let reading = Reading::new(&run);
        let value: Value = serde_json::from_str(&crate::json(&reading)).unwrap();
        assert!(value["variants"][0]["compared"][0]["throughput"]["low_95"].is_null());
        let told = crate::terminal(&reading);
        assert!(told.contains("Whether v3 or v1 is faster is not decided"), "{told}");
    }

    /// Without a rule the verdict is by throughput.
    #[test]
    fn a_rule_by_a_latency_is_judged_by_it() {
        let mut run = sample::rounds(Width(0.02), 6, 1.2, 0.01);
        run.header.rounds.as_mut().unwrap().figure = measure::PreciseFigure::Percentile(99.0);
        let reading = Reading::new(&run);
        let group = &reading.groups()[0];
        assert_eq!(group.judged_by(&group.points("v3")), Figure::Latency(99.0));
        assert_eq!(group.latency(), Figure::Latency(99.0));
    }

    #[test]
    fn rounds_of_a_set_number_tell_nothing() {
        let run = sample::variants();
        let reading = Reading::new(&run);
        assert!(ended(&reading.groups()[0]).is_none());
        let json: Value = serde_json::from_str(&crate::json(&reading)).unwrap();
        assert!(json["variants"][0]["rounds"].is_null());
    }
}

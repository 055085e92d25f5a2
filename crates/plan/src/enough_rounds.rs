//! `rounds`: variants are measured in rounds until their ratios are known well enough.

use crate::keys::{Form, Key};
use crate::units::parse_part;
use crate::value::Value;
use crate::{OptionReader, Options, PreciseFigure, Problem};

/// The key.
pub(crate) const ROUNDS: &str = "rounds";
/// The fewest rounds, where the plan sets no others.
const AT_LEAST: u64 = 5;
/// The most rounds, where the plan sets no others.
const AT_MOST: u64 = 40;
/// With fewer rounds the intervals of rounds that end by themselves were not tried.
const ROUNDS_MIN: u64 = 4;
/// With fewer rounds a confidence sequence has no interval, so that nothing can be decided.
const ROUNDS_OF_SEQUENCE: u64 = 5;
const ROUNDS_MAX: u64 = 10_000;
const EXAMPLE: &str = "write such as { width = \"2%\" } or { decide = \"3%\", at_most = 40 }";
const FIGURES: &str = "allowed: \"throughput\", \"mean\", or a percentile such as \"p99\"";

/// Rounds go on until every variant's ratio to the baseline is known well enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundsPlan {
    pub goal: RoundsGoal,
    pub figure: PreciseFigure,
    pub at_least: u32,
    /// The most rounds; also [`crate::Plan::repetitions`].
    pub at_most: u32,
}

/// What is to be known of a ratio; both as a part of 1, above 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RoundsGoal {
    /// The ratio itself: half the width of its 95 % interval is at most this part of it.
    Width(f64),
    /// Whether the ratio differs from 1, or differs by less than this part: also [`crate::Plan::least_difference`].
    Decide(f64),
}

/// The key at the top of a plan.
pub(crate) fn key() -> Key {
    let keys = vec![
        Key::new(
            "width",
            Form::Part,
            "half the width of each ratio's interval at which rounds end",
        ),
        Key::new("decide", Form::Part, "the difference that rounds decide on"),
        Key::new("figure", Form::Text, "`throughput`, `mean`, or a percentile such as `p99`")
            .or("throughput"),
        Key::new("at_least", Form::Integer(ROUNDS_MIN..=ROUNDS_MAX), "the fewest rounds")
            .or(AT_LEAST),
        Key::new("at_most", Form::Integer(ROUNDS_MIN..=ROUNDS_MAX), "the most rounds").or(AT_MOST),
    ];
    Key::new(ROUNDS, Form::Table(keys), "measures variants in rounds until they are known well")
}

impl RoundsPlan {
    /// The least difference that matters, where the rule sets it.
    pub(crate) fn margin(&self) -> Option<f64> {
        match self.goal {
            RoundsGoal::Decide(margin) => Some(margin),
            RoundsGoal::Width(_) => None,
        }
    }
}

/// `rounds` at the top of the plan; `None` where the plan sets their number.
pub(crate) fn read(
    reader: &mut OptionReader<'_>,
    problems: &mut Vec<Problem>,
) -> Option<RoundsPlan> {
    let placed = reader.placed(ROUNDS)?;
    let Value::Table(table) = &placed.value else {
        let message = format!("`{ROUNDS}` is {}, not a table", placed.value.kind());
        let help = format!("{EXAMPLE}; a number of rounds is set by `repetitions`");
        problems.push(Problem { span: placed.span.clone(), message, help: Some(help) });
        return None;
    };
    let rounds = read_table(table, problems);
    if reader.is_given("repetitions") {
        let message = "`repetitions` is set together with `rounds`";
        let help = "keep `repetitions` for a fixed number of rounds, or `rounds` to let them end by themselves";
        reader.reject("repetitions", message, help);
    }
    if rounds.is_some_and(|it| it.margin().is_some()) && reader.is_given("least_difference") {
        let message = "`least_difference` is set together with `rounds.decide`";
        let help = "`decide` is the least difference that matters: leave `least_difference` out";
        reader.reject("least_difference", message, help);
    }
    rounds
}

fn read_table(table: &Options, problems: &mut Vec<Problem>) -> Option<RoundsPlan> {
    let mut reader = table.reader();
    let goal = read_goal(&mut reader);
    let figure = reader.text("figure").and_then(|text| match PreciseFigure::parse(text.trim()) {
        Ok(figure) => Some(figure),
        Err(why) => {
            reader.reject("figure", format!("`figure` is {text:?}: {why}"), FIGURES);
            None
        }
    });
    let fewest = match goal {
        Some(RoundsGoal::Decide(_)) => ROUNDS_OF_SEQUENCE,
        Some(RoundsGoal::Width(_)) | None => ROUNDS_MIN,
    };
    let allowed = fewest..=ROUNDS_MAX;
    let at_least = reader.integer("at_least", AT_LEAST, allowed.clone());
    let at_most = reader.integer("at_most", AT_MOST.max(at_least), allowed);
    if at_most < at_least {
        let message = format!("`at_most` is {at_most}, fewer than `at_least`, {at_least}");
        reader.reject("at_most", message, "`at_least` is the fewest rounds, `at_most` the most");
    }
    problems.extend(reader.finish().err().unwrap_or_default());
    let [at_least, at_most] = [at_least, at_most].map(|it| u32::try_from(it).unwrap_or(u32::MAX));
    let figure = figure.unwrap_or(PreciseFigure::Throughput);
    Some(RoundsPlan { goal: goal?, figure, at_least, at_most })
}

fn read_goal(reader: &mut OptionReader<'_>) -> Option<RoundsGoal> {
    match ["width", "decide"].map(|name| reader.is_given(name)) {
        [true, false] => read_part(reader, "width").map(RoundsGoal::Width),
        [false, true] => read_part(reader, "decide").map(RoundsGoal::Decide),
        [false, false] => {
            let message = "the rounds have no `width` and no `decide`, so nothing ends them";
            reader.reject("width", message, EXAMPLE);
            None
        }
        [true, true] => {
            let message = "`decide` is set together with `width`";
            let help = "`width` ends the rounds by the width of the interval, `decide` by the difference: keep one";
            reader.reject("decide", message, help);
            None
        }
    }
}

/// A part of 1; `None` when it is wrong.
fn read_part(reader: &mut OptionReader<'_>, name: &str) -> Option<f64> {
    let text = reader.text(name)?;
    let part = parse_part(text.trim()).filter(|part| (0.0001..=1.0).contains(part));
    if part.is_none() {
        let message = format!("`{name}` is {text:?}, not a part of a ratio");
        reader.reject(name, message, "allowed: \"0.01%\" to \"100%\", such as \"2%\" or 0.02");
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Plan, Source};

    /// A plan with two variants, these lines at its top and those under `[load]`.
    fn plan(top: &str, load: &str) -> Result<Plan, String> {
        let text = format!(
            "{top}\nworkload = \"simulated\"\n[systems.it]\nkind = \"simulated\"\n[systems.it.variants.one]\n\
             [systems.it.variants.other]\n[load]\n{load}\n"
        );
        let source = Source { name: "p.toml".to_owned(), text, folder: ".".into() };
        Plan::parse(source).map_err(|problems| problems.to_string())
    }

    #[test]
    fn rounds_that_end_by_themselves_have_defaults() {
        let plan = |top| plan(top, "").unwrap();
        let by_width = plan("rounds = { width = \"2%\" }");
        let rounds = by_width.rounds.unwrap();
        assert_eq!(
            (rounds.goal, rounds.figure),
            (RoundsGoal::Width(0.02), PreciseFigure::Throughput)
        );
        assert_eq!((rounds.at_least, rounds.at_most, by_width.repetitions), (5, 40, 40));
        assert_eq!(by_width.least_difference, crate::LEAST_DIFFERENCE);
        assert_eq!(by_width.trials().len(), 80, "the most that there can be");
        assert!(by_width.has_open_end() && by_width.may_end_sooner());
        let decided =
            plan("rounds = { decide = 0.03, at_least = 6, at_most = 12, figure = \"p99\" }");
        let rounds = decided.rounds.unwrap();
        assert_eq!(rounds.goal, RoundsGoal::Decide(0.03));
        assert_eq!(rounds.figure, PreciseFigure::Percentile(99.0));
        assert_eq!((rounds.at_least, rounds.at_most, decided.repetitions), (6, 12, 12));
        assert_eq!(decided.least_difference, 0.03);
        let many = plan("rounds = { width = \"1%\", at_least = 60 }").rounds.unwrap();
        assert_eq!((many.at_least, many.at_most), (60, 60));
        assert!(!plan("repetitions = 6").has_open_end());
    }

    #[test]
    fn rounds_that_go_with_nothing_are_explained() {
        let cases = [
            ("rounds = 6", "a number of rounds is set by `repetitions`"),
            ("rounds = { at_most = 9 }", "no `width` and no `decide`"),
            (
                "rounds = { width = \"2%\", decide = \"3%\" }",
                "`decide` is set together with `width`",
            ),
            ("rounds = { width = \"0%\" }", "not a part of a ratio"),
            ("rounds = { width = \"2\" }", "not a part of a ratio"),
            ("rounds = { decide = \"x\" }", "not a part of a ratio"),
            ("rounds = { width = \"2%\", at_least = 3 }", "allowed: 4 to 10000"),
            ("rounds = { decide = \"2%\", at_least = 4 }", "allowed: 5 to 10000"),
            ("rounds = { width = \"2%\", at_least = 9, at_most = 8 }", "fewer than `at_least`, 9"),
            ("rounds = { width = \"2%\", figure = \"cpu\" }", "no figure has that name"),
            ("rounds = { width = \"2%\", figure = \"p97\" }", "add 97 to `percentiles`"),
            ("rounds = { width = \"2%\", most = 9 }", "unknown key `most`"),
            ("repetitions = 6\nrounds = { width = \"2%\" }", "together with `rounds`"),
            (
                "least_difference = 0.1\nrounds = { decide = \"3%\" }",
                "together with `rounds.decide`",
            ),
        ];
        for (top, why) in cases {
            let told = plan(top, "").unwrap_err();
            assert!(told.contains(why), "{top}: {told}");
        }
        let told = plan("rounds = { width = \"2%\" }", "rate = 100").unwrap_err();
        assert!(told.contains("which the rate sets"), "{told}");
        plan("rounds = { width = \"2%\", figure = \"p95\" }", "rate = 100").unwrap();
        let told =
            plan("rounds = { width = \"2%\" }", "[seek]\nbounds = \"p99 < 1s\"").unwrap_err();
        assert!(told.contains("together with [seek]"), "{told}");
    }

    #[test]
    fn rounds_need_variants_of_every_system() {
        let text = "rounds = { decide = \"3%\" }\nsystem = \"sqlite\"\nworkload = \"w\"\n";
        let source =
            Source { name: "p.toml".to_owned(), text: text.to_owned(), folder: ".".into() };
        let told = Plan::parse(source).unwrap_err().to_string();
        assert!(told.contains("system `sqlite` has none"), "{told}");
    }

    #[test]
    fn the_command_line_sets_a_number_of_rounds_or_a_rule_instead() {
        let text = "repetitions = 6\nworkload = \"w\"\n".to_owned();
        let source = Source { name: "p.toml".to_owned(), text, folder: ".".into() };
        let ruled = source.set("rounds", "{ decide = \"3%\" }").unwrap();
        assert_eq!(ruled.text, "workload = \"w\"\nrounds = { decide = \"3%\" }\n");
        let by_width = ruled.set("rounds.width", "2%").unwrap();
        assert!(by_width.text.contains("width = \"2%\"") && !by_width.text.contains("decide"));
        let fixed = by_width.set("repetitions", "8").unwrap();
        assert_eq!(fixed.text, "workload = \"w\"\nrepetitions = 8\n");
    }
}

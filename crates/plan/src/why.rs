//! Whether and how long it is looked for what holds a system back.

use std::time::Duration;

use crate::keys::{Form, Key};
use crate::value::Value;
use crate::{OptionReader, Options, Problem};

/// The fewest windows of an experiment that decides something.
const WINDOWS_MIN: u32 = 7 * 16;

/// The experiment after the measured load of a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhyPlan {
    /// The experiment ends when it is decided, and after so long at the latest.
    pub at_most: Duration,
    /// How long a slow-down stays as it is, at least; `None` for as short as the load allows. A system that remembers for
    /// longer than that answers otherwise to what lasts.
    pub window: Option<Duration>,
    pub toggle: Option<Toggle>,
    /// Whether profiles of the servers are taken afterwards.
    pub profile: bool,
}

/// A cost of the server that statements take away and bring back, such as a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toggle {
    pub name: String,
    pub on: Vec<String>,
    pub off: Vec<String>,
}

impl Default for WhyPlan {
    fn default() -> Self {
        Self { at_most: Duration::from_secs(120), window: None, toggle: None, profile: false }
    }
}

/// The key at the top of a plan.
pub(crate) fn key() -> Key {
    let toggle = vec![
        Key::new("name", Form::Text, "what the statements take away"),
        Key::new("on", Form::Texts, "statements that take a cost of the server away"),
        Key::new("off", Form::Texts, "statements that bring it back"),
    ];
    let keys = vec![
        Key::new("at_most", Form::Time, "how long the experiment may last").or("120s"),
        Key::new("window", Form::Time, "how long a slow-down stays as it is"),
        Key::new("profile", Form::Flag, "takes profiles of the servers, as flame graphs").or(false),
        Key::new("toggle", Form::Tables(toggle), "a cost of the server that statements switch"),
    ];
    let form = Form::Either(vec![Form::Flag, Form::Table(keys)]);
    Key::new("why", form, "looks for what holds the system back under each load").or(false)
}

/// Reads `why` at the top of a plan: a table, or whether it is looked for.
pub(crate) fn read(reader: &mut OptionReader<'_>, problems: &mut Vec<Problem>) -> Option<WhyPlan> {
    let default = WhyPlan::default();
    let Value::Table(table) = &reader.placed("why")?.value else {
        return reader.boolean("why", false).then_some(default);
    };
    let mut own = table.reader();
    let at_most = own.duration("at_most", default.at_most);
    let window = own.duration_given("window");
    let mut toggles = own.tables("toggle").into_iter();
    let toggle = toggles.next().and_then(|it| toggle(&it, problems));
    if toggles.next().is_some() {
        let help = "two costs that are taken away have two plans, or two runs of one";
        own.reject("toggle", "an experiment has one toggle", help);
    }
    let profile = own.boolean("profile", default.profile);
    let plan = WhyPlan { at_most, window, toggle, profile };
    if plan.at_most < Duration::from_secs(10) {
        let help = "a few seconds decide nothing: give it 30s or more";
        own.reject("at_most", "`at_most` of `why` is too short", help);
    }
    if let Some(least) = window.map(|window| window * WINDOWS_MIN)
        && least > plan.at_most
    {
        let help = format!(
            "verdicts take 6 cycles of 16 windows, and one before them: at_most = \"{least:?}\""
        );
        own.reject("window", "`window` of `why` is too long for `at_most`", help);
    }
    problems.extend(own.finish().err().unwrap_or_default());
    Some(plan)
}

fn toggle(options: &Options, problems: &mut Vec<Problem>) -> Option<Toggle> {
    let mut own = options.reader();
    let (on, off) = (own.texts("on"), own.texts("off"));
    let name = own.text("name").or_else(|| on.first().cloned());
    for (key, statements) in [("on", &on), ("off", &off)] {
        if statements.is_empty() {
            let help =
                "give it `on` and `off`: statements that take the cost away, and bring it back";
            own.reject(key, format!("a toggle has no `{key}`"), help);
        }
    }
    let found = own.finish();
    problems.extend(found.err().unwrap_or_default());
    Some(Toggle { name: name?, on, off })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::{Plan, Source};

    fn parse(why: &str) -> Result<Option<WhyPlan>, String> {
        let text = format!("{why}\nsystem = \"sqlite\"\nworkload = \"sysbench/oltp_read_write\"\n");
        let source = Source { name: "plan.toml".to_owned(), text, folder: PathBuf::new() };
        Plan::parse(source).map(|plan| plan.why).map_err(|problems| problems.to_string())
    }

    /// The same, with tables behind what is at the top.
    fn parse_last(why: &str) -> Result<Option<WhyPlan>, String> {
        let text = format!("system = \"sqlite\"\nworkload = \"sysbench/oltp_read_write\"\n{why}\n");
        let source = Source { name: "plan.toml".to_owned(), text, folder: PathBuf::new() };
        Plan::parse(source).map(|plan| plan.why).map_err(|problems| problems.to_string())
    }

    #[test]
    fn a_toggle_without_a_way_back_is_refused() {
        let told = parse_last("[[why.toggle]]\non = \"SET GLOBAL x = 2\"").unwrap_err();
        assert!(told.contains("a toggle has no `off`"), "{told}");
        let one = "[[why.toggle]]\non = \"a\"\noff = \"b\"\n";
        let told = parse_last(&one.repeat(2)).unwrap_err();
        assert!(told.contains("an experiment has one toggle"), "{told}");
    }

    #[test]
    fn it_is_looked_for_only_when_asked_for() {
        assert_eq!(parse("").unwrap(), None);
        assert_eq!(parse("why = false").unwrap(), None);
        assert_eq!(parse("why = true").unwrap(), Some(WhyPlan::default()));
        let given = parse("why = { at_most = \"5m\" }").unwrap();
        let at_most = Duration::from_secs(300);
        assert_eq!(given, Some(WhyPlan { at_most, ..WhyPlan::default() }));
        let given = parse("why = { at_most = \"10m\", window = \"5s\" }").unwrap().unwrap();
        assert_eq!(given.window, Some(Duration::from_secs(5)));
        assert!(parse("why = { profile = true }").unwrap().unwrap().profile);
        let text = "[[why.toggle]]\non = \"SET GLOBAL x = 2\"\noff = [\"SET GLOBAL x = 1\"]";
        let toggle = parse_last(text).unwrap().unwrap().toggle.unwrap();
        assert_eq!(toggle.name, "SET GLOBAL x = 2");
        assert_eq!(toggle.off, ["SET GLOBAL x = 1"]);
    }

    #[test]
    fn values_that_decide_nothing_are_refused() {
        for (text, expected) in [
            ("why = { at_most = \"2s\" }", "too short"),
            ("why = { window = \"2s\" }", "too long"),
            ("why = { until = 3 }", "until"),
            ("why = 3", "why"),
        ] {
            let told = parse(text).unwrap_err();
            assert!(told.contains(expected), "{text}: {told}");
        }
    }
}

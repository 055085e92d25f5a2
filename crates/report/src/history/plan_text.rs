//! What makes runs those of one plan: its name, its lines, and the options that changed it.

use record::Run;

/// So many lines of a difference are told.
const LINES_MAX: usize = 3;

/// A plan as it was run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanText {
    name: String,
    /// Without white space around them, empty ones and comments.
    lines: Vec<String>,
    /// The values of `--set` and `--seek`, in their order.
    overrides: Vec<String>,
}

impl PlanText {
    /// Of a run.
    pub fn of(run: &Run) -> Self {
        let lines = run.header.plan_text.lines().map(str::trim);
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        Self {
            name: run.header.plan_name.clone(),
            lines: lines.map(str::to_owned).collect(),
            overrides: overrides(&words(&run.header.command)),
        }
    }

    /// In what this plan differs from another one, in a few words; `None` when it is the same.
    pub fn difference(&self, other: &Self) -> Option<String> {
        if self == other {
            return None;
        }
        if self.name != other.name {
            return Some(format!("plan {}", self.name));
        }
        let own = |plan: &Self| [&plan.lines[..], &plan.overrides[..]].concat();
        let (here, there) = (own(self), own(other));
        let only_here = here.iter().filter(|line| !there.contains(line));
        let only_there = there.iter().filter(|line| !here.contains(line));
        let only = only_here.map(|line| format!("with {line}"));
        let only = only.chain(only_there.map(|line| format!("without {line}")));
        let told: Vec<String> = only.take(LINES_MAX).collect();
        let told =
            if told.is_empty() { "lines in another order".to_owned() } else { told.join(", ") };
        Some(format!("its plan differs: {told}"))
    }
}

/// What a command line changed of a plan. The command line of a run without a plan file is all in the plan's text.
fn overrides(words: &[String]) -> Vec<String> {
    const FLAGS: [&str; 2] = ["--set", "--seek"];
    let mut found = Vec::new();
    let mut rest = words.iter();
    if words.get(1).is_none_or(|command| command != "run") {
        return found;
    }
    while let Some(word) = rest.next() {
        for flag in FLAGS {
            let joined = word.strip_prefix(flag).and_then(|value| value.strip_prefix('='));
            let value = match joined {
                Some(value) => Some(value.to_owned()),
                None if word == flag => rest.next().cloned(),
                None => None,
            };
            found.extend(value.map(|value| format!("{flag} {value}")));
        }
    }
    found
}

/// The words of a command line as the record quotes them for a shell: single quotes, and `\'` between them.
fn words(command: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut is_quoted = false;
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => {
                is_quoted = !is_quoted;
                word.get_or_insert_default();
            }
            '\\' if !is_quoted => word.get_or_insert_default().extend(letters.next()),
            ' ' if !is_quoted => words.extend(word.take()),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sample;

    fn plan(text: &str, command: &str) -> PlanText {
        let mut run = sample::run();
        (run.header.plan_text, run.header.command) = (text.to_owned(), command.to_owned());
        PlanText::of(&run)
    }

    #[test]
    fn comments_and_where_results_go_make_no_other_plan() {
        let one = plan("a = 1\n\n# first\n[load]\n", "dyno run plan.toml --out=here");
        let other = plan("# second\n  a = 1\n[load]", "dyno run ../plan.toml --quiet");
        assert_eq!(one.difference(&other), None);
    }

    #[test]
    fn another_line_and_another_option_make_another_plan() {
        let one = plan("a = 1\nb = 2\n", "dyno run plan.toml");
        let text = one.difference(&plan("a = 1\nb = 3\n", "dyno run plan.toml")).unwrap();
        assert_eq!(text, "its plan differs: with b = 2, without b = 3");
        let set = plan("a = 1\nb = 2\n", "dyno run plan.toml --set 'load.time=5 s' --set=x=1");
        let text = set.difference(&one).unwrap();
        assert_eq!(text, "its plan differs: with --set load.time=5 s, with --set x=1");
        let turned = plan("b = 2\na = 1\n", "dyno run plan.toml");
        assert_eq!(one.difference(&turned).unwrap(), "its plan differs: lines in another order");
        let mut named = one.clone();
        named.name = "other".to_owned();
        assert_eq!(named.difference(&one).unwrap(), "plan other");
    }

    #[test]
    fn words_are_those_that_were_quoted() {
        assert_eq!(words(r"dyno run 'a b' 'it'\''s' x"), ["dyno", "run", "a b", "it's", "x"]);
        assert_eq!(words("  dyno  '' 'open"), ["dyno", "", "open"]);
        assert_eq!(words(r"a\"), ["a"]);
    }

    proptest! {
        /// As the record quotes words, each within quotes, they are read back.
        #[test]
        fn quoted_words_are_read_back(all in prop::collection::vec(".*", 0..6)) {
            let quoted = all.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''")));
            prop_assert_eq!(words(&quoted.collect::<Vec<_>>().join(" ")), all);
        }

        #[test]
        fn no_command_line_is_too_strange(command in ".*") {
            overrides(&words(&command));
        }
    }
}

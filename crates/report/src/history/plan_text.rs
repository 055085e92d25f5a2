//! What makes runs those of one plan: its name, its lines, and the options that changed it.

use record::Run;

/// At most this many lines of a difference are shown.
const LINES_MAX: usize = 3;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanText {
    name: String,
    /// Without white space around them, empty ones and comments.
    lines: Vec<String>,
    /// The values of `--set` and `--seek`, in their order.
    overrides: Vec<String>,
    /// The files that it names, each with its hash.
    files: Vec<(String, String)>,
}

impl PlanText {
    pub fn of(run: &Run) -> Self {
        Self {
            name: run.header.plan_name.clone(),
            lines: settings_lines(&run.header.plan_text),
            overrides: overrides(&words(&run.header.command)),
            files: run.header.files.iter().map(|it| (it.name.clone(), it.sha256.clone())).collect(),
        }
    }

    /// The same without the seed and the addresses of URLs, which services that are started for one run have anew.
    #[must_use]
    pub fn without_addresses(&self) -> Self {
        let is_seed = |line: &&String| {
            let key = line.split_once('=').map_or("", |(key, _)| key.trim());
            matches!(key, "seed" | "--set seed")
        };
        let kept = |lines: &[String]| {
            lines.iter().filter(|line| !is_seed(line)).map(|line| without_addresses(line)).collect()
        };
        let (lines, overrides) = (kept(&self.lines), kept(&self.overrides));
        Self { name: self.name.clone(), lines, overrides, files: self.files.clone() }
    }

    /// In what this plan differs from another one, in a few words; `None` when it is the same.
    pub fn difference(&self, other: &Self) -> Option<String> {
        if self.name != other.name {
            return Some(format!("plan {}", self.name));
        }
        let own = |plan: &Self| [&plan.lines[..], &plan.overrides[..]].concat();
        let (here, there) = (own(self), own(other));
        if here == there {
            return self.other_file(other).map(|name| format!("its file {name} differs"));
        }
        let only_here = here.iter().filter(|line| !there.contains(line));
        let only_there = there.iter().filter(|line| !here.contains(line));
        let only = only_here.map(|line| format!("with {line}"));
        let only = only.chain(only_there.map(|line| format!("without {line}")));
        let told: Vec<String> = only.take(LINES_MAX).collect();
        let told =
            if told.is_empty() { "lines in another order".to_owned() } else { told.join(", ") };
        let hint = match self.without_addresses() == other.without_addresses() {
            true => "; --any-address leaves addresses and seeds out",
            false => "",
        };
        Some(format!("its plan differs: {told}{hint}"))
    }

    /// A file that both plans name and that differs. Older dynos recorded none.
    fn other_file(&self, other: &Self) -> Option<&str> {
        let differs = |(name, hash): &&(String, String)| {
            other.files.iter().any(|(known, theirs)| known == name && theirs != hash)
        };
        self.files.iter().find(differs).map(|(name, _)| name.as_str())
    }
}

/// A line with `…` in place of the address of each URL in it, a user's name before it kept.
fn without_addresses(line: &str) -> String {
    const SCHEME_END: &str = "://";
    let mut kept = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(SCHEME_END) {
        let (scheme, behind) = rest.split_at(at + SCHEME_END.len());
        let end = match behind.strip_prefix("unix:") {
            // The path of a socket ends before the `/` of the method.
            Some(socket) => socket.find(":/").map(|end| end + "unix::".len()),
            None => behind.find('/'),
        };
        let quote = behind.find(['"', '\'', '?']);
        let (address, behind) =
            behind.split_at([end, quote].into_iter().flatten().min().unwrap_or(behind.len()));
        let user = address.rfind('@').map_or("", |at| &address[..=at]);
        kept.push_str(&format!("{scheme}{user}…"));
        rest = behind;
    }
    kept + rest
}

/// The lines of a plan that set something: without white space around them, and without comments, wherever these begin. A
/// number sign within quotes begins none, and quotes may go over several lines.
pub(crate) fn settings_lines(plan: &str) -> Vec<String> {
    let mut kept = String::new();
    let mut quote: Option<&str> = None;
    let mut rest = plan;
    while let Some(letter) = rest.chars().next() {
        let is_escape = letter == '\\' && quote.is_some_and(|quote| quote.starts_with('"'));
        // Outside of quotes, the longest kind that begins here.
        let quotes = ["\"\"\"", "\'\'\'", "\"", "\'"].into_iter();
        let mark = match quote {
            Some(open) => rest.starts_with(open).then_some(open),
            None => quotes.into_iter().find(|kind| rest.starts_with(kind)),
        };
        let is_line_end = letter == '\n' && quote.is_some_and(|open| open.len() == 1);
        let length = match mark {
            Some(mark) => {
                quote = if quote.is_none() { Some(mark) } else { None };
                mark.len()
            }
            None if letter == '#' && quote.is_none() => {
                rest = rest.find('\n').map_or("", |end| &rest[end..]);
                continue;
            }
            // A quote that is not closed ends with its line.
            None if is_line_end => {
                quote = None;
                1
            }
            None if is_escape => {
                let escaped = rest[1..].chars().next().filter(|escaped| *escaped != '\n');
                1 + escaped.map_or(0, char::len_utf8)
            }
            None => letter.len_utf8(),
        };
        kept.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    let lines = kept.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
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
    fn a_comment_behind_a_value_is_not_part_of_it() {
        let one = plan("a = 1 # first\n", "dyno run plan.toml");
        let other = plan("a = 1   # second\n", "dyno run plan.toml");
        assert_eq!(one.difference(&other), None);
        for (text, lines) in [
            ("a = \"1 # 2\" # 3", vec!["a = \"1 # 2\""]),
            ("a = '\\' # 3\nb = \"\\\"#\" # 4", vec!["a = '\\'", "b = \"\\\"#\""]),
            ("a = \"\"\"\n# sql \" #\n\"\"\" # end", vec!["a = \"\"\"", "# sql \" #", "\"\"\""]),
            ("a = \'\'\'#\n\'\'\'#", vec!["a = \'\'\'#", "\'\'\'"]),
            ("a = \"open # no\nb = 2 # yes", vec!["a = \"open # no", "b = 2"]),
            ("a = \"\" # none", vec!["a = \"\""]),
        ] {
            assert_eq!(settings_lines(text), lines, "{text}");
        }
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
    fn addresses_and_seeds_make_no_other_plan_where_that_is_asked_for() {
        let text = |address: &str, seed: u32| {
            format!(
                "seed = {seed}\n[systems.a]\nurl = \"grpc://{address}/a.B/C\"\n\
                 [systems.b]\nurl = 'mysql://root@{address}/test?ssl-mode=REQUIRED'\n"
            )
        };
        let plan = |address: &str, seed, set: &str| {
            plan(&text(address, seed), &format!("dyno run plan.toml --set seed={seed} {set}"))
        };
        let set = |port| format!("--set systems.c.url=tcp://127.0.0.1:{port}");
        let one = plan("127.0.0.1:4711", 1, &set(1));
        let other = plan("127.0.0.1:4712,[::1]:7", 2, &set(2));
        let told = one.difference(&other).unwrap();
        assert!(told.ends_with("; --any-address leaves addresses and seeds out"), "{told}");
        let bare = one.without_addresses();
        assert_eq!(bare.difference(&other.without_addresses()), None);
        assert_eq!(
            [&bare.lines[1], &bare.lines[3], &bare.overrides[0]],
            [
                "url = \"grpc://…/a.B/C\"",
                "url = 'mysql://root@…/test?ssl-mode=REQUIRED'",
                "--set systems.c.url=tcp://…"
            ]
        );
        let changed = PlanText { name: "x".to_owned(), ..bare.clone() };
        assert!(changed.difference(&bare).is_some());
        for (line, kept) in [
            ("url = \"grpc://unix:/run/1.sock:/a.B/C\"", "url = \"grpc://…/a.B/C\""),
            ("url = 'tcp://unix:/run/1.sock'", "url = 'tcp://…'"),
            ("seeds = 'a:/b'", "seeds = 'a:/b'"),
            ("a = ['tcp://a:1', 'tcp://b:2']", "a = ['tcp://…', 'tcp://…']"),
        ] {
            assert_eq!(without_addresses(line), kept);
        }
        let method = |method: &str| plan_of(&format!("url = \"grpc://a:1/a.B/{method}\""));
        assert!(method("C").difference(&method("D")).is_some());
    }

    fn plan_of(text: &str) -> PlanText {
        plan(text, "dyno run plan.toml").without_addresses()
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

        #[test]
        fn lines_of_settings_stay_as_they_are(text in "[a#\"' =\\n\\\\]*") {
            let lines = settings_lines(&text);
            prop_assert_eq!(&settings_lines(&lines.join("\n")), &lines);
        }
    }
}

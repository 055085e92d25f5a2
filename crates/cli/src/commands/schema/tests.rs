//! The schema of a plan has exactly the keys that the reader of plans knows.

use std::collections::BTreeSet;

use ::plan::{Form, Key, Source, plan_keys};
use runner::Experiment;

use super::*;

/// No key is near to it.
const UNKNOWN: &str = "qqqqqqqqqqqqqqqqqq";

/// The keys that the reader allows in the table in which `UNKNOWN` is.
fn allowed(text: &str) -> BTreeSet<String> {
    let source = Source { name: "p.toml".to_owned(), text: text.to_owned(), folder: ".".into() };
    let Err(problems) = Experiment::read(source) else { panic!("{text}") };
    let message = format!("unknown key `{UNKNOWN}`");
    let mut found = problems.problems.iter().filter(|problem| problem.message == message);
    let problem = found.next().unwrap_or_else(|| panic!("{text}\n{problems}"));
    let help = problem.help.as_deref().unwrap_or_default();
    let (_, list) = help.split_once("allowed: ").unwrap_or_else(|| panic!("{text}\n{problems}"));
    list.split(", ").map(str::to_owned).collect()
}

fn names(keys: &[Key]) -> BTreeSet<String> {
    keys.iter().map(|key| key.name.to_owned()).collect()
}

/// The keys of the table that a key at this path has.
fn table<'k>(keys: &'k [Key], path: &[&str]) -> &'k [Key] {
    let [first, rest @ ..] = path else { return keys };
    let key = keys.iter().find(|key| key.name == *first).unwrap_or_else(|| panic!("{path:?}"));
    table(keys_of(&key.form).unwrap_or_else(|| panic!("{path:?}")), rest)
}

fn keys_of(form: &Form) -> Option<&[Key]> {
    match form {
        Form::Table(keys) | Form::Tables(keys) => Some(keys),
        Form::Either(forms) => forms.iter().find_map(keys_of),
        _ => None,
    }
}

/// The paths of all tables below these keys.
fn tables(keys: &[Key], path: &[&'static str]) -> Vec<Vec<&'static str>> {
    let mut all = vec![path.to_vec()];
    for key in keys {
        if let Some(inner) = keys_of(&key.form) {
            all.extend(tables(inner, &[path, &[key.name]].concat()));
        }
    }
    all
}

const SUBJECT: &str = "system = \"sqlite\"\nworkload = \"sysbench/oltp_read_only\"\n";

#[test]
fn every_table_of_a_plan_has_the_keys_that_its_reader_knows() {
    let unknown = format!("{UNKNOWN} = 1");
    let keys = plan_keys();
    let plans: [(&[&str], String); 13] = [
        (&[], format!("{unknown}\n{SUBJECT}")),
        (&["rounds"], format!("rounds = {{ {unknown}, width = \"2%\" }}\n{SUBJECT}")),
        (&["interleave"], format!("interleave = {{ {unknown}, windows = 2 }}\n{SUBJECT}")),
        (&["load"], format!("{SUBJECT}[load]\n{unknown}")),
        (&["load", "warm_up"], format!("{SUBJECT}[load]\nwarm_up = {{ {unknown} }}")),
        (&["load", "steps"], format!("{SUBJECT}[load]\nsteps = [{{ {unknown} }}]")),
        (&["seek"], format!("{SUBJECT}[seek]\n{unknown}")),
        (&["why"], format!("{SUBJECT}[why]\n{unknown}")),
        (&["why", "toggle"], format!("{SUBJECT}[[why.toggle]]\n{unknown}")),
        (&["ceiling"], format!("{SUBJECT}[ceiling]\n{unknown}")),
        (&["watch"], format!("{SUBJECT}[watch]\n{unknown}")),
        (
            &["watch", "endpoints"],
            format!("{SUBJECT}[watch]\nendpoints = [{{ {unknown}, url = \"ssh://h\" }}]"),
        ),
        (&["sql"], format!("{SUBJECT}[sql]\n{unknown}")),
    ];
    for (path, text) in &plans {
        assert_eq!(names(table(&keys.top, path)), allowed(text), "{path:?}");
    }
    for path in tables(&keys.top, &[]) {
        assert!(plans.iter().any(|(tried, _)| *tried == path), "{path:?} is not among the plans");
    }
}

/// The properties of the definition of a kind, without those that the plan itself reads.
fn options(definition: &Value, own: &[Key]) -> BTreeSet<String> {
    let properties = definition["properties"].as_object().unwrap();
    let own = names(own);
    properties.keys().filter(|key| !own.contains(*key)).cloned().collect()
}

#[test]
fn every_kind_has_the_options_that_its_reader_knows() {
    let schema = schema(SchemaOf::Plan);
    let keys = plan_keys();
    for kind in system::catalogue() {
        let text = format!(
            "workload = \"sysbench/oltp_read_only\"\n[systems.s]\nkind = \"{}\"\n{UNKNOWN} = 1",
            kind.name
        );
        let definition = &schema["definitions"][format!("system-{}", kind.name)];
        assert_eq!(options(definition, &keys.system), allowed(&text), "{}", kind.name);
    }
    for info in workload::catalogue().iter().filter(|info| !info.kind.ends_with(".sql")) {
        let kind = &info.kind;
        let text = format!("system = \"sqlite\"\n[workloads.w]\nkind = \"{kind}\"\n{UNKNOWN} = 1");
        let definitions = schema["definitions"].as_object().unwrap();
        let is_of = |definition: &&Value| {
            let words = &definition["properties"]["kind"]["anyOf"][0]["enum"];
            words.as_array().is_some_and(|words| words.iter().any(|word| word == kind))
        };
        let definition = definitions.values().find(is_of).unwrap();
        let mut known = allowed(&text);
        if kind.starts_with("sysbench/") {
            // Its reader says how dyno replaces it.
            known.remove("reconnect");
        }
        assert_eq!(options(definition, &keys.workload), known, "{kind}");
    }
}

#[test]
fn every_key_has_a_meaning_and_the_documents_have_it() {
    const DOCUMENT: &str = include_str!("../../../../../docs/plan.md");
    let keys = plan_keys();
    for path in tables(&keys.top, &[]) {
        for key in table(&keys.top, &path) {
            assert!(!key.meaning.is_empty(), "{path:?} {}", key.name);
            let is_there =
                [format!("`{}`", key.name), format!("{} =", key.name), format!("[{}", key.name)];
            assert!(is_there.iter().any(|it| DOCUMENT.contains(it)), "{path:?} {}", key.name);
        }
    }
}

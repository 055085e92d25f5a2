//! The options of the command line that have set the values of a plan, for messages about these values.

use plan::Problems;

use crate::args::SubjectArgs;

#[derive(Clone, Copy)]
pub(super) struct OptionNames<'a> {
    /// The options of the system and the workload; `None` when a file has the plan.
    pub(super) subject: Option<&'a SubjectArgs>,
    /// The values of `--set`.
    pub(super) overrides: &'a [String],
}

impl OptionNames<'_> {
    /// The same problems, at the options of the values that they are about.
    pub(super) fn at_options(self, problems: Problems) -> Problems {
        problems.at_options(|path| self.option(path))
    }

    /// The option that has set the value at this path of the plan.
    fn option(self, path: &[&str]) -> Option<String> {
        let is_this = |given: &&String| {
            let name = given.split_once('=').map_or("", |(name, _)| name.trim());
            name.replace('-', "_") == path.join(".")
        };
        if let Some(given) = self.overrides.iter().find(is_this) {
            return Some(format!("--set {given}"));
        }
        let subject = self.subject?;
        Some(match path {
            ["systems", _, inner @ ..] => of_system(subject, &inner.join(".")),
            ["workloads", _, inner @ ..] => of_workload(subject, &inner.join(".")),
            ["load", "cpus"] => "--client-cpus".to_owned(),
            ["load", key] | [key] => flag(key),
            ["seek", ..] => "--seek".to_owned(),
            _ => return None,
        })
    }
}

/// The same problems, of a plan that one argument and the `--option`s beside it became.
pub(super) fn at_argument(problems: Problems, argument: &str, options: &[String]) -> Problems {
    problems.at_options(|path| {
        let key = path.get(2..).unwrap_or_default().join(".");
        Some(match is_among(options, &key) {
            true => format!("--option {key}"),
            false => argument.to_owned(),
        })
    })
}

fn flag(key: &str) -> String {
    format!("--{}", key.replace('_', "-"))
}

fn of_system(subject: &SubjectArgs, key: &str) -> String {
    match key {
        "ps" if subject.ps.is_some() => flag(key),
        "create_database" if subject.create_database => flag(key),
        _ if is_among(&subject.system_options, key) => format!("--system-option {key}"),
        _ => format!("--system {}", subject.system),
    }
}

fn of_workload(subject: &SubjectArgs, key: &str) -> String {
    match key.strip_prefix("variables.") {
        Some(name) if is_among(&subject.define, name) => format!("--define {name}"),
        _ if is_among(&subject.options, key) => format!("--option {key}"),
        _ if key == "tables" || key == "table_size" => flag(key),
        _ => subject.workload.clone(),
    }
}

/// Whether one of the `NAME=VALUE` has this name.
fn is_among(pairs: &[String], name: &str) -> bool {
    let names = pairs.iter().filter_map(|pair| pair.split_once('='));
    names.into_iter().any(|(given, _)| given.trim().replace('-', "_") == name)
}

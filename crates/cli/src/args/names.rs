//! Names that a shell completes. They are not checked here: the reader of a plan knows them, and suggests others.

use std::collections::BTreeSet;
use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use plan::declared::infos;

/// Takes any text, and names some to the shell.
#[derive(Clone, Copy)]
pub(super) struct Suggested(fn() -> Vec<String>);

pub(super) const WORKLOADS: Suggested = Suggested(workloads);
pub(super) const SYSTEMS: Suggested = Suggested(systems);
pub(super) const WORKLOAD_OPTIONS: Suggested = Suggested(workload_options);
pub(super) const SYSTEM_OPTIONS: Suggested = Suggested(system_options);

impl TypedValueParser for Suggested {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.0)().into_iter().map(PossibleValue::new)))
    }
}

/// All workloads but files of the user's.
fn workloads() -> Vec<String> {
    let kinds = workload::catalogue().into_iter().map(|info| info.kind);
    kinds.filter(|kind| !kind.ends_with(".sql")).collect()
}

/// The kinds of systems, and the beginnings of URLs.
fn systems() -> Vec<String> {
    let argument = |kind: &&system::Kind| match kind.argument.split_once("://") {
        Some((scheme, _)) => format!("{scheme}://"),
        None => kind.name.to_owned(),
    };
    system::catalogue().iter().map(argument).collect()
}

fn workload_options() -> Vec<String> {
    let options = workload::catalogue().into_iter().flat_map(|info| info.options);
    let names: BTreeSet<String> = options.map(|option| format!("{}=", option.name)).collect();
    names.into_iter().collect()
}

fn system_options() -> Vec<String> {
    let options = system::catalogue().iter().flat_map(|kind| infos(kind.options));
    let names: BTreeSet<String> = options.map(|option| format!("{}=", option.name)).collect();
    names.into_iter().collect()
}

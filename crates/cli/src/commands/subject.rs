//! The workload and the system of a command line as parts of a plan; shared by `bench`, `prepare`, `check` and
//! `cleanup`.

use anyhow::Result;
use plan::{Draft, DraftPart};

use super::WrongArgument;
use crate::args::SubjectArgs;

/// Keys of a table of the plan and their values.
pub(super) type Pairs = Vec<(String, String)>;

/// A plan of one system and one workload.
///
/// # Errors
/// An option without a value.
pub(super) fn draft(args: &SubjectArgs) -> Result<Draft> {
    Ok(Draft {
        settings: given([("seed", args.seed.map(|seed| seed.to_string()))]),
        systems: vec![system(args)?],
        workloads: vec![workload(args)?],
        load: given([
            ("connect_timeout", bare_seconds(args.connect_timeout.as_deref())),
            ("phase_timeout", bare_seconds(args.phase_timeout.as_deref())),
        ]),
        sql: Vec::new(),
    })
}

fn system(args: &SubjectArgs) -> Result<DraftPart> {
    let (kind, mut options) = system::from_argument(&args.system);
    options.extend(given([
        ("ps", args.ps.clone()),
        ("create_database", args.create_database.then(|| "true".to_owned())),
    ]));
    options.extend(split_all(&args.system_options, "--system-option")?);
    Ok(DraftPart { kind, options, ..DraftPart::default() })
}

fn workload(args: &SubjectArgs) -> Result<DraftPart> {
    let mut options =
        given([("tables", args.tables.clone()), ("table_size", args.table_size.clone())]);
    options.extend(split_all(&args.options, "--option")?);
    let variables = split_all(&args.define, "--define")?.into_iter();
    options.extend(variables.map(|(name, value)| (format!("variables.{name}"), value)));
    let texts = workload::text_options(&args.workload);
    Ok(DraftPart { kind: args.workload.clone(), options, texts })
}

pub(super) fn given<const N: usize>(pairs: [(&str, Option<String>); N]) -> Pairs {
    let given = pairs.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
    given.collect()
}

/// A duration of the command line as a plan takes it. A bare number is in seconds, as with sysbench; plans always
/// have units.
pub(super) fn bare_seconds(typed: Option<&str>) -> Option<String> {
    let typed = typed?.trim();
    let is_bare = typed.bytes().all(|byte| byte.is_ascii_digit() || b"._".contains(&byte));
    Some(if is_bare && typed.ends_with(|last: char| last.is_ascii_digit()) {
        format!("{typed}s")
    } else {
        typed.to_owned()
    })
}

/// The names and values of repeated `NAME=VALUE`.
///
/// # Errors
/// A text without `=`.
pub(super) fn split_all(pairs: &[String], flag: &str) -> Result<Pairs> {
    let split = |pair: &String| {
        let (key, value) = pair.split_once('=').ok_or_else(|| {
            let wanted = "it takes NAME=VALUE, such as range_size=10";
            WrongArgument(format!("{flag} {pair:?} has no `=`; {wanted}"))
        })?;
        Ok((key.trim().to_owned(), value.to_owned()))
    };
    pairs.iter().map(split).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_without_a_unit_are_seconds() {
        for (typed, written) in [
            ("60", "60s"),
            ("0.5", "0.5s"),
            ("0", "0s"),
            ("60s", "60s"),
            ("1h30m", "1h30m"),
            ("off", "off"),
            ("5.", "5."),
            ("", ""),
            ("-3", "-3"),
        ] {
            assert_eq!(bare_seconds(Some(typed)).as_deref(), Some(written), "{typed}");
        }
        assert_eq!(bare_seconds(None), None);
    }
}

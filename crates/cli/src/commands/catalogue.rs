//! `dyno workloads` and `dyno systems`: lists of both and their options.

use std::process::ExitCode;

use anyhow::Result;
use plan::declared::{OptionInfo, infos};
use report::{Table, fold};

use super::{WrongArgument, output_width};

/// Something with a name, a summary and options.
struct Entry {
    name: String,
    summary: String,
    options: Vec<[String; 3]>,
}

pub(crate) fn workloads(name: Option<&str>) -> Result<ExitCode> {
    let simulated = Entry {
        name: "simulated".to_owned(),
        summary: "the workload of a simulated system, which has no operations of its own"
            .to_owned(),
        options: Vec::new(),
    };
    let entries = workload::catalogue().into_iter().map(|it| Entry {
        name: it.kind,
        summary: it.summary.to_owned(),
        options: rows(&it.options),
    });
    let entries = entries.chain([simulated]);
    show("workload", &entries.collect::<Vec<_>>(), name)
}

pub(crate) fn systems(name: Option<&str>) -> Result<ExitCode> {
    let entries = system::catalogue().iter().map(|it| Entry {
        name: it.name.to_owned(),
        summary: format!("{} (--system {})", it.summary, it.argument),
        options: rows(&infos(it.options)),
    });
    show("system", &entries.collect::<Vec<_>>(), name)
}

fn rows(options: &[OptionInfo]) -> Vec<[String; 3]> {
    options.iter().map(|it| [it.name, &it.default, it.meaning].map(str::to_owned)).collect()
}

fn show(what: &str, entries: &[Entry], name: Option<&str>) -> Result<ExitCode> {
    let text = match name {
        None => {
            let mut table = Table::new().words(what).words("what it is");
            entries.iter().for_each(|it| table.row(vec![it.name.clone(), it.summary.clone()]));
            let table = table.text_within(output_width());
            format!("{table}\n`dyno {what}s NAME` lists the options of one.\n")
        }
        Some(name) => one(what, entries, name)?,
    };
    super::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The names that an unknown one may mean: the nearest, those that it is a part of, or all.
fn suggestion(name: &str, names: &[&str]) -> String {
    if let Some(near) = plan::nearest(name, names) {
        return format!("did you mean {near:?}?");
    }
    let word = name.to_lowercase();
    let holding: Vec<&str> = names.iter().copied().filter(|it| it.contains(&word)).collect();
    match holding.is_empty() || word.is_empty() {
        true => format!("there are {}", names.join(", ")),
        false => format!("did you mean one of {}?", holding.join(", ")),
    }
}

fn one(what: &str, entries: &[Entry], name: &str) -> Result<String> {
    let Some(entry) = entries.iter().find(|entry| entry.name == name) else {
        let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
        let message = format!("no {what} is called {name:?}; {}", suggestion(name, &names));
        return Err(WrongArgument(message).into());
    };
    if entry.options.is_empty() {
        let text = format!("{}: {}. It has no options.", entry.name, entry.summary);
        return Ok(fold(&text, output_width()));
    }
    let mut options = Table::new().words("option").words("default").words("meaning");
    entry.options.iter().for_each(|option| options.row(option.to_vec()));
    let summary = format!("{}: {}", entry.name, entry.summary);
    let width = output_width();
    Ok(format!("{}\n\n{}", fold(&summary, width), options.text_within(width)))
}

//! What differs besides what is compared: systems, machine, load, data, dyno, and the plans.

use plan::show_duration;
use record::{PlanFile, Run};

use super::sides::{Matched, RunPoint, SIDES, Sides};
use crate::differences::{self, Facts};
use crate::digest::Digest;
use crate::history::settings_lines;
use crate::settings::environment_facts;

/// Between the values of a fact that varies within a side.
const VARIES: &str = " / ";
/// Between the entries of a fact that is a list; no entry has it.
const ENTRY_END: &str = "\n";

/// The lines of a file of a plan are shown up to this length of the file.
const SHOWN_BYTES_MAX: usize = 2_048;

/// A fact that the sides do not share.
#[derive(Debug)]
pub(crate) struct Difference {
    /// What it is a fact of.
    pub(crate) of: String,
    pub(crate) fact: String,
    /// Its value on each side; `-` where it is not known.
    pub(crate) values: Vec<String>,
}

/// All of them: of each pair of systems, then of the runs.
pub(super) fn differences(sides: &Sides<'_, '_>) -> Vec<Difference> {
    let mut all = Vec::new();
    for systems in &sides.systems {
        let matched: Vec<&Matched<'_, '_>> =
            sides.matched.iter().filter(|it| it.systems == *systems).collect();
        let points = |side: usize| matched.iter().flat_map(move |it| it.points[side].iter());
        let of = if systems[0] == systems[1] {
            format!("system {}", systems[0])
        } else {
            "system".to_owned()
        };
        let facts = |side: usize| {
            merged(points(side).map(|it| differences::facts(it.point.identity)), VARIES)
        };
        add(&mut all, &of, [facts(0), facts(1)]);
        let facts = |side: usize| merged(points(side).map(load_facts), VARIES);
        add(&mut all, "load", [facts(0), facts(1)]);
    }
    let of_runs = |of: fn(&Run) -> Facts, separator: &str| {
        let side = |runs: &Vec<&Digest<'_>>| merged(runs.iter().map(|it| of(it.run)), separator);
        [side(&sides.runs[0]), side(&sides.runs[1])]
    };
    let facts = |of: fn(&Run) -> Facts| of_runs(of, VARIES);
    let lists = |of: fn(&Run) -> Facts| only_in(&of_runs(of, ENTRY_END));
    add(&mut all, "machine", facts(environment_facts));
    add(&mut all, "machine", lists(flags));
    add(&mut all, "data", facts(|run| vec![("seed".to_owned(), run.header.seed.to_string())]));
    add(&mut all, "dyno", facts(dyno_facts));
    add(&mut all, "plan", lists(plan_lines));
    add(&mut all, "plan", only_in(&of_both(of_runs(plan_files, ENTRY_END))));
    all
}

fn add(all: &mut Vec<Difference>, of: &str, facts: [Facts; 2]) {
    let [baseline, candidate] = facts;
    let columns = [(SIDES[0], baseline), (SIDES[1], candidate)];
    for (fact, values) in differences::of(&columns) {
        let is_known = all.iter().any(|it| it.of == of && it.fact == fact && it.values == values);
        if !is_known {
            all.push(Difference { of: of.to_owned(), fact, values });
        }
    }
}

/// The facts of several runs or points: each with its values, where they vary.
fn merged(all: impl Iterator<Item = Facts>, separator: &str) -> Facts {
    let mut names: Vec<(String, Vec<String>)> = Vec::new();
    for (name, value) in all.flatten() {
        match names.iter_mut().find(|(known, _)| *known == name) {
            Some((_, values)) if values.contains(&value) => {}
            Some((_, values)) => values.push(value),
            None => names.push((name, vec![value])),
        }
    }
    names.into_iter().map(|(name, values)| (name, values.join(separator))).collect()
}

/// Of lists of words or lines, those that one side alone has.
fn only_in(facts: &[Facts; 2]) -> [Facts; 2] {
    let value = |side: usize, name: &str| -> Vec<String> {
        let known = facts[side].iter().find(|(known, _)| known == name);
        let lines = known.map_or("", |(_, value)| value).split(ENTRY_END);
        lines.map(str::to_owned).filter(|line| !line.is_empty()).collect()
    };
    [0, 1].map(|side| {
        let of = facts[side].iter().map(|(name, _)| {
            let others = value(1 - side, name);
            let only = value(side, name).into_iter().filter(|line| !others.contains(line));
            (name.clone(), only.collect::<Vec<_>>().join("; "))
        });
        of.filter(|(_, only)| !only.is_empty()).collect()
    })
}

fn load_facts(it: &RunPoint<'_, '_>) -> Facts {
    let Some(trial) = it.trials().next() else { return Facts::new() };
    let load = &trial.record.header.load;
    let mut facts = vec![
        ("description".to_owned(), load.description.clone()),
        ("think time".to_owned(), show_duration(load.think_time)),
        ("worker threads".to_owned(), load.threads.to_string()),
    ];
    if !load.cpus.is_empty() {
        let cpus: Vec<String> = load.cpus.iter().map(usize::to_string).collect();
        facts.push(("CPUs".to_owned(), cpus.join(",")));
    }
    let generators = trial.generator_parts().iter().map(|part| part.name.as_str());
    facts.push(("generators".to_owned(), generators.collect::<Vec<_>>().join(", ")));
    if let Some(open) = &load.open {
        facts.push(("arrivals".to_owned(), open.arrivals.name().to_owned()));
    }
    if let Some(calls) = &load.calls {
        facts.push(("method".to_owned(), calls.method.clone().unwrap_or_default()));
        facts.push(("connections".to_owned(), calls.connections.to_string()));
    }
    facts.retain(|(_, value)| !value.is_empty());
    facts
}

fn flags(run: &Run) -> Facts {
    let flags = run.header.environment.cpu.flags.join(ENTRY_END);
    vec![("CPU flags, all".to_owned(), flags)]
}

fn dyno_facts(run: &Run) -> Facts {
    let dyno = &run.header.dyno;
    let facts = vec![("version", &dyno.version), ("build", &dyno.build)];
    let known = facts.into_iter().filter(|(_, value)| !value.is_empty());
    known.map(|(name, value)| (name.to_owned(), value.clone())).collect()
}

/// The files that the plan names: their hash, and the lines of short ones.
fn plan_files(run: &Run) -> Facts {
    let of = |file: &PlanFile| {
        let hash = format!("sha256 {:.12}, {} bytes", file.sha256, file.bytes);
        let short = file.text.as_deref().filter(|text| text.len() <= SHOWN_BYTES_MAX);
        let lines = short.into_iter().flat_map(str::lines).map(|line| line.trim().to_owned());
        let all: Vec<String> = std::iter::once(hash).chain(lines).collect();
        (format!("file {}", file.name), all.join(ENTRY_END))
    };
    run.header.files.iter().map(of).collect()
}

/// The facts that both sides have: older dynos recorded no files, and the plan's lines tell of others.
fn of_both([one, other]: [Facts; 2]) -> [Facts; 2] {
    let known = |facts: &Facts, of: &Facts| -> Facts {
        let is_known = |(name, _): &&(String, String)| of.iter().any(|(known, _)| known == name);
        facts.iter().filter(is_known).cloned().collect()
    };
    [known(&one, &other), known(&other, &one)]
}

/// The plan's lines, and the options that changed it.
fn plan_lines(run: &Run) -> Facts {
    let mut lines = settings_lines(&run.header.plan_text);
    lines.extend(run.plan_damage.as_ref().map(ToString::to_string));
    let command = run.header.command.clone();
    vec![("lines".to_owned(), lines.join(ENTRY_END)), ("command".to_owned(), command)]
}

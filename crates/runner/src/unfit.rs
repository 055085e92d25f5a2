//! Plans whose load several processes cannot offer.

use plan::{Over, Problem, Trial};
use system::Offer;
use workload::Sharing;

use crate::Experiment;

/// What prevents the generators of a plan from sharing its load.
pub(crate) fn problems(experiment: &Experiment) -> Vec<Problem> {
    let generators = experiment.plan.load.generators.len();
    if generators == 0 {
        return Vec::new();
    }
    systems(experiment)
        .chain(workloads(experiment))
        .chain(too_few(experiment, generators))
        .collect()
}

/// Systems within the process that offers the load.
fn systems(experiment: &Experiment) -> impl Iterator<Item = Problem> {
    let all = experiment.plan.systems.iter().zip(&experiment.systems);
    all.filter_map(|(plan, system)| {
        let (name, kind) = (&plan.name, &plan.kind);
        let why = match system.offers() {
            Offer::Simulation => "is simulated",
            _ if system.is_embedded() => "runs",
            _ => return None,
        };
        let message =
            format!("system {name:?} ({kind}) {why} in the process that offers the load, so `generators` cannot share it");
        Some(problem(message, "leave `generators` out, or measure a server"))
    })
}

fn workloads(experiment: &Experiment) -> impl Iterator<Item = Problem> {
    let all = experiment.plan.workloads.iter().zip(&experiment.workloads);
    all.filter_map(|(plan, workload)| {
        let Sharing::Never(why) = workload.sharing() else { return None };
        let (name, kind) = (&plan.name, &plan.kind);
        let message = format!("`generators` cannot share workload {name:?} ({kind}): {why}");
        Some(problem(message, "leave `generators` out, or give this workload a plan of its own"))
    })
}

/// The first trial that has no client, or no connection, for some generator.
fn too_few(experiment: &Experiment, generators: usize) -> Option<Problem> {
    let plan = &experiment.plan;
    // A seek over clients begins with the fewest.
    let seek = plan.seek.as_ref().filter(|seek| seek.over == Over::Clients);
    let from = seek.map(|seek| seek.from as usize);
    let trials = plan.trials().into_iter();
    let trials = trials.map(|trial| Trial { clients: from.unwrap_or(trial.clients), ..trial });
    let connections = trials.map(|trial| experiment.connections(trial)).min()?;
    let few = if connections == 1 {
        "one connection".to_owned()
    } else {
        format!("{connections} connections")
    };
    let message = format!(
        "`generators` has {generators} places, but a trial has only {few}: each generator needs one at least"
    );
    let key = if from.is_some() { "`from` of the seek" } else { "`clients`" };
    let help = format!(
        "set {key}, and the `connections` of an RPC workload, to {generators} or more, or name fewer places"
    );
    (connections < generators).then(|| problem(message, &help))
}

fn problem(message: String, help: &str) -> Problem {
    Problem { span: None, message, help: Some(help.to_owned()) }
}

/// Remarks on the loads of workloads that generators share, each in one line.
pub(crate) fn notes(experiment: &Experiment) -> impl Iterator<Item = String> {
    let all = experiment.plan.workloads.iter().zip(&experiment.workloads);
    let shared = all.filter(|_| !experiment.plan.load.generators.is_empty());
    shared.flat_map(|(plan, workload)| {
        let notes = match workload.sharing() {
            Sharing::Parts(parts) => parts.notes(),
            Sharing::Alike | Sharing::Never(_) => Vec::new(),
        };
        notes.into_iter().map(move |note| format!("{}: {note}", plan.name))
    })
}

#[cfg(test)]
mod tests {
    use plan::{Plan, Source};

    use super::*;

    fn check(text: &str) -> Result<Experiment, Vec<String>> {
        let folder = std::path::PathBuf::new();
        let source = Source { name: "x".to_owned(), text: text.to_owned(), folder };
        Experiment::check(Plan::parse(source).unwrap())
            .map_err(|problems| problems.problems.into_iter().map(|it| it.message).collect())
    }

    fn plan(system: &str, workload: &str, load: &str) -> String {
        format!("system = \"{system}\"\nworkload = \"{workload}\"\n[load]\n{load}\n")
    }

    #[test]
    fn loads_that_cannot_be_shared_are_refused() {
        let two = "generators = [\"local\", \"local\"]\nclients = [8, 2]";
        let server = "mysql://root@127.0.0.1/test";
        let refused = |system, workload, load| check(&plan(system, workload, load)).err().unwrap();
        let texts = [
            refused("sqlite", "ycsb/a", two),
            refused("simulated", "simulated", two),
            refused(server, "tpch", two),
            refused(server, "ycsb/a", "generators = [\"local\", \"local\"]\nclients = [8, 1]"),
        ];
        let texts: Vec<String> = texts.concat();
        insta::assert_snapshot!(texts.join("\n"), @r#"
        system "sqlite" (sqlite) runs in the process that offers the load, so `generators` cannot share it
        system "simulated" (simulated) is simulated in the process that offers the load, so `generators` cannot share it
        `generators` cannot share workload "tpch" (tpch): one process compares the answers to its queries, and keeps the plans of them
        `generators` has 2 places, but a trial has only one connection: each generator needs one at least
        "#);
        assert!(check(&plan(server, "ycsb/a", two)).is_ok());
        assert!(check(&plan("sqlite", "ycsb/a", "generators = []")).is_ok());
        let calls = format!(
            "system = \"trpc://127.0.0.1:8000/a.B/C\"\nworkloads.w = {{ kind = \"rpc\", connections = 1 }}\n[load]\n{two}\n"
        );
        assert!(check(&calls).err().unwrap()[0].contains("only one connection"));
    }

    #[test]
    fn a_seek_over_clients_begins_with_a_client_for_each_generator() {
        let seek = |from: u32| {
            let load = "generators = [\"local\", \"local\", \"local\"]";
            let bounds =
                format!("[seek]\nbounds = \"p99 < 10ms\"\nover = \"clients\"\nfrom = {from}");
            check(&format!("{}{bounds}\n", plan("mysql://root@127.0.0.1/test", "ycsb/a", load)))
        };
        assert!(seek(2).err().unwrap()[0].contains("a trial has only 2 connections"));
        assert!(seek(3).is_ok());
    }

    #[test]
    fn generators_that_read_the_inserts_of_others_late_are_remarked_on() {
        let server = "mysql://root@127.0.0.1/test";
        let load = "generators = [\"local\", \"local\"]\nclients = 2";
        let noted = |workload, load| {
            let notes = check(&plan(server, workload, load)).ok().unwrap().notes();
            notes.iter().filter(|note| note.contains("generators")).count()
        };
        assert_eq!([noted("ycsb/d", load), noted("ycsb/a", load), noted("ycsb/d", "")], [1, 0, 0]);
    }
}

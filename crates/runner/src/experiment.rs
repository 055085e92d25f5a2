//! A plan whose parts have all been checked.

use std::time::Duration;

use analysis::ROUNDS_MIN;
use driver::rpc::{Protocol, Service};
use measure::Rules;
use plan::{Limit, LoadPlan, Plan, Problem, Problems, Source, Trial};
use record::PlanFile;
use system::System;
use workload::Workload;

use crate::shipped_workload::ShippedWorkload;
use crate::trial_workload::TrialWorkload;
use crate::{unfit, unfit_calls, windows};

/// A plan that can run: its systems and workloads are known and their options make sense.
pub struct Experiment {
    pub(crate) plan: Plan,
    pub(crate) systems: Vec<Box<dyn System>>,
    pub(crate) workloads: Vec<TrialWorkload>,
    /// The workloads for generators; none when this process offers the load.
    pub(crate) shipped: Vec<ShippedWorkload>,
    /// The files that the workloads name, for the record.
    pub(crate) files: Vec<PlanFile>,
}

impl Experiment {
    /// Reads a plan with every system and workload in it.
    ///
    /// # Errors
    /// Every error in them, with its place in the plan.
    pub fn read(source: Source) -> Result<Self, Problems> {
        let (plan, problems) = Plan::examine(source)?;
        Self::complete(plan, problems)
    }

    /// Reads every system and workload of `plan`.
    ///
    /// # Errors
    /// Every error in them, with its place in the plan.
    pub fn check(plan: Plan) -> Result<Self, Problems> {
        Self::complete(plan, Vec::new())
    }

    /// Reads the systems and workloads of a plan that has these problems.
    fn complete(mut plan: Plan, mut problems: Vec<Problem>) -> Result<Self, Problems> {
        complete_kinds(&mut plan);
        let folder = &plan.source.folder;
        let systems = collect_valid(&plan.systems, &mut problems, |it| system::read(it, folder));
        let read = collect_valid(&plan.workloads, &mut problems, |it| {
            let read = ShippedWorkload::read_in(&plan, it)?;
            match unfit_calls::problems(it, &read.0, &systems) {
                problems if problems.is_empty() => Ok(read),
                problems => Err(problems),
            }
        });
        let (workloads, shipped): (Vec<_>, Vec<_>) = read.into_iter().unzip();
        let files = PlanFile::of(shipped.iter().flat_map(ShippedWorkload::files));
        let shipped = if plan.load.generators.is_empty() { Vec::new() } else { shipped };
        if problems.is_empty() {
            plan.unsuited = unsuited(&systems, &workloads);
            problems.extend(left_over(&plan, &systems));
            problems.extend(without_method(&plan, &systems, &workloads));
            problems.extend(windows::shared_tables(&plan, &systems));
        }
        problems.extend(wrong_ceiling(&plan));
        if let Err(problem) = complete_load(&mut plan.load, &workloads) {
            problems.push(problem);
        }
        if !problems.is_empty() {
            return Err(Problems::new(&plan.source, problems));
        }
        let mut experiment = Self { plan, systems, workloads, shipped, files };
        match unfit::problems(&experiment) {
            problems if problems.is_empty() => {
                experiment.plan.forget_secrets();
                Ok(experiment)
            }
            problems => Err(Problems::new(&experiment.plan.source, problems)),
        }
    }

    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Whether there is one system and one workload, so that a message need not name them.
    pub(crate) fn is_of_one_system(&self) -> bool {
        self.systems.len() == 1 && self.workloads.len() == 1
    }

    /// The scores, limits and mix of workload `index`, and remarks on a load of `clients` clients.
    pub(crate) fn rules(&self, index: usize, clients: usize) -> Rules {
        match &self.workloads[index] {
            TrialWorkload::Database(workload) => workload.rules(clients),
            TrialWorkload::Service(_) | TrialWorkload::Simulated => Rules::default(),
        }
    }

    /// The connections of a trial's clients to the system.
    pub(crate) fn connections(&self, trial: Trial) -> usize {
        match &self.workloads[trial.workload] {
            TrialWorkload::Service(rpc) => rpc.connections(trial.clients),
            TrialWorkload::Database(_) | TrialWorkload::Simulated => trial.clients,
        }
    }

    /// When the measured load of a trial ends: a workload's own limit depends on the number of clients.
    pub(crate) fn limit(&self, trial: Trial) -> Limit {
        let given = self.plan.limit(trial);
        let own = || self.workloads[trial.workload].database()?.limit(trial.clients);
        let is_given = self.plan.load.is_limit_given || trial.seek.is_some();
        if is_given { given } else { own().unwrap_or(given) }
    }

    /// Remarks on the plan before it runs, each in one line.
    pub fn notes(&self) -> Vec<String> {
        let named = self.plan.workloads.iter().zip(&self.workloads);
        let notes = named.flat_map(|(plan, workload)| {
            let notes = workload.database().map(Workload::notes).unwrap_or_default();
            notes.into_iter().map(move |note| format!("{}: {note}", plan.name))
        });
        let notes = notes.chain(unfit::notes(self));
        let rounds = self.too_few_rounds().or_else(|| windows::too_few_rounds(&self.plan));
        notes.chain(rounds).chain(self.baselines_again()).collect()
    }

    /// The builds that a run has to make first, each with what it takes.
    pub fn builds_to_come(&self) -> Vec<String> {
        let named = self.plan.systems.iter().zip(&self.systems);
        let builds = named.filter_map(|(plan, system)| {
            let build = match &plan.build {
                Some(command) => format!("built first, by `{command}`"),
                None => system.build_to_come()?,
            };
            Some(format!("{}: {build}", plan.name))
        });
        builds.collect()
    }

    /// The trials that are there for the noise floor.
    fn baselines_again(&self) -> impl Iterator<Item = String> {
        let systems = &self.plan.systems;
        let again = systems.iter().enumerate().filter(|(_, system)| {
            system.variant.as_ref().is_some_and(|variant| variant.is_baseline_again)
        });
        again.map(|(at, system)| {
            let baseline = &systems[self.plan.built_as(at)].name;
            let name = &system.name;
            format!("{name} is {baseline} once more in each round: how far they differ is the noise floor")
        })
    }

    /// Variants are compared in rounds, and a single round shows no difference, however large.
    fn too_few_rounds(&self) -> Option<String> {
        let has_variants = self.plan.systems.iter().any(|system| system.variant.is_some());
        let rounds = self.plan.repetitions as usize;
        (has_variants && rounds < ROUNDS_MIN).then(|| {
            format!(
                "with one round, no difference between the variants can be shown, however large; set \
                 `repetitions` to {ROUNDS_MIN} or more"
            )
        })
    }

    /// A summary of workload `index` of the plan, in one line.
    pub fn describe_workload(&self, index: usize) -> String {
        match &self.workloads[index] {
            TrialWorkload::Database(workload) => workload.describe(),
            TrialWorkload::Service(rpc) => rpc.describe(),
            TrialWorkload::Simulated => "one request a transaction".to_owned(),
        }
    }
}

fn collect_valid<P, T>(
    parts: &[P],
    problems: &mut Vec<Problem>,
    read: impl Fn(&P) -> Result<T, Vec<Problem>>,
) -> Vec<T> {
    let mut good = Vec::with_capacity(parts.len());
    for part in parts {
        match read(part) {
            Ok(value) => good.push(value),
            Err(found) => problems.extend(found),
        }
    }
    good
}

/// Sets what the plan leaves to the workloads: the limit and the number of clients.
///
/// A workload that says how many transactions it has means no others, so there is no default warm-up then, which would
/// insert or change more.
///
/// # Errors
/// When the workloads set different ones.
fn complete_load(load: &mut LoadPlan, workloads: &[TrialWorkload]) -> Result<(), Problem> {
    if !load.is_clients_given {
        let clients = workloads.iter().map(|it| it.database()?.clients());
        if let Some(clients) = common(clients, "numbers of clients", "`clients`")? {
            load.clients = vec![clients];
        }
    }
    if !load.is_limit_given {
        let clients = load.clients.first().copied().unwrap_or(1);
        let limits = workloads.iter().map(|it| it.database()?.limit(clients));
        if let Some(limit) = common(limits, "limits for a trial", "`time` or `events`")? {
            load.limit = limit;
            if limit.events.is_some() && !load.is_warm_up_given {
                load.warm_up = Duration::ZERO;
            }
        }
    }
    if workloads.iter().any(TrialWorkload::runs_once) {
        if !load.is_warm_up_given {
            load.warm_up = Duration::ZERO;
        }
        check_runs_once(load)?;
    }
    Ok(())
}

/// A workload whose clients run a fixed sequence once has no load before it, no pauses and no rates.
///
/// # Errors
/// The key of `[load]` that does not go with it.
fn check_runs_once(load: &LoadPlan) -> Result<(), Problem> {
    let zero = Duration::ZERO;
    let unfit = [
        ("warm_up", load.warm_up > zero),
        ("prewarm", load.prewarm > zero),
        ("until", load.precision.is_some()),
        ("think_time", load.think_time > zero),
        ("rate", load.open.is_some()),
    ];
    let Some((key, _)) = unfit.into_iter().find(|(_, is_set)| *is_set) else { return Ok(()) };
    Err(Problem {
        span: None,
        message: format!("`{key}` does not go with a workload that runs its transactions once"),
        help: Some(
            "leave it out; with `repetitions`, the first trial is the cold one and the others are warm"
                .to_owned(),
        ),
    })
}

/// What all workloads set alike.
///
/// # Errors
/// When they differ in `what`; the keys of `[load]` that decide are in the help.
fn common<T: PartialEq>(
    mut all: impl Iterator<Item = Option<T>>,
    what: &str,
    keys: &str,
) -> Result<Option<T>, Problem> {
    let first = all.next().flatten();
    if all.all(|other| other == first) {
        return Ok(first);
    }
    let help = format!("set {keys} under [load]: it replaces what the workloads set");
    Err(Problem {
        span: None,
        message: format!("the workloads set different {what}"),
        help: Some(help),
    })
}

/// An address of an echo server that cannot be one.
fn wrong_ceiling(plan: &Plan) -> Option<Problem> {
    let address = plan.ceiling.as_ref()?.to.as_ref()?;
    let protocol = Protocol::Tcp { announces: true };
    let error = Service::check(protocol, &format!("tcp://{address}")).err()?;
    let help = "write it such as \"10.0.0.7:9000\", as `dyno echo --listen` has it".to_owned();
    let message = format!("`ceiling.to` is {address:?}: {error}");
    Some(Problem { span: None, message, help: Some(help) })
}

/// Pairs of a system and a workload that cannot run on it.
fn unsuited(systems: &[Box<dyn System>], workloads: &[TrialWorkload]) -> Vec<(usize, usize)> {
    let pairs =
        (0..systems.len()).flat_map(|it| (0..workloads.len()).map(move |other| (it, other)));
    pairs.filter(|&(it, other)| systems[it].offers() != workloads[other].needs()).collect()
}

/// Systems without a workload that can run on them, and workloads without a system.
fn left_over(plan: &Plan, systems: &[Box<dyn System>]) -> Vec<Problem> {
    let is_suited = |system, workload| !plan.unsuited.contains(&(system, workload));
    let mut problems = Vec::new();
    let mut report = |message: String, help: &str| {
        problems.push(Problem { span: None, message, help: Some(help.to_owned()) });
    };
    for (index, system) in plan.systems.iter().enumerate() {
        if !(0..plan.workloads.len()).any(|workload| is_suited(index, workload)) {
            let (name, kind) = (&system.name, &system.kind);
            let message = format!("no workload of this plan can run on system {name:?} ({kind})");
            report(message, systems[index].offers().help());
        }
    }
    for (index, workload) in plan.workloads.iter().enumerate() {
        if !(0..plan.systems.len()).any(|system| is_suited(system, index)) {
            let (name, kind) = (&workload.name, &workload.kind);
            let message = format!("workload {name:?} ({kind}) can run on no system of this plan");
            report(message, systems[0].offers().help());
        }
    }
    problems
}

/// Services with methods where neither the system nor a workload names one.
fn without_method(
    plan: &Plan,
    systems: &[Box<dyn System>],
    workloads: &[TrialWorkload],
) -> Option<Problem> {
    let is_unnamed =
        |it: &TrialWorkload| matches!(it, TrialWorkload::Service(rpc) if !rpc.names_method());
    let at = systems.iter().position(|system| system.lacks_method())?;
    workloads.iter().find(|it| is_unnamed(it))?;
    let options = &plan.systems[at].options;
    let help = "end the URL in /package.Service/Method, or give the workload `method = \"package.Service/Method\"` \
                (`--option method=...`)";
    Some(options.problem("url", "the URL names no method to call", help))
}

/// Gives workloads that are named without their family, such as `oltp_read_write`, their whole names.
fn complete_kinds(plan: &mut Plan) {
    for workload in &mut plan.workloads {
        if let Some(whole) = workload::whole_name(&workload.kind) {
            workload.kind = whole;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a plan with these lines of `[load]` and these options of its workloads.
    fn check(load: &str, workloads: &[&str]) -> Result<Experiment, Problems> {
        let mut text = format!("system = \"sqlite\"\n[load]\n{load}\n");
        for (index, options) in workloads.iter().enumerate() {
            text += &format!("[workloads.w{index}]\nkind = \"ycsb/d\"\n{options}\n");
        }
        let folder = std::path::PathBuf::new();
        Experiment::check(Plan::parse(Source { name: "x".to_owned(), text, folder })?)
    }

    fn load(load: &str, options: &str) -> LoadPlan {
        check(load, &[options]).unwrap().plan.load
    }

    #[test]
    fn mistakes_of_the_plan_its_systems_and_its_workloads_are_told_at_once() {
        let text = "[systems.maria]\nkind = \"marriadb\"\n[systems.lite]\nkind = \"sqlite\"\njornal = \"wal\"\n\
                    [workloads.reads]\nkind = \"sysbench/oltp_reed\"\n[load]\nclient = 4\n";
        let source = Source { name: "x".to_owned(), text: text.to_owned(), folder: ".".into() };
        let Err(problems) = Experiment::read(source) else { panic!("it is wrong") };
        let told = |problem: &Problem| {
            let place = problem.span.clone().map(|span| &text[span]);
            format!("{}: {}", place.unwrap_or("nowhere"), problem.message)
        };
        let all: Vec<String> = problems.problems.iter().map(told).collect();
        assert_eq!(
            all,
            [
                "\"marriadb\": `marriadb` is not a known system",
                "jornal: unknown key `jornal`",
                "\"sysbench/oltp_reed\": unknown workload `sysbench/oltp_reed`",
                "client: unknown key `client`",
            ]
        );
    }

    #[test]
    fn one_round_of_variants_is_remarked_on_before_it_runs() {
        let notes = |repetitions: u32| {
            let text = format!(
                "repetitions = {repetitions}\nworkload = \"sysbench/oltp_point_select\"\n\
                 [systems.lite]\nkind = \"sqlite\"\n\
                 [systems.lite.variants.a]\n[systems.lite.variants.b]\n"
            );
            let folder = std::path::PathBuf::new();
            let plan = Plan::parse(Source { name: "x".to_owned(), text, folder }).unwrap();
            Experiment::check(plan).unwrap().notes()
        };
        let told = notes(1);
        assert!(told[0].starts_with("with one round, no difference"), "{told:?}");
        assert_eq!(notes(2), Vec::<String>::new());
    }

    #[test]
    fn trials_for_the_noise_floor_are_remarked_on() {
        let text = "noise = true\nrepetitions = 2\nworkload = \"sysbench/oltp_point_select\"\n\
                    [systems.lite]\nkind = \"sqlite\"\n\
                    [systems.lite.variants.a]\n[systems.lite.variants.b]\n";
        let folder = std::path::PathBuf::new();
        let source = Source { name: "x".to_owned(), text: text.to_owned(), folder };
        let experiment = Experiment::check(Plan::parse(source).unwrap()).unwrap();
        assert_eq!(
            experiment.notes(),
            [
                "lite.a.again is lite.a once more in each round: how far they differ is the noise floor"
            ]
        );
    }

    #[test]
    fn a_definition_that_counts_its_transactions_has_no_default_warm_up() {
        let counted = "operationcount = 1000";
        let second = Duration::from_secs(1);
        let none = load("", counted);
        assert_eq!((none.limit, none.warm_up), (Limit::events(1000), Duration::ZERO));
        assert_eq!(load("warm_up = \"5s\"", counted).warm_up, 5 * second);
        assert_eq!(
            load("events = 10", counted).warm_up,
            second,
            "the plan counts, not the workload"
        );
        assert_eq!(load("", "maxexecutiontime = 9").warm_up, second);
        let experiment = check("", &[counted]).unwrap();
        let trial = experiment.plan.trials()[0];
        assert_eq!(
            crate::pacing::describe(
                &experiment.plan,
                experiment.limit(trial),
                trial,
                experiment.plan.warm_up(false)
            ),
            "closed loop, 1000 transactions, without warm-up, because the workload counts its \
             transactions"
        );
    }

    #[test]
    fn the_limit_of_streams_depends_on_their_number_and_nothing_runs_before_them() {
        let check = |load: &str| {
            let folder = std::path::PathBuf::new();
            let text = format!("system = \"sqlite\"\nworkload = \"tpch\"\n[load]\n{load}\n");
            Experiment::check(Plan::parse(Source { name: "x".to_owned(), text, folder })?)
        };
        let experiment = check("clients = [1, 3]").unwrap();
        let limits: Vec<Limit> =
            experiment.plan.trials().iter().map(|trial| experiment.limit(*trial)).collect();
        assert_eq!(limits, [Limit::events(22), Limit::events(66)]);
        assert_eq!(check("").unwrap().plan.load.clients, [1]);
        assert_eq!(check("events = 5").unwrap().plan.load.warm_up, Duration::ZERO);
        for load in [
            "warm_up = \"1s\"",
            "warm_up = \"steady\"",
            "think_time = \"1s\"",
            "rate = 5",
            "prewarm = \"1s\"",
            "until = \"mean within 5%\"",
        ] {
            let Err(problems) = check(load) else { panic!("{load}") };
            let told = problems.to_string();
            assert!(told.contains("does not go with a workload that runs"), "{told}");
        }
    }

    #[test]
    fn workloads_set_the_limit_and_the_clients_that_the_plan_does_not() {
        let both = load("", "operationcount = 7\nmaxexecutiontime = 9\nthreadcount = 64");
        let time = Some(Duration::from_secs(9));
        assert_eq!((both.limit, both.clients), (Limit { time, events: Some(7) }, vec![64]));
        let given = load("clients = [1, 2]\ntime = \"3s\"", "operationcount = 7\nthreadcount = 64");
        let three = Limit::time(Duration::from_secs(3));
        assert_eq!((given.limit, given.clients), (three, vec![1, 2]));
    }

    #[test]
    fn workloads_that_set_different_loads_are_refused() {
        let told = |options: [&str; 2]| match check("", &options) {
            Ok(_) => panic!("they differ"),
            Err(problems) => problems.to_string(),
        };
        let limits = told(["operationcount = 7", ""]);
        assert!(limits.contains("the workloads set different limits for a trial"), "{limits}");
        let clients = told(["threadcount = 7", "threadcount = 8"]);
        assert!(clients.contains("the workloads set different numbers of clients"), "{clients}");
        assert!(clients.contains("set `clients` under [load]"), "{clients}");
    }
}

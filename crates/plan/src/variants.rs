//! Variants of a system: the same system with different options, for comparison.

use crate::keys::{Form, Key};
use crate::options::{Entry, Options};
use crate::parts::Part;
use crate::source::bad_name;
use crate::value::Value;
use crate::{Problem, Variant};

const VARIANTS: &str = "variants";
/// The name of a baseline that is measured again ends with this.
const AGAIN: &str = ".again";

/// A system of the plan as it will run, with the tables that its statements come from.
pub(crate) struct Expanded {
    pub(crate) part: Part,
    pub(crate) variant: Option<Variant>,
}

/// The key of a system's table; below it the variants, each with options of the system.
pub(crate) fn key() -> Key {
    Key::new(VARIANTS, Form::Settings, "the same system with other options, for comparison")
}

/// The system itself, or all of its variants when it has any: each has the system's options, overridden by its own.
pub(crate) fn expand(part: Part, problems: &mut Vec<Problem>) -> Vec<Expanded> {
    let mut reader = part.table.reader();
    let Some(variants) = reader.table(VARIANTS, problems) else {
        return vec![Expanded { part, variant: None }];
    };
    if variants.entries.len() < 2 {
        problems.push(part.table.problem(
            VARIANTS,
            format!("system `{}` has {} to compare", part.name, one_or_none(&variants)),
            format!("give it two or more, each as [systems.{}.variants.NAME]", part.name),
        ));
    }
    let base = part.table.clone().without(VARIANTS);
    let expanded = variants.entries.iter().filter_map(|entry| {
        let own = own_options(entry, problems)?;
        let variant = Variant {
            of: part.name.clone(),
            name: entry.written.clone(),
            is_baseline_again: false,
        };
        let table = base.clone().overlaid(&own);
        Some(Expanded::new(variant, part.kind.clone(), table))
    });
    expanded.collect()
}

/// The first variant of each system again, as the last of its variants: the noise floor. An error when no system has
/// variants, or when one has this name already.
pub(crate) fn add_baselines_again(
    systems: Vec<Expanded>,
    root: &Options,
    problems: &mut Vec<Problem>,
) -> Vec<Expanded> {
    if systems.iter().all(|system| system.variant.is_none()) {
        problems.push(root.problem(
            "noise",
            "`noise` measures the baseline of variants again, and no system has variants",
            "give a system [systems.NAME.variants.ONE] and [systems.NAME.variants.OTHER]; two without options show how \
             far a system differs from itself",
        ));
    }
    let mut all: Vec<Expanded> = Vec::with_capacity(2 * systems.len());
    let mut systems = systems.into_iter().peekable();
    let mut baseline: Option<Expanded> = None;
    while let Some(system) = systems.next() {
        let of = |it: &Expanded| it.variant.as_ref().map(|variant| variant.of.clone());
        let (group, next) = (of(&system), systems.peek().and_then(of));
        if group.is_some() && baseline.is_none() {
            baseline = system.again();
        }
        all.push(system);
        if group != next {
            all.extend(baseline.take());
        }
    }
    for again in all.iter().filter(|it| it.variant.as_ref().is_some_and(|it| it.is_baseline_again))
    {
        let name = &again.part.name;
        if all.iter().filter(|it| it.part.name == *name).count() > 1 {
            let message = format!(
                "with `noise` the baseline is measured again as `{name}`, and a system has this name"
            );
            problems.push(root.problem(
                "noise",
                message,
                "give that system or variant another name",
            ));
        }
    }
    all
}

impl Expanded {
    fn new(variant: Variant, kind: String, table: Options) -> Self {
        let name = format!("{}.{}", variant.of, variant.name);
        Self { part: Part { name, kind, table }, variant: Some(variant) }
    }

    /// The same variant by another name.
    fn again(&self) -> Option<Self> {
        let Variant { of, name, .. } = self.variant.clone()?;
        let variant = Variant { of, name: format!("{name}{AGAIN}"), is_baseline_again: true };
        Some(Self::new(variant, self.part.kind.clone(), self.part.table.clone()))
    }
}

fn one_or_none(variants: &Options) -> &'static str {
    if variants.is_empty() { "no variant" } else { "one variant, which leaves nothing" }
}

fn own_options(entry: &Entry, problems: &mut Vec<Problem>) -> Option<Options> {
    let mut wrong = |span, message, help: &str| {
        problems.push(Problem { span, message, help: Some(help.to_owned()) });
    };
    if let Some(help) = bad_name(&entry.written) {
        let message = format!("{:?} is not a name for a variant", entry.written);
        wrong(entry.key_span.clone(), message, help);
    }
    let Value::Table(own) = &entry.placed.value else {
        let message = format!("variant `{}` is {}", entry.written, entry.placed.value.kind());
        wrong(entry.placed.span.clone(), message, "write a table with what differs");
        return None;
    };
    for key in ["kind", "use", VARIANTS] {
        if let Some(found) = own.find(key) {
            let message = format!("a variant has no `{key}` of its own");
            let help = "a variant is the same system with other options; another kind of system is \
                        a table of its own below [systems]";
            wrong(found.key_span.clone(), message, help);
        }
    }
    Some(own.clone())
}

#[cfg(test)]
mod tests {
    use crate::{Plan, Source};

    fn plan(text: &str) -> Result<Plan, String> {
        let text = format!("workload = \"sysbench/oltp_point_select\"\n{text}");
        let source = Source { name: "p.toml".to_owned(), text, folder: ".".into() };
        Plan::parse(source).map_err(|problems| problems.to_string())
    }

    const TWO: &str = "
        [systems.server]
        kind = \"mariadb\"
        settings = { max_connections = 100, table_open_cache = 10 }
        sql = { run_session = \"SET a = 1\" }
        [systems.server.variants.small]
        [systems.server.variants.large]
        settings = { table_open_cache = 20 }
        binary = \"/opt/mariadbd\"
        sql = { run_session = \"SET b = 2\" }
    ";

    #[test]
    fn a_variant_is_the_system_with_its_own_options_over_it() {
        let plan = plan(TWO).unwrap();
        let names: Vec<&str> = plan.systems.iter().map(|system| system.name.as_str()).collect();
        assert_eq!(names, ["server.small", "server.large"]);
        let [small, large] = &plan.systems[..] else { panic!("two systems") };
        assert_eq!(small.variant.as_ref().unwrap().of, "server");
        assert_eq!(small.kind, "mariadb");
        let shown = |system: &crate::SystemPlan| {
            let shown = system.options.shown().into_iter();
            shown.map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
        };
        insta::assert_snapshot!(shown(small), @r#"settings={"max_connections": 100, "table_open_cache": 10}"#);
        insta::assert_snapshot!(shown(large), @r#"settings={"max_connections": 100, "table_open_cache": 20} binary=/opt/mariadbd"#);
        assert_eq!(small.sql.run_session, ["SET a = 1"]);
        assert_eq!(large.sql.run_session, ["SET b = 2"]);
    }

    #[test]
    fn variants_are_interleaved_in_a_seeded_order() {
        let order = |seed: u64| {
            let text = format!("seed = {seed}\nrepetitions = 8\n{TWO}");
            let trials = plan(&text).unwrap().trials();
            assert_eq!(trials.len(), 16);
            // Each variant occurs once in each round.
            for (round, pair) in trials.chunks(2).enumerate() {
                assert!(pair.iter().all(|trial| trial.repetition as usize == round));
                assert_ne!(pair[0].system, pair[1].system);
            }
            trials.iter().map(|trial| trial.system).collect::<Vec<_>>()
        };
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
        let first: Vec<usize> = order(1).chunks(2).map(|pair| pair[0]).collect();
        assert!(first.contains(&0) && first.contains(&1), "one variant is always first: {first:?}");
    }

    #[test]
    fn each_variant_runs_first_in_one_round_of_every_pair() {
        for seed in 0..200 {
            let text = format!("seed = {seed}\nrepetitions = 8\n{TWO}");
            let order: Vec<usize> =
                plan(&text).unwrap().trials().iter().map(|trial| trial.system).collect();
            for pair_of_rounds in order.chunks(4) {
                let [a, b, c, d] = *pair_of_rounds else { panic!("{order:?}") };
                assert_eq!((a, b), (d, c), "seed {seed}: {order:?}");
            }
        }
    }

    #[test]
    fn with_noise_the_baseline_takes_another_turn_in_each_round() {
        let text =
            format!("noise = true\nrepetitions = 6\n{TWO}\n[systems.lite]\nkind = \"sqlite\"");
        let plan = plan(&text).unwrap();
        let names: Vec<&str> = plan.systems.iter().map(|system| system.name.as_str()).collect();
        assert_eq!(names, ["server.small", "server.large", "server.small.again", "lite"]);
        let [small, _, again, _] = &plan.systems[..] else { panic!("four systems") };
        assert_eq!(
            (&small.options, &small.sql, &small.kind),
            (&again.options, &again.sql, &again.kind)
        );
        let is_again =
            |at: usize| plan.systems[at].variant.as_ref().is_some_and(|it| it.is_baseline_again);
        assert_eq!([0, 1, 2, 3].map(is_again), [false, false, true, false]);
        assert_eq!([0, 1, 2, 3].map(|at| plan.built_as(at)), [0, 1, 0, 3]);
        let order: Vec<usize> = plan.trials().iter().map(|trial| trial.system).collect();
        let (rounds, rest) = order.split_at(18);
        assert_eq!(rest, [3; 6], "a system without variants is measured as before");
        let mut places = [[0; 3]; 3];
        for round in rounds.chunks(3) {
            round.iter().enumerate().for_each(|(place, system)| places[*system][place] += 1);
        }
        assert_eq!(places, [[2; 3]; 3], "{rounds:?}");
    }

    #[test]
    fn noise_without_variants_and_a_name_that_is_taken_are_refused() {
        let told = |text: &str| plan(&format!("noise = true\n{text}")).unwrap_err();
        let none = told("system = \"sqlite\"");
        assert!(none.contains("no system has variants") && none.contains("noise = true"), "{none}");
        let taken =
            "[systems.a]\nkind = \"sqlite\"\n[systems.a.variants]\none = {}\n\"one.again\" = {}";
        let taken = told(taken);
        assert!(
            taken.contains("measured again as `a.one.again`, and a system has this name"),
            "{taken}"
        );
        let wrong = told(
            "[systems.a]\nkind = \"sqlite\"\n[systems.a.variants]\none = { sql = 1 }\ntwo = {}",
        );
        assert_eq!(wrong.matches("error:").count(), 1, "a mistake is told once: {wrong}");
    }

    #[test]
    fn invalid_variants_are_reported_with_their_place() {
        let wrong = "
            [systems.server]
            kind = \"mariadb\"
            [systems.server.variants.only]
            kind = \"sqlite\"
        ";
        insta::assert_snapshot!(plan(wrong).unwrap_err());
    }
}

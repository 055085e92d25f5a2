//! Remarks on plans whose variants are all up at once, and what such plans cannot do.

use plan::{Existing, Plan, Problem};
use system::System;

/// With fewer rounds an interval is wide: the windows of a round share one start of each variant.
const ROUNDS_MIN: u32 = 4;

pub(crate) fn too_few_rounds(plan: &Plan) -> Option<String> {
    plan.windows?;
    (plan.repetitions < ROUNDS_MIN).then(|| {
        format!(
            "the windows of a round share one start of each variant, so only rounds narrow an interval: set \
             `repetitions` to {ROUNDS_MIN} or more"
        )
    })
}

/// Variants that would each create the same tables on the same server, which is there for both.
pub(crate) fn shared_tables(plan: &Plan, systems: &[Box<dyn System>]) -> Option<Problem> {
    if plan.windows.is_none() || !matches!(plan.existing, Existing::Match | Existing::Refuse) {
        return None;
    }
    let kept: Vec<usize> = (0..systems.len()).filter(|at| systems[*at].keeps_data()).collect();
    let place = |at: usize| (&plan.systems[at].kind, plan.systems[at].options.shown());
    let (one, other) = kept.iter().enumerate().find_map(|(at, one)| {
        let other = kept[at + 1..].iter().find(|other| place(**other) == place(*one))?;
        Some((*one, *other))
    })?;
    let [one, other] = [one, other].map(|at| &plan.systems[at].name);
    let message = format!(
        "systems `{one}` and `{other}` are one server, and both would create its tables while they are up together"
    );
    let help = "set existing = \"reuse\", so that the second uses the tables of the first, or give each a database \
                of its own";
    Some(Problem { span: None, message, help: Some(help.to_owned()) })
}

#[cfg(test)]
mod tests {
    use plan::{Plan, Source};

    use crate::Experiment;

    fn check(top: &str, systems: &str) -> Result<Experiment, String> {
        let text = format!("{top}\ninterleave = \"windows\"\n{systems}\n");
        let source = Source { name: "x".to_owned(), text, folder: std::path::PathBuf::new() };
        let plan = Plan::parse(source).map_err(|problems| problems.to_string())?;
        Experiment::check(plan).map_err(|problems| problems.to_string())
    }

    const SIMULATED: &str =
        "[systems.s]\nkind = \"simulated\"\n[systems.s.variants.a]\n[systems.s.variants.b]";
    const THERE: &str = "[systems.s]\nurl = \"mysql://root@127.0.0.1:9/test\"\n[systems.s.variants.a]\n\
                         [systems.s.variants.b]\nsql = { run_session = \"SET a = 1\" }";

    #[test]
    fn fewer_than_four_rounds_of_windows_are_remarked() {
        let notes = |rounds: u32| {
            let top = format!("workload = \"simulated\"\nrepetitions = {rounds}");
            check(&top, SIMULATED).unwrap_or_else(|told| panic!("{told}")).notes()
        };
        assert!(notes(3).iter().any(|note| note.contains("set `repetitions` to 4 or more")));
        assert_eq!(notes(4), [""; 0]);
    }

    #[test]
    fn variants_of_one_server_do_not_create_its_tables_twice() {
        let workload = "workload = \"sysbench/oltp_point_select\"";
        let Err(told) = check(workload, THERE) else { panic!("it is accepted") };
        assert!(told.contains("`s.a` and `s.b` are one server"), "{told}");
        assert!(check(&format!("{workload}\nexisting = \"reuse\""), THERE).is_ok());
        let apart = THERE.replace("sql = {", "url = \"mysql://root@127.0.0.1:9/other\"\nsql = {");
        assert!(check(workload, &apart).is_ok());
    }
}

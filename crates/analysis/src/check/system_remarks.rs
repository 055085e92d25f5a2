//! What a reader must know of a system: of its settings, of how it runs queries, and of its first executions.

use std::collections::BTreeMap;

use crate::{Code, Finding, Measured, Value};

/// Executions that are not like the later ones are told from this part of all on.
const FIRST_PART: f64 = 0.05;

pub(super) fn check(measured: &Measured<'_>) -> Vec<Finding> {
    let settings = measured.system_remarks.iter().map(|text| remark(text));
    settings.chain(plans(measured)).chain(first_executions(measured)).collect()
}

fn remark(text: &str) -> Finding {
    Finding::new(Code::SystemRemark).with("text", Value::Text(text.to_owned()))
}

/// The remarks on the plans of queries, each with the queries that it is on.
fn plans<'a>(measured: &'a Measured<'_>) -> impl Iterator<Item = Finding> + 'a {
    let mut by_remark: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for plan in measured.plans {
        if let Some(text) = &plan.remark {
            by_remark.entry(text).or_default().push(&plan.operation);
        }
    }
    let finding = |(text, queries): (&str, Vec<&str>)| {
        remark(text).with("queries", Value::Text(queries.join(", ")))
    };
    by_remark.into_iter().map(finding)
}

/// Whether the first executions in each session are a part of the measured ones that shows. A transaction that executes a
/// statement several times has fewer of them, and so the part is an upper bound.
fn first_executions(measured: &Measured<'_>) -> Option<Finding> {
    let first = measured.first_executions?;
    let sessions = (measured.clients > 0).then_some(measured.clients as f64)?;
    let (mut early, mut all) = (0.0, 0.0);
    for (at, tally) in measured.total.operations.iter().enumerate() {
        let before = measured.warm_up.get(at).copied().unwrap_or(0) as f64 / sessions;
        let within = tally.succeeded.count() as f64 / sessions;
        let count = first.count as f64;
        early += count.min(before + within) - count.min(before);
        all += within;
    }
    let part = (all > 0.0).then_some(early / all)?;
    (part >= FIRST_PART).then(|| remark(&first.text).with("most", Value::Part(part)))
}

#[cfg(test)]
mod tests {
    use measure::{FirstExecutions, OperationId, OperationKind, QueryPlan, Tally};

    use super::*;
    use crate::summary::tests::seconds_of;

    #[test]
    fn first_executions_are_told_until_a_warm_up_or_many_others_hide_them() {
        let first = FirstExecutions { count: 5, text: "they are planned".to_owned() };
        let part = |warm_up: &[u64], transactions: u64| {
            let mut total = Tally::new(1);
            for _ in 0..transactions {
                total.success(OperationId(0), OperationKind::Transaction, 1_000);
            }
            let trial = seconds_of(&[]);
            let input = Measured {
                clients: 4,
                total: &total,
                first_executions: Some(&first),
                warm_up,
                ..trial.measured()
            };
            first_executions(&input).map(|it| it.value("most").cloned().unwrap())
        };
        assert_eq!(part(&[], 40), Some(Value::Part(0.5)));
        assert_eq!(part(&[8], 40), Some(Value::Part(0.3)));
        assert_eq!(part(&[20], 40), None);
        assert_eq!(part(&[], 8), Some(Value::Part(1.0)));
        assert_eq!(part(&[], 404), None);
        assert_eq!(part(&[], 0), None);
    }

    #[test]
    fn a_remark_on_several_plans_is_told_once_with_their_queries() {
        let plan = |operation: &str, remark: Option<&str>| QueryPlan {
            operation: operation.to_owned(),
            text: String::new(),
            remark: remark.map(str::to_owned),
        };
        let plans = [
            plan("Q1", Some("it is compiled")),
            plan("Q2", None),
            plan("Q5", Some("it is compiled")),
        ];
        let trial = seconds_of(&[]);
        let found = check(&Measured { plans: &plans, ..trial.measured() });
        let expected = remark("it is compiled").with("queries", Value::Text("Q1, Q5".to_owned()));
        assert_eq!(found, [expected]);
    }
}

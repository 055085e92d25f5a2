//! The plans that a system has for the queries of the first stream.

use std::sync::Arc;

use driver::{Dialect, Session};
use measure::{Failure, QueryPlan};

use super::client::texts;
use super::load::TpchLoad;
use super::settings::Plans;
use crate::WorkloadContext;
use crate::parallel::on_session;

/// Asks for the plan of each query. A plan that the system refuses to show is the system's message.
pub(super) fn query_plans(
    context: &WorkloadContext<'_>,
    load: Arc<TpchLoad>,
) -> Result<Vec<QueryPlan>, Failure> {
    let dialect = context.target.dialect();
    let queries = load.settings.queries();
    context.progress.begin("asking for query plans", queries.len() as u64);
    let progress = context.progress.clone();
    on_session(context, async move |session| {
        let mut all = Vec::with_capacity(queries.len());
        for query in queries {
            let text = load.text(query, 0);
            let text = plan(session, dialect, load.settings.plans, &text).await?;
            let remark = remark(dialect, &text);
            all.push(QueryPlan { operation: format!("Q{query}"), text, remark });
            progress.advance(1);
        }
        Ok(all)
    })
}

fn remark(dialect: &Dialect, plan: &str) -> Option<String> {
    let (word, remark) = dialect.plan_remark?;
    plan.lines().any(|line| line.trim_start().starts_with(word)).then(|| remark.to_owned())
}

/// The plan of a query, by the first statement that the system knows.
async fn plan(
    session: &mut Session,
    dialect: &Dialect,
    plans: Plans,
    query: &str,
) -> Result<String, Failure> {
    let analyze = dialect.explain_analyze.iter().filter(|_| plans == Plans::Analyze);
    let mut told = String::new();
    for statement in analyze.chain([&dialect.explain]) {
        match session.rows(&statement.replace("{query}", query)).await {
            Ok(rows) => {
                let rows = texts(dialect, rows);
                let lines: Vec<String> = rows.iter().map(|row| row.join("\t")).collect();
                return Ok(lines.join("\n"));
            }
            Err(failure) if failure.key.class.breaks_connection() => return Err(failure),
            Err(failure) => told = failure.message.to_string(),
        }
    }
    Ok(told)
}

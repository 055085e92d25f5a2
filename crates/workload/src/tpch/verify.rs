//! Checks that the tables have the columns and rows of their scale, and that the queries answer rightly.

use std::sync::Arc;

use measure::Failure;

use super::answers::Answers;
use super::client::texts;
use super::compare::difference;
use super::parameters::validation;
use super::queries;
use super::schema::{Table, WORKLOAD};
use super::settings::Settings;
use super::style::Style;
use crate::WorkloadContext;
use crate::parallel::{as_integer, columns, on_session, parallel_for, unsuitable, workers};
use crate::tables::check_columns;

/// The most lines of an order (clause 4.2.3).
const LINES_MAX: i64 = 7;

/// The columns of every table, and the rows of this scale.
pub(super) fn verify_shape(
    context: &WorkloadContext<'_>,
    settings: &Settings,
) -> Result<(), Failure> {
    let list_columns = context.target.dialect().list_columns;
    let scale = settings.scale;
    context.progress.begin("counting rows", Table::ALL.len() as u64);
    let progress = context.progress.clone();
    parallel_for(context, workers(context), Table::ALL.len() as u64, move |session, job| {
        let (table, progress) = (Table::ALL[job as usize], progress.clone());
        Box::pin(async move {
            let found = columns(session, list_columns, table.name()).await?;
            check_columns(WORKLOAD, table.name(), &found, &table.column_names())?;
            let rows = session.rows(&format!("SELECT COUNT(*) FROM {}", table.name())).await?;
            let count = as_integer(rows.first().and_then(|row| row.first())).unwrap_or_default();
            progress.advance(1);
            check_count(table, scale, count)
        })
    })
}

fn check_count(table: Table, scale: f64, count: i64) -> Result<(), Failure> {
    let (name, rows) = (table.name(), table.rows(scale).cast_signed());
    let (is_right, wanted) = if table == Table::LineItem {
        let orders = Table::Orders.rows(scale).cast_signed();
        let most = LINES_MAX * orders;
        ((orders..=most).contains(&count), format!("{orders} to {most}"))
    } else {
        (count == rows, rows.to_string())
    };
    if is_right {
        return Ok(());
    }
    Err(unsuitable(format!(
        "table {name} has {count} rows, not {wanted} as at scale {scale}; set the scale of the tables, or recreate \
         them with `--existing replace`"
    )))
}

/// Runs every query with the validation parameters, and compares its answer with the expected one.
///
/// # Errors
/// The wrong answers, with their first differing rows; the server's error.
pub(super) fn verify_answers(
    context: &WorkloadContext<'_>,
    settings: &Settings,
) -> Result<(), Failure> {
    let Some(answers) = Answers::at(settings.scale) else { return Ok(()) };
    let answers = Arc::new(answers);
    let queries = settings.queries();
    context.progress.begin("checking answers", queries.len() as u64);
    let (dialect, scale) = (context.target.dialect(), settings.scale);
    let progress = context.progress.clone();
    on_session(context, async move |session| {
        let mut wrong = Vec::new();
        for query in queries {
            let text = queries::text(query, &validation(query), Style(dialect), scale);
            let rows = texts(dialect, session.rows(&text).await?);
            let told = difference(query, answers.of(query), &rows);
            wrong.extend(told.map(|told| format!("the answer to Q{query} is wrong: {told}")));
            progress.advance(1);
        }
        if wrong.is_empty() { Ok(()) } else { Err(unsuitable(wrong.join(". "))) }
    })
}

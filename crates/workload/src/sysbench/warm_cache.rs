//! Reads whole tables into the caches of the system, as sysbench's command `prewarm` does.

use std::sync::Arc;

use measure::Failure;

use super::schema;
use crate::WorkloadContext;
use crate::parallel::{parallel_for, workers};

/// Reads every row of the tables, then the index on k, several tables at once.
pub(super) fn warm_cache(context: &WorkloadContext<'_>, tables: &[u64]) -> Result<(), Failure> {
    context.progress.begin("reading tables", tables.len() as u64);
    let progress = context.progress.clone();
    let tables: Arc<Vec<u64>> = Arc::new(tables.to_vec());
    let count = tables.len() as u64;
    parallel_for(context, workers(context), count, move |session, job| {
        let (table, progress) = (schema::name(tables[job as usize]), progress.clone());
        Box::pin(async move {
            for sql in statements(&table) {
                session.rows(&sql).await?;
            }
            progress.advance(1);
            Ok(())
        })
    })
}

/// No index has the texts, so the first statement reads the rows themselves; the second one reads the index on k.
pub(super) fn statements(table: &str) -> [String; 2] {
    ["SUM(LENGTH(c) + LENGTH(pad))", "SUM(k)"].map(|sum| format!("SELECT {sum} FROM {table}"))
}

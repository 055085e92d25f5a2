//! What is timed of a mix of transactions.

use std::collections::BTreeMap;

use measure::{Operation, OperationId, OperationKind};

use super::section::{Statement, Transaction};

pub(super) struct TransactionIds {
    pub(super) transaction: OperationId,
    /// `None` for a transaction of one statement, which is not timed twice.
    pub(super) statements: Option<Vec<OperationId>>,
    pub(super) sleeps: Vec<OperationId>,
}

/// Where each transaction has a connection of its own, the operation of opening it.
pub(super) const CONNECT: &str = "connect";

/// All operations, and those of each transaction.
pub(super) fn operations(transactions: &[Transaction]) -> (Vec<Operation>, Vec<TransactionIds>) {
    let mut all = Vec::new();
    let mut add = |name: &str, kind| {
        all.push(Operation::new(name, kind));
        OperationId((all.len() - 1) as u16)
    };
    let ids = transactions
        .iter()
        .map(|transaction| {
            let id = add(&transaction.name, OperationKind::Transaction);
            let is_single = transaction.statements.len() == 1 && transaction.steps.is_empty();
            let prefix = if transactions.len() == 1 {
                String::new()
            } else {
                format!("{}.", transaction.name)
            };
            let statements = (!is_single).then(|| {
                let names = statement_names(&transaction.statements);
                let named = names.iter().zip(&transaction.statements);
                named.map(|(name, one)| add(&format!("{prefix}{name}"), one.verb.kind())).collect()
            });
            let sleep = |number: usize| match number {
                0 => format!("{prefix}sleep"),
                _ => format!("{prefix}sleep_{}", number + 1),
            };
            let sleeps = 0..transaction.sleeps();
            let sleeps = sleeps.map(|at| add(&sleep(at), OperationKind::Wait)).collect();
            TransactionIds { transaction: id, statements, sleeps }
        })
        .collect();
    (all, ids)
}

fn statement_names(statements: &[Statement]) -> Vec<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    statements
        .iter()
        .map(|statement| {
            let name = statement.text.name();
            let count = seen.entry(name.clone()).or_default();
            *count += 1;
            if *count == 1 { name } else { format!("{name}_{count}") }
        })
        .collect()
}

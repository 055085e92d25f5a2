//! The transactions that a client draws from, with the shares of each.

use std::collections::{BTreeMap, BTreeSet};

use driver::Dialect;
use measure::Failure;
use plan::Problem;

use super::script::{ParseContext, read};
use super::section::{Slots, Transaction};
use crate::expression::{Cell, Diagnostic};
use crate::parallel::unsuitable;

/// Transactions and the slots of their variables.
#[derive(Default)]
pub(crate) struct Mix {
    pub(super) transactions: Vec<Transaction>,
    /// For each transaction: the sum of the shares up to and including it; the last is 1.
    pub(super) cumulative: Vec<f64>,
    pub(super) slots: Slots,
}

/// The slots that every client has, before those of variables: its number, and two seeds.
pub(super) fn new_slots() -> Slots {
    vec![Cell::Int(0); 3]
}

impl Mix {
    /// `shares` are those of the transactions, in any unit.
    pub(super) fn new(transactions: Vec<Transaction>, shares: &[f64], slots: Slots) -> Self {
        Self { transactions, cumulative: cumulate(shares), slots }
    }

    /// The mix of scripts that dyno itself has, each with its name, its text and its weight.
    ///
    /// # Errors
    /// The first error in a script.
    pub(crate) fn of_scripts<'s>(
        scripts: impl Iterator<Item = (&'s str, &'s str, u64)>,
        variables: &BTreeMap<String, Cell>,
    ) -> Result<Self, Diagnostic> {
        let mut slots = new_slots();
        let (mut transactions, mut shares) = (Vec::new(), Vec::new());
        for (name, text, weight) in scripts {
            let reading = ParseContext { file: name, stem: name, variables };
            let script = read(text, &reading, &mut slots)?;
            shares.extend(script.transactions.iter().map(|_| weight as f64));
            transactions.extend(script.transactions);
        }
        Ok(Self::new(transactions, &shares, slots))
    }

    pub(crate) fn statements(&self) -> usize {
        // A statement whose result is kept is described too.
        let of = |one: &Transaction| one.statements.len() + one.results.len();
        self.transactions.iter().map(of).sum()
    }

    /// Refuses `?` outside of quotes where it is no operator: there it would be taken for a parameter.
    pub(super) fn demand_operators(&self, dialect: &Dialect) -> Result<(), Failure> {
        let statements = self.transactions.iter().flat_map(|transaction| &transaction.statements);
        let mut asking = statements.filter(|statement| statement.text.has_question);
        match asking.next().filter(|_| !dialect.has_question_operators) {
            None => Ok(()),
            Some(statement) => Err(unsuitable(format!(
                "{}: `?` outside of quotes is no operator here; write parameters as :name, and draw them with \\set",
                statement.place
            ))),
        }
    }
}

/// The cumulative sums of the shares, divided by their total.
fn cumulate(shares: &[f64]) -> Vec<f64> {
    let sum: f64 = shares.iter().sum();
    let mut so_far = 0.0;
    shares
        .iter()
        .map(|share| {
            so_far += share;
            so_far / sum
        })
        .collect()
}

pub(super) fn refuse_namesakes(transactions: &[Transaction]) -> Result<(), Problem> {
    let mut names = BTreeSet::new();
    match transactions.iter().find(|transaction| !names.insert(&transaction.name)) {
        None => Ok(()),
        Some(twice) => Err(Problem {
            span: None,
            message: format!("there are two transactions `{}`", twice.name),
            help: Some("give each a name with \\transaction name".to_owned()),
        }),
    }
}

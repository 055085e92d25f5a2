//! Properties of SQL files that hold for any text.

use std::collections::BTreeMap;

use super::mix::new_slots;
use super::script::{ParseContext, read};
use super::section::Step;
use super::source::{Item, split};
use crate::expression::{Cell, Variables};
use crate::random::Random;

fuzzing::targets! {
    sql_statements: statements;
    sql_file: file;
}

/// A statement that is written with its parameters is read as the same statement.
fn statements(bytes: &[u8]) -> Option<()> {
    let text = String::from_utf8_lossy(bytes);
    let items = split(&text).ok()?;
    let lines = text.lines().count().max(1);
    for item in items {
        let Item::Statement(statement) = item else { continue };
        assert!((1..=lines).contains(&statement.line), "line {} of {lines}", statement.line);
        let names: Vec<&str> = statement.parameters.iter().map(|(name, _)| &**name).collect();
        let written = statement.fill(|at| format!(":{}", names[at]));
        let again = split(&format!("{written};")).map_err(|wrong| wrong.message);
        let Ok([Item::Statement(again)]) = again.as_deref() else {
            panic!("{written:?} is read as {again:?}");
        };
        let same: Vec<&str> = again.parameters.iter().map(|(name, _)| &**name).collect();
        assert_eq!((again.marked(), same), (statement.marked(), names));
    }
    Some(())
}

/// Every transaction of a file has statements, whose parameters have values of the same file, and the draws of a seed are
/// the same each time.
fn file(bytes: &[u8]) -> Option<()> {
    let text = String::from_utf8_lossy(bytes);
    let variables = BTreeMap::from([("scale".to_owned(), Cell::Int(3))]);
    let context = ParseContext { file: "my.sql", stem: "my", variables: &variables };
    let mut slots = new_slots();
    let script = read(&text, &context, &mut slots).ok()?;
    assert!(!script.transactions.is_empty());
    for transaction in &script.transactions {
        assert!(!transaction.statements.is_empty() && transaction.weight > 0);
        for step in &transaction.steps {
            match step {
                Step::Statement(number) => assert!(*number < transaction.statements.len()),
                Step::Receive(number, result) => {
                    assert!(*number < transaction.statements.len());
                    assert!(*result < transaction.results.len());
                }
                Step::Branch { otherwise: to, .. } | Step::Jump(to) => {
                    assert!(*to <= transaction.steps.len() && *to > 0, "{to}");
                }
                Step::Set(_)
                | Step::Keep(_)
                | Step::Sleep { .. }
                | Step::StartPipeline
                | Step::SyncPipeline
                | Step::EndPipeline => {}
            }
        }
        let draw = || {
            let mut variables = Variables { slots: slots.clone(), random: Random::new(7) };
            let sets = transaction.sets.iter();
            let drawn = sets.map(|set| variables.set(set.slot, &set.expression));
            let drawn: Result<Vec<()>, String> = drawn.collect();
            (drawn, format!("{:?}", variables.slots))
        };
        assert_eq!(draw(), draw(), "another draw of the same seed");
        for statement in &transaction.statements {
            assert_eq!(statement.parameters.len(), statement.text.parameters.len());
            assert!(statement.parameters.iter().all(|slot| *slot < slots.len()));
        }
    }
    Some(())
}

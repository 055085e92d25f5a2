//! Verdicts on the answers to queries: compared with the known ones or, where none are known, with those of the
//! system that was asked first.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use measure::{Condition, ConditionResult, ConditionSubject};

use super::answers::{Answers, Rows};
use super::compare::difference;

/// What the answers of a load are compared with.
pub(super) enum Reference {
    Nothing,
    Known(Answers),
    /// The first answers to the same queries with the same parameters, if another system than this one gave them.
    OtherSystems(String),
}

/// A query, 1 to 22, with its parameters.
type Question = (usize, Vec<String>);

/// The verdicts on a trial's answers, and the first answers of all trials.
#[derive(Debug, Default)]
pub(super) struct Verdicts {
    of_trial: Mutex<BTreeMap<usize, Verdict>>,
    first: Mutex<BTreeMap<Question, FirstAnswer>>,
}

#[derive(Debug)]
struct FirstAnswer {
    system: String,
    rows: Rows,
}

#[derive(Debug)]
struct Verdict {
    /// The system whose answer it was compared with; `None` for the known answer.
    other: Option<String>,
    difference: Option<String>,
}

impl Verdicts {
    pub(super) fn assess(&self, reference: &Reference, question: Question, rows: Rows) {
        let query = question.0;
        match reference {
            Reference::Nothing => {}
            Reference::Known(answers) => {
                let difference = difference(query, answers.of(query), &rows);
                self.add(query, Verdict { other: None, difference });
            }
            Reference::OtherSystems(system) => {
                let verdict = self.compare(system, question, rows);
                verdict.into_iter().for_each(|verdict| self.add(query, verdict));
            }
        }
    }

    /// Compares an answer of `system` with the first one; `None` if that is its own.
    fn compare(&self, system: &str, question: Question, rows: Rows) -> Option<Verdict> {
        let query = question.0;
        let mut all = lock(&self.first);
        let Some(first) = all.get(&question) else {
            all.insert(question, FirstAnswer { system: system.to_owned(), rows });
            return None;
        };
        (first.system != system).then(|| Verdict {
            other: Some(first.system.clone()),
            difference: difference(query, &first.rows, &rows),
        })
    }

    /// Keeps a verdict; the first difference of each query stays.
    fn add(&self, query: usize, verdict: Verdict) {
        let mut all = lock(&self.of_trial);
        match all.get(&query) {
            Some(kept) if kept.difference.is_some() => {}
            _ => {
                all.insert(query, verdict);
            }
        }
    }

    /// The verdicts since the last call, by query.
    pub(super) fn take(&self) -> Vec<Condition> {
        std::mem::take(&mut *lock(&self.of_trial)).into_iter().map(condition).collect()
    }
}

fn condition((query, verdict): (usize, Verdict)) -> Condition {
    let Verdict { other, difference } = verdict;
    let (about, meaning) = match &other {
        None => (
            ConditionSubject::Answer,
            "the answer to the validation parameters (clause 2.3)".to_owned(),
        ),
        Some(other) => {
            (ConditionSubject::SameAnswer, format!("the answer of {other} to the same parameters"))
        }
    };
    let told = |difference| match &other {
        None => difference,
        Some(other) => format!("unlike {other}: {difference}"),
    };
    let verdict = difference.map_or(ConditionResult::Holds, |it| ConditionResult::Broken(told(it)));
    Condition { about, name: format!("Q{query}"), meaning, verdict }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

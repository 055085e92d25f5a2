//! Whether the rounds that the tool itself asks for find a difference: six rounds, and where they leave it undecided as
//! many others as the advice says.

use analysis::{Comparison, LEVEL, Significance, compare};

use super::methods::{ROUNDS, Trials, in_rounds};
use super::share::Share;

/// A difference that is to be found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Question {
    /// The least difference that matters.
    margin: f64,
    /// The true ratio.
    truth: f64,
}

/// A difference of 3 % by the margin of a plan that sets none.
pub(super) const THREE_PERCENT: Question = Question { margin: plan::LEAST_DIFFERENCE, truth: 1.03 };
/// At most this part of the comparisons may ask for more rounds than there are.
const TOO_MANY_PERCENT: f64 = 10.0;

/// The head of the table.
pub(super) const HEAD: &str = "\
| trials | found by six rounds % | asked for, median | nine in ten ask for at most | asked for more than there are % \
| found with those % | found in all % |
|---|---|---|---|---|---|---|";

/// What became of comparisons.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) name: String,
    question: Question,
    at_once: Share,
    rounds: Vec<usize>,
    with_asked: Share,
    /// The comparison is found by six rounds, or by as many as were asked for.
    pub(super) found: Share,
    /// More rounds were asked for than there are trials.
    too_many: Share,
}

impl Asked {
    pub(super) fn named(name: impl Into<String>, question: Question) -> Self {
        let [at_once, too_many, with_asked, found] = [Share::default(); 4];
        let (name, rounds) = (name.into(), Vec::new());
        Self { name, question, at_once, rounds, too_many, with_asked, found }
    }

    /// Of simulated trials.
    pub(super) fn of(noise: &str, trials: &Trials) -> Self {
        let mut all = Self::named(noise, THREE_PERCENT);
        for number in 0..trials.comparisons() {
            let first = trials.first(number, 2 * ROUNDS);
            all.add(first, number as u64, |count| trials.after(number, count));
        }
        all
    }

    /// Compares six rounds of `first`, and as many more as are asked for.
    pub(super) fn add(
        &mut self,
        first: &[f64],
        seed: u64,
        others: impl FnOnce(usize) -> Option<Vec<f64>>,
    ) {
        let Some(pilot) = self.question.compared(first, seed) else { return };
        let is_found = pilot.verdict == Significance::Higher;
        self.at_once.add(is_found);
        if pilot.verdict != Significance::Undecided {
            self.found.add(is_found);
            return;
        }
        let Some(rounds) = self.question.rounds_needed(&pilot) else {
            self.found.add(false);
            return;
        };
        self.rounds.push(rounds);
        let others = others(2 * rounds);
        self.too_many.add(others.is_none());
        let Some(others) = others else { return };
        let found = self.question.compared(&others, !seed);
        let is_found = found.is_some_and(|it| it.verdict == Significance::Higher);
        self.with_asked.add(is_found);
        self.found.add(is_found);
    }

    /// Whether there are enough trials: of the others only those count that ask for few rounds by chance.
    pub(super) fn is_answered(&self) -> bool {
        self.too_many.of == 0 || self.too_many.percent() <= TOO_MANY_PERCENT
    }

    /// The row of the table.
    pub(super) fn row(&self) -> String {
        let mut rounds = self.rounds.clone();
        rounds.sort_unstable();
        let at = |part: usize| {
            rounds.get(rounds.len() * part / 10).map_or("-".to_owned(), usize::to_string)
        };
        format!(
            "| {} | {} | {} | {} | {} | {} | {} |",
            self.name,
            self.at_once,
            at(5),
            at(9),
            self.too_many,
            self.with_asked,
            self.found
        )
    }
}

impl Question {
    /// Differences of twice the margin, which the rounds asked for are said to find, from the smallest on.
    pub(super) fn larger() -> impl Iterator<Item = Self> {
        let margins = [0.015, 0.02, 0.03, 0.04, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3];
        margins.into_iter().map(|margin| Self { margin, truth: 1.0 + 2.0 * margin })
    }

    pub(super) fn name(self) -> String {
        let [truth, margin] = [self.truth - 1.0, self.margin].map(|part| 100.0 * part);
        format!("{truth:.0} % by a margin of {margin:.1} %")
    }

    /// Trials as rounds of two variants, of which the second is faster.
    fn compared(self, values: &[f64], seed: u64) -> Option<Comparison> {
        let figures = in_rounds(values, &[1.0, self.truth], seed);
        compare(&figures[0], &figures[1], self.margin)
    }

    /// How many rounds are asked for after a comparison.
    fn rounds_needed(self, pilot: &Comparison) -> Option<usize> {
        pilot.ratio.logs.repetitions_needed(self.margin.ln_1p(), LEVEL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::noises::Kind;

    /// Nine in ten of a hundred; fewer than 80 have a probability of 0.1 %.
    #[test]
    fn the_rounds_that_are_asked_for_find_three_percent() {
        let kind =
            Kind::all().into_iter().find(|kind| kind.name == "heavy-tailed services").unwrap();
        let trials = Trials::simulated(&kind, 100, 1).unwrap();
        let found = Asked::of(kind.name, &trials);
        assert!(found.at_once.count < 90, "six rounds leave some undecided: {found:?}");
        assert!(found.with_asked.count * 10 >= found.with_asked.of * 8, "{found:?}");
        assert!(found.found.count >= 80, "{found:?}");
    }
}

//! Whether the rounds that the tool itself asks for find a difference: six rounds, and where they leave it undecided as
//! many others as the advice says.

use analysis::{Comparison, LEVEL, Significance, compare};

use super::methods::{Method, ROUNDS, Trials, in_rounds};
use super::share::Share;

/// The true ratio.
const TRUTH: f64 = 1.03;

/// The head of the table.
pub(super) const HEAD: &str = "\
| trials | found by six rounds % | asked for, median | nine in ten ask for at most | asked for more than there are % \
| found with those % | found in all % |
|---|---|---|---|---|---|---|";

/// What became of comparisons.
#[derive(Debug, Default)]
pub(super) struct Asked {
    pub(super) name: String,
    at_once: Share,
    rounds: Vec<usize>,
    with_asked: Share,
    /// The comparison is found by six rounds, or by as many as were asked for.
    pub(super) found: Share,
    /// More rounds were asked for than there are trials.
    too_many: Share,
}

impl Asked {
    pub(super) fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Of simulated trials.
    pub(super) fn of(noise: &str, trials: &Trials) -> Self {
        let mut all = Self::named(noise);
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
        let Some(pilot) = compared(first, seed) else { return };
        let is_found = pilot.verdict == Significance::Higher;
        self.at_once.add(is_found);
        if pilot.verdict != Significance::Undecided {
            self.found.add(is_found);
            return;
        }
        let least = Method::Rounds.margin().ln_1p();
        let Some(rounds) = pilot.ratio.logs.repetitions_needed(least, LEVEL) else {
            self.found.add(false);
            return;
        };
        self.rounds.push(rounds);
        let others = others(2 * rounds);
        self.too_many.add(others.is_none());
        let Some(others) = others else { return };
        let is_found =
            compared(&others, !seed).is_some_and(|it| it.verdict == Significance::Higher);
        self.with_asked.add(is_found);
        self.found.add(is_found);
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

/// Trials as rounds of two variants, of which the second is 3 % faster.
fn compared(values: &[f64], seed: u64) -> Option<Comparison> {
    let figures = in_rounds(values, &[1.0, TRUTH], seed);
    compare(&figures[0], &figures[1], Method::Rounds.margin())
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

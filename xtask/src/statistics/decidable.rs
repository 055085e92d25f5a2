//! Whether a recording bears out what the tool says of the rounds that it asks for, where the margin of a plan asks
//! for more rounds than were recorded: by the least margin for which there are enough.

use analysis::Significance;

use super::asked::Question;
use super::methods::ROUNDS;
use super::share::Share;

/// The head of the table.
pub(super) const HEAD: &str = "\
| recording | margin, median % | found by six rounds % | asked for, median | found with those % | found in all % \
| no margin is decidable % |
|---|---|---|---|---|---|---|";

/// Margins to choose from.
const MARGINS: [f64; 9] = [0.01, 0.015, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2];

/// Comparisons by the least margin that the trials can decide. The second variant is faster by twice the margin,
/// which the rounds asked for are said to find in nine of ten cases.
#[derive(Debug, Default)]
pub(super) struct Decidable {
    name: String,
    margins: Vec<f64>,
    rounds: Vec<usize>,
    at_once: Share,
    with_asked: Share,
    /// Found by six rounds, or by those that they ask for.
    pub(super) found: Share,
    none: Share,
}

impl Decidable {
    pub(super) fn named(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// Compares six rounds of `first`, and as many others as they ask for by the least margin for which `others` has
    /// so many trials.
    pub(super) fn add(
        &mut self,
        first: &[f64],
        seed: u64,
        mut others: impl FnMut(usize) -> Option<Vec<f64>>,
    ) {
        debug_assert_eq!(first.len(), 2 * ROUNDS);
        let decided = MARGINS.iter().any(|margin| {
            let question = Question { margin: *margin, truth: 1.0 + 2.0 * margin };
            let is_decided = self.decides(question, first, seed, &mut others);
            if is_decided {
                self.margins.push(*margin);
            }
            is_decided
        });
        self.none.add(!decided);
    }

    /// Whether six rounds decide, or ask for as many as there are.
    fn decides(
        &mut self,
        question: Question,
        first: &[f64],
        seed: u64,
        others: &mut impl FnMut(usize) -> Option<Vec<f64>>,
    ) -> bool {
        let Some(pilot) = question.compared(first, seed) else { return false };
        if pilot.verdict != Significance::Undecided {
            let is_found = pilot.verdict == Significance::Higher;
            self.at_once.add(is_found);
            self.found.add(is_found);
            return true;
        }
        let Some(rounds) = question.rounds_needed(&pilot) else { return false };
        let Some(others) = others(2 * rounds) else { return false };
        let found = question.compared(&others, !seed);
        let is_found = found.is_some_and(|it| it.verdict == Significance::Higher);
        self.at_once.add(false);
        self.rounds.push(rounds);
        self.with_asked.add(is_found);
        self.found.add(is_found);
        true
    }

    /// The row of the table.
    pub(super) fn row(&self) -> String {
        let mut margins = self.margins.clone();
        margins.sort_by(f64::total_cmp);
        let mut rounds = self.rounds.clone();
        rounds.sort_unstable();
        let margin = margins.get(margins.len() / 2);
        let rounds = rounds.get(rounds.len() / 2);
        format!(
            "| {} | {} | {} | {} | {} | {} | {} |",
            self.name,
            margin.map_or("-".to_owned(), |margin| format!("{:.1}", 100.0 * margin)),
            self.at_once,
            rounds.map_or("-".to_owned(), usize::to_string),
            self.with_asked,
            self.found,
            self.none
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Trials that differ by 5 % in an order by chance: the margin of 1 % asks for hundreds of rounds.
    fn noisy(count: usize) -> Vec<f64> {
        let mut draws = 7;
        (0..count).map(|_| 100.0 * (0.05 * crate::statistics::normal(&mut draws)).exp()).collect()
    }

    #[test]
    fn the_least_margin_that_the_trials_can_decide_is_taken() {
        let values = noisy(80);
        let mut found = Decidable::named("noisy");
        for number in 0..100 {
            let start = number as usize % 60;
            let others = |count: usize| (count <= 80).then(|| values[..count].to_vec());
            found.add(&values[start..start + 2 * ROUNDS], number, others);
        }
        assert!(found.rounds.iter().all(|rounds| (ROUNDS + 1..=40).contains(rounds)), "{found:?}");
        assert_eq!((found.found.of, found.none.count), (100, 0), "{found:?}");
        // A deviation of the ratio of 7 %, known to a third: 40 rounds decide margins of 3 to 5 %.
        let mut margins = found.margins.clone();
        margins.sort_by(f64::total_cmp);
        assert!((0.02..=0.1).contains(&margins[50]), "{margins:?}");
        assert!(found.found.count >= 70, "{found:?}");
    }

    #[test]
    fn trials_without_spread_are_decided_at_once() {
        let mut found = Decidable::named("steady");
        found.add(&[100.0; 12], 1, |_| None);
        assert_eq!(found.at_once, Share { count: 1, of: 1 });
        assert_eq!(found.margins, [0.01]);
        assert_eq!(
            found.row(),
            "| steady | 1.0 | 100.0 (20.7 to 100.0) | - | - | 100.0 (20.7 to 100.0) | 0.0 (0.0 to 79.3) |"
        );
    }
}

//! The first windows after the starts of a system differ from the later ones, in all rounds alike.

use crate::moments::mean;
use crate::several::corrected;
use crate::{Code, Contrast, Finding, LEVEL, Subject, Value};

/// The first windows are this part of a round at most, one of so many; the later ones are its second half.
const FIRST_PARTS: usize = 3;

/// The windows of a variant under one load.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundsOfWindows {
    /// The variant, its load and the figure, for people.
    pub place: String,
    /// The figure of each window of each round, in the order in which they ran. Those of one round share a start.
    pub rounds: Vec<Vec<f64>>,
}

/// How far the first windows of the rounds are from the later ones.
struct First {
    windows: usize,
    difference: f64,
    p_value: f64,
}

impl First {
    /// What is largest for the number of windows that differ, where they differ alike: the difference over its standard
    /// error under noise that does not last.
    fn size(&self) -> f64 {
        self.difference.abs() * (self.windows as f64).sqrt()
    }
}

/// A warning for each place where the first windows of the rounds differ from the second half of them, when they move
/// the figure of a round by the least difference that matters or more. One, two, four and more windows are tried, up to a
/// third of a round. The tests are Student's over the rounds, and are corrected for their number: a run without such a
/// difference has a warning in one of twenty cases at most.
pub fn check_first_windows(all: &[RoundsOfWindows], least_difference: f64) -> Vec<Finding> {
    let tried: Vec<Vec<First>> = all.iter().map(|place| tries(&place.rounds)).collect();
    let p_values: Vec<f64> = tried.iter().flatten().map(|first| first.p_value).collect();
    let mut corrected = corrected(&p_values, p_values.len()).into_iter();
    let found = all.iter().zip(tried).filter_map(|(RoundsOfWindows { place, rounds }, tried)| {
        let shown = tried.into_iter().filter(|_| corrected.next().is_some_and(|it| it < LEVEL));
        let shown = shown.collect::<Vec<_>>();
        let first = shown.into_iter().max_by(|one, other| one.size().total_cmp(&other.size()))?;
        let moved = moved(rounds)?;
        (moved.abs() >= least_difference.ln_1p()).then(|| {
            Finding::about(Subject::Run, Code::FirstWindows)
                .with("place", Value::Text(place.clone()))
                .with("first", Value::Small(first.windows as u64))
                .with("change", Value::Change(first.difference.exp_m1()))
                .with("moved", Value::Change(moved.exp_m1()))
        })
    });
    found.collect()
}

/// The first windows against the second half, for each number of first windows; empty without two rounds of two
/// windows.
fn tries(rounds: &[Vec<f64>]) -> Vec<First> {
    let shortest = rounds.iter().map(Vec::len).min().unwrap_or(0);
    let most = (shortest / FIRST_PARTS).max(1);
    let numbers = std::iter::successors(Some(1), |windows| Some(windows * 2));
    let first = |windows: usize| {
        let of_round = |round: &Vec<f64>| Some(log_mean(round.get(..windows)?)? - later(round)?);
        let differences = rounds.iter().map(of_round).collect::<Option<Vec<_>>>()?;
        let found = Contrast::paired(&differences).filter(|_| differences.len() > 1)?;
        let p_value = found.tests(0.0).difference;
        Some(First { windows, difference: found.difference, p_value })
    };
    numbers.take_while(|windows| *windows <= most).filter_map(first).collect()
}

/// The mean logarithm of the second half of a round of two windows or more.
fn later(round: &[f64]) -> Option<f64> {
    log_mean(&round[round.len() / 2..]).filter(|_| round.len() > 1)
}

/// By how much the logarithm of the figure of all windows is away from that of the second half.
fn moved(rounds: &[Vec<f64>]) -> Option<f64> {
    let of_round = |round: &Vec<f64>| Some(log_mean(round)? - later(round)?);
    mean(&rounds.iter().map(of_round).collect::<Option<Vec<_>>>()?)
}

/// `None` without values, and where one of them has no logarithm.
fn log_mean(values: &[f64]) -> Option<f64> {
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    mean(&logs).filter(|mean| mean.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Draws;

    fn place(rounds: Vec<Vec<f64>>) -> RoundsOfWindows {
        RoundsOfWindows { place: "it".to_owned(), rounds }
    }

    /// Rounds of so many windows of 1,000, of which the first ones have another part of that, with noise of a standard
    /// deviation.
    fn rounds(
        draws: &mut Draws,
        shape: (usize, usize),
        slow: (usize, f64),
        noise: f64,
    ) -> Vec<Vec<f64>> {
        let mut value = |at: usize| {
            let level = if at < slow.0 { slow.1 } else { 1.0 };
            1_000.0 * level * (noise * draws.normal()).exp()
        };
        (0..shape.0).map(|_| (0..shape.1).map(&mut value).collect()).collect()
    }

    /// Of ten windows the first two have half the throughput: the geometric mean of all is 0.5 ^ 0.2 of that of the rest.
    #[test]
    fn first_windows_at_half_the_speed_are_found_with_what_they_move() {
        let rounds = rounds(&mut Draws(1), (4, 10), (2, 0.5), 0.0);
        let found = check_first_windows(&[place(rounds)], 0.01);
        let [finding] = &found[..] else { panic!("{found:?}") };
        assert_eq!((finding.code, &finding.subject), (Code::FirstWindows, &Subject::Run));
        let number = |name| match finding.value(name) {
            Some(Value::Change(change)) => *change,
            other => panic!("{name}: {other:?}"),
        };
        assert!((number("change") + 0.5).abs() < 1e-12, "{finding:?}");
        assert!((number("moved") - (0.5_f64.powf(0.2) - 1.0)).abs() < 1e-12, "{finding:?}");
    }

    #[test]
    fn the_number_of_first_windows_is_that_which_shows_it_best() {
        let mut draws = Draws(2);
        for (slow, expected) in [(1, 1), (2, 2), (5, 4), (9, 8)] {
            let rounds = rounds(&mut draws, (6, 34), (slow, 0.6), 0.02);
            let found = check_first_windows(&[place(rounds)], 0.01);
            assert_eq!(found[0].value("first"), Some(&Value::Small(expected)), "{slow}");
        }
    }

    #[test]
    fn faster_first_windows_are_found_as_well() {
        let rounds = rounds(&mut Draws(3), (4, 10), (2, 1.5), 0.05);
        let found = check_first_windows(&[place(rounds)], 0.01);
        let Some(Value::Change(moved)) = found[0].value("moved") else { panic!("{found:?}") };
        assert!((0.05..0.13).contains(moved), "{moved}");
    }

    #[test]
    fn what_moves_the_figure_by_less_than_matters_is_not_a_finding() {
        let rounds = rounds(&mut Draws(4), (8, 100), (1, 0.6), 0.001);
        assert_eq!(check_first_windows(&[place(rounds.clone())], 0.01), []);
        assert_eq!(check_first_windows(&[place(rounds)], 0.005).len(), 1);
    }

    #[test]
    fn constant_windows_few_rounds_and_windows_without_a_figure_show_nothing() {
        let level = vec![vec![1_000.0; 10]; 4];
        let silent = vec![vec![0.0, 1_000.0, 1_000.0]; 4];
        let one_round = vec![vec![500.0, 1_000.0, 1_000.0]];
        let one_window = vec![vec![500.0]; 4];
        for rounds in [level, silent, one_round, one_window, Vec::new()] {
            assert_eq!(check_first_windows(&[place(rounds.clone())], 0.01), [], "{rounds:?}");
        }
    }

    /// Two variants whose noise lasts for some windows and goes on from round to round.
    #[test]
    fn noise_alone_makes_a_finding_in_one_run_of_twenty_at_most() {
        let mut draws = Draws(5);
        let mut run = |shape: (usize, usize)| {
            let mut state = draws.normal();
            let mut value = || {
                state = 0.8 * state + 0.6 * draws.normal();
                1_000.0 * (0.2 * state + 0.05 * draws.normal()).exp()
            };
            let mut rounds =
                || (0..shape.0).map(|_| (0..shape.1).map(|_| value()).collect()).collect();
            [place(rounds()), place(rounds())]
        };
        for shape in [(4, 10), (10, 34)] {
            let runs = (0..1_000).filter(|_| !check_first_windows(&run(shape), 0.01).is_empty());
            // Fifty are expected at most, with a standard deviation of 7.
            let found = runs.count();
            assert!(found <= 64, "{shape:?}: {found}");
        }
    }
}

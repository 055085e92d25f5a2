//! When a series of figures changed, such as the throughput of one benchmark over its runs.
//!
//! By E-divisive means: the series is divided where the values before and after are of the most different distributions,
//! then the parts likewise, until the next place shows no more than chance. Which places those are is decided by one of two
//! tests. The permutation test of the method's authors counts how often a series in random order has a place as good. It
//! holds for values of any distribution, and knows that the place was searched. Student's t, with which Apache Otava
//! decides, compares the means of both sides as if the place had been known before. It finds changes in fewer runs, and
//! more that are none.
//!
//! Sources: D. S. Matteson and N. A. James, A nonparametric approach for multiple change point analysis of multivariate
//! data, Journal of the American Statistical Association 109 (2014); M. Fleming, P. Kolaczkowski and others, Hunter: Using
//! change point detection to hunt for performance regressions, ICPE 2023, for windows, weak points and their merging.

mod split;

#[cfg(test)]
mod tests;

use crate::draws::Draws;
use crate::moments::mean;
use crate::student;
use split::{Split, best};

/// Random orders of a series: with these the smallest p-value is 1 in 500.
const PERMUTATIONS: usize = 499;
/// The relative error of a statistic, at most.
const ROUNDING: f64 = 1e-9;
/// A longer series is searched by windows of so many values where Student's t decides, as by Apache Otava.
const WINDOW: usize = 50;
/// Where orders begin: the same series always has the same change points.
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeTest {
    /// How often a series in random order has a place as good.
    Permutation,
    /// Student's t of both sides.
    Student,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePoint {
    /// Number of values before it: the index of the first one after.
    pub at: usize,
    /// The mean of the values from the change before to this one.
    pub before: f64,
    /// The mean of the values from this change to the next one.
    pub after: f64,
    /// The probability of sides as different by chance.
    pub p_value: f64,
}

impl ChangePoint {
    /// The change of the mean, as a part of the mean before.
    pub fn change(&self) -> f64 {
        self.after / self.before - 1.0
    }
}

/// The places at which a series changed, in its order, each with a p-value of `level` at most.
pub fn change_points(values: &[f64], test: ChangeTest, level: f64) -> Vec<ChangePoint> {
    if values.iter().any(|value| !value.is_finite()) {
        return Vec::new();
    }
    let places = match test {
        ChangeTest::Permutation => by_permutations(values, level),
        ChangeTest::Student => by_student(values, WINDOW, level),
    };
    let starts = || places.iter().map(|it| it.at);
    let edges: Vec<usize> = std::iter::once(0).chain(starts()).chain([values.len()]).collect();
    let levels = edges.windows(2).map(|ends| mean(&values[ends[0]..ends[1]]).unwrap_or_default());
    let levels: Vec<f64> = levels.collect();
    let point = |(number, place): (usize, &Place)| ChangePoint {
        at: place.at,
        before: levels[number],
        after: levels[number + 1],
        p_value: place.p_value,
    };
    places.iter().enumerate().map(point).collect()
}

/// A change with its probability by chance.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Place {
    at: usize,
    p_value: f64,
}

fn best_of_parts(values: &[f64], places: &[Place]) -> Option<Split> {
    let split = |(start, end): (usize, usize)| {
        let found = best(&values[start..end])?;
        Some(Split { at: start + found.at, ..found })
    };
    let splits = parts(places, values.len()).into_iter().filter_map(split);
    splits.reduce(|one, other| if other.statistic > one.statistic { other } else { one })
}

fn parts(places: &[Place], length: usize) -> Vec<(usize, usize)> {
    let starts = std::iter::once(0).chain(places.iter().map(|it| it.at));
    let ends = places.iter().map(|it| it.at).chain([length]);
    starts.zip(ends).collect()
}

/// Divides a series until the next place fails a test, which gets the place and the ones before.
fn divided(
    values: &[f64],
    level: f64,
    mut p_value: impl FnMut(&Split, &[Place]) -> f64,
) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    while let Some(split) = best_of_parts(values, &places) {
        let place = Place { at: split.at, p_value: p_value(&split, &places) };
        if place.p_value > level {
            break;
        }
        let at = places.partition_point(|known| known.at < place.at);
        places.insert(at, place);
    }
    places
}

fn by_permutations(values: &[f64], level: f64) -> Vec<Place> {
    let mut draws = Draws(SEED);
    divided(values, level, |split, places| {
        let allowed = (level * (PERMUTATIONS + 1) as f64).floor() as usize;
        let mut orders = values.to_vec();
        // Another order of the same sides is as good, however its sums are rounded.
        let as_good_as = split.statistic * (1.0 - ROUNDING);
        // The order at hand counts as one: the test is exact with any number of orders (B. Phipson and G. K. Smyth,
        // Permutation p-values should never be zero, Statistical Applications in Genetics and Molecular Biology 9, 2010).
        let mut as_good = 1;
        for _ in 0..PERMUTATIONS {
            for (start, end) in parts(places, values.len()) {
                shuffle(&mut orders[start..end], &mut draws);
            }
            let found = best_of_parts(&orders, places);
            as_good += usize::from(found.is_some_and(|it| it.statistic >= as_good_as));
            if as_good > allowed {
                // It is more than the level, however the other orders are.
                return 1.0;
            }
        }
        as_good as f64 / (PERMUTATIONS + 1) as f64
    })
}

/// The fewest values among which [`ChangeTest::Permutation`] can find a change at a level. The clearest change is in the
/// middle, with all larger values on one side of it. Of n values a random order has them all on one side, or all on the
/// other, with a probability of 2 in C(n, n / 2), so that no p-value is smaller.
pub fn fewest_values(level: f64) -> usize {
    let (mut values, mut choices) = (2, 2.0);
    while 2.0 / choices > level {
        values += 1;
        // C(2k, k) = 2 C(2k - 1, k - 1), and C(2k + 1, k) = C(2k, k) (4k + 2) / (2k + 2).
        choices *=
            if values % 2 == 0 { 2.0 } else { f64::from(2 * values) / f64::from(values + 1) };
    }
    values as usize
}

/// Source: R. A. Fisher and F. Yates; Knuth, The Art of Computer Programming 2, algorithm 3.4.2 P.
fn shuffle(values: &mut [f64], draws: &mut Draws) {
    for last in (1..values.len()).rev() {
        values.swap(last, draws.below(last + 1));
    }
}

/// Weak places of all windows, of which the weakest are taken away until each one left is significant beside the others.
fn by_student(values: &[f64], window: usize, level: f64) -> Vec<Place> {
    let weak_level = match level {
        level if level < 0.05 => 10.0 * level,
        level if level < 0.5 => 2.0 * level,
        level => level,
    };
    let mut places = with_p_values(values, &weak_places(values, window, weak_level));
    while let Some(weakest) = weakest(&places) {
        if places[weakest].p_value < level {
            break;
        }
        places.remove(weakest);
        let starts: Vec<usize> = places.iter().map(|it| it.at).collect();
        places = with_p_values(values, &starts);
    }
    places
}

/// Of places that are equally weak the first.
fn weakest(places: &[Place]) -> Option<usize> {
    let order =
        |one: &usize, other: &usize| places[*one].p_value.total_cmp(&places[*other].p_value);
    (0..places.len()).rev().max_by(order)
}

fn weak_places(values: &[f64], window: usize, level: f64) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    let mut start = 0;
    while start < values.len() {
        let seen = &values[start..values.len().min(start + window)];
        let places = divided(seen, level, |split, places| {
            let known: Vec<usize> = places.iter().map(|it| it.at).collect();
            p_value_at(seen, &known, split.at)
        });
        let places: Vec<usize> = places.iter().map(|place| start + place.at).collect();
        let last = places.last().copied().unwrap_or_default();
        found.extend(places);
        start = last.max(start + window / 2);
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn with_p_values(values: &[f64], starts: &[usize]) -> Vec<Place> {
    let others =
        |at: usize| -> Vec<usize> { starts.iter().copied().filter(|start| *start != at).collect() };
    let place = |at: &usize| Place { at: *at, p_value: p_value_at(values, &others(*at), *at) };
    starts.iter().map(place).collect()
}

/// Student's t of the sides of a place, each up to the next of the other places.
///
/// Source: Student, The probable error of a mean, Biometrika 6 (1908), with one variance for both sides.
fn p_value_at(values: &[f64], others: &[usize], at: usize) -> f64 {
    let start = others.iter().copied().filter(|other| *other < at).max().unwrap_or(0);
    let end = others.iter().copied().filter(|other| *other > at).min().unwrap_or(values.len());
    let (left, right) = (&values[start..at], &values[at..end]);
    let Some(degrees) = (left.len() + right.len()).checked_sub(2).filter(|it| *it > 0) else {
        return 1.0;
    };
    let (Some(before), Some(after)) = (mean(left), mean(right)) else { return 1.0 };
    let squares = |side: &[f64], centre: f64| -> f64 {
        side.iter().map(|value| (value - centre).powi(2)).sum()
    };
    let variance = (squares(left, before) + squares(right, after)) / degrees as f64;
    let error = (variance * (1.0 / left.len() as f64 + 1.0 / right.len() as f64)).sqrt();
    match (after - before, error) {
        (0.0, _) => 1.0,
        (_, 0.0) => 0.0,
        (difference, error) => student::p_value(difference / error, degrees),
    }
}

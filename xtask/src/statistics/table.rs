//! Tables with a row for each case, counted over repetitions.

use record::on_all_cores;

use super::goals::Goals;
use super::noises::seed_of;

/// A case of a table: what is repeated and counted.
pub(super) trait Case: Sized {
    /// The heading of the table.
    const TITLE: &'static str;
    /// The head of its columns.
    const HEAD: &'static str;
    /// What is counted.
    type Found;

    /// Every case, in the order of the rows.
    fn all() -> Vec<Self>;

    /// Counts over so many repetitions.
    ///
    /// # Errors
    /// When a trial could not run.
    fn found(&self, repetitions: u64, seed: u64) -> anyhow::Result<Self::Found>;

    /// The row of the table.
    fn row(&self, found: &Self::Found) -> String;

    /// Adds what the table shows of goals.
    fn goals(_found: &[(Self, Self::Found)], _goals: &mut Goals) {}
}

/// Does the same so many times, each with a seed of its own, on all cores.
///
/// # Errors
/// The first one.
pub(super) fn repeated<T: Send>(
    repetitions: u64,
    seed: u64,
    once: impl Fn(u64) -> anyhow::Result<T> + Sync,
) -> anyhow::Result<Vec<T>> {
    let numbers: Vec<u64> = (0..repetitions).collect();
    on_all_cores(&numbers, |number| once(seed_of(seed, *number))).into_iter().collect()
}

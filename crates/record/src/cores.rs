//! Work on all cores.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Does the same work on each of several things, and returns the results in their order. A core that is free takes
/// the next one, so that no more of them are in work at a time than there are cores.
pub fn on_all_cores<T: Sync, R: Send>(things: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let work_on = || {
        let mut done = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(thing) = things.get(place) else { return done };
            done.push((place, work(thing)));
        }
    };
    let cores = thread::available_parallelism().map_or(1, usize::from).min(things.len());
    let mut results = thread::scope(|scope| {
        let others: Vec<_> = (1..cores).map(|_| scope.spawn(work_on)).collect();
        let mut results = work_on();
        for other in others {
            results.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        results
    });
    results.sort_by_key(|(place, _)| *place);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_things_and_each_is_done_once() {
        for count in [0, 1, 2, 1_000_u64] {
            let things: Vec<u64> = (0..count).collect();
            let done = AtomicUsize::new(0);
            let squares = on_all_cores(&things, |thing| {
                done.fetch_add(1, Ordering::Relaxed);
                thing * thing
            });
            assert_eq!(squares, things.iter().map(|thing| thing * thing).collect::<Vec<_>>());
            assert_eq!(done.load(Ordering::Relaxed), things.len());
        }
    }
}

//! When a rule looks at what was measured so far: at growing distances, so that the number of looks stays small.

/// The numbers of intervals after which a rule looks: from `first` to `last` (included), each a part `growth` more
/// than the one before, and one more at least. Empty when `last` comes before `first`.
pub fn looks(first: usize, last: usize, growth: f64) -> Vec<usize> {
    let next = |count: &usize| {
        let step = (*count as f64 * growth).floor() as usize;
        (*count < last).then(|| count.saturating_add(step.max(1)).min(last))
    };
    std::iter::successors((first <= last).then_some(first), next).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_grow_apart_and_end_with_the_last_interval() {
        assert_eq!(looks(10, 30, 0.25), [10, 12, 15, 18, 22, 27, 30]);
        assert_eq!(looks(3, 5, 0.1), [3, 4, 5]);
        assert_eq!((looks(5, 5, 0.1), looks(6, 5, 0.1)), (vec![5], vec![]));
    }
}

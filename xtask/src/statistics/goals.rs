//! The goals of the statistics, and whether they are reached.

use super::share::Share;

/// The head of the table.
const HEAD: &str = "\
| goal | bound % | worst seen % | where | |
|---|---|---|---|---|";

/// Goals with what was seen.
#[derive(Debug, Default)]
pub(super) struct Goals(Vec<String>);

/// Frequencies, each with where it was seen.
pub(super) type Seen = Vec<(String, Share)>;

impl Goals {
    /// Every frequency is at most so many per cent.
    pub(super) fn at_most(&mut self, goal: &str, bound: f64, seen: &Seen) {
        let worst = seen.iter().max_by(|one, other| one.1.percent().total_cmp(&other.1.percent()));
        self.add(goal, &format!("at most {bound}"), worst, |share| share <= bound);
    }

    /// Every frequency is at least so many per cent.
    pub(super) fn at_least(&mut self, goal: &str, bound: f64, seen: &Seen) {
        let worst = seen.iter().min_by(|one, other| one.1.percent().total_cmp(&other.1.percent()));
        self.add(goal, &format!("at least {bound}"), worst, |share| share >= bound);
    }

    fn add(
        &mut self,
        goal: &str,
        bound: &str,
        worst: Option<&(String, Share)>,
        is_kept: impl Fn(f64) -> bool,
    ) {
        let Some((place, share)) = worst else { return };
        let result = if is_kept(share.percent()) { "reached" } else { "**missed**" };
        self.0.push(format!("| {goal} | {bound} | {share} | {place} | {result} |"));
    }

    /// The table; `None` without goals.
    pub(super) fn table(&self) -> Option<String> {
        (!self.0.is_empty()).then(|| format!("{HEAD}\n{}", self.0.join("\n")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_of_all_decides_on_a_goal() {
        let seen = [("a", 5), ("b", 8), ("c", 2)];
        let seen: Seen =
            seen.map(|(name, count)| (name.to_owned(), Share { count, of: 100 })).into();
        let mut goals = Goals::default();
        assert_eq!(goals.table(), None);
        goals.at_most("alarms", 7.0, &seen);
        goals.at_most("alarms", 8.0, &seen);
        goals.at_least("alarms", 2.0, &seen);
        goals.at_least("nothing", 2.0, &Seen::new());
        let table = goals.table().unwrap();
        let rows: Vec<&str> = table.lines().skip(2).collect();
        assert_eq!(rows.len(), 3);
        assert!(rows[0].starts_with("| alarms | at most 7 | 8.0 ("), "{table}");
        assert!(rows[0].ends_with("| b | **missed** |"), "{table}");
        assert!(rows[1].ends_with("| b | reached |"), "{table}");
        assert!(rows[2].ends_with("| c | reached |"), "{table}");
    }
}

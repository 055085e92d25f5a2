//! What the stacks of a profile say: a flame graph's boxes, and the functions in which the time is spent.

use std::collections::BTreeMap;

use measure::Profile;

/// A function on a stack, with the part of the time in which it was there: from and to are parts of the whole.
#[derive(Clone, Debug, PartialEq)]
pub struct FlameBox {
    pub name: String,
    /// 0 is the outermost function.
    pub depth: usize,
    pub from: f64,
    pub to: f64,
}

/// The boxes of a flame graph that are as wide as `least` (a part of the whole), outer ones first. Functions that are called by
/// the same one stand beside each other in the order of their names.
pub fn flame(profile: &Profile, least: f64) -> Vec<FlameBox> {
    let total = profile.total_ns().max(1) as f64;
    let mut stacks: Vec<(Vec<&str>, f64)> = profile
        .stacks
        .iter()
        .map(|it| (it.frames.iter().map(|at| profile.name(*at)).collect(), it.ns as f64 / total))
        .collect();
    stacks.sort_by(|one, other| one.0.cmp(&other.0));
    let mut boxes: Vec<FlameBox> = Vec::new();
    // The places of the boxes that are open, from the outermost on.
    let mut open: Vec<usize> = Vec::new();
    let mut at = 0.0;
    for (frames, part) in &stacks {
        let is_same = |(place, name): (&usize, &&str)| boxes[*place].name == *name;
        let same = open.iter().zip(frames).take_while(|pair| is_same((pair.0, pair.1))).count();
        open.truncate(same);
        for (depth, name) in frames.iter().enumerate().skip(same) {
            open.push(boxes.len());
            boxes.push(FlameBox { name: (*name).to_owned(), depth, from: at, to: at });
        }
        at += part;
        for place in &open {
            boxes[*place].to = at;
        }
    }
    boxes.retain(|it| it.to - it.from >= least);
    boxes.sort_by_key(|it| it.depth);
    boxes
}

/// The functions that were innermost, each with its part of the time, the largest first.
pub fn hottest_functions(profile: &Profile) -> Vec<(String, f64)> {
    let total = profile.total_ns().max(1) as f64;
    let mut own: BTreeMap<&str, f64> = BTreeMap::new();
    for stack in &profile.stacks {
        if let Some(innermost) = stack.frames.last() {
            *own.entry(profile.name(*innermost)).or_default() += stack.ns as f64 / total;
        }
    }
    let mut all: Vec<_> = own.into_iter().map(|(name, part)| (name.to_owned(), part)).collect();
    all.sort_by(|one, other| other.1.total_cmp(&one.1));
    all
}

#[cfg(test)]
mod tests {
    use measure::ProfileOf;

    use super::*;

    fn profile(stacks: &[(&str, u64)]) -> Profile {
        let split = |text: &str| text.split(' ').map(str::to_owned).collect();
        let stacks = stacks.iter().map(|(text, ns)| (split(text), *ns));
        Profile::new(("db", ProfileOf::Cpu, 1), stacks)
    }

    #[test]
    fn boxes_have_the_time_of_all_that_they_call() {
        let profile = profile(&[("main b", 10), ("main a x", 50), ("main a", 20), ("gc", 20)]);
        let told: Vec<_> = flame(&profile, 0.0)
            .iter()
            .map(|it| {
                (it.name.clone(), it.depth, (it.from * 100.0).round(), (it.to * 100.0).round())
            })
            .collect();
        let expected = [
            ("gc", 0, 0.0, 20.0),
            ("main", 0, 20.0, 100.0),
            ("a", 1, 20.0, 90.0),
            ("b", 1, 90.0, 100.0),
            ("x", 2, 40.0, 90.0),
        ];
        assert_eq!(
            told,
            expected.map(|(name, depth, from, to)| (name.to_owned(), depth, from, to))
        );
        assert_eq!(flame(&profile, 0.3).len(), 3);
    }

    #[test]
    fn a_function_that_calls_itself_is_a_box_in_each_depth() {
        let profile = profile(&[("f f f", 2), ("f g", 2)]);
        let depths: Vec<_> =
            flame(&profile, 0.0).iter().map(|it| (it.name.clone(), it.depth)).collect();
        assert_eq!(
            depths,
            [("f", 0), ("f", 1), ("g", 1), ("f", 2)].map(|(name, depth)| (name.to_owned(), depth))
        );
        assert_eq!(hottest_functions(&profile), [("f".to_owned(), 0.5), ("g".to_owned(), 0.5)]);
    }

    #[test]
    fn what_was_left_out_has_its_room() {
        let mut profile = profile(&[("f", 3)]);
        profile.left_out_ns = 1;
        assert!((flame(&profile, 0.0)[0].to - 0.75).abs() < 1e-9);
        assert_eq!(flame(&Profile { stacks: Vec::new(), ..profile.clone() }, 0.0), []);
        // A record may have places that are no names.
        profile.stacks[0].frames = vec![7];
        assert_eq!(flame(&profile, 0.0)[0].name, "");
        // And no time.
        (profile.stacks[0].ns, profile.left_out_ns) = (0, 0);
        assert_eq!(hottest_functions(&profile), [(String::new(), 0.0)]);
    }
}

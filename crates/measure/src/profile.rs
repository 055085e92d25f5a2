//! Where a server spends its time, by samples of its stacks.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::Nanos;

/// More stacks than this are left out, those with the least time.
const STACKS_MAX: usize = 2_000;
/// Of a deeper stack the innermost frames are left out.
const FRAMES_MAX: usize = 100;
/// A longer name is cut.
const NAME_MAX: usize = 200;

/// What the time of a profile is spent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProfileOf {
    /// Time on a CPU.
    Cpu,
    /// Time in which threads waited for locks, at the place that held the lock.
    Locks,
}

/// The stacks of one server, each with its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    pub server: String,
    pub of: ProfileOf,
    /// How long samples were taken, ns.
    pub span_ns: Nanos,
    /// The names of functions; a stack has their places in this list.
    pub names: Vec<String>,
    /// Those with the most time first.
    pub stacks: Vec<ProfileStack>,
    /// The time of stacks that are not kept, ns.
    pub left_out_ns: Nanos,
}

/// A stack, from the outermost function to the innermost, and its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileStack {
    pub frames: Vec<u32>,
    pub ns: Nanos,
}

impl Profile {
    /// Puts equal stacks together, and bounds what is kept.
    pub fn new(
        (server, of, span_ns): (&str, ProfileOf, Nanos),
        stacks: impl Iterator<Item = (Vec<String>, Nanos)>,
    ) -> Self {
        let mut together: HashMap<Vec<String>, Nanos> = HashMap::new();
        for (mut frames, ns) in stacks.filter(|(_, ns)| *ns > 0) {
            frames.truncate(FRAMES_MAX);
            let sum = together.entry(frames).or_default();
            *sum = sum.saturating_add(ns);
        }
        let mut all: Vec<(Vec<String>, Nanos)> = together.into_iter().collect();
        all.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        let left_out = all.split_off(all.len().min(STACKS_MAX));
        let left_out_ns = left_out.iter().fold(0, |sum: Nanos, (_, ns)| sum.saturating_add(*ns));
        let mut profile = Self {
            server: server.to_owned(),
            of,
            span_ns,
            names: Vec::new(),
            stacks: Vec::new(),
            left_out_ns,
        };
        let mut known = HashMap::new();
        for (frames, ns) in all {
            let frames = frames.into_iter().map(|name| profile.place(&mut known, name)).collect();
            profile.stacks.push(ProfileStack { frames, ns });
        }
        profile
    }

    fn place(&mut self, known: &mut HashMap<String, u32>, mut name: String) -> u32 {
        if let Some((end, _)) = name.char_indices().nth(NAME_MAX) {
            name.truncate(end);
        }
        *known.entry(name).or_insert_with_key(|name| {
            self.names.push(name.clone());
            (self.names.len() - 1) as u32
        })
    }

    /// The name of a function; empty for a place that the list does not have.
    pub fn name(&self, place: u32) -> &str {
        self.names.get(place as usize).map_or("", String::as_str)
    }

    /// The time of all stacks, ns.
    pub fn total_ns(&self) -> Nanos {
        self.stacks.iter().fold(self.left_out_ns, |sum, stack| sum.saturating_add(stack.ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn equal_stacks_are_one_and_names_are_kept_once() {
        let stacks =
            [(stack("main a"), 3), (stack("main b"), 9), (stack("main a"), 4), (stack("x"), 0)];
        let profile = Profile::new(("db", ProfileOf::Cpu, 20), stacks.into_iter());
        assert_eq!(profile.names, ["main", "b", "a"]);
        let kept: Vec<_> = profile.stacks.iter().map(|it| (it.frames.clone(), it.ns)).collect();
        assert_eq!(kept, [(vec![0, 1], 9), (vec![0, 2], 7)]);
        assert_eq!(profile.total_ns(), 16);
        assert_eq!((profile.name(1), profile.name(9)), ("b", ""));
    }

    #[test]
    fn what_is_too_much_is_counted_but_not_kept() {
        let many = (0..STACKS_MAX as u64 + 5).map(|at| (vec![format!("f{at}")], 10 + at));
        let profile = Profile::new(("db", ProfileOf::Locks, 20), many);
        assert_eq!(profile.stacks.len(), STACKS_MAX);
        assert_eq!(profile.left_out_ns, 10 + 11 + 12 + 13 + 14);
        let deep = (vec!["é".repeat(300); 300], 1);
        let profile = Profile::new(("db", ProfileOf::Cpu, 20), std::iter::once(deep));
        assert_eq!(profile.stacks[0].frames.len(), FRAMES_MAX);
        assert_eq!(profile.names[0].chars().count(), NAME_MAX);
    }
}

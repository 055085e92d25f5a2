//! The harness of all simulations: it repeats a case on all cores, each time with a seed of its own, counts the answers,
//! and shows them in one table beside the goals that they are held to.

use std::fmt;

use plan::split_mix;
use record::on_all_cores;

use crate::interrupt::Interrupt;

/// The head of each table.
const HEAD: &str = "\
| case | counted | goal % | of | rate % (95 % interval), or median (nine in ten up to) | held |
|---|---|---|---|---|---|";

/// A table: cases that are simulated, and the goals of their answers.
pub(super) struct Study {
    /// Its name on the command line.
    pub(super) name: &'static str,
    /// Its heading.
    pub(super) title: &'static str,
    pub(super) goals: &'static [Goal],
    pub(super) cases: fn() -> Vec<Case>,
}

/// A bound on how often the answer is yes, for all questions that begin with these words.
pub(super) struct Goal {
    question: &'static str,
    bound: Bound,
}

/// In per cent.
#[derive(Clone, Copy)]
enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

pub(super) const fn at_most(question: &'static str, percent: f64) -> Goal {
    Goal { question, bound: Bound::AtMost(percent) }
}

pub(super) const fn at_least(question: &'static str, percent: f64) -> Goal {
    Goal { question, bound: Bound::AtLeast(percent) }
}

/// A system and what is done with it; the function simulates it once, with this seed.
pub(super) struct Case {
    name: String,
    once: Box<dyn Fn(u64) -> anyhow::Result<Seen> + Sync>,
}

impl Case {
    pub(super) fn new(
        name: impl Into<String>,
        once: impl Fn(u64) -> anyhow::Result<Seen> + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), once: Box::new(once) }
    }
}

/// The answers of one simulation.
#[derive(Debug, Default)]
pub(super) struct Seen(Vec<(String, Answer)>);

#[derive(Clone, Copy, Debug)]
enum Answer {
    Is(bool),
    Size(f64),
}

impl Seen {
    /// Answers a question whose frequency is counted.
    pub(super) fn is(&mut self, question: impl Into<String>, answer: bool) {
        self.0.push((question.into(), Answer::Is(answer)));
    }

    /// Adds a number whose median is shown.
    pub(super) fn size(&mut self, name: impl Into<String>, size: f64) {
        self.0.push((name.into(), Answer::Size(size)));
    }
}

/// What all simulations of a case answered, in the order in which the questions came first.
#[derive(Debug, Default)]
pub(super) struct Counts(Vec<Counted>);

/// The answers to one question: a frequency, or numbers, ascending.
#[derive(Debug, Default)]
struct Counted {
    question: String,
    share: Share,
    sizes: Vec<f64>,
}

/// Simulates a case so many times.
///
/// # Errors
/// That of the first simulation that fails.
pub(super) fn simulate(case: &Case, simulations: u64, seed: u64) -> anyhow::Result<Counts> {
    let numbers: Vec<u64> = (0..simulations).collect();
    let mut counts = Counts::default();
    for seen in on_all_cores(&numbers, |number| (case.once)(seed_of(seed, *number))) {
        seen?.0.into_iter().for_each(|(question, answer)| counts.add(question, answer));
    }
    counts.0.iter_mut().for_each(|counted| counted.sizes.sort_by(f64::total_cmp));
    Ok(counts)
}

/// The seed of the simulation with this number.
pub(super) fn seed_of(seed: u64, number: u64) -> u64 {
    split_mix::mix(seed.wrapping_add(split_mix::mix(number + 1)))
}

impl Counts {
    fn add(&mut self, question: String, answer: Answer) {
        let place = self.0.iter().position(|it| it.question == question).unwrap_or_else(|| {
            self.0.push(Counted { question, ..Counted::default() });
            self.0.len() - 1
        });
        match answer {
            Answer::Is(is) => self.0[place].share.add(is),
            Answer::Size(size) => self.0[place].sizes.push(size),
        }
    }
}

/// So many of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) count: u64,
    pub(super) of: u64,
}

impl Share {
    fn add(&mut self, is_one: bool) {
        self.count += u64::from(is_one);
        self.of += 1;
    }

    /// In per cent; not a number where nothing was counted.
    pub(super) fn percent(self) -> f64 {
        100.0 * self.count as f64 / self.of as f64
    }
}

/// In per cent with its 95 % interval. Source: E. B. Wilson, Probable inference, the law of succession, and statistical
/// inference, Journal of the American Statistical Association 22 (1927).
impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const Z: f64 = 1.96;
        let n = self.of as f64;
        let part = self.count as f64 / n;
        let centre = (part + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
        let half = Z / (1.0 + Z * Z / n) * (part * (1.0 - part) / n + Z * Z / (4.0 * n * n)).sqrt();
        let [part, low, high] = [part, centre - half, centre + half].map(|it| 100.0 * it);
        write!(f, "{part:.1} ({:.1} to {high:.1})", low.max(0.0))
    }
}

impl Bound {
    fn is_kept(self, percent: f64) -> bool {
        match self {
            Self::AtMost(most) => percent <= most,
            Self::AtLeast(least) => percent >= least,
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(most) => write!(f, "at most {most}"),
            Self::AtLeast(least) => write!(f, "at least {least}"),
        }
    }
}

impl Study {
    /// Simulates every case, and returns the section of the page.
    ///
    /// # Errors
    /// When a simulation fails, or a signal arrives.
    pub(super) fn section(
        &self,
        simulations: u64,
        seed: u64,
        interrupt: &Interrupt,
    ) -> anyhow::Result<String> {
        let mut all = Vec::new();
        for case in (self.cases)() {
            interrupt.check()?;
            let counts = simulate(&case, simulations, seed)?;
            eprintln!("{}", self.rows(&case.name, &counts).join("\n"));
            all.push((case.name, counts));
        }
        Ok(self.page(&all))
    }

    fn page(&self, all: &[(String, Counts)]) -> String {
        let rows = all.iter().flat_map(|(name, counts)| self.rows(name, counts));
        let asked = |goal: &&Goal| all.iter().any(|(_, counts)| goal.is_for_any(counts));
        let unasked = self.goals.iter().filter(|goal| !asked(goal));
        let unasked = unasked.map(|Goal { question, bound }| {
            format!("| none | {question} | {bound} | 0 | - | **no** |")
        });
        let rows: Vec<String> = rows.chain(unasked).collect();
        format!("## {}\n\n{HEAD}\n{}\n", self.title, rows.join("\n"))
    }

    fn rows(&self, case: &str, counts: &Counts) -> Vec<String> {
        let row = |Counted { question, share, sizes }: &Counted| {
            if let Some(median) = sizes.get(sizes.len() / 2) {
                let (of, most) = (sizes.len(), sizes[sizes.len() * 9 / 10]);
                return format!("| {case} | {question} | | {of} | {median:.1} ({most:.1}) | |");
            }
            let bounds = self.bounds(question);
            let held = match bounds.iter().all(|bound| bound.is_kept(share.percent())) {
                _ if bounds.is_empty() => "",
                true => "yes",
                false => "**no**",
            };
            let bounds: Vec<String> = bounds.iter().map(Bound::to_string).collect();
            let (bounds, of) = (bounds.join(", "), share.of);
            format!("| {case} | {question} | {bounds} | {of} | {share} | {held} |")
        };
        counts.0.iter().map(row).collect()
    }

    fn bounds(&self, question: &str) -> Vec<Bound> {
        let goals = self.goals.iter().filter(|goal| question.starts_with(goal.question));
        goals.map(|goal| goal.bound).collect()
    }
}

impl Goal {
    fn is_for_any(&self, counts: &Counts) -> bool {
        counts.0.iter().any(|it| it.share.of > 0 && it.question.starts_with(self.question))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::STUDIES;

    /// Source: Wilson's formula with n = 100: the centre is (0.05 + 0.0192) / 1.0384.
    #[test]
    fn a_frequency_has_wilsons_interval() {
        assert_eq!(Share { count: 5, of: 100 }.to_string(), "5.0 (2.2 to 11.2)");
        assert_eq!(Share { count: 0, of: 1_000 }.to_string(), "0.0 (0.0 to 0.4)");
    }

    #[test]
    fn each_simulation_has_its_own_seed_and_a_goal_that_nothing_answers_is_missed() {
        let once = |seed| {
            let mut seen = Seen::default();
            seen.is("always", true);
            seen.is("seed is even", seed % 2 == 0);
            seen.size("seed", seed as f64);
            Ok(seen)
        };
        let goals =
            const { &[at_least("always", 93.0), at_most("seed", 1.0), at_most("never", 99.0)] };
        let study = Study { name: "test", title: "Test", goals, cases: Vec::new };
        let counts = simulate(&Case::new("one", once), 100, 1).unwrap();
        assert!(counts.0[2].sizes.windows(2).all(|pair| pair[0] < pair[1]));
        let page = study.page(&[("one".to_owned(), counts)]);
        let rows: Vec<&str> = page.lines().skip(4).collect();
        assert_eq!(rows[0], "| one | always | at least 93 | 100 | 100.0 (96.3 to 100.0) | yes |");
        assert!(rows[1].starts_with("| one | seed is even | at most 1 | 100 | "), "{page}");
        assert!(rows[1].ends_with(" | **no** |"), "{page}");
        assert!(rows[2].starts_with("| one | seed | | 100 | "), "{page}");
        assert_eq!(rows[3], "| none | never | at most 99 | 0 | - | **no** |");
    }

    /// Simulates the first two cases of each study. A goal is missed by chance in less than one of a thousand: 3.3 standard
    /// deviations, and one more because there are few. A goal that they do not answer is answered by another case.
    #[test]
    fn every_goal_is_answered_and_held_within_chance() {
        for study in STUDIES {
            let cases = (study.cases)();
            let first = [0, 1].map(|at: usize| simulate(&cases[at], 24, 1).unwrap());
            for goal in study.goals {
                let words = format!("{}: {}", study.name, goal.question);
                let is_answer = |case| goal.is_for_any(&simulate(case, 1, 1).unwrap());
                let is_answered = first.iter().any(|counts| goal.is_for_any(counts));
                assert!(is_answered || cases[2..].iter().any(is_answer), "{words}");
                for Counted { question, share, .. } in first.iter().flat_map(|it| &it.0) {
                    let (errors, allowed) = match goal.bound {
                        Bound::AtMost(most) => (share.count, most / 100.0),
                        Bound::AtLeast(least) => (share.of - share.count, 1.0 - least / 100.0),
                    };
                    let of = share.of as f64;
                    let most = of * allowed + 3.3 * (of * allowed * (1.0 - allowed)).sqrt() + 1.0;
                    let is_held = !question.starts_with(goal.question) || errors as f64 <= most;
                    assert!(is_held, "{words}: {question}: {share}");
                }
            }
        }
    }
}

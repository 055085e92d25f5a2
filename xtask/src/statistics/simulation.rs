//! The harness of all simulations: it repeats a case on all cores, each time with a seed of its own, counts the answers,
//! and shows them in one table beside the goals that they are held to.

use std::ops::RangeInclusive;

use plan::split_mix;
use record::on_all_cores;

use crate::bench::page::table;
use crate::interrupt::Interrupt;

/// The head of each table.
const HEAD: [&str; 6] = [
    "case",
    "counted",
    "goal %",
    "of",
    "rate % (95 % interval), or median (nine in ten up to)",
    "held",
];

/// A table: cases that are simulated, and the goals of their answers.
pub(super) struct Study {
    /// Its name on the command line.
    pub(super) name: &'static str,
    /// Its heading.
    pub(super) title: &'static str,
    pub(super) goals: &'static [Goal],
    pub(super) cases: fn() -> Vec<Case>,
}

/// How often in a hundred the answer should be yes, for all questions that begin with these words; the first goal counts.
pub(super) type Goal = (&'static str, RangeInclusive<f64>);

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

/// What all simulations of a case answered to a question: yes in so many of them, or numbers, ascending.
#[derive(Debug, Default)]
struct Counted {
    question: String,
    count: u64,
    of: u64,
    sizes: Vec<f64>,
}

/// Simulates a case so many times; the questions are in the order in which they came first.
///
/// # Errors
/// That of the first simulation that fails.
fn simulate(case: &Case, simulations: u64, seed: u64) -> anyhow::Result<Vec<Counted>> {
    let numbers: Vec<u64> = (0..simulations).collect();
    let mut counts: Vec<Counted> = Vec::new();
    for seen in on_all_cores(&numbers, |number| (case.once)(seed_of(seed, *number))) {
        for (question, answer) in seen?.0 {
            let place = counts.iter().position(|it| it.question == question);
            let place = place.unwrap_or_else(|| {
                counts.push(Counted { question, ..Counted::default() });
                counts.len() - 1
            });
            match answer {
                Answer::Size(size) => counts[place].sizes.push(size),
                Answer::Is(is) => {
                    counts[place].count += u64::from(is);
                    counts[place].of += 1;
                }
            }
        }
    }
    counts.iter_mut().for_each(|counted| counted.sizes.sort_by(f64::total_cmp));
    Ok(counts)
}

/// The seed of the simulation with this number.
pub(super) fn seed_of(seed: u64, number: u64) -> u64 {
    split_mix::mix(seed.wrapping_add(split_mix::mix(number + 1)))
}

/// A frequency in per cent with its 95 % interval. Source: E. B. Wilson, Probable inference, the law of succession, and
/// statistical inference, Journal of the American Statistical Association 22 (1927).
fn share(count: u64, of: u64) -> String {
    const Z: f64 = 1.96;
    let n = of as f64;
    let part = count as f64 / n;
    let centre = (part + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
    let half = Z / (1.0 + Z * Z / n) * (part * (1.0 - part) / n + Z * Z / (4.0 * n * n)).sqrt();
    let [part, low, high] = [part, centre - half, centre + half].map(|it| 100.0 * it);
    format!("{part:.1} ({:.1} to {high:.1})", low.max(0.0))
}

fn bound(goal: &RangeInclusive<f64>) -> String {
    match (*goal.start(), *goal.end()) {
        (0.0, most) => format!("at most {most}"),
        (least, 100.0) => format!("at least {least}"),
        (least, most) => format!("{least} to {most}"),
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
            let rows = self.rows(&case.name, &counts).into_iter();
            eprintln!("{}", rows.map(|row| row.join(" | ")).collect::<Vec<_>>().join("\n"));
            all.push((case.name, counts));
        }
        Ok(self.page(&all))
    }

    fn page(&self, all: &[(String, Vec<Counted>)]) -> String {
        let rows = all.iter().flat_map(|(name, counts)| self.rows(name, counts));
        let is_unasked = |goal: &&Goal| !all.iter().any(|(_, counts)| is_asked(goal, counts));
        let unasked = self.goals.iter().filter(is_unasked);
        let unasked = unasked.map(|(question, goal)| {
            ["none", question, &bound(goal), "0", "-", "**no**"].map(str::to_owned).to_vec()
        });
        format!("## {}\n\n{}", self.title, table(&HEAD, rows.chain(unasked)))
    }

    fn rows(&self, case: &str, counts: &[Counted]) -> Vec<Vec<String>> {
        let row = |Counted { question, count, of, sizes }: &Counted| {
            let mut row = [case, question, "", "", "", ""].map(str::to_owned);
            if let Some(median) = sizes.get(sizes.len() / 2) {
                row[3] = sizes.len().to_string();
                row[4] = format!("{median:.1} ({:.1})", sizes[sizes.len() * 9 / 10]);
                return row.to_vec();
            }
            row[3] = of.to_string();
            row[4] = share(*count, *of);
            if let Some((_, goal)) =
                self.goals.iter().find(|(words, _)| question.starts_with(words))
            {
                let is_held = goal.contains(&(100.0 * *count as f64 / *of as f64));
                row[2] = bound(goal);
                row[5] = if is_held { "yes" } else { "**no**" }.to_owned();
            }
            row.to_vec()
        };
        counts.iter().map(row).collect()
    }
}

/// Whether one of the questions is that of the goal.
fn is_asked((words, _): &Goal, counts: &[Counted]) -> bool {
    counts.iter().any(|it| it.of > 0 && it.question.starts_with(words))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::STUDIES;

    /// Source: Wilson's formula with n = 100: the centre is (0.05 + 0.0192) / 1.0384.
    #[test]
    fn a_frequency_has_wilsons_interval() {
        assert_eq!(share(5, 100), "5.0 (2.2 to 11.2)");
        assert_eq!(share(0, 1_000), "0.0 (0.0 to 0.4)");
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
        let goals: &[Goal] =
            const { &[("always", 93.0..=100.0), ("seed is", 0.0..=1.0), ("never", 0.0..=99.0)] };
        let study = Study { name: "test", title: "Test", goals, cases: Vec::new };
        let counts = simulate(&Case::new("one", once), 100, 1).unwrap();
        assert!(counts[2].sizes.windows(2).all(|pair| pair[0] < pair[1]));
        let page = study.page(&[("one".to_owned(), counts)]);
        let rows: Vec<&str> = page.lines().skip(4).collect();
        assert_eq!(rows[0], "| one | always | at least 93 | 100 | 100.0 (96.3 to 100.0) | yes |");
        assert!(rows[1].starts_with("| one | seed is even | at most 1 | 100 | "), "{page}");
        assert!(rows[1].ends_with(" | **no** |"), "{page}");
        assert!(rows[2].starts_with("| one | seed |  | 100 | "), "{page}");
        assert_eq!(rows[3], "| none | never | at most 99 | 0 | - | **no** |");
    }

    /// Simulates the first case of each study. A goal is missed by chance in less than one of a thousand: 3.3 standard
    /// deviations, and one more because there are few. A goal that it does not answer is answered by another case.
    #[test]
    fn every_goal_is_answered_and_held_within_chance() {
        for study in STUDIES {
            let cases = (study.cases)();
            let first = simulate(&cases[0], 24, 1).unwrap();
            for goal @ (words, bound) in study.goals {
                let name = format!("{}: {words}", study.name);
                let is_answer = |case| is_asked(goal, &simulate(case, 1, 1).unwrap());
                assert!(is_asked(goal, &first) || cases[1..].iter().any(is_answer), "{name}");
                let asked = first.iter().filter(|it| it.question.starts_with(words));
                for Counted { question, count, of, .. } in asked {
                    let n = *of as f64;
                    let chance = |part: f64| 3.3 * (n * part * (1.0 - part)).sqrt() + 1.0;
                    let [least, most] = [bound.start(), bound.end()].map(|it| it / 100.0);
                    let is_held = n * least - chance(least)..=n * most + chance(most);
                    assert!(
                        is_held.contains(&(*count as f64)),
                        "{name}: {question}: {count} of {of}"
                    );
                }
            }
        }
    }
}

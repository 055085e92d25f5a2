//! The figures of a search, from what libFuzzer reports.

use std::fmt::Write as _;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::search::Limits;

/// What the searches for a target have done so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Figures {
    pub(super) target: String,
    pub(super) inputs: u64,
    /// Edges of the program that inputs have reached.
    pub(super) edges: u64,
    /// Inputs that are kept, because each reaches something that the others do not.
    pub(super) kept: u64,
    /// CPU time.
    #[serde(rename = "cpu_s", with = "seconds")]
    pub(super) cpu: Duration,
    /// CPU time until the last new edge, or until a search began with other edges than the one before had reached: another
    /// program, or inputs that were lost.
    #[serde(rename = "cpu_s_at_last_edge", with = "seconds")]
    pub(super) cpu_at_last_edge: Duration,
    /// What libFuzzer said of a fault.
    pub(super) fault: Option<String>,
    /// The inputs of earlier searches.
    #[serde(skip)]
    pub(super) earlier_inputs: u64,
    /// Whether the kept inputs have been run.
    #[serde(skip)]
    pub(super) has_begun: bool,
}

impl Figures {
    pub(super) fn new(target: &str) -> Self {
        Self {
            target: target.to_owned(),
            inputs: 0,
            edges: 0,
            kept: 0,
            cpu: Duration::ZERO,
            cpu_at_last_edge: Duration::ZERO,
            fault: None,
            earlier_inputs: 0,
            has_begun: false,
        }
    }

    /// The figures with which another search begins.
    pub(super) fn resumed(&self) -> Self {
        Self { fault: None, earlier_inputs: self.inputs, has_begun: false, ..self.clone() }
    }

    /// Reads a line of libFuzzer; false when it has no figures.
    ///
    /// Source: llvm.org/docs/LibFuzzer.html, "Output": `#2 NEW    cov: 3 ft: 4 corp: 2/5b ...`.
    pub(super) fn read(&mut self, line: &str) -> bool {
        if let Some(inputs) = line.strip_prefix("stat::number_of_executed_units:") {
            let counted = inputs.trim().parse().ok();
            self.inputs = counted.map_or(self.inputs, |inputs: u64| self.earlier_inputs + inputs);
        }
        let Some(line) = line.strip_prefix('#') else { return line.starts_with("stat::") };
        let mut words = line.split_whitespace();
        let counted = words.next().and_then(|word| word.parse::<u64>().ok());
        let Some(inputs) = counted else { return false };
        self.inputs = self.earlier_inputs + inputs;
        let begins = words.clone().next() == Some("INITED");
        while let Some(word) = words.next() {
            let number =
                || words.clone().next().and_then(|word| word.split('/').next()?.parse().ok());
            match word {
                "cov:" => self.reach(number().unwrap_or(self.edges), begins),
                "corp:" => self.kept = number().unwrap_or(self.kept),
                _ => {}
            }
        }
        true
    }

    fn reach(&mut self, edges: u64, begins: bool) {
        let is_new = if begins { edges != self.edges } else { edges > self.edges };
        self.has_begun |= begins;
        if is_new && self.has_begun {
            self.edges = edges;
            self.cpu_at_last_edge = self.cpu;
        }
    }

    /// Whether the target has had enough: inputs, and CPU time without a new edge. One with a fault has not.
    pub(super) fn is_enough(&self, limits: &Limits) -> bool {
        self.fault.is_none() && self.inputs >= limits.inputs && self.quiet() >= limits.quiet
    }

    /// CPU time since the last new edge.
    pub(super) fn quiet(&self) -> Duration {
        self.cpu.saturating_sub(self.cpu_at_last_edge)
    }
}

/// A time in a file, seconds.
mod seconds {
    use std::time::Duration;

    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_f64(time.as_secs_f64())
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Duration, D::Error> {
        Duration::try_from_secs_f64(f64::deserialize(from)?).map_err(D::Error::custom)
    }
}

/// The figures of all targets, in Markdown, and how many have had enough.
pub(super) fn table(all: &[&Figures], limits: &Limits) -> String {
    let mut table = "| target | inputs | edges | inputs kept | CPU, min | since the last new edge, min | fault |\n\
                     |---|---:|---:|---:|---:|---:|---|\n"
        .to_owned();
    for figures in all {
        let Figures { target, inputs, edges, kept, .. } = figures;
        let fault = if figures.fault.is_some() { "yes" } else { "none" };
        let (cpu, quiet) = (minutes(figures.cpu), minutes(figures.quiet()));
        let _ = writeln!(
            table,
            "| {target} | {inputs} | {edges} | {kept} | {cpu:.1} | {quiet:.1} | {fault} |"
        );
    }
    let inputs: u64 = all.iter().map(|figures| figures.inputs).sum();
    let cpu = minutes(all.iter().map(|figures| figures.cpu).sum());
    let _ = writeln!(table, "| sum of {} | {inputs} | | | {cpu:.1} | | |", all.len());
    let enough = all.iter().filter(|figures| figures.is_enough(limits)).count();
    let _ = writeln!(
        table,
        "\n{enough} of {} targets have had {} inputs at least and {:.0} CPU-minutes without a new edge.",
        all.len(),
        limits.inputs,
        minutes(limits.quiet)
    );
    table
}

fn minutes(time: Duration) -> f64 {
    time.as_secs_f64() / 60.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of a search of libFuzzer, shortened.
    const OUTPUT: &str = "INFO: Seed: 1\n\
        #3\tINITED cov: 50 ft: 51 corp: 2/9b exec/s: 0 rss: 30Mb\n\
        #900\tNEW    cov: 64 ft: 80 corp: 3/15b lim: 4 exec/s: 0 rss: 31Mb L: 6/6 MS: 1 CrossOver-\n\
        #1024\tpulse  cov: 64 ft: 81 corp: 4/20b lim: 8 exec/s: 512 rss: 31Mb\n\
        stat::number_of_executed_units: 1500\n\
        stat::peak_rss_mb:              31\n";

    #[test]
    fn a_search_is_read_from_its_lines() {
        let mut figures = Figures::new("x");
        for (at, line) in (1..).zip(OUTPUT.lines()) {
            figures.cpu = Duration::from_secs(60 * at);
            assert_eq!(figures.read(line), at > 1, "{line}");
        }
        assert_eq!((figures.inputs, figures.edges, figures.kept), (1_500, 64, 4));
        assert_eq!(
            (figures.cpu_at_last_edge, figures.quiet()),
            (Duration::from_secs(180), Duration::from_secs(180))
        );
        // The next one goes on; with fewer edges at its begin the quiet time is of another search.
        for (edges, quiet) in [(64, 180 + 60), (63, 0)] {
            let mut next = figures.resumed();
            next.cpu += Duration::from_secs(60);
            next.read("#2\tpulse  cov: 9 ft: 9 corp: 1/9b exec/s: 0 rss: 30Mb");
            next.read(&format!("#4\tINITED cov: {edges} ft: 80 corp: 4/20b exec/s: 0 rss: 30Mb"));
            assert_eq!((next.edges, next.quiet()), (edges, Duration::from_secs(quiet)));
        }
        let other =
            Figures { target: "y".to_owned(), fault: Some("x".to_owned()), ..figures.clone() };
        let limits = Limits { quiet: Duration::from_secs(180), inputs: 1_500, wall: None };
        insta::assert_snapshot!(table(&[&figures, &other], &limits), @r"
        | target | inputs | edges | inputs kept | CPU, min | since the last new edge, min | fault |
        |---|---:|---:|---:|---:|---:|---|
        | x | 1500 | 64 | 4 | 6.0 | 3.0 | none |
        | y | 1500 | 64 | 4 | 6.0 | 3.0 | yes |
        | sum of 2 | 3000 | | | 12.0 | | |

        1 of 2 targets have had 1500 inputs at least and 3 CPU-minutes without a new edge.
        ");
    }
}

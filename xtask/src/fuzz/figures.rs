//! The figures of a search, from what libFuzzer reports.

use std::fmt::Write as _;
use std::time::Duration;

/// What a search has done so far.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Figures {
    pub(super) target: String,
    pub(super) inputs: u64,
    /// Edges of the program that inputs have reached.
    pub(super) edges: u64,
    /// Inputs that are kept, because each reaches something that the others do not.
    pub(super) kept: u64,
    /// CPU time.
    pub(super) cpu: Duration,
    /// CPU time until the last new edge.
    pub(super) cpu_at_last_edge: Duration,
    /// What libFuzzer said of a fault.
    pub(super) fault: Option<String>,
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
        }
    }

    /// Reads a line of libFuzzer; false when it has no figures.
    ///
    /// Source: llvm.org/docs/LibFuzzer.html, "Output": `#2 NEW    cov: 3 ft: 4 corp: 2/5b ...`.
    pub(super) fn read(&mut self, line: &str) -> bool {
        if let Some(inputs) = line.strip_prefix("stat::number_of_executed_units:") {
            self.inputs = inputs.trim().parse().unwrap_or(self.inputs);
        }
        let Some(line) = line.strip_prefix('#') else { return line.starts_with("stat::") };
        let mut words = line.split_whitespace();
        let Some(inputs) = words.next().and_then(|word| word.parse().ok()) else { return false };
        self.inputs = inputs;
        while let Some(word) = words.next() {
            let number =
                || words.clone().next().and_then(|word| word.split('/').next()?.parse().ok());
            match word {
                "cov:" => self.reach(number().unwrap_or(self.edges)),
                "corp:" => self.kept = number().unwrap_or(self.kept),
                _ => {}
            }
        }
        true
    }

    fn reach(&mut self, edges: u64) {
        if edges > self.edges {
            self.edges = edges;
            self.cpu_at_last_edge = self.cpu;
        }
    }

    /// CPU time since the last new edge.
    pub(super) fn quiet(&self) -> Duration {
        self.cpu.saturating_sub(self.cpu_at_last_edge)
    }
}

/// The figures of all targets, in Markdown.
pub(super) fn table(all: &[Figures]) -> String {
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
        let other =
            Figures { target: "y".to_owned(), fault: Some("x".to_owned()), ..figures.clone() };
        insta::assert_snapshot!(table(&[figures, other]), @r"
        | target | inputs | edges | inputs kept | CPU, min | since the last new edge, min | fault |
        |---|---:|---:|---:|---:|---:|---|
        | x | 1500 | 64 | 4 | 6.0 | 3.0 | none |
        | y | 1500 | 64 | 4 | 6.0 | 3.0 | yes |
        | sum of 2 | 3000 | | | 12.0 | | |
        ");
    }
}

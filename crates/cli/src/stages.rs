//! The stages of a long step, such as starting a system or loading data, as lines for output that is not redrawn: the
//! length of each stage, and reminders while a very long one continues.

use std::time::Duration;

use net::Clock;

/// Shorter stages get no line.
const WORTH_A_LINE: Duration = Duration::from_secs(1);
/// Interval between two lines about a stage that continues.
const PERIOD: Duration = Duration::from_secs(10);

pub(crate) struct StageDisplay {
    /// What the step works on, such as a system.
    subject: String,
    stage: Option<Stage>,
    clock: Clock,
}

struct Stage {
    name: String,
    began: Duration,
    told: Duration,
}

impl StageDisplay {
    pub(crate) fn new(subject: &str) -> Self {
        Self { subject: subject.to_owned(), stage: None, clock: Clock::monotonic() }
    }

    /// Processes a report of progress; returns the lines to print.
    pub(crate) fn step(&mut self, stage: &str, done: u64, total: u64) -> Vec<String> {
        self.step_at(self.now(), stage, done, total)
    }

    /// The line for a finished stage, if it took long enough.
    pub(crate) fn end_stage(&mut self) -> Option<String> {
        self.end_stage_at(self.now())
    }

    fn now(&self) -> Duration {
        Duration::from_nanos(self.clock.now())
    }

    fn step_at(&mut self, now: Duration, name: &str, done: u64, total: u64) -> Vec<String> {
        let mut lines = Vec::new();
        if self.stage.as_ref().is_none_or(|stage| stage.name != name) {
            lines.extend(self.end_stage_at(now));
            self.stage = Some(Stage { name: name.to_owned(), began: now, told: now });
        }
        if let Some(stage) = &mut self.stage
            && now.saturating_sub(stage.told) >= PERIOD
        {
            stage.told = now;
            let part = if total > 0 { format!(", {done} of {total}") } else { String::new() };
            let so_far = now.saturating_sub(stage.began).as_secs();
            lines.push(format!("{}: {name}{part}, {so_far} s so far", self.subject));
        }
        lines
    }

    fn end_stage_at(&mut self, now: Duration) -> Option<String> {
        let stage = self.stage.take()?;
        let took = now.saturating_sub(stage.began);
        let line = || format!("{}: {} took {:.1} s", self.subject, stage.name, took.as_secs_f64());
        (took >= WORTH_A_LINE).then(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_printed_at_their_end_and_while_they_take_long() {
        let mut starting = StageDisplay::new("cluster");
        let steps = [
            (0, "starting pd-1", 0),
            (900, "starting tikv-1", 0),
            (2_400, "building TiDB", 2_000),
            (12_300, "building TiDB", 2_000),
            (12_500, "building TiDB", 2_000),
            (22_399, "building TiDB", 2_000),
            (22_500, "building TiDB", 2_000),
        ];
        let mut lines = Vec::new();
        for (at_ms, stage, total) in steps {
            lines.extend(starting.step_at(Duration::from_millis(at_ms), stage, at_ms / 100, total));
        }
        lines.extend(starting.end_stage_at(Duration::from_millis(25_449)));
        assert_eq!(starting.end_stage_at(Duration::from_secs(60)), None);
        insta::assert_snapshot!(lines.join("\n"), @r"
        cluster: starting tikv-1 took 1.5 s
        cluster: building TiDB, 125 of 2000, 10 s so far
        cluster: building TiDB, 225 of 2000, 20 s so far
        cluster: building TiDB took 23.0 s
        ");
    }
}

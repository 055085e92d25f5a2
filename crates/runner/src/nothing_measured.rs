//! A run in which no load began: the causes, each told once, and what becomes of its folder.

use std::fmt;
use std::path::{Path, PathBuf};

use plan::Trial;
use record::{RunStatus, RunWriter, TrialStatus};

use crate::{Event, RunListener};

/// The error of a run that failed before anything was measured. Its folder is removed, unless it holds a log.
#[derive(Debug)]
pub struct NothingMeasured {
    /// At least one, each different from the others.
    pub causes: Vec<Cause>,
    /// The folder of the run when it has the log of a build.
    pub kept: Option<PathBuf>,
}

/// What failed, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    pub what: String,
    pub remedy: Option<String>,
}

impl NothingMeasured {
    pub(crate) fn of(causes: &[String]) -> Self {
        Self { causes: causes.iter().map(|text| Cause::of(text)).collect(), kept: None }
    }

    /// Removes the folder of the run, if it has no log; otherwise writes into it that the run failed.
    pub(crate) fn discarding(self, writer: RunWriter) -> Self {
        let folder = writer.folder().to_path_buf();
        let has_log = has_log(&folder);
        let ended = match has_log {
            true => writer.finish(&RunStatus::Failed(self.to_string())),
            false => writer.discard(),
        };
        Self { kept: (has_log || ended.is_err()).then_some(folder), ..self }
    }
}

impl Cause {
    /// Messages tell after a semicolon what to do. One of several lines ends with a log and stays whole.
    pub fn of(text: &str) -> Self {
        let (what, remedy) = match text.split_once("; ").filter(|_| !text.contains('\n')) {
            Some((what, remedy)) => (what, Some(remedy.to_owned())),
            None => (text, None),
        };
        Self { what: what.to_owned(), remedy }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        self.remedy.iter().try_for_each(|remedy| write!(f, "; {remedy}"))
    }
}

impl fmt::Display for NothingMeasured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let causes: Vec<String> = self.causes.iter().map(Cause::to_string).collect();
        f.write_str(&causes.join("\n"))
    }
}

impl std::error::Error for NothingMeasured {}

/// Whether the log of a build is in a run's folder.
fn has_log(folder: &Path) -> bool {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    entries.into_iter().any(|entry| entry.path().extension().is_some_and(|it| it == "log"))
}

/// The failures of trials until the first load begins. They are not reported one by one, because a run without any load
/// reports its causes at the end.
#[derive(Debug, Default)]
pub(crate) struct UntilFirstLoad {
    has_begun: bool,
    has_crashed: bool,
    /// Trials whose end was not reported yet.
    unreported: Vec<(Trial, String, TrialStatus)>,
    causes: Vec<String>,
}

impl UntilFirstLoad {
    /// Notes that a load has begun, so that the run has something to report.
    pub(crate) fn load_begins(&mut self) {
        self.has_begun = true;
    }

    /// Reports the trials that failed before the end of a trial whose load has begun.
    pub(crate) fn report_before_end(
        &mut self,
        (trial, title): (Trial, &str),
        listener: &mut dyn RunListener,
    ) {
        if self.has_begun && !self.unreported.is_empty() {
            self.report_all(listener);
            listener.on_event(Event::TrialBegins { trial, title });
        }
    }

    /// Takes the failure of a trial before its load; returns whether it is to be reported now.
    pub(crate) fn is_reported(
        &mut self,
        (trial, title): (Trial, &str),
        status: &TrialStatus,
        cause: Option<String>,
    ) -> bool {
        match status {
            TrialStatus::Failed(reason) if !self.has_begun => {
                let is_same = |(_, _, other): &(Trial, String, TrialStatus)| other == status;
                if !self.unreported.iter().any(is_same) {
                    self.causes.push(cause.unwrap_or_else(|| reason.clone()));
                }
                self.unreported.push((trial, title.to_owned(), status.clone()));
                false
            }
            TrialStatus::Crashed(_) => {
                self.has_crashed = true;
                true
            }
            _ => true,
        }
    }

    /// Reports the trials that failed before this one, whose system and data are ready: unless they are of the same
    /// system and workload, of which this one may show the same failure.
    pub(crate) fn report(
        &mut self,
        (current, title): (Trial, &str),
        listener: &mut dyn RunListener,
    ) {
        let place = |trial: &Trial| (trial.system, trial.workload);
        if self.unreported.iter().all(|(trial, ..)| place(trial) == place(&current)) {
            return;
        }
        self.report_all(listener);
        listener.on_event(Event::TrialBegins { trial: current, title });
    }

    fn report_all(&mut self, listener: &mut dyn RunListener) {
        for (trial, title, status) in self.unreported.drain(..) {
            listener.on_event(Event::TrialBegins { trial, title: &title });
            listener.on_event(Event::TrialEnds { status: &status, record: None });
        }
    }

    /// Why no load began in a run that has ended; `None` when one did, or a server crashed, whose trial has the log.
    pub(crate) fn nothing_measured(
        &self,
        error: Option<&anyhow::Error>,
    ) -> Option<NothingMeasured> {
        if self.has_begun || self.has_crashed {
            return None;
        }
        let mut causes = self.causes.clone();
        causes.extend(error.map(|error| format!("{error:#}")));
        causes.dedup();
        (!causes.is_empty()).then(|| NothingMeasured::of(&causes))
    }
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    #[test]
    fn what_to_do_follows_the_first_semicolon() {
        let of = |text: &str| {
            let Cause { what, remedy } = Cause::of(text);
            (what, remedy.unwrap_or_default())
        };
        let told = of("cannot connect to a:1; start it; or correct it");
        assert_eq!(
            told,
            ("cannot connect to a:1".to_owned(), "start it; or correct it".to_owned())
        );
        let log = "it exited; the end of its log:\nno disk; no luck";
        assert_eq!(of(log), (log.to_owned(), String::new()));
    }

    fn trial(index: usize, system: usize) -> Trial {
        let (workload, clients, repetition, rate, window, seek) = (0, 1, 0, None, 0, None);
        Trial { index, system, workload, clients, rate, repetition, window, seek }
    }

    fn failed(reason: &str) -> TrialStatus {
        TrialStatus::Failed(reason.to_owned())
    }

    /// The titles of the trials whose ends are reported.
    #[derive(Default)]
    struct Titles(Vec<String>);

    impl RunListener for Titles {
        fn on_event(&mut self, event: Event<'_>) {
            if let Event::TrialBegins { title, .. } = event {
                self.0.push(title.to_owned());
            }
        }
    }

    #[test]
    fn a_cause_is_told_once_and_only_when_no_load_begins() {
        let mut until = UntilFirstLoad::default();
        for index in 0..3 {
            let cause = (index == 0).then(|| "down; start it".to_owned());
            assert!(!until.is_reported(
                (trial(index, 0), "a"),
                &failed("a: down; start it"),
                cause
            ));
        }
        let nothing = until.nothing_measured(None).unwrap();
        assert_eq!(nothing.to_string(), "down; start it");
        let both = until.nothing_measured(Some(&anyhow!("the disk is full"))).unwrap();
        assert_eq!(both.causes.len(), 2);
        let mut titles = Titles::default();
        until.report((trial(3, 0), "a"), &mut titles);
        assert!(titles.0.is_empty(), "the same system may fail again");
        until.report((trial(3, 1), "b"), &mut titles);
        assert_eq!(titles.0, ["a", "a", "a", "b"]);
        until.load_begins();
        assert!(until.is_reported((trial(4, 0), "a"), &failed("a: down; start it"), None));
        assert!(until.nothing_measured(None).is_none());
    }
}

//! Live progress on standard error: a redrawn line on a terminal, otherwise a line for each trial, and every ten seconds
//! within one.

mod line;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use measure::{Interval, Nanos, Operation, Phase};
use record::{TrialStatus, TrialWriter};
use report::{latency, number, trial_headline};
use runner::{Event, RunListener};
use system::ProgressEvent;

use crate::output::{error_width, print_error};
use crate::stages::StageDisplay;

use line::Line;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Live,
    /// A line for each event.
    Lines,
    Quiet,
}

/// How long the load of a run takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlannedLoad {
    /// Of all trials; `None` when events limit it.
    pub(crate) time: Option<Duration>,
    /// Whether phases may end before, by what is measured.
    pub(crate) may_end_sooner: bool,
}

/// What stands before the number of a window in the title of a trial.
const WINDOW: &str = " · window ";
/// Between two lines within a trial, where none is redrawn.
const LINES_APART: Duration = Duration::from_secs(10);

pub(crate) struct ProgressDisplay {
    style: Style,
    bar: ProgressBar,
    /// What the redrawn line shows.
    line: Arc<Mutex<Line>>,
    /// When the last line within the trial was told, on its clock.
    told_ns: Nanos,
    /// The windows of a round that have ended: which round it is, and what each did.
    round: Option<(String, Vec<String>)>,
    trials: Option<usize>,
    trial: usize,
    /// Whether the line shows a phase of a trial.
    is_in_phase: bool,
    title: String,
    planned: PlannedLoad,
    /// Load time of the trials before this one.
    spent: Duration,
    trial_planned: Option<Duration>,
    /// When the phase of the load began on the trial's clock.
    phase_start_ns: Option<Nanos>,
    /// The step whose stages are shown: a start of a system, or work on data.
    stages: Option<StageDisplay>,
    /// Whether the phases of the data are shown by their stages.
    shows_phases: bool,
    pub(crate) folder: Option<PathBuf>,
}

impl ProgressDisplay {
    /// Progress of a run with this load.
    pub(crate) fn new(is_quiet: bool, planned: PlannedLoad, trials: Option<usize>) -> Self {
        let style = match (is_quiet, std::io::stderr().is_terminal()) {
            (true, _) => Style::Quiet,
            (false, true) => Style::Live,
            (false, false) => Style::Lines,
        };
        let bar = match style {
            Style::Live => ProgressBar::no_length(),
            Style::Lines | Style::Quiet => {
                ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden())
            }
        };
        Self {
            style,
            bar,
            line: Arc::default(),
            told_ns: 0,
            round: None,
            trials,
            trial: 0,
            is_in_phase: false,
            title: String::new(),
            planned,
            spent: Duration::ZERO,
            trial_planned: planned
                .time
                .zip(trials)
                .map(|(all, trials)| all / u32::try_from(trials.max(1)).unwrap_or(1)),
            phase_start_ns: None,
            stages: None,
            shows_phases: false,
            folder: None,
        }
    }

    /// Progress of work on data without load.
    pub(crate) fn of_data(is_quiet: bool) -> Self {
        Self { shows_phases: true, ..Self::new(is_quiet, PlannedLoad::default(), Some(1)) }
    }

    fn line(&self, text: &str) {
        match self.style {
            Style::Live => self.bar.println(report::visible(&plan::scrub(text))),
            Style::Lines => print_error(text),
            Style::Quiet => {}
        }
    }

    fn begin_phase(&mut self, phase: Phase, planned: Option<Duration>) {
        let line = Line {
            number: self.number(),
            title: self.title.clone(),
            phase: phase.name(),
            planned,
            may_end_sooner: self.planned.may_end_sooner,
            ..Line::default()
        };
        *self.line.lock().unwrap_or_else(PoisonError::into_inner) = line;
        let shown = Arc::clone(&self.line);
        let draw = move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            let line = shown.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = out.write_str(&line.text(state.elapsed(), error_width()));
        };
        self.is_in_phase = true;
        self.bar.reset_elapsed();
        self.bar.set_style(style("{line}").with_key("line", draw));
        self.phase_start_ns = None;
        self.bar.unset_length();
        self.bar.enable_steady_tick(Duration::from_millis(500));
    }

    /// The number and the title of the trial.
    fn head(&self) -> String {
        format!("{} {}", self.number(), self.title)
    }

    fn number(&self) -> String {
        let of = self.trials.map_or(String::new(), |trials| format!("/{trials}"));
        format!("[{}{of}]", self.trial + 1)
    }

    /// Work on data or on a system, of so much in all; 0 when that is not known.
    fn work(&mut self, stage: &str, done: u64, total: u64) {
        let stage = plan::scrub(stage);
        let part = (total > 0).then(|| format!("{} %", 100 * done.min(total) / total));
        if !self.is_in_phase {
            self.bar.set_message(part.map_or(stage.clone(), |part| format!("{stage} {part}")));
            return;
        }
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        line.figures = part.into_iter().chain([stage]).filter(|it| !it.is_empty()).collect();
    }

    fn interval(&mut self, interval: &Interval, operations: &[Operation]) {
        let start_ns = *self.phase_start_ns.get_or_insert(interval.start_ns);
        let into_phase = Duration::from_nanos(interval.end_ns.saturating_sub(start_ns));
        let tally = &interval.tally;
        let seconds = interval.seconds().max(f64::MIN_POSITIVE);
        let latencies = tally.transaction_latencies(operations);
        let [transactions, queries] =
            [tally.transactions, tally.queries.total()].map(|count| count as f64 / seconds);
        let p99 = latency(latencies.percentile_ns(99.0) as f64);
        let mut figures = vec![format!("{}/s", number(transactions)), format!("p99 {p99}")];
        let errors: u64 = tally.errors.values().map(|counts| counts.total()).sum();
        if errors > 0 {
            figures.insert(1, format!("{} errors/s", number(errors as f64 / seconds)));
        }
        if queries != transactions {
            figures.push(format!("{} queries/s", number(queries)));
        }
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        line.figures = figures;
        line.left = self.time_left(Duration::from_nanos(interval.end_ns));
        line.told_at = into_phase;
        let since = Duration::from_nanos(interval.end_ns.saturating_sub(self.told_ns));
        let is_due = self.style == Style::Lines && since >= LINES_APART;
        let text = is_due.then(|| line.text(into_phase, usize::MAX));
        drop(line);
        if let Some(text) = text {
            self.told_ns = interval.end_ns;
            self.line(&text);
        }
    }

    fn time_left(&self, into_trial: Duration) -> Option<Duration> {
        let planned = self.planned.time?;
        Some(planned.saturating_sub(self.spent).saturating_sub(into_trial))
    }

    /// Without a redrawn line, each long stage is a line.
    fn show_stage(&mut self, stage: &str, done: u64, total: u64) {
        // Behind its load a trial may have work of its own.
        if self.is_in_phase && self.stages.is_none() && !stage.is_empty() {
            self.stages = Some(StageDisplay::new(&self.title));
        }
        let Some(stages) = &mut self.stages else { return };
        let lines = stages.step(stage, done, total);
        if self.style == Style::Lines {
            lines.iter().for_each(|line| self.line(line));
        }
    }

    pub(crate) fn end_stages(&mut self) {
        let last = self.stages.take().and_then(|mut stages| stages.end_stage());
        if let (Style::Lines, Some(line)) = (self.style, last) {
            self.line(&line);
        }
    }

    fn end_trial(&mut self, status: &TrialStatus, record: Option<&TrialWriter>) {
        self.stages = None;
        self.spent += self.trial_planned.unwrap_or_default();
        let head = self.head();
        match status {
            TrialStatus::Complete => {
                let record = record.and_then(|record| record.read_back_with_hosts().ok());
                // A record that cannot be read is told of when the report is made.
                let figures = record.as_ref().map(trial_headline).unwrap_or_default();
                match self
                    .title
                    .split_once(WINDOW)
                    .map(|(of, window)| (of.to_owned(), window.to_owned()))
                {
                    None => self.line(&format!("{head}: {figures}")),
                    Some((of, window)) => self.end_window(&of, window, &figures),
                }
            }
            TrialStatus::Interrupted => self.line(&format!("{head}: interrupted")),
            TrialStatus::Failed(reason) => self.line(&format!("{head}: failed: {reason}")),
            TrialStatus::Crashed(reason) => self.line(&format!("{head}: crashed: {reason}")),
        }
    }

    /// Windows are short and many: those of a round are told in one line, when the next one begins.
    fn end_window(&mut self, of: &str, window: String, figures: &str) {
        if self.round.as_ref().is_some_and(|(known, _)| *known != window) {
            self.end_round();
        }
        let throughput = figures.split(',').next().unwrap_or_default();
        let of = of.split(" · ").next().unwrap_or_default();
        let (_, done) = self.round.get_or_insert_with(|| (window, Vec::new()));
        done.push(format!("{of} {throughput}"));
    }

    fn end_round(&mut self) {
        if let Some((window, done)) = self.round.take() {
            self.line(&format!("{} window {window}: {}", self.number(), done.join(", ")));
        }
    }

    pub(crate) fn finish(&mut self) {
        self.end_round();
        self.bar.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

impl RunListener for ProgressDisplay {
    fn on_event(&mut self, event: Event<'_>) {
        match event {
            Event::RunBegins { folder, trials } => {
                self.trials = trials;
                self.folder = Some(folder.to_path_buf());
            }
            Event::SystemStarting { name } => {
                // The system's build may have been displayed before.
                self.end_stages();
                self.stages = Some(StageDisplay::new(name));
                self.is_in_phase = false;
                self.bar.set_style(style("{spinner} {wide_msg}"));
                self.bar.set_message(format!("starting {name}"));
                self.bar.enable_steady_tick(Duration::from_millis(200));
            }
            Event::SystemStarted { name, identity } => {
                self.end_stages();
                self.line(&format!("{name}: {}", identity.title()));
            }
            Event::TrialBegins { trial, title } => {
                self.trial = trial.index;
                self.told_ns = 0;
                title.clone_into(&mut self.title);
            }
            Event::PhaseBegins { phase, planned } => {
                if self.shows_phases {
                    self.stages = Some(StageDisplay::new(&self.title));
                }
                self.begin_phase(phase, planned);
            }
            Event::Progress(ProgressEvent::Stage { name, done, total }) => {
                self.show_stage(name, done, total);
                self.work(name, done, total);
            }
            Event::Progress(ProgressEvent::Note(text)) => self.line(text),
            Event::Interval { interval, operations } => self.interval(interval, operations),
            Event::TrialEnds { status, record } => self.end_trial(status, record),
        }
    }
}

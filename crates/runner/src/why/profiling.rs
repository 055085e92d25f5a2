//! Profiles of the servers while the load goes on as it was measured.

use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use engine::{LoadEnd, OfferedLoad, PhaseEnds, TrialObserver};
use measure::{Interval, Nanos, Phase};
use plan::Limit;
use system::ProgressEvent;
use system::profile::{self, Profiles};

use super::Bench;
use super::servers::with_children;
use crate::test_bed::TestBed;
use crate::{Event, RunListener};

/// How long samples are taken.
const SPAN: Duration = Duration::from_secs(6);
/// How long the load may go on for them.
const LOAD_MAX: Duration = Duration::from_secs(60);

impl Bench<'_> {
    /// Offers the load without any slow-down until the profiles are there.
    pub(super) fn profile(
        &self,
        test_bed: &TestBed<'_>,
        processes: &[u32],
        listener: &mut dyn RunListener,
    ) -> Result<Profiles> {
        listener.on_event(Event::Progress(ProgressEvent::stage("taking profiles")));
        let offered = OfferedLoad {
            limit: Limit::time(LOAD_MAX),
            ends: PhaseEnds { warm_up_from: None, measured: true },
            levers: None,
            runs_once: false,
            ..self.base.clone()
        };
        let pages = test_bed.pages();
        let (began, ended) = (AtomicBool::new(false), AtomicBool::new(false));
        let mut observer = UntilTaken { began: &began, ended: &ended };
        std::thread::scope(|scope| {
            let taking = std::thread::Builder::new().name("profiles".to_owned());
            let taking = taking.spawn_scoped(scope, || {
                // A load that ends without having begun ends the wait as well.
                while !began.load(Ordering::Relaxed) && !ended.load(Ordering::Relaxed) {
                    std::thread::sleep(Duration::from_millis(10));
                }
                let mut goes_on = |_: ProgressEvent<'_>| match ended.load(Ordering::Relaxed) {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                };
                let taken = profile::take(&pages, &with_children(processes), SPAN, &mut goes_on);
                ended.store(true, Ordering::Relaxed);
                taken
            });
            let taking = taking.context("no thread for profiles")?;
            let outcome = engine::offer(&offered, self.load, self.stop, &mut observer);
            ended.store(true, Ordering::Relaxed);
            let taken =
                taking.join().map_err(|_| anyhow::anyhow!("the thread of profiles ended early"));
            if matches!(outcome?.ended, LoadEnd::Interrupted) {
                bail!("it was interrupted");
            }
            taken
        })
    }
}

/// Lets a load go on until the profiles are taken.
struct UntilTaken<'a> {
    began: &'a AtomicBool,
    ended: &'a AtomicBool,
}

impl TrialObserver for UntilTaken<'_> {
    fn begins(&mut self, phase: Phase, _late_ns: Nanos) -> io::Result<()> {
        if phase == Phase::Measure {
            self.began.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    fn interval(&mut self, _interval: &Interval) -> io::Result<()> {
        Ok(())
    }

    fn part(&mut self, _part: &Interval, _missing: &[usize]) -> io::Result<()> {
        Ok(())
    }

    fn has_enough(&mut self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    fn ends(&mut self, _late_ns: Nanos) -> io::Result<()> {
        Ok(())
    }
}

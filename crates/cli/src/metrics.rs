//! Figures for monitoring while a run goes on: a page for Prometheus, and sends to an OpenTelemetry collector.
//!
//! Both are made from what the runner tells of each interval, beside the progress, by threads of their own. The threads
//! that offer the load know nothing of it.

mod collector;
mod counts;
mod families;
mod otlp;
mod page;
mod server;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, PoisonError};

use engine::Stop;
use plan::Plan;
use runner::{Event, RunListener};

use crate::args::MetricsArgs;
use crate::output::print_error;

use collector::Collector;
use counts::Counts;
use otlp::Collecting;
use server::{Page, Server};

/// What a run has counted so far. Its readers take the whole at once and read it without the lock: the run, which changes a
/// copy while they do, waits for none of them.
#[derive(Debug, Default)]
struct Latest(Mutex<Arc<Counts>>);

impl Latest {
    fn get(&self) -> Arc<Counts> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn change(&self, change: impl FnOnce(&mut Counts)) {
        let mut latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let counts = Arc::make_mut(&mut latest);
        change(counts);
        counts.version += 1;
    }
}

/// Where the figures of a run go beside its record.
pub(crate) struct Exports {
    latest: Arc<Latest>,
    server: Option<Server>,
    collecting: Option<Collecting>,
}

impl Exports {
    /// Begins to serve and to send, as the command line asks.
    ///
    /// # Errors
    /// When the page cannot be served at its address.
    pub(crate) fn open(targets: Targets) -> Result<Self, String> {
        let latest = Arc::new(Latest::default());
        let server = match targets.page {
            Some(page) => Some(page.serve(Arc::clone(&latest))?),
            None => None,
        };
        let collecting = targets.collector.map(Collecting::begin).transpose()?;
        Ok(Self { latest, server, collecting })
    }

    /// Tells the events of a run to `progress` too.
    pub(crate) fn listen<'a>(
        &'a self,
        plan: &'a Plan,
        progress: &'a mut dyn RunListener,
    ) -> Listeners<'a> {
        let is_wanted = self.server.is_some() || self.collecting.is_some();
        let collector =
            is_wanted.then(|| Collector::new(plan, &self.latest, self.collecting.as_ref()));
        if let Some(server) = &self.server {
            progress.on_note(&format!("metrics: http://{}/metrics", server.address()));
        }
        Listeners { progress, collector }
    }

    /// Waits until what was counted last has gone where it should, within bounds; tells what was lost.
    pub(crate) fn finish(self, stop: &Stop) {
        if let Some(lost) = self.collecting.and_then(|it| it.finish(self.latest.get())) {
            print_error(&lost);
        }
        if let Some(server) = self.server {
            server.finish(stop, print_error);
        }
    }
}

/// Where figures are to go, checked.
pub(crate) struct Targets {
    page: Option<Page>,
    collector: Option<String>,
}

impl Targets {
    /// # Errors
    /// When an address or a URL is none that dyno can use.
    pub(crate) fn check(args: &MetricsArgs) -> Result<Self, String> {
        let page = args.metrics.as_deref().map(Page::at).transpose();
        let collector = args.otlp.as_deref().map(otlp::url).transpose();
        Ok(Self {
            page: page.map_err(|why| format!("--metrics: {why}"))?,
            collector: collector.map_err(|why| format!("--otlp: {why}"))?,
        })
    }
}

/// The progress, and what is collected for monitoring.
pub(crate) struct Listeners<'a> {
    progress: &'a mut dyn RunListener,
    collector: Option<Collector<'a>>,
}

impl RunListener for Listeners<'_> {
    fn on_event(&mut self, event: Event<'_>) {
        self.progress.on_event(event);
        self.collector.iter_mut().for_each(|collector| collector.on_event(event));
    }
}

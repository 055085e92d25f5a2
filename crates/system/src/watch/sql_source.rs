//! Figures of a database by SQL, on a session and an event loop of their own.

use std::io;

use driver::ServerFigures;
use measure::Failure;
use net::{Clock, Handle, Runtime};

pub(super) struct SqlSource {
    runtime: Runtime,
    /// `None` after the event loop has failed.
    figures: Option<ServerFigures>,
}

impl std::fmt::Debug for SqlSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SqlSource({:?})", self.figures)
    }
}

impl SqlSource {
    pub(super) fn new(figures: ServerFigures) -> io::Result<Self> {
        Ok(Self { runtime: Runtime::new(Clock::monotonic())?, figures: Some(figures) })
    }

    pub(super) fn sample(&mut self) {
        // What fails here fails with the next reading too, which tells why.
        let _ = self.run(async |figures, handle| {
            figures.sample(handle).await;
            Ok(())
        });
    }

    pub(super) fn read(&mut self) -> Result<String, String> {
        self.run(async |figures, handle| figures.read(handle).await)
    }

    pub(super) fn remarks(&self) -> Vec<String> {
        self.figures.as_ref().map_or(Vec::new(), ServerFigures::remarks)
    }

    pub(super) fn close(mut self) {
        if let Some(figures) = self.figures.take() {
            let _ = self.runtime.block_on(figures.close());
        }
    }

    fn run<T: 'static>(
        &mut self,
        ask: impl AsyncFnOnce(&mut ServerFigures, &Handle) -> Result<T, Failure> + 'static,
    ) -> Result<T, String> {
        let mut figures = self.figures.take().ok_or("its event loop has failed")?;
        let handle = self.runtime.handle();
        let asked = self.runtime.block_on(async move {
            let answer = ask(&mut figures, &handle).await;
            (figures, answer)
        });
        let (figures, answer) = asked.map_err(|cause| cause.to_string())?;
        self.figures = Some(figures);
        answer.map_err(|failure| failure.message.to_string())
    }
}

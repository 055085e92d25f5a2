//! Figures that servers tell of themselves by SQL, read on a session of their own beside a load.

use std::time::Duration;

use measure::Failure;
use net::Handle;

use crate::session::Connection;
use crate::{Session, Target, Timeouts, postgres};

/// Reads the figures of one server, and connects again after a failure.
#[derive(Debug)]
pub struct ServerFigures {
    target: Target,
    /// Which of the target's servers.
    index: usize,
    session: Option<Session>,
    figures: postgres::Figures,
}

impl ServerFigures {
    /// Prepares to ask one of the target's servers, with at most `bound` for the login and for each answer. `None` if its
    /// servers tell no figures by SQL.
    pub fn of(target: &Target, index: usize, bound: Duration) -> Option<Self> {
        let target = target.for_watching(Timeouts { connect: bound, query: Some(bound) })?;
        Some(Self { target, index, session: None, figures: postgres::Figures::default() })
    }

    /// Looks at what the server's sessions do at this moment. A failure shows with the next reading.
    pub async fn sample(&mut self, handle: &Handle) {
        let Ok(Session(Connection::Postgres(mut session))) = self.session(handle).await else {
            return;
        };
        if self.figures.sample(&mut session).await.is_ok() {
            self.session = Some(Session(Connection::Postgres(session)));
        }
    }

    /// Reads all figures, with what the samples found, in the text format of Prometheus.
    ///
    /// # Errors
    /// When the server cannot be reached or does not answer in time.
    pub async fn read(&mut self, handle: &Handle) -> Result<String, Failure> {
        let Session(Connection::Postgres(mut session)) = self.session(handle).await? else {
            return Ok(String::new());
        };
        let text = self.figures.read(&mut session).await?;
        self.session = Some(Session(Connection::Postgres(session)));
        Ok(text)
    }

    /// What is missing in all readings, and why.
    pub fn remarks(&self) -> Vec<String> {
        self.figures.remarks()
    }

    pub async fn close(self) {
        if let Some(session) = self.session {
            session.close().await;
        }
    }

    /// The session, or a new one; it is given back when it can still be used.
    async fn session(&mut self, handle: &Handle) -> Result<Session, Failure> {
        match self.session.take() {
            Some(session) => Ok(session),
            None => self.target.connect(handle, self.index).await,
        }
    }
}

//! Sessions of clients: connected and set up as the plan says.

use driver::{Isolation, Session, Target};
use engine::ClientHandle;
use measure::Failure;

use crate::WorkloadContext;
use crate::options::{Choice, choice};
use crate::parallel::{run_all, unsuitable};

/// The option that chooses a level of isolation.
pub(crate) const ISOLATION: Choice<Option<Isolation>> = choice(
    "isolation",
    ("", None),
    &[
        ("read_uncommitted", Some(Isolation::ReadUncommitted)),
        ("read_committed", Some(Isolation::ReadCommitted)),
        ("repeatable_read", Some(Isolation::RepeatableRead)),
        ("serializable", Some(Isolation::Serializable)),
    ],
    "isolation level of clients: read-uncommitted, read-committed, repeatable-read, serializable",
);

/// Opens the sessions of a trial's clients.
#[derive(Clone, Debug)]
pub(crate) struct Connector {
    pub(crate) target: Target,
    isolation: Option<Isolation>,
    /// Statements of the plan for each session.
    setup: Vec<String>,
}

impl Connector {
    pub(crate) fn new(context: &WorkloadContext<'_>, isolation: Option<Isolation>) -> Self {
        let setup = context.sql.run_session.clone();
        Self { target: context.target.clone(), isolation, setup }
    }

    /// Connects a client and sets its session up.
    ///
    /// # Errors
    /// When the server cannot be reached or refuses something.
    pub(crate) async fn open(&self, handle: &ClientHandle) -> Result<Session, Failure> {
        let mut session = self.target.connect(handle.net(), handle.index()).await?;
        if let Some(level) = self.isolation {
            session.run(&set_isolation(&self.target, level)?).await?;
        }
        run_all(&mut session, &self.setup).await?;
        Ok(session)
    }
}

/// Refuses an isolation level on a system that has none to choose from.
///
/// # Errors
/// What to leave out.
pub(crate) fn check_isolation(
    target: &Target,
    isolation: Option<Isolation>,
) -> Result<(), Failure> {
    isolation.map_or(Ok(()), |level| set_isolation(target, level).map(drop))
}

fn set_isolation(target: &Target, level: Isolation) -> Result<String, Failure> {
    let statement = target.dialect().set_isolation(level);
    statement
        .ok_or_else(|| unsuitable("isolation: this system has no isolation levels; leave it out"))
}

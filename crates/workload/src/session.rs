//! Sessions of clients, connected and configured by the plan.

use driver::{Isolation, REFUSED, Session, Target};
use engine::ClientHandle;
use measure::Failure;
use plan::declared::{Choice, choice};

use crate::WorkloadContext;
use crate::parallel::{run_all, unsuitable};

/// The option that selects an isolation level.
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
    /// The plan's statements for each session.
    setup: Vec<String>,
}

impl Connector {
    pub(crate) fn new(context: &WorkloadContext<'_>, isolation: Option<Isolation>) -> Self {
        let setup = context.sql.run_session.clone();
        Self { target: context.target.clone(), isolation, setup }
    }

    /// Connects a client to the server that it uses, of several, and sets its session up.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses a statement or the login.
    pub(crate) async fn open(&self, handle: &ClientHandle) -> Result<Session, Failure> {
        let servers = self.target.servers();
        let (net, server) = (handle.net(), handle.server(servers));
        let connected = match handle.has_begun() {
            true => self.target.connect_again(net, server).await,
            false => self.target.connect(net, server).await,
        };
        let mut session = connected.inspect_err(|failure| {
            if failure.key.code == REFUSED {
                handle.refused(servers);
            }
        })?;
        if let Some(level) = self.isolation {
            session.run(&set_isolation(&self.target, level)?).await?;
        }
        run_all(&mut session, &self.setup).await?;
        let own = session.opening_statements() + usize::from(self.isolation.is_some());
        handle.count_setup(own + self.setup.len());
        Ok(session)
    }
}

/// Refuses an isolation level on a system without isolation levels.
///
/// # Errors
/// The option to leave out.
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

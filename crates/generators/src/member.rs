//! One generator, as the process of the run has it: its process, and the thread that takes what it sends.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;

use anyhow::{Context, Result};
use engine::{FromGenerator as EngineMessage, Stop};
use plan::Place;
use remote::{Peer, Receiver, Sender, StartOptions};
use runner::KnownGenerators;

use crate::message::{FromGenerator, ToldReading, Watched};

/// The subcommand of dyno that is a generator.
const COMMAND: &str = "generator";

/// A generator that runs.
pub(crate) struct Member {
    pub(crate) peer: Peer,
    pub(crate) sender: Sender,
    incoming: Arc<Incoming>,
}

/// Where what a generator sends goes.
#[derive(Default)]
struct Incoming(Mutex<State>);

#[derive(Default)]
struct State {
    sink: Option<Sink>,
    /// Why nothing more will come.
    lost: Option<String>,
}

/// The load in progress: its number, and who hears of it.
pub(crate) struct Sink {
    pub(crate) load: u64,
    pub(crate) generator: usize,
    pub(crate) reports: mpsc::Sender<(usize, EngineMessage)>,
    pub(crate) known: KnownGenerators,
}

impl Member {
    /// Starts a generator in a place. It stays until this is dropped.
    pub(crate) fn start(place: &Place, keep_copies: bool, stop: &Stop) -> Result<Self> {
        let options = StartOptions { keep_copies, ..StartOptions::new(COMMAND) };
        let peer = Peer::start(place, &options, &|| stop.is_asked())?;
        let (sender, receiver) = peer.split();
        let incoming = Arc::new(Incoming::default());
        let filled = Arc::clone(&incoming);
        let thread = thread::Builder::new().name("generator reports".to_owned());
        thread
            .spawn(move || filled.fill(&receiver))
            .context("no thread for what a generator reports")?;
        Ok(Self { peer, sender, incoming })
    }

    /// Whether nothing more will come from it.
    pub(crate) fn is_lost(&self) -> bool {
        self.incoming.state().lost.is_some()
    }

    /// Passes on what comes of a load from now on.
    pub(crate) fn listen(&self, sink: Sink) {
        let mut state = self.incoming.state();
        if let Some(reason) = state.lost.clone() {
            sink.pass_on(EngineMessage::Lost(reason));
        }
        state.sink = Some(sink);
    }

    /// The load is over: what still comes of it is dropped.
    pub(crate) fn end_of_load(&self) {
        self.incoming.state().sink = None;
    }
}

impl Incoming {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fill(&self, receiver: &Receiver) {
        loop {
            match receiver.receive() {
                Ok(message) => {
                    if let Some(sink) = &self.state().sink {
                        sink.take(message);
                    }
                }
                Err(error) => {
                    let reason = error.to_string();
                    let mut state = self.state();
                    let lost = || EngineMessage::Lost(reason.clone());
                    state.sink.iter().for_each(|sink| sink.pass_on(lost()));
                    state.lost = Some(reason);
                    return;
                }
            }
        }
    }
}

impl Sink {
    fn pass_on(&self, message: EngineMessage) {
        // The load may be over.
        let _ = self.reports.send((self.generator, message));
    }

    pub(crate) fn take(&self, message: FromGenerator) {
        match message {
            FromGenerator::Report { load, report } if load == self.load => {
                self.pass_on(EngineMessage::Report(report));
            }
            FromGenerator::Watched { load, watched } if load == self.load => {
                match watched.fault() {
                    Some(fault) => self.pass_on(EngineMessage::Lost(fault)),
                    None => {
                        let Watched { generator, usage } = *watched;
                        self.known.watched(self.generator, generator, usage);
                    }
                }
            }
            FromGenerator::Connections { load, told } if load == self.load => {
                self.known.told_connections(self.generator, told.map(ToldReading::reading));
            }
            // Of a load before.
            FromGenerator::Report { .. }
            | FromGenerator::Watched { .. }
            | FromGenerator::Connections { .. } => {}
        }
    }
}

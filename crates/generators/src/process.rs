//! The process of a generator: takes jobs from the process of the run, and offers its parts of their loads.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use engine::{Command, GeneratorObserver, Load, OfferedLoad, Part, Report};
use measure::Nanos;
use remote::{End, LinkError, Receiver, Sender};
use runner::{GeneratorWatch, UsageMark};

use crate::job::{GeneratorJob, Peers};
use crate::message::{FromGenerator, ToGenerator, Watched};
use crate::own_connections::OwnConnections;

/// The name of generators in lists of processes, so that users tell them from the process of the run.
const NAME: &str = "dyno-generator";
/// How long a load may take to end when the process of the run is gone.
const END_BOUND: Duration = Duration::from_millis(700);

struct Work {
    load: u64,
    part: Part,
    job: Box<GeneratorJob>,
    commands: mpsc::Receiver<Command>,
}

/// Is a generator of the process at the other end of standard input and output, until that ends. If its load does not
/// end with it soon, `end_now` is called, which ends this process.
///
/// # Errors
/// When there is no such process, or what it sends cannot be read.
pub fn run_generator(end_now: fn()) -> Result<()> {
    let on_lost = move |_: &LinkError| {
        thread::sleep(END_BOUND);
        end_now();
    };
    let end = End::on_stdio(NAME, on_lost)?;
    let (sender, receiver) = end.split();
    let (to_work, work) = mpsc::channel();
    let thread = thread::Builder::new().name("commands".to_owned());
    let told = sender.clone();
    thread.spawn(move || take(&receiver, &told, &to_work)).context("no thread for commands")?;
    for work in work {
        run(work, &sender);
    }
    Ok(())
}

/// Takes jobs and commands until the connection ends or what comes cannot be read; with it the commands of the last job
/// end.
fn take(receiver: &Receiver, sender: &Sender, to_work: &mpsc::Sender<Work>) {
    let mut current: Option<(u64, mpsc::Sender<Command>)> = None;
    loop {
        let message = match receiver.receive() {
            Ok(message) => message,
            Err(error) => return give_up(current.as_ref().map(|it| it.0), sender, &error),
        };
        match message {
            ToGenerator::Job { load, part, job } => {
                let (commands, received) = mpsc::channel();
                current = Some((load, commands));
                if to_work.send(Work { load, part, job, commands: received }).is_err() {
                    return;
                }
            }
            ToGenerator::Command { load, command } => {
                if let Some((number, commands)) = &current
                    && *number == load
                {
                    // A load that is over needs no commands.
                    let _ = commands.send(command);
                }
            }
        }
    }
}

/// Tells the process of the run, if it is still there, that the load in progress does not go on: its early end would
/// otherwise be taken for the planned one.
fn give_up(load: Option<u64>, sender: &Sender, error: &LinkError) {
    if let Some(load) = load {
        let report = Report::broken(format!("it cannot read what it was sent: {error}"));
        // Without that process there is nobody to tell.
        let _ = sender.send(&FromGenerator::Report { load, report });
    }
}

/// Offers a part of a load.
fn run(work: Work, sender: &Sender) {
    let Work { load: number, part, job, commands } = work;
    let made = job.load();
    // Its secrets are in the load now, as far as that needs them.
    let last = match made {
        Ok((offer, load)) => match shortages(&job, &part, (&offer, load.as_ref())) {
            Ok(()) => {
                let peers = job.watched_peers();
                drop(job);
                offer_part((number, &part), (&offer, load.as_ref()), peers, &commands, sender)
            }
            Err(cause) => Report::broken(format!("{cause:#}")),
        },
        Err(cause) => Report::broken(format!("{cause:#}")),
    };
    // Without the process of the run there is nobody to tell.
    let _ = sender.send(&FromGenerator::Report { load: number, report: last });
}

/// Refuses a load for which this machine has too little.
fn shortages(
    job: &GeneratorJob,
    part: &Part,
    (offer, load): (&OfferedLoad, &dyn Load),
) -> Result<()> {
    let shortages = job.shortages(part.clients(offer, load).len())?;
    if shortages.is_empty() {
        return Ok(());
    }
    let all: Vec<String> = shortages.iter().map(ToString::to_string).collect();
    anyhow::bail!(all.join("; "))
}

fn offer_part(
    (number, part): (u64, &Part),
    (offer, load): (&OfferedLoad, &dyn Load),
    peers: Option<Peers>,
    commands: &mpsc::Receiver<Command>,
    sender: &Sender,
) -> Report {
    let mut own = OwnFigures {
        number,
        offer,
        sender,
        peers,
        connections: None,
        watch: None,
        mark: None,
        usage: None,
    };
    let last = engine::serve(part, offer, load, commands, &mut own);
    let watched = Watched { generator: own.watch.map(GeneratorWatch::end), usage: own.usage };
    let message = FromGenerator::Watched { load: number, watched: Box::new(watched) };
    let _ = sender.send(&message);
    last
}

/// Watches this process during a load, and sends reports on.
struct OwnFigures<'a> {
    number: u64,
    offer: &'a OfferedLoad,
    sender: &'a Sender,
    /// The connections to watch, and how often, until the load begins.
    peers: Option<Peers>,
    connections: Option<OwnConnections>,
    watch: Option<GeneratorWatch>,
    mark: Option<UsageMark>,
    usage: Option<record::ClientUsage>,
}

impl GeneratorObserver for OwnFigures<'_> {
    fn report(&mut self, report: Report) {
        // When the connection has ended, the commands have too.
        let _ = self.sender.send(&FromGenerator::Report { load: self.number, report });
    }

    fn starts(&mut self, kernel_ns: Nanos) {
        let planned = self.offer.ends.warm_up_from.is_none().then_some(self.offer.warm_up);
        // Without it the load is as good.
        self.watch = GeneratorWatch::begin_at(kernel_ns, planned).ok();
        if let Some((peers, period)) = self.peers.take() {
            let (sender, number) = (self.sender.clone(), self.number);
            self.connections = OwnConnections::begin(peers, (kernel_ns, period), move |told| {
                // As with reports.
                let _ = sender.send(&FromGenerator::connections(number, told));
            });
        }
    }

    fn begins_measuring(&mut self, late_ns: Nanos) {
        if let Some(watch) = self.watch.as_ref().filter(|_| self.offer.ends.warm_up_from.is_some())
        {
            watch.begin_window();
        }
        self.mark = Some(UsageMark::at_begin(late_ns));
        self.connections.iter().for_each(OwnConnections::phase);
    }

    fn ends_measuring(&mut self, late_ns: Nanos) {
        self.usage = self.mark.as_ref().and_then(|mark| mark.until_end(late_ns));
        if let Some(watch) = &self.watch {
            watch.end_window();
        }
        if let Some(connections) = self.connections.take() {
            connections.end();
        }
    }
}

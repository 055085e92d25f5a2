//! Programs that misbehave in place of a dyno in another place, in every phase of a connection.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::thread;
use std::time::Duration;

use measure::HostFacts;
use peers::{Behaviour, Phase};
use plan::Place;

use crate::hello::{Hello, VERSION, sha256};
use crate::message;
use crate::peer::{Peer, StartOptions};

/// How long a step may take without progress.
const BOUND: Duration = Duration::from_secs(2);

/// Longer than a silent side is waited for.
const MESSAGE_BOUND: Duration = Duration::from_secs(7);
/// So many messages are received at most.
const MESSAGES_MAX: usize = 1_000;

/// How a connection ends with a program that misbehaves in this way.
fn ending(phase: usize, behaviour: Behaviour) -> String {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    // The program in the place is a copy that was kept: so it says what it is as if it were this one.
    fs::write(&program, "no program at all").unwrap();
    let build = sha256(&program).unwrap();
    let facts = HostFacts { build, ..HostFacts::default() };
    let hello = Hello { version: VERSION.to_owned(), facts, process: None };
    let phase: &Phase = &peers::dyno::phases(&message::encode(&hello).unwrap())[phase];
    let address = peers::serve(behaviour.acts(phase)).unwrap();
    let bridge = folder.path().join("bridge");
    // The conversation of the script, of which the last word is the mark, and then the peer. The processor is that
    // of this program, which may run under an emulator.
    let script = format!(
        "#!/bin/bash\necho \"dyno-shell-${{!#}} Linux {} sha256\"\nread -r program\necho dyno-kept\n\
         exec 3<>/dev/tcp/{}/{}\ncat <&3 &\nexec cat >&3\n",
        std::env::consts::ARCH,
        address.ip(),
        address.port()
    );
    fs::write(&bridge, script).unwrap();
    fs::set_permissions(&bridge, fs::Permissions::from_mode(0o755)).unwrap();
    let options = StartOptions { program, bound: BOUND, ..StartOptions::new("generator") };
    let place = Place::parse(&format!("command:{}", bridge.display())).unwrap();
    let error = match Peer::start(&place, &options, &|| false) {
        Err(error) => error.root_cause().to_string(),
        Ok(peer) if phase.name == peers::dyno::in_use().name => end_of_messages(&peer),
        Ok(peer) => match peer.compare_clocks() {
            Err(error) => error.to_string(),
            Ok(compared) => format!("none: {compared:?}"),
        },
    };
    // Behind it stands what the shell has said, which differs from one to another.
    let told = error.split(';').next().unwrap_or_default();
    told.chars().take(70).collect::<String>().trim_end().to_owned()
}

/// Why no more messages can be received.
fn end_of_messages(peer: &Peer) -> String {
    let (_, receiver) = peer.split();
    for _ in 0..MESSAGES_MAX {
        match receiver.receive_within::<(u8, u8, u8, String)>(MESSAGE_BOUND) {
            Ok(Some(_)) => {}
            Ok(None) => return format!("no message within {MESSAGE_BOUND:?}"),
            Err(error) => return error.to_string(),
        }
    }
    format!("none: {MESSAGES_MAX} messages")
}

#[test]
fn every_misbehaviour_in_a_connection_ends_with_its_name() {
    let names = peers::dyno::phases(&[]).map(|phase| phase.name);
    let table: Vec<String> = thread::scope(|scope| {
        let threads: Vec<_> = (0..names.len())
            .flat_map(|phase| Behaviour::ALL.map(|behaviour| (phase, behaviour)))
            .map(|(phase, behaviour)| {
                let row = move || (phase, behaviour, ending(phase, behaviour));
                scope.spawn(row)
            })
            .collect();
        let rows = threads.into_iter().map(|thread| thread.join().unwrap());
        let row = |(phase, behaviour, ending): (usize, Behaviour, String)| {
            format!("{}, {behaviour:?}: {ending}", names[phase])
        };
        rows.map(row).collect()
    });
    insta::assert_snapshot!(table.join("\n"));
}

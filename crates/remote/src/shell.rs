//! From a place to the command that reaches a shell there.

use std::path::Path;
use std::process::Command;

use plan::Place;

/// What runs in the place: a shell with this script and its argument.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Script<'a> {
    pub(crate) text: &'a str,
    pub(crate) mark: &'a str,
}

/// The command that runs the script in a place; `None` for this machine, which needs none.
///
/// # Errors
/// When a command has no program; a place that was parsed has one.
pub(crate) fn command(place: &Place, script: Script<'_>) -> Result<Option<Command>, String> {
    Ok(Some(match place {
        Place::Local => return Ok(None),
        Place::Ssh { destination, port } => ssh(destination, *port, script),
        Place::Command { words, .. } => {
            let (program, own) = words.split_first().ok_or("the command has no program")?;
            let mut command = system::reaching_command(program);
            command.args(own).args(["sh", "-c", script.text, "dyno", script.mark]);
            command
        }
    }))
}

/// The user's own configuration, keys and agent, but no question at the terminal, no terminal there, and nothing
/// forwarded. The login shell gets one word, in single quotes.
fn ssh(destination: &str, port: Option<u16>, script: Script<'_>) -> Command {
    let mut command = system::reaching_command("ssh");
    command.args(["-T", "-a", "-x", "-o", "BatchMode=yes", "-o", "RemoteCommand=none"]);
    if let Some(port) = port {
        command.args(["-p", &port.to_string()]);
    }
    let Script { text, mark } = script;
    command.args(["--", destination]).arg(format!("exec sh -c '{text}' dyno {mark}"));
    command
}

pub(crate) fn local(program: &Path, command: &str) -> Command {
    let mut local = system::command(program);
    local.arg(command);
    local
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(place: &str) -> Vec<String> {
        let script = Script { text: "SCRIPT", mark: "MARK" };
        let command = command(&Place::parse(place).unwrap(), script).unwrap().unwrap();
        let program = command.get_program().to_str().unwrap().to_owned();
        let arguments = command.get_args().map(|word| word.to_str().unwrap().to_owned());
        std::iter::once(program).chain(arguments).collect()
    }

    #[test]
    fn each_place_has_its_command() {
        const SSH: &str = "ssh -T -a -x -o BatchMode=yes -o RemoteCommand=none";
        for (place, before) in [
            ("kubectl://load/p-0", "kubectl exec -i -n load p-0 --"),
            ("docker://c1", "docker exec -i c1"),
            ("srun://n07", "srun -N1 -n1 --overlap -w n07"),
            ("command:doas -u bench", "doas -u bench"),
        ] {
            assert_eq!(words(place).join(" "), format!("{before} sh -c SCRIPT dyno MARK"));
        }
        for (place, after) in [("ssh://u@h", "-- u@h"), ("ssh://[::1]:2222", "-p 2222 -- ::1")] {
            let words = words(place);
            let (script, before) = words.split_last().unwrap();
            assert_eq!(before.join(" "), format!("{SSH} {after}"));
            assert_eq!(script, "exec sh -c 'SCRIPT' dyno MARK");
        }
    }

    #[test]
    fn words_of_a_command_stay_whole() {
        assert_eq!(words("command:run 'a b' \"c\"")[..3], ["run", "a b", "c"]);
    }

    #[test]
    fn this_machine_needs_no_shell() {
        let script = Script { text: "", mark: "" };
        assert!(command(&Place::Local, script).unwrap().is_none());
        let local = local(Path::new("/proc/self/exe"), "generator");
        assert_eq!(local.get_args().collect::<Vec<_>>(), ["generator"]);
    }
}

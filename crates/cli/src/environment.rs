//! Passwords in the environment: they are taken out of it at the start, because the environment of a process stays in
//! its memory, and every process of the same user can read it.

use std::env;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileExt;

use driver::{password_variables, set_environment_passwords};
use plan::Password;
use zeroize::Zeroizing;

/// Takes the passwords out of the environment, for later logins, and has them blanked in all output. Where the kernel
/// does not let a process write to its own memory, they stay in the environment as well.
///
/// No other thread may run yet.
pub(crate) fn take_passwords() {
    let variables = password_variables();
    let value = |name: &&'static str| {
        let value = env::var_os(name).filter(|value| !value.is_empty())?;
        Some((*name, Password::of_bytes(value.into_vec())))
    };
    let given: Vec<_> = variables.iter().filter_map(value).collect();
    if given.is_empty() {
        return;
    }
    given.iter().for_each(|(_, password)| password.hide());
    set_environment_passwords(given);
    // Without it, the passwords stay where their sender has put them (SECURITY.md).
    let _ = overwrite_values(&variables);
}

/// Overwrites the values of these variables where the kernel has put them when the process began.
fn overwrite_values(names: &[&str]) -> io::Result<()> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let memory = File::options().read(true).write(true).open("/proc/self/mem")?;
    let (start, end) = block(&stat).ok_or(io::ErrorKind::InvalidData)?;
    let length = usize::try_from(end.saturating_sub(start)).unwrap_or(0);
    let mut variables = Zeroizing::new(vec![0; length]);
    memory.read_exact_at(&mut variables, start)?;
    for (at, length) in values(&variables, names) {
        memory.write_all_at(&vec![0; length], start + at as u64)?;
    }
    Ok(())
}

/// Start and end of the environment in memory. Source: proc_pid_stat(5), `env_start` and `env_end`, the 50th and 51st
/// field; the third is the first behind the name in parentheses.
fn block(stat: &str) -> Option<(u64, u64)> {
    let mut fields = stat.rsplit_once(") ")?.1.split_ascii_whitespace().skip(50 - 3);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

/// Places and lengths of the values of these variables in a block of `NAME=VALUE` that end with a zero byte.
fn values(block: &[u8], names: &[&str]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    for variable in block.split(|byte| *byte == 0) {
        let is_named = |name: &&str| {
            variable.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.starts_with(b"="))
        };
        if let Some(name) = names.iter().find(|name| is_named(name)) {
            let before = name.len() + 1;
            found.push((at + before, variable.len() - before));
        }
        at += variable.len() + 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_named_variables_are_found() {
        let block = b"A=1\0DYNO_PASSWORD=p q\0DYNO_PASSWORDS=x\0MYSQL_PWD=\0MYSQL_PWD=again\0";
        let found = values(block, &password_variables());
        let texts: Vec<&[u8]> = found.iter().map(|&(at, length)| &block[at..at + length]).collect();
        assert_eq!(texts, [&b"p q"[..], b"", b"again"]);
    }

    #[test]
    fn the_place_of_the_environment_is_read() {
        let numbers: Vec<String> = (4..=52).map(|field| (field * 10).to_string()).collect();
        let stat = format!("7 (a) b) S {}", numbers.join(" "));
        assert_eq!(block(&stat), Some((500, 510)));
        assert_eq!(block("7 (a) S 1 2"), None);
        let own = fs::read_to_string("/proc/self/stat").unwrap();
        let (start, end) = block(&own).unwrap();
        assert!(0 < start && start < end, "{start} {end}");
    }
}

//! Commands whose environment is set here, variable by variable.
//!
//! The environment of dyno may hold passwords (`DYNO_PASSWORD`, `MYSQL_PWD`, tokens of other programs), and every
//! program of the same user can read the environment of a server. So a child gets only the variables that are named
//! here and those that the plan sets.

use std::env;
use std::ffi::OsStr;
use std::process::Command;

/// Variables of every child: where programs and folders are, the user, the language, the time zone.
const FOR_ALL: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TZDIR",
    "TMPDIR",
    "TERM",
    "XDG_*",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
];

/// Variables for programs that download and build: toolchains, their caches and options, proxies. A proxy's address
/// may hold a login, which is one reason why servers do not get these.
const FOR_BUILDS: &[&str] = &[
    "GO111MODULE",
    "GOAMD64",
    "GOARCH",
    "GOARM64",
    "GOAUTH",
    "GOBIN",
    "GOCACHE",
    "GODEBUG",
    "GOENV",
    "GOEXPERIMENT",
    "GOFLAGS",
    "GOINSECURE",
    "GOMAXPROCS",
    "GOMODCACHE",
    "GONOPROXY",
    "GONOSUMDB",
    "GOOS",
    "GOPATH",
    "GOPRIVATE",
    "GOPROXY",
    "GOROOT",
    "GOSUMDB",
    "GOTMPDIR",
    "GOTOOLCHAIN",
    "GOVCS",
    "GOWORK",
    "CGO_*",
    "CC",
    "CXX",
    "AR",
    "LD",
    "CFLAGS",
    "CXXFLAGS",
    "CPPFLAGS",
    "LDFLAGS",
    "PKG_CONFIG*",
    "MAKEFLAGS",
    "PIP_*",
    "CCACHE_*",
    "CARGO_HOME",
    "CARGO_TARGET_DIR",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "RUSTFLAGS",
    "JAVA_HOME",
    "TIUP_HOME",
    "TIUP_MIRRORS",
    "SSH_AUTH_SOCK",
    "GIT_SSL_CAINFO",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// Variables that name proxies, for programs that download or reach other hosts.
const PROXIES: &[&str] = &[
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
];

/// Variables for programs that reach other hosts: agents, configurations, and the job that dyno is a part of.
const FOR_REACHING: &[&str] = &[
    "SSH_AUTH_SOCK",
    "KRB5CCNAME",
    "KUBECONFIG",
    "DOCKER_HOST",
    "DOCKER_CONTEXT",
    "DOCKER_CONFIG",
    "DOCKER_CERT_PATH",
    "DOCKER_TLS_VERIFY",
    "SLURM_*",
    "AWS_CONFIG_FILE",
    "AWS_PROFILE",
    "AWS_REGION",
    "CLOUDSDK_CONFIG",
];

/// A command without dyno's environment, except for the variables that every program needs.
///
/// Every child of dyno is started by this, by [`toolchain_command`] or by [`reaching_command`].
#[expect(clippy::disallowed_methods, reason = "this is the one place that makes commands")]
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env_clear();
    pass(&mut command, FOR_ALL);
    command
}

/// The same for a program that downloads or builds: it also gets the variables of toolchains and proxies.
pub fn toolchain_command(program: impl AsRef<OsStr>) -> Command {
    let mut command = command(program);
    pass(&mut command, FOR_BUILDS);
    pass(&mut command, PROXIES);
    command
}

/// The same for a program that reaches another host, such as ssh.
pub fn reaching_command(program: impl AsRef<OsStr>) -> Command {
    let mut command = command(program);
    pass(&mut command, FOR_REACHING);
    pass(&mut command, PROXIES);
    command
}

fn pass(command: &mut Command, names: &[&str]) {
    let is_named = |name: &OsStr| {
        name.to_str().is_some_and(|name| {
            names.iter().any(|named| matches(named, name)) && !plan::names_secret(name)
        })
    };
    command.envs(env::vars_os().filter(|(name, _)| is_named(name)));
}

/// Whether `name` equals the pattern, or begins with it when the pattern ends with `*`.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of the variables that a child gets.
    fn variables(mut command: Command) -> Vec<String> {
        let output = command.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().filter_map(|line| Some(line.split_once('=')?.0.to_owned())).collect()
    }

    #[test]
    fn a_child_has_no_variable_that_is_not_named() {
        // Cargo sets this one for every test.
        assert!(env::var_os("CARGO_MANIFEST_DIR").is_some());
        for (mut command, lists) in [
            (command("env"), vec![FOR_ALL]),
            (toolchain_command("env"), vec![FOR_ALL, FOR_BUILDS, PROXIES]),
            (reaching_command("env"), vec![FOR_ALL, FOR_REACHING, PROXIES]),
        ] {
            command.env("FROM_THE_PLAN", "x");
            let given = variables(command);
            assert!(given.iter().any(|name| name == "PATH"), "{given:?}");
            assert!(given.iter().any(|name| name == "FROM_THE_PLAN"), "{given:?}");
            let mut allowed = lists.into_iter().flatten();
            for name in given.iter().filter(|name| *name != "FROM_THE_PLAN") {
                assert!(allowed.clone().any(|named| matches(named, name)), "{name} was passed");
            }
            assert!(allowed.all(|named| !named.starts_with("DYNO") && *named != "MYSQL_PWD"));
        }
    }

    #[test]
    fn names_are_matched_whole_or_by_their_beginning() {
        for (pattern, name, is_match) in [
            ("PATH", "PATH", true),
            ("PATH", "PATHS", false),
            ("LC_*", "LC_ALL", true),
            ("LC_*", "DYNO_LC_ALL", false),
            ("GOPATH", "GOOGLE_API_KEY", false),
        ] {
            assert_eq!(matches(pattern, name), is_match, "{pattern} {name}");
        }
    }
}

//! The kind `postgres` of a plan: a managed server as a system under test.

use std::path::Path;

use driver::postgres::{Config, StatementProtocol};
use driver::{Address, Target, Timeouts};
use net::Endpoint;
use plan::declared::{
    Choice, Flag, Named, Number, choice, flag_without_default, named, number_without_default,
};
use plan::{OptionReader, Options, Problem};

use super::PS;
use super::server::{DATABASE, Profile, Settings, USER, start_watched};
use crate::ask::ask;
use crate::options::{self, BINARY, CPUS};
use crate::ports::local;
use crate::{Kind, ProgressListener, Running, System};

/// Settings that dyno makes itself, to find the server and its data.
const RESERVED: [&str; 4] =
    ["port", "listen_addresses", "data_directory", "unix_socket_directories"];

const PROGRAM: Named = named(
    BINARY,
    "postgres on PATH, or of the highest version in /usr/lib/postgresql",
    "the server's program, which has the others beside it",
);
const VERSION: Number<u64> = number_without_default(
    "version",
    10..=99,
    "the version to run, such as 17: the machine's, or one that pip fetches, without JIT",
);
const SETTINGS: Named =
    named("settings", "the server's own", "settings, such as { shared_buffers = \"1GB\" }");
const PROFILE: Choice<Profile> = choice(
    "profile",
    ("as-is", Profile::AsIs),
    &[("as-is", Profile::AsIs), ("sized", Profile::Sized)],
    "settings beside those: as-is, the server's own; sized, by this machine's memory, cores and disk",
);
const CHECKSUMS: Flag = flag_without_default(
    "checksums",
    "whether pages of the data have checksums; when not given, as initdb makes them: with from 18 on",
);
const ACCOUNT: Named = named(
    "user",
    "postgres, or else nobody",
    "the user that runs the server when root starts dyno; not root",
);

/// Where a server that dyno starts takes more sessions.
const MORE_CONNECTIONS: &str = "give the system `settings = { max_connections = {needed} }` (on the command line: \
                                --system-option settings.max_connections={needed}), or use fewer clients";

pub(crate) static KIND: Kind = Kind {
    name: "postgres",
    summary: "a PostgreSQL server that dyno starts with temporary data and stops after the run",
    argument: "postgres",
    options: &[&PROGRAM, &VERSION, &SETTINGS, &PROFILE, &CHECKSUMS, &CPUS, &ACCOUNT, &PS],
    read,
};

#[derive(Clone, Debug)]
struct Managed {
    settings: Settings,
    protocol: StatementProtocol,
}

/// Reads the options of a managed PostgreSQL; a relative `binary` is relative to `folder`.
fn read(options: &Options, folder: &Path) -> Result<Box<dyn System>, Vec<Problem>> {
    let mut reader = options.reader();
    let made = reader.settings(SETTINGS.name);
    let made: Vec<String> =
        made.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    options::refuse_reserved(&mut reader, SETTINGS.name, &made, &RESERVED);
    let settings = Settings {
        binary: reader.text(BINARY).map(|binary| options::program(folder, &binary)),
        version: version(&mut reader),
        settings: made,
        profile: PROFILE.read(&mut reader),
        checksums: CHECKSUMS.read_given(&mut reader),
        cpus: options::cpus(&mut reader),
        user: reader.text(ACCOUNT.name),
    };
    let protocol = PS.read(&mut reader);
    reader.finish()?;
    Ok(Box::new(Managed { settings, protocol }))
}

/// The version, which goes with no program that is named.
fn version(reader: &mut OptionReader<'_>) -> Option<u32> {
    let version = VERSION.read_given(reader)?;
    if reader.is_given(BINARY) {
        let help = "the program has its own version";
        reader.reject(VERSION.name, "`version` and `binary` do not go together", help);
    }
    u32::try_from(version).ok()
}

impl System for Managed {
    fn start(
        &self,
        scratch: &Path,
        timeouts: Timeouts,
        listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<Running> {
        let server = start_watched(self.settings.clone(), scratch, listener)?;
        let (address, login) = (local(server.port()), server.login());
        let config = Config {
            addresses: vec![Address {
                name: address.to_string(),
                endpoint: Endpoint::Tcp(address),
            }],
            user: USER.to_owned(),
            password: server.password(),
            database: Some(DATABASE.to_owned()),
            protocol: self.protocol,
            ..Config::default()
        };
        let (target, mut facts) = ask(Target::postgres(config).with_timeouts(timeouts), listener)?;
        if let Some(connections) = &mut facts.limits.connections {
            connections.remedy = MORE_CONNECTIONS;
        }
        Ok(Running::database(target, facts, server).with_login(login))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::ignore_progress;
    use crate::testing::started;

    #[test]
    fn a_managed_postgresql_starts_takes_settings_and_leaves_nothing() {
        let options = "settings = { work_mem = \"7MB\" }";
        let mut running = started(read, options, Path::new("/")).unwrap();
        let settings = &running.identity().settings;
        let setting = |name: &str| settings.iter().find(|(it, _)| it == name).map(|(_, it)| &**it);
        assert_eq!(setting("work_mem"), Some("7MB"));
        assert_eq!(setting("login").map(|it| it.starts_with("scram-sha-256")), Some(true));
        assert_eq!(running.exited(), None);
        running.snapshot(&mut ignore_progress).unwrap();
        running.restore(&mut ignore_progress).unwrap();
        running.stop(&mut ignore_progress).unwrap();
    }

    /// Starts a server with these options, and returns what it tells of some settings.
    fn told(options: &str, names: &[&str]) -> Vec<String> {
        let running = started(read, options, Path::new("/")).unwrap();
        let settings = &running.identity().settings;
        let found = |name: &&str| settings.iter().find(|(it, _)| it == name);
        let told =
            names.iter().map(|name| found(name).map_or_else(String::new, |(_, it)| it.clone()));
        let told = told.collect();
        running.stop(&mut ignore_progress).unwrap();
        told
    }

    #[test]
    fn checksums_and_a_profile_are_as_they_were_asked_for_and_settings_of_the_plan_win() {
        let names = ["data_checksums", "checkpoint_timeout", "max_wal_size"];
        assert_eq!(told("checksums = true", &names)[0], "on");
        assert_eq!(told("checksums = false", &names)[0], "off");
        let sized = told("profile = \"sized\"\nsettings = { max_wal_size = \"2GB\" }", &names);
        assert_eq!(sized[1..], ["15min", "2GB"]);
    }

    #[test]
    fn the_version_that_is_asked_for_runs_and_goes_with_no_program() {
        let installed = super::super::programs::Programs::find(None).unwrap().version();
        let running = started(read, &format!("version = {installed}"), Path::new("/")).unwrap();
        assert!(running.identity().version.starts_with(&installed.to_string()));
        running.stop(&mut ignore_progress).unwrap();
        let both = "version = 17\nbinary = \"/bin/sh\"";
        let Err(problems) = read(&Options::parse(both).unwrap(), Path::new("/")) else { panic!() };
        assert_eq!(problems[0].message, "`version` and `binary` do not go together");
        let Err(error) = started(read, "version = 42", Path::new("/")) else { panic!() };
        assert!(format!("{error:#}").contains("only 14 to 18 can be fetched"), "{error:#}");
    }

    #[test]
    fn settings_that_dyno_makes_itself_and_root_are_refused() {
        let Err(problems) =
            read(&Options::parse("settings = { port = 1 }").unwrap(), Path::new("/"))
        else {
            panic!("it was accepted")
        };
        assert_eq!(problems[0].message, "`port` is set by dyno itself");
        if nix::unistd::geteuid().is_root() {
            let Err(error) = started(read, "user = \"root\"", Path::new("/")) else { panic!() };
            assert!(format!("{error:#}").contains("refuses to run as root"), "{error:#}");
        }
    }
}

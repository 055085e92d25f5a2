//! The core workload as a workload of dyno: prepare, verify, load, cleanup.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use driver::Target;
use engine::Load;
use measure::{Condition, Failure};
use plan::{Existing, Limit, Options, Problem};

use super::fill::{Goal, fill};
use super::inserts::Inserts;
use super::key::Maker;
use super::load::YcsbLoad;
use super::operations::Act;
use super::preset::Preset;
use super::settings::Settings;
use super::statements;
use super::survey::{self, Found, Holds};
use crate::crewed::{interrupted, on_session, run_all, unfit};
use crate::session::check_isolation;
use crate::shared::SharedLoad;
use crate::{Site, Workload};

/// YCSB's core workload with its properties.
pub(crate) struct Ycsb {
    settings: Settings,
    known: Mutex<BTreeMap<String, Known>>,
}

/// What is known of the table on one system.
#[derive(Clone, Debug, Default)]
struct Known {
    /// Whether this process made it, so that it may drop it.
    is_made: bool,
    found: Option<Found>,
    /// Inserts of the last trial: they tell about where the next one's begin.
    inserts: Option<Arc<Inserts>>,
}

/// How often a pause looks whether someone asked for the end.
const LOOK: Duration = Duration::from_millis(50);

impl Ycsb {
    /// Reads the properties of `preset`; files count from `folder`.
    ///
    /// # Errors
    /// Properties that are not known, or not right.
    pub(crate) fn read(
        preset: Preset,
        options: &Options,
        folder: &Path,
    ) -> Result<Self, Vec<Problem>> {
        let settings = Settings::read(preset, options, folder)?;
        Ok(Self { settings, known: Mutex::default() })
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<String, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, target: &Target, change: impl FnOnce(&mut Known)) {
        change(self.known().entry(target.to_string()).or_default());
    }

    fn known_of(&self, target: &Target) -> Known {
        self.known().get(&target.to_string()).cloned().unwrap_or_default()
    }

    fn look(&self, site: &Site<'_>) -> Result<Option<Found>, Failure> {
        let settings = self.settings.clone();
        let list_columns = site.target.dialect().list_columns;
        site.progress.begin(format!("looking at {}", settings.table.name), 0);
        on_session(site, async move |session| survey::look(session, &settings, list_columns).await)
    }

    fn run(&self, site: &Site<'_>, statements: Vec<String>) -> Result<(), Failure> {
        on_session(site, async move |session| run_all(session, &statements).await)
    }

    fn drop_table(&self, site: &Site<'_>) -> Result<(), Failure> {
        self.run(site, vec![format!("DROP TABLE IF EXISTS {}", self.settings.table.name)])?;
        self.note(site.target, |known| *known = Known::default());
        Ok(())
    }

    fn make(&self, site: &Site<'_>) -> Result<(), Failure> {
        let create = self.settings.table.create(site.target.dialect());
        self.run(site, vec![create])?;
        self.note(site.target, |known| known.is_made = true);
        self.load_all(site, self.settings.maker.unwrap_or(Maker::GoYcsb), Goal::All)
    }

    /// Loads, and goes on after failures as often as the properties say.
    fn load_all(&self, site: &Site<'_>, maker: Maker, goal: Goal) -> Result<(), Failure> {
        let mut goal = goal;
        let mut left = self.settings.retries;
        while let Err(failure) = fill(site, &self.settings, maker, goal) {
            if site.stop.is_asked() || left == 0 {
                return Err(self.explain(&failure));
            }
            left -= 1;
            goal = Goal::Rest;
            site.progress.begin("waiting to go on with the load", 0);
            self.pause(site)?;
        }
        let analyze = site.target.dialect().analyze(&self.settings.table.name);
        site.progress.begin("making statistics", 0);
        self.run(site, analyze.into_iter().collect())
    }

    fn explain(&self, failure: &Failure) -> Failure {
        let message = format!(
            "{}; what was loaded into {} until then stays: `--existing reuse` goes on from there",
            failure.message, self.settings.table.name
        );
        failure.clone().told_as(message)
    }

    fn pause(&self, site: &Site<'_>) -> Result<(), Failure> {
        let mut left = self.settings.retry_pause;
        while !left.is_zero() {
            if site.stop.is_asked() {
                return Err(interrupted());
            }
            thread::sleep(left.min(LOOK));
            left = left.saturating_sub(LOOK);
        }
        Ok(())
    }

    /// A table that someone else made, or an earlier run that was interrupted.
    fn take_over(&self, site: &Site<'_>, found: Found) -> Result<(), Failure> {
        let name = &self.settings.table.name;
        match site.existing {
            Existing::Refuse => Err(unfit(format!(
                "table {name} is there already, with {} rows: use `--existing reuse` to run on it, after \
                 loading what is missing, or `--existing replace` to have it dropped and made afresh",
                found.rows
            ))),
            Existing::Replace => {
                self.drop_table(site)?;
                self.make(site)
            }
            Existing::Reuse => match found.holds {
                Holds::All => Ok(()),
                Holds::Part => self.load_all(site, found.maker, Goal::Rest),
                Holds::Others => Err(survey::not_ours(&self.settings, found)),
            },
        }
    }
}

impl Workload for Ycsb {
    fn describe(&self) -> String {
        let Settings { preset, records, table, request, .. } = &self.settings;
        format!(
            "YCSB {}: {}; {records} records of {} fields of {} bytes, {} requests",
            preset.name().to_uppercase(),
            preset.summary(),
            table.fields.len(),
            table.field_bytes,
            request.name()
        )
    }

    fn dataset(&self) -> Option<String> {
        let it = &self.settings;
        Some(format!(
            "ycsb: {:?} {} {} {} {} {} {} {:?} {:?} {}",
            it.table,
            it.prefix,
            it.padding,
            it.is_hashed,
            it.records,
            it.insert_start,
            it.insert_count,
            it.maker,
            it.lengths,
            it.checks_integrity
        ))
    }

    fn limit(&self) -> Option<Limit> {
        let Settings { operations, time, .. } = self.settings;
        match (operations, time.is_zero()) {
            (0, true) => None,
            (0, false) => Some(Limit::Time(time)),
            (operations, _) => Some(Limit::Events(operations)),
        }
    }

    fn statements_per_client(&self) -> usize {
        statements::count(&self.settings)
    }

    fn prepare(&self, site: &Site<'_>) -> Result<(), Failure> {
        check_isolation(site.target, self.settings.isolation)?;
        let mut found = if site.existing == Existing::Replace { None } else { self.look(site)? };
        self.run(site, site.sql.before_prepare.clone())?;
        if self.known_of(site.target).is_made || site.existing == Existing::Replace {
            self.drop_table(site)?;
            found = None;
        }
        match found {
            None => self.make(site)?,
            Some(found) => self.take_over(site, found)?,
        }
        site.progress.begin("statements after the load", 0);
        self.run(site, site.sql.after_prepare.clone())
    }

    fn verify(&self, site: &Site<'_>) -> Result<(), Failure> {
        let name = &self.settings.table.name;
        let found = self.look(site)?;
        let found = found
            .ok_or_else(|| unfit(format!("there is no table {name}: prepare has to make it")))?;
        let (settings, seed) = (self.settings.clone(), site.seed);
        site.progress.begin(format!("verifying {name}"), 0);
        on_session(site, async move |session| {
            survey::check(session, &settings, found, seed).await
        })?;
        self.note(site.target, |known| {
            known.found = Some(found);
            known.inserts = None;
        });
        Ok(())
    }

    fn has_conditions(&self) -> bool {
        self.settings.mix.has(Act::Insert) || self.settings.checks_integrity
    }

    fn check(&self, site: &Site<'_>) -> Result<Vec<Condition>, Failure> {
        let known = self.known_of(site.target);
        let (Some(found), Some(inserts)) = (known.found, known.inserts) else {
            return Ok(Vec::new());
        };
        let settings = self.settings.clone();
        site.progress.begin(format!("checking {}", settings.table.name), 0);
        on_session(site, async move |session| {
            survey::conditions(session, &settings, found.maker, inserts.end()).await
        })
    }

    fn cleanup(&self, site: &Site<'_>) -> Result<(), Failure> {
        if !self.known_of(site.target).is_made {
            return Ok(());
        }
        site.progress.begin(format!("dropping {}", self.settings.table.name), 1);
        self.drop_table(site)
    }

    fn load(&self, site: &Site<'_>) -> Box<dyn Load> {
        let known = self.known_of(site.target);
        let maker = known.found.map_or(Maker::GoYcsb, |found| found.maker);
        let rows = known.found.map_or(0, |found| found.rows);
        let guess = known.inserts.map_or(rows, |inserts| inserts.next());
        let load = Arc::new(YcsbLoad::new(&self.settings, site, maker, guess));
        self.note(site.target, |known| known.inserts = Some(Arc::clone(&load.inserts)));
        Box::new(SharedLoad(load))
    }
}

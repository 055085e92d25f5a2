//! The core workload as a workload of dyno: prepare, verify, load, cleanup.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use driver::Target;
use engine::Load;
use measure::{Condition, Failure};
use plan::{Existing, Files, Limit, Options, Problem};

use super::fill::{Goal, fill};
use super::inserts::Inserts;
use super::inspection::{self, FoundTable, TableContents};
use super::key::KeyScheme;
use super::load::YcsbLoad;
use super::operations::OperationChoice;
use super::preset::Preset;
use super::request::Request;
use super::schema::KEY;
use super::settings::Settings;
use super::statements;
use crate::created::checkpoint;
use crate::parallel::{
    columns, interrupted, matching, on_session, run_all, run_all_and_analyze, unsuitable,
};
use crate::removal::drop_tables;
use crate::session::check_isolation;
use crate::shared::SharedLoad;
use crate::tables::check_columns;
use crate::{LoadInParts, LoadPart, Sharing, Workload, WorkloadContext};

/// YCSB's core workload with its properties.
pub(crate) struct Ycsb {
    settings: Settings,
    known: Mutex<BTreeMap<String, KnownTable>>,
}

#[derive(Clone, Debug, Default)]
struct KnownTable {
    /// Whether this process created the table, so that it may drop it.
    is_made: bool,
    found: Option<FoundTable>,
    /// Inserts of the last trial. The next trial's inserts begin near their end.
    inserts: Option<Arc<Inserts>>,
}

impl KnownTable {
    /// What a load must know: the tool whose keys the table has, and about where its records end.
    fn of_load(&self) -> (KeyScheme, u64) {
        let key_scheme = self.found.map_or(KeyScheme::GoYcsb, |found| found.key_scheme);
        let rows = self.found.map_or(0, |found| found.rows);
        (key_scheme, self.inserts.as_ref().map_or(rows, |inserts| inserts.next()))
    }
}

/// How often a pause checks for a request to stop.
const POLL_PERIOD: Duration = Duration::from_millis(50);

impl Ycsb {
    /// Reads the properties of `preset`, some of which may be in files.
    ///
    /// # Errors
    /// Unknown or invalid properties.
    pub(crate) fn read(
        preset: Preset,
        options: &Options,
        files: &Files,
    ) -> Result<Self, Vec<Problem>> {
        let settings = Settings::read(preset, options, files)?;
        Ok(Self { settings, known: Mutex::default() })
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<String, KnownTable>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, target: &Target, change: impl FnOnce(&mut KnownTable)) {
        change(self.known().entry(target.to_string()).or_default());
    }

    fn known_of(&self, target: &Target) -> KnownTable {
        self.known().get(&target.to_string()).cloned().unwrap_or_default()
    }

    fn inspect(&self, context: &WorkloadContext<'_>) -> Result<Option<FoundTable>, Failure> {
        let settings = self.settings.clone();
        let dialect = context.target.dialect();
        context.progress.begin(format!("looking at {}", settings.table.name), 0);
        on_session(context, async move |session| {
            inspection::inspect(session, &settings, dialect).await
        })
    }

    /// The columns of the table; empty when it does not exist.
    fn columns(&self, context: &WorkloadContext<'_>) -> Result<Vec<String>, Failure> {
        let name = self.settings.table.name.clone();
        let list_columns = context.target.dialect().list_columns;
        on_session(context, async move |session| columns(session, list_columns, &name).await)
    }

    /// Checks that the table, if it exists, may be dropped.
    fn refuse_foreign(&self, context: &WorkloadContext<'_>) -> Result<(), Failure> {
        let found = self.columns(context)?;
        if found.is_empty() {
            return Ok(());
        }
        check_columns("YCSB", &self.settings.table.name, &found, &[KEY])
    }

    fn run(&self, context: &WorkloadContext<'_>, statements: Vec<String>) -> Result<(), Failure> {
        on_session(context, async move |session| run_all(session, &statements).await)
    }

    fn drop_table(&self, context: &WorkloadContext<'_>) -> Result<(), Failure> {
        drop_tables(context, [&self.settings.table.name])?;
        self.note(context.target, |known| *known = KnownTable::default());
        Ok(())
    }

    fn make(&self, context: &WorkloadContext<'_>) -> Result<(), Failure> {
        let create = self.settings.table.create(context.target.dialect());
        self.run(context, vec![create])?;
        self.note(context.target, |known| known.is_made = true);
        self.load_all(context, self.settings.key_scheme.unwrap_or(KeyScheme::GoYcsb), Goal::All)
    }

    /// Loads the records, with as many retries after failures as the properties allow.
    fn load_all(
        &self,
        context: &WorkloadContext<'_>,
        key_scheme: KeyScheme,
        goal: Goal,
    ) -> Result<(), Failure> {
        let mut goal = goal;
        let mut left = self.settings.retries;
        while let Err(failure) = fill(context, &self.settings, key_scheme, goal) {
            if context.stop.is_asked() {
                context.note_left(self.stays());
            }
            if context.stop.is_asked() || left == 0 {
                let message = format!("{}; {}", failure.message, self.stays());
                return Err(failure.with_message(message));
            }
            left -= 1;
            goal = Goal::Rest;
            context.progress.begin("waiting to go on with the load", 0);
            self.pause(context)?;
        }
        let analyze = context.target.dialect().analyze(&self.settings.table.name);
        context.progress.begin("making statistics", 0);
        let (progress, dialect) = (context.progress.clone(), context.target.dialect());
        on_session(context, async move |session| {
            run_all_and_analyze(session, dialect, &progress, analyze.as_slice()).await
        })
    }

    /// What a load that has ended too early leaves.
    fn stays(&self) -> String {
        format!(
            "what was loaded into {} until then stays: `--existing reuse` goes on from there",
            self.settings.table.name
        )
    }

    fn pause(&self, context: &WorkloadContext<'_>) -> Result<(), Failure> {
        let mut left = self.settings.retry_pause;
        while !left.is_zero() {
            if context.stop.is_asked() {
                return Err(interrupted());
            }
            thread::sleep(left.min(POLL_PERIOD));
            left = left.saturating_sub(POLL_PERIOD);
        }
        Ok(())
    }

    /// Whether a table is as this workload would make it; inserts of earlier loads may have followed.
    fn matches(&self, found: FoundTable) -> bool {
        found.holds == TableContents::All && inspection::remark(&self.settings, found).is_none()
    }

    /// Handles a table from another tool or from an interrupted run.
    fn take_over(&self, context: &WorkloadContext<'_>, found: FoundTable) -> Result<(), Failure> {
        let name = &self.settings.table.name;
        match context.existing {
            Existing::Match if self.matches(found) => {
                context.progress.note(matching(&[name.as_str()]));
                Ok(())
            }
            Existing::Match | Existing::Refuse => Err(unsuitable(format!(
                "table {name} already exists, with {} rows; `--existing reuse` runs on it, after loading what is \
                 missing, `--existing replace` drops and recreates it",
                found.rows
            ))),
            Existing::Replace => {
                self.drop_table(context)?;
                self.make(context)
            }
            Existing::Reuse => match found.holds {
                TableContents::All => {
                    if let Some(remark) = inspection::remark(&self.settings, found) {
                        context.progress.note(remark);
                    }
                    Ok(())
                }
                TableContents::Part => self.load_all(context, found.key_scheme, Goal::Rest),
                TableContents::Others => Err(inspection::not_ours(&self.settings, found)),
            },
        }
    }
}

impl Workload for Ycsb {
    fn describe(&self) -> String {
        let Settings { records, table, request, .. } = &self.settings;
        format!(
            "YCSB {}; {records} records of {} fields of {} bytes, {}",
            self.settings.describe_operations(),
            table.fields.len(),
            table.field_bytes,
            request.describe()
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
            it.key_scheme,
            it.lengths,
            it.checks_integrity
        ))
    }

    fn limit(&self, _clients: usize) -> Option<Limit> {
        let Settings { operations, time, .. } = self.settings;
        let (events, time) =
            ((operations > 0).then_some(operations), (!time.is_zero()).then_some(time));
        (time.is_some() || events.is_some()).then_some(Limit { time, events })
    }

    fn clients(&self) -> Option<usize> {
        self.settings.clients
    }

    fn notes(&self) -> Vec<String> {
        self.settings.notes.clone()
    }

    fn statements_per_client(&self) -> usize {
        statements::count(&self.settings)
    }

    fn prepare(&self, context: &WorkloadContext<'_>) -> Result<(), Failure> {
        check_isolation(context.target, self.settings.isolation)?;
        let mut found = match context.existing {
            Existing::Replace => self.refuse_foreign(context).map(|()| None)?,
            _ => self.inspect(context)?,
        };
        self.run(context, context.sql.before_prepare.clone())?;
        if self.known_of(context.target).is_made || context.existing == Existing::Replace {
            self.drop_table(context)?;
            found = None;
        }
        match found {
            None => {
                self.make(context)?;
                checkpoint(context)?;
            }
            Some(found) => self.take_over(context, found)?,
        }
        context.progress.begin("statements after the load", 0);
        self.run(context, context.sql.after_prepare.clone())
    }

    fn verify(&self, context: &WorkloadContext<'_>) -> Result<(), Failure> {
        let name = &self.settings.table.name;
        let found = self.inspect(context)?;
        let found = found.ok_or_else(|| {
            unsuitable(format!("there is no table {name}: prepare has to make it"))
        })?;
        let (settings, seed) = (self.settings.clone(), context.seed);
        context.progress.begin(format!("verifying {name}"), 0);
        on_session(context, async move |session| {
            inspection::check(session, &settings, found, seed).await
        })?;
        self.note(context.target, |known| {
            known.found = Some(found);
            known.inserts = None;
        });
        Ok(())
    }

    fn has_conditions(&self) -> bool {
        self.settings.mix.has(OperationChoice::Insert) || self.settings.checks_integrity
    }

    fn check(&self, context: &WorkloadContext<'_>) -> Result<Vec<Condition>, Failure> {
        let known = self.known_of(context.target);
        let (Some(found), Some(inserts)) = (known.found, known.inserts) else {
            return Ok(Vec::new());
        };
        let settings = self.settings.clone();
        context.progress.begin(format!("checking {}", settings.table.name), 0);
        on_session(context, async move |session| {
            inspection::conditions(session, &settings, found.key_scheme, inserts.end()).await
        })
    }

    fn cleanup(&self, context: &WorkloadContext<'_>) -> Result<(), Failure> {
        if !self.known_of(context.target).is_made {
            return Ok(());
        }
        context.progress.begin(format!("dropping {}", self.settings.table.name), 1);
        self.drop_table(context)
    }

    fn remove(&self, context: &WorkloadContext<'_>) -> Result<Vec<String>, Failure> {
        let name = self.settings.table.name.clone();
        context.progress.begin(format!("dropping {name}"), 1);
        if self.columns(context)?.is_empty() {
            return Ok(Vec::new());
        }
        self.refuse_foreign(context)?;
        self.drop_table(context)?;
        Ok(vec![format!("dropped {name}")])
    }

    fn load(&self, context: &WorkloadContext<'_>) -> Box<dyn Load> {
        self.load_part(context, LoadPart::default())
    }

    fn sharing(&self) -> Sharing<'_> {
        Sharing::Parts(self)
    }
}

impl LoadInParts for Ycsb {
    fn notes(&self) -> Vec<String> {
        let Settings { mix, request, .. } = &self.settings;
        let follows = matches!(request, Request::Latest | Request::Exponential { .. });
        let note = format!(
            "the newest record of {} requests is the last one that all generators have told to be inserted: a \
             generator reads the inserts of the others an interval late",
            request.name()
        );
        (follows && mix.has(OperationChoice::Insert)).then_some(note).into_iter().collect()
    }

    /// The tool whose keys the table has, and about where its records end.
    fn knowledge(&self, context: &WorkloadContext<'_>) -> Vec<u64> {
        let (key_scheme, guess) = self.known_of(context.target).of_load();
        let index = KeyScheme::ALL.into_iter().position(|it| it == key_scheme);
        vec![index.unwrap_or(0) as u64, guess]
    }

    fn learn(&self, context: &WorkloadContext<'_>, knowledge: &[u64]) {
        let &[index, rows] = knowledge else { return };
        let place = usize::try_from(index).unwrap_or(usize::MAX);
        let Some(key_scheme) = KeyScheme::ALL.get(place).copied() else { return };
        let found = FoundTable { key_scheme, rows, holds: TableContents::All };
        self.note(context.target, |known| known.found = Some(found));
    }

    fn load_part(&self, context: &WorkloadContext<'_>, part: LoadPart) -> Box<dyn Load> {
        let (key_scheme, guess) = self.known_of(context.target).of_load();
        let load = Arc::new(YcsbLoad::new(&self.settings, (context, part), key_scheme, guess));
        self.note(context.target, |known| known.inserts = Some(Arc::clone(&load.inserts)));
        Box::new(SharedLoad(load))
    }
}

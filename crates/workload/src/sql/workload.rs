//! SQL files as a workload.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use driver::Datum;
use engine::Load;
use measure::Failure;
use plan::declared::{Named, OptionList, named};
use plan::{Existing, Files, OptionReader, Options, Problem};

use super::client::{LoadOptions, SqlLoad};
use super::mix::{Mix, new_slots, refuse_namesakes};
use super::script::{ParseContext, read};
use super::section::{Script, Setup, Slots};
use crate::expression::{Cell, Expression, Scope, parse};
use crate::parallel::{interrupted, on_session, run_all, unsuitable};
use crate::policy::{ErrorPolicy, IGNORE_ERRORS, MAX_TRIES, RECONNECT, TRANSIENT_ERRORS};
use crate::removal;
use crate::session::{ISOLATION, check_isolation};
use crate::shared::SharedLoad;
use crate::{Workload, WorkloadContext};

const VARIABLES: Named = named(
    "variables",
    "",
    "values that go before \\set at the head of the file, such as { n = 1000 }",
);

pub(crate) struct SqlWorkload {
    /// The files as the plan names them.
    kind: String,
    shared: Arc<Mix>,
    prepare: Vec<Setup>,
    verify: Vec<Setup>,
    cleanup: Vec<Setup>,
    load: LoadOptions,
    /// Variables of the plan that no file uses.
    unused: Vec<String>,
    /// Systems on which this process ran the `\prepare` sections.
    prepared: Mutex<BTreeSet<String>>,
}

/// A file of the plan: `path` or `path@weight`.
struct FileName<'a> {
    path: &'a str,
    weight: u64,
}

impl SqlWorkload {
    pub(crate) const OPTIONS: OptionList =
        &[&VARIABLES, &ISOLATION, &TRANSIENT_ERRORS, &MAX_TRIES, &RECONNECT, &IGNORE_ERRORS];

    /// Reads the files that `kind` names, separated by commas, each with an optional `@weight`.
    ///
    /// # Errors
    /// Invalid options and lines of files.
    pub(crate) fn read(kind: &str, files: &Files, options: &Options) -> Result<Self, Vec<Problem>> {
        let mut reader = options.reader();
        let given = variables(&mut reader);
        let load = LoadOptions {
            isolation: ISOLATION.read(&mut reader),
            errors: ErrorPolicy::read_with_tries(&mut reader),
            reconnects: RECONNECT.read(&mut reader),
        };
        let mut workload = Self {
            kind: kind.to_owned(),
            shared: Arc::new(Mix::default()),
            prepare: Vec::new(),
            verify: Vec::new(),
            cleanup: Vec::new(),
            load,
            unused: Vec::new(),
            prepared: Mutex::default(),
        };
        let mut problems = Vec::new();
        if let Err(problem) = workload.read_files(files, &given) {
            problems.push(problem);
        }
        problems.extend(reader.finish().err().unwrap_or_default());
        if problems.is_empty() { Ok(workload) } else { Err(problems) }
    }

    fn read_files(&mut self, files: &Files, given: &BTreeMap<String, Cell>) -> Result<(), Problem> {
        let kind = self.kind.clone();
        let names = kind.split(',').map(FileName::of).collect::<Result<Vec<_>, Problem>>()?;
        let mut slots = new_slots();
        let mut transactions = Vec::new();
        let mut shares = Vec::new();
        let mut texts = String::new();
        for name in &names {
            let text = name.text(files)?;
            let script = name.script(&text, given, &mut slots)?;
            let weights: u64 = script.transactions.iter().map(|one| one.weight).sum();
            let file_share = name.weight as f64 / weights as f64;
            shares.extend(script.transactions.iter().map(|one| file_share * one.weight as f64));
            let Script { prepare, verify, cleanup, transactions: more } = script;
            transactions.extend(more);
            self.prepare.extend(prepare);
            self.verify.extend(verify);
            self.cleanup.extend(cleanup);
            texts.push_str(&text);
        }
        let is_unused = |name: &&String| !texts.contains(&format!(":{name}"));
        self.unused = given.keys().filter(is_unused).cloned().collect();
        refuse_namesakes(&transactions)?;
        self.shared = Arc::new(Mix::new(transactions, &shares, slots));
        Ok(())
    }

    /// A remark on variables that no file uses: pgbench accepts them, but a misspelt name would be one too.
    fn unused_variables(&self) -> Option<String> {
        let noun = if self.unused.len() == 1 { "variable" } else { "variables" };
        let names = self.unused.join(", ");
        (!self.unused.is_empty()).then(|| format!("no file uses {noun} {names}"))
    }

    fn key(context: &WorkloadContext<'_>) -> String {
        context.target.to_string()
    }

    fn is_prepared(&self, context: &WorkloadContext<'_>) -> bool {
        let prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        prepared.contains(&Self::key(context))
    }

    /// After a failure of `\prepare`: runs `\cleanup` if it drops only tables that `\prepare` made, and adds to the
    /// failure what to do.
    fn undo_prepare(&self, context: &WorkloadContext<'_>, failure: Failure) -> Failure {
        let (_, done, _) = context.progress.current();
        let is_ours = context.existing == Existing::Replace || self.made_all_tables(done as usize);
        let is_undone = is_ours && run_setup(context, Stage::Cleanup, &self.cleanup).is_ok();
        let kind = &self.kind;
        let stays = format!(
            "what \\prepare made until then stays: `dyno cleanup {kind}` drops it, with any other \
             table that \\cleanup names"
        );
        if context.stop.is_asked() {
            // Of a removal that was given up a note has told.
            if !is_ours && done > 0 {
                context.note_left(stays);
            }
            return failure;
        }
        let remedy = match context.existing {
            _ if is_undone => return failure,
            Existing::Replace => return failure,
            _ if done > 0 => stays,
            _ => "to run without \\prepare, use `--existing reuse`; to run \\cleanup first, \
                  `--existing replace`"
                .to_owned(),
        };
        let message = format!("{} ({remedy})", failure.message);
        failure.with_message(message)
    }

    /// Whether `\prepare` failed after it had made all of its tables, so that none of them was there before.
    fn made_all_tables(&self, done: usize) -> bool {
        done > 0 && !self.prepare.iter().skip(done).any(Setup::makes_table)
    }

    fn set_prepared(&self, context: &WorkloadContext<'_>, is_prepared: bool) {
        let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        if is_prepared {
            prepared.insert(Self::key(context));
        } else {
            prepared.remove(&Self::key(context));
        }
    }
}

impl FileName<'_> {
    fn of(text: &str) -> Result<FileName<'_>, Problem> {
        let text = text.trim();
        let Some((path, weight)) = text.rsplit_once('@') else {
            return Ok(FileName { path: text, weight: 1 });
        };
        match weight.parse() {
            Ok(weight) if weight > 0 => Ok(FileName { path, weight }),
            _ => Err(Problem {
                span: None,
                message: format!("`{text}`: `{weight}` is not a weight"),
                help: Some("write a whole number from 1, as in pay.sql@3".to_owned()),
            }),
        }
    }

    fn text(&self, files: &Files) -> Result<String, Problem> {
        files.read_text(self.path).map_err(|error| Problem {
            span: None,
            message: format!("{}: {error}", self.path),
            help: Some(format!("relative paths start at {}", files.place())),
        })
    }

    fn script(
        &self,
        text: &str,
        variables: &BTreeMap<String, Cell>,
        slots: &mut Slots,
    ) -> Result<Script, Problem> {
        let stem = Path::new(self.path).file_stem().map(|stem| stem.to_string_lossy());
        let stem = stem.unwrap_or_default();
        let reading = ParseContext { file: self.path, stem: &stem, variables };
        read(text, &reading, slots).map_err(|diagnostic| diagnostic.of_file(self.path))
    }
}

/// Reads `variables`: numbers, and texts for everything else.
fn variables(reader: &mut OptionReader<'_>) -> BTreeMap<String, Cell> {
    let given = reader.settings(VARIABLES.name);
    given
        .into_iter()
        .map(|(name, text)| match parse(&text, &Scope::new(), 1) {
            Ok(Expression::Constant(cell)) => (name, cell),
            _ => (name, Cell::Text(text)),
        })
        .collect()
}

/// Runs setup statements in order; a failure names its file and line. `\prepare` checks for a request to stop before
/// each statement; `\cleanup` runs to its end as [`removal::remove`] defines.
fn run_setup(context: &WorkloadContext<'_>, stage: Stage, setup: &[Setup]) -> Result<(), Failure> {
    if setup.is_empty() {
        return Ok(());
    }
    context.progress.begin(stage.name(), setup.len() as u64);
    let setup = setup.to_vec();
    if stage == Stage::Cleanup {
        let statements = setup.iter().map(|it| it.sql.clone()).collect();
        return removal::remove(context, statements, move |number, failure| {
            at(&setup[number].place, failure)
        });
    }
    let (progress, stop) = (context.progress.clone(), context.stop.clone());
    on_session(context, async move |session| {
        for Setup { place, sql } in setup {
            if stop.is_asked() {
                return Err(interrupted());
            }
            session.run(&sql).await.map_err(|failure| at(&place, failure))?;
            progress.advance(1);
        }
        Ok(())
    })
}

/// A section of setup statements.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Prepare,
    Cleanup,
}

impl Stage {
    fn name(self) -> &'static str {
        match self {
            Self::Prepare => "running \\prepare",
            Self::Cleanup => "running \\cleanup",
        }
    }
}

fn at(place: &str, failure: Failure) -> Failure {
    let message = format!("{place}: {}", failure.message);
    failure.with_message(message)
}

impl Workload for SqlWorkload {
    fn describe(&self) -> String {
        let names: Vec<&str> =
            self.shared.transactions.iter().map(|one| one.name.as_str()).collect();
        let noun = if names.len() == 1 { "transaction" } else { "transactions" };
        let mut text = format!("{}: {noun} {}", self.kind, names.join(", "));
        if let Some(unused) = self.unused_variables() {
            text += &format!("; {unused}");
        }
        text
    }

    fn statements_per_client(&self) -> usize {
        self.shared.statements()
    }

    /// `refuse` runs the `\prepare` sections, `reuse` skips them, and `replace` runs `\cleanup` before them. A second
    /// call runs `\cleanup` first too.
    fn prepare(&self, context: &WorkloadContext<'_>) -> Result<(), Failure> {
        use plan::Existing::{Match, Refuse, Replace, Reuse};
        check_isolation(context.target, self.load.isolation)?;
        if let Some(unused) = self.unused_variables() {
            context.progress.note(unused);
        }
        let statements = context.sql.before_prepare.clone();
        on_session(context, async move |session| run_all(session, &statements).await)?;
        if context.existing == Replace || self.is_prepared(context) {
            run_setup(context, Stage::Cleanup, &self.cleanup)?;
            self.set_prepared(context, false);
        }
        match context.existing {
            Reuse => {}
            // Only the script's author can tell whether tables are as its \prepare makes them.
            Match | Refuse | Replace => {
                run_setup(context, Stage::Prepare, &self.prepare)
                    .map_err(|failure| self.undo_prepare(context, failure))?;
                self.set_prepared(context, true);
            }
        }
        let statements = context.sql.after_prepare.clone();
        on_session(context, async move |session| run_all(session, &statements).await)
    }

    /// Each statement of `\verify` must return a row whose first value is true: neither 0 nor NULL.
    fn verify(&self, context: &WorkloadContext<'_>) -> Result<(), Failure> {
        self.shared.demand_operators(context.target.dialect())?;
        if self.verify.is_empty() {
            return Ok(());
        }
        context.progress.begin("running \\verify", self.verify.len() as u64);
        let (checks, progress) = (self.verify.clone(), context.progress.clone());
        on_session(context, async move |session| {
            for Setup { place, sql } in checks {
                let rows = session.rows(&sql).await.map_err(|failure| at(&place, failure))?;
                let first = rows.first().and_then(|row| row.first());
                if !first.is_some_and(is_true) {
                    let seen = first.map_or("no row".to_owned(), |datum| format!("{datum:?}"));
                    return Err(unsuitable(format!("{place}: `{sql}` answers {seen}, not true")));
                }
                progress.advance(1);
            }
            Ok(())
        })
    }

    fn cleanup(&self, context: &WorkloadContext<'_>) -> Result<(), Failure> {
        if !self.is_prepared(context) {
            return Ok(());
        }
        run_setup(context, Stage::Cleanup, &self.cleanup)?;
        self.set_prepared(context, false);
        Ok(())
    }

    fn remove(&self, context: &WorkloadContext<'_>) -> Result<Vec<String>, Failure> {
        if self.cleanup.is_empty() {
            return Err(unsuitable(format!("{} has no \\cleanup section to run", self.kind)));
        }
        run_setup(context, Stage::Cleanup, &self.cleanup)?;
        self.set_prepared(context, false);
        Ok(self.cleanup.iter().map(|Setup { place, sql }| format!("{place}: {sql}")).collect())
    }

    fn load(&self, context: &WorkloadContext<'_>) -> Box<dyn Load> {
        let mix = Arc::clone(&self.shared);
        Box::new(SharedLoad::new(SqlLoad::new(context, mix, &self.load)))
    }
}

fn is_true(datum: &Datum) -> bool {
    match datum {
        Datum::Null => false,
        Datum::Int(number) => *number != 0,
        Datum::Float(number) => *number != 0.0,
        Datum::Text(text) => !matches!(text.trim(), "" | "0" | "f" | "false"),
    }
}

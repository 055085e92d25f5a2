//! TPC-H as a workload.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use engine::Load;
use measure::{Condition, Failure, QueryPlan, Rules};
use plan::{Limit, Options, Problem};

use super::load::{Streams, TpchLoad, steps_of_all};
use super::plans::query_plans;
use super::prepare::{clean_up, prepare, remove};
use super::refresh;
use super::rules::rules;
use super::settings::{Parameters, Plans, Settings};
use super::verdicts::Verdicts;
use super::verify::{verify_answers, verify_shape};
use crate::created::CreatedDatabases;
use crate::parallel::on_session;
use crate::{Export, Sharing, Workload, WorkloadContext};

/// TPC-H with its options.
pub(crate) struct Tpch {
    settings: Settings,
    created: CreatedDatabases,
    verdicts: Arc<Verdicts>,
    last: Mutex<Option<Arc<TpchLoad>>>,
}

impl Tpch {
    /// Reads its options.
    ///
    /// # Errors
    /// Unknown or invalid options.
    pub(crate) fn read(options: &Options) -> Result<Self, Vec<Problem>> {
        let mut reader = options.reader();
        let settings = Settings::read(&mut reader);
        reader.finish()?;
        Ok(Self {
            settings,
            created: CreatedDatabases::default(),
            verdicts: Arc::default(),
            last: Mutex::default(),
        })
    }

    /// The last load, until its data are restored.
    fn last(&self) -> MutexGuard<'_, Option<Arc<TpchLoad>>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Workload for Tpch {
    fn describe(&self) -> String {
        let Settings { scale, parameters, asked, has_refresh, has_indexes, .. } = &self.settings;
        let parameters = match parameters {
            Parameters::Validation => "validation",
            Parameters::Random => "random",
        };
        let mut text = format!("TPC-H-like, 3.0.1: scale {scale}, {parameters} parameters");
        if let Some(asked) = asked {
            text += &format!(", {} alone", listed(asked));
        }
        if *has_refresh {
            text += ", refresh functions";
        }
        if !*has_indexes {
            text += ", primary keys only";
        }
        text
    }

    fn dataset(&self) -> Option<String> {
        let Settings { scale, has_indexes, .. } = &self.settings;
        Some(format!("tpch: {scale} {has_indexes}"))
    }

    fn limit(&self, clients: usize) -> Option<Limit> {
        Some(Limit::events(steps_of_all(&self.settings, clients)))
    }

    fn clients(&self) -> Option<usize> {
        Some(1)
    }

    fn runs_once(&self) -> bool {
        true
    }

    fn sharing(&self) -> Sharing<'_> {
        Sharing::Never(
            "one process compares the answers to its queries, and keeps the plans of them",
        )
    }

    fn statements_per_client(&self) -> usize {
        // No statement is prepared: each query is sent as text.
        0
    }

    fn prepare(&self, context: &WorkloadContext<'_>) -> Result<(), Failure> {
        prepare(context, &self.settings, &self.created)
    }

    fn verify(&self, context: &WorkloadContext<'_>) -> Result<(), Failure> {
        verify_shape(context, &self.settings)?;
        if self.settings.checks_before() { verify_answers(context, &self.settings) } else { Ok(()) }
    }

    fn examine(&self, context: &WorkloadContext<'_>) -> Result<Vec<Condition>, Failure> {
        verify_shape(context, &self.settings)?;
        verify_answers(context, &self.settings).map(|()| Vec::new())
    }

    fn has_conditions(&self) -> bool {
        self.settings.has_check || self.settings.has_refresh || self.settings.plans != Plans::None
    }

    /// The verdicts on the clients' answers. Restores what the refresh functions have changed.
    fn check(&self, context: &WorkloadContext<'_>) -> Result<Vec<Condition>, Failure> {
        let verdicts = self.verdicts.take();
        let sets = self.last().as_ref().map(|load| load.refreshed_sets()).unwrap_or_default();
        restore(context, &self.settings, sets)?;
        Ok(verdicts)
    }

    fn query_plans(&self, context: &WorkloadContext<'_>) -> Result<Vec<QueryPlan>, Failure> {
        let last = self.last().take().filter(|_| self.settings.plans != Plans::None);
        last.map_or_else(|| Ok(Vec::new()), |load| query_plans(context, load))
    }

    fn rules(&self, clients: usize) -> Rules {
        rules(&self.settings, clients)
    }

    fn cleanup(&self, context: &WorkloadContext<'_>) -> Result<(), Failure> {
        clean_up(context, &self.created)
    }

    fn remove(&self, context: &WorkloadContext<'_>) -> Result<Vec<String>, Failure> {
        remove(context, &self.created)
    }

    fn can_export(&self) -> bool {
        true
    }

    fn export(&self, export: &Export<'_>) -> Result<(), Failure> {
        super::export::export(&self.settings, export)
    }

    fn load(&self, context: &WorkloadContext<'_>) -> Box<dyn Load> {
        self.created.use_up(context.target);
        let load = TpchLoad::new(&self.settings, context, Arc::clone(&self.verdicts));
        let load = Arc::new(load);
        *self.last() = Some(Arc::clone(&load));
        Box::new(Streams(load))
    }
}

/// `Q14, Q2 and Q9`
pub(super) fn listed(queries: &[usize]) -> String {
    let names: Vec<String> = queries.iter().map(|query| format!("Q{query}")).collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

fn restore(
    context: &WorkloadContext<'_>,
    settings: &Settings,
    sets: Vec<i32>,
) -> Result<(), Failure> {
    context.progress.begin("restoring refreshed orders", sets.len() as u64);
    let (dialect, scale) = (context.target.dialect(), settings.scale);
    let progress = context.progress.clone();
    on_session(context, async move |session| {
        for set in sets {
            refresh::restore(session, dialect, scale, set).await?;
            progress.advance(1);
        }
        Ok(())
    })
}

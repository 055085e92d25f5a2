//! The threads of a load run on the CPUs that it is given, and no other thread does for it.

use std::sync::Mutex;

use super::*;
use crate::TrialError;

/// A load without a system, whose workers tell the CPUs that they may use.
#[derive(Default)]
struct Telling {
    operations: Vec<Operation>,
    cpus: Mutex<Vec<String>>,
}

impl Load for Telling {
    fn operations(&self) -> &[Operation] {
        &self.operations
    }

    fn clients(&self, clients: Clients<'_>) {
        self.cpus.lock().unwrap().push(allowed());
        clients.start(|mut handle| async move {
            while let Some(turn) = handle.next().await {
                handle.finish(turn, OperationId(0));
            }
            Ok(())
        });
    }
}

/// The CPUs that this thread may use, as Linux lists them.
fn allowed() -> String {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let mut lines = status.lines();
    lines.find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap().trim().to_owned()
}

fn told(cpus: Vec<usize>) -> Result<Vec<String>, TrialError> {
    let operations =
        vec![Operation::new("nothing".to_owned(), measure::OperationKind::Transaction)];
    let load = Telling { operations, ..Telling::default() };
    let offered = OfferedLoad {
        workers: Workers::EventLoops(2),
        limit: Limit::events(10),
        cpus,
        ..offered(4, Pacing::Closed { think_time_ns: 0 })
    };
    offer(&offered, &load, &Stop::new(), &mut RecordingObserver::default())?;
    Ok(load.cpus.into_inner().unwrap())
}

#[test]
fn every_worker_runs_on_the_given_cpus_alone() {
    let before = allowed();
    let last = before.rsplit([',', '-']).next().unwrap().to_owned();
    let expected = [last.clone(), last.clone()];
    assert_eq!(told(vec![last.parse().unwrap()]).unwrap(), expected);
    assert_eq!(told(Vec::new()).unwrap(), [before.clone(), before.clone()]);
    assert_eq!(allowed(), before);
}

#[test]
fn a_load_on_cpus_that_do_not_exist_is_refused() {
    let error = told(vec![1023]).unwrap_err().to_string();
    assert!(error.contains("the load cannot run on the CPUs [1023]"), "{error}");
}

//! The tables that this process writes to, so that changes of other programs can be told from its own.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::{Connection, Error};

/// The tables that statements of sessions may write to, by triggers and foreign keys too. They are noted when a
/// statement is compiled, which costs nothing when it runs. Before the first snapshot nothing is noted.
#[derive(Clone, Debug, Default)]
pub struct WrittenTables(Arc<Mutex<Option<BTreeSet<String>>>>);

/// Two configurations that open sessions in the same way are equal, whatever these have written to.
impl PartialEq for WrittenTables {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for WrittenTables {}

impl WrittenTables {
    /// Forgets the tables so far. Sessions that are opened from now on are recorded.
    pub(super) fn begin(&self) {
        *self.lock() = Some(BTreeSet::new());
    }

    /// Records what the statements of a connection may write to, if there was a snapshot.
    pub(super) fn record(&self, connection: &mut Connection) -> Result<(), Error> {
        if self.lock().is_none() {
            return Ok(());
        }
        let written = self.clone();
        connection.authorizer(Some(move |context: AuthContext<'_>| {
            if let Some(table) = written_table(&context) {
                written.lock().get_or_insert_default().insert(key(table));
            }
            Authorization::Allow
        }))
    }

    pub(super) fn tables(&self) -> BTreeSet<String> {
        self.lock().clone().unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, Option<BTreeSet<String>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// SQLite does not distinguish names by the case of ASCII letters.
pub(super) fn key(table: &str) -> String {
    table.to_ascii_lowercase()
}

/// The table or view of the database itself that an action changes; an index and a trigger belong to their table.
fn written_table<'c>(context: &AuthContext<'c>) -> Option<&'c str> {
    if context.database_name.is_some_and(|name| name != "main") {
        return None;
    }
    match context.action {
        AuthAction::Insert { table_name }
        | AuthAction::Update { table_name, .. }
        | AuthAction::Delete { table_name }
        | AuthAction::CreateTable { table_name }
        | AuthAction::DropTable { table_name }
        | AuthAction::CreateVtable { table_name, .. }
        | AuthAction::DropVtable { table_name, .. }
        | AuthAction::CreateIndex { table_name, .. }
        | AuthAction::DropIndex { table_name, .. }
        | AuthAction::CreateTrigger { table_name, .. }
        | AuthAction::DropTrigger { table_name, .. } => Some(table_name),
        AuthAction::CreateView { view_name } | AuthAction::DropView { view_name } => {
            Some(view_name)
        }
        // The database is an argument of this action, so that the context has none.
        AuthAction::AlterTable { database_name: "main", table_name } => Some(table_name),
        _ => None,
    }
}

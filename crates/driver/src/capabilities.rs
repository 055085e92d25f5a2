//! What a system can do and how it wants to be asked.

/// How a statement marks its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceholderStyle {
    /// `?`
    QuestionMark,
    /// `$1`
    Dollar,
}

/// What a system can do; found out on connecting, before any load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Calls block the thread: give each client one.
    pub is_blocking: bool,
    /// How statements mark parameters.
    pub placeholder: PlaceholderStyle,
    /// Several sessions may write at the same time.
    pub has_concurrent_writers: bool,
    /// DDL ends the open transaction.
    pub has_auto_commit_ddl: bool,
    /// Starts a transaction that will write.
    pub begin_write: &'static str,
    /// Starts a transaction that only reads.
    pub begin_read: &'static str,
    /// Definition of an integer primary key column that numbers itself, without the column's name,
    /// such as `INTEGER NOT NULL AUTO_INCREMENT PRIMARY KEY`.
    pub auto_increment_key: &'static str,
    /// `CREATE TABLE ... ENGINE = x` is understood.
    pub has_engine_clause: bool,
    /// Transaction isolation levels can be set.
    pub has_isolation_levels: bool,
    /// Gathers statistics of a table; `{table}` stands for its name.
    pub analyze: Option<&'static str>,
    /// Makes a session take texts as they are, without looking at their characters: only for loading
    /// texts of ASCII, which are the same in every character set.
    pub ascii_session: Option<&'static str>,
    /// What a SELECT ends with that locks its rows until its transaction ends; nothing where a transaction
    /// that writes has the whole database to itself.
    pub row_lock: &'static str,
    /// `CREATE TABLE ... PARTITION BY HASH (column) PARTITIONS n` is understood.
    pub has_hash_partitions: bool,
    /// Has a session enforce foreign keys; `None` where every session does.
    pub enforce_foreign_keys: Option<&'static str>,
    /// Lists the columns of a table, or nothing when there is no such table; `{table}` stands for
    /// its name. First column of each row: the column's name.
    pub list_columns: &'static str,
    /// Lists the columns that an index of a table begins with, its primary key's included; `{table}`
    /// stands for its name. First column of each row: the column's name.
    pub list_indexed: &'static str,
}

//! A system's SQL, where it differs between systems. Each field answers one question: do not conclude one
//! from another.

/// A level of transaction isolation, as the SQL standard defines them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

impl Isolation {
    fn name(self) -> &'static str {
        match self {
            Self::ReadUncommitted => "READ UNCOMMITTED",
            Self::ReadCommitted => "READ COMMITTED",
            Self::RepeatableRead => "REPEATABLE READ",
            Self::Serializable => "SERIALIZABLE",
        }
    }
}

/// The type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterType {
    /// A whole number.
    Integer,
    /// Money.
    Decimal,
    /// A text.
    Text,
}

/// How a table is divided into partitions by the hash of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashPartitions {
    /// By a clause that tells their number.
    Numbered,
    /// Each is a table of its own.
    Tables,
}

/// The SQL of one kind of system. Parameters are `?` everywhere; a session whose protocol marks them
/// otherwise translates a statement when it prepares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// Starts a transaction that writes.
    pub begin_write: &'static str,
    /// Starts a transaction that only reads.
    pub begin_read: &'static str,
    /// Sets the isolation level of a session's transactions; `{level}` stands for the level's name. `None`
    /// where there is only one level.
    pub isolation: Option<&'static str>,
    /// The level of sessions that set none, unless somebody has changed it on the server.
    pub default_isolation: Isolation,
    /// The end of a SELECT that locks its rows until its transaction ends; empty where a transaction that writes
    /// locks the whole database.
    pub row_lock: &'static str,
    /// Type and constraints of an integer column that is the primary key and numbers new rows.
    pub auto_increment_key: &'static str,
    /// The same for a column that only a secondary index covers; `None` where no such column numbers rows.
    pub auto_increment_column: Option<&'static str>,
    /// A secondary index `{name}` of `{columns}` within CREATE TABLE; `None` where only CREATE INDEX makes one.
    pub inline_index: Option<&'static str>,
    /// An INSERT of 0 into a column that numbers new rows stores the next number, not 0.
    pub zero_means_next_id: bool,
    /// Follows the words PRIMARY KEY to have rows stored in the order of the key on systems that otherwise
    /// might not; a comment, or empty, on all others.
    pub clustered_key_hint: &'static str,
    /// CREATE TABLE takes `ENGINE = name`. A system with a single engine may ignore it.
    pub has_engine_clause: bool,
    /// How CREATE TABLE divides a table by the hash of a column; `None` where it cannot.
    pub hash_partitions: Option<HashPartitions>,
    /// CREATE TABLE takes `WITH (fillfactor=n)`, the share of a page that new rows fill, percent.
    pub has_fillfactor: bool,
    /// CREATE UNLOGGED TABLE makes a table whose rows are in no log and do not survive a crash.
    pub has_unlogged_tables: bool,
    /// Keys are better added when the rows are there; otherwise they belong into CREATE TABLE.
    pub keys_follow_rows: bool,
    /// The rows of a table are better loaded in one transaction: the server writes them as they stay then.
    pub has_frozen_rows: bool,
    /// The most letters that all VARCHAR columns of one row may have together.
    pub varchar_row_letters_max: usize,
    /// The longest value of a TEXT column, bytes.
    pub text_bytes_max: usize,
    /// The type of a text column for longer values.
    pub long_text: &'static str,
    /// The type of a column of money: fifteen digits, two of them after the point.
    pub decimal: &'static str,
    /// The type of a column of dates with their times.
    pub timestamp: &'static str,
    /// A parameter of `{type}` whose type the statement around it does not tell; without `{type}` where each value has
    /// its own type.
    pub typed_parameter: &'static str,
    /// Values of CHAR columns are read with the spaces that fill them up.
    pub pads_char: bool,
    /// `?` is part of operators; elsewhere it stands for a parameter.
    pub has_question_operators: bool,
    /// Decimal columns and constants are exact; otherwise they are binary fractions.
    pub has_exact_decimals: bool,
    /// The type of a column of dates.
    pub date: &'static str,
    /// A constant of the date `{date}`, such as `1995-03-15`.
    pub date_literal: &'static str,
    /// A date `{date}` and an interval: `{sign}` is `+` or `-`, `{count}` a number, `{unit}` DAY, MONTH or YEAR. `None`
    /// where there are no intervals.
    pub date_plus: Option<&'static str>,
    /// The year of the date `{column}`, as a number.
    pub year_of: &'static str,
    /// Shows the plan of `{query}` without running it.
    pub explain: &'static str,
    /// Statements that run `{query}` and show its plan with what each step took; the first that a system knows.
    pub explain_analyze: &'static [&'static str],
    /// A word that begins a line of a plan, and what a reader must know of such a plan.
    pub plan_remark: Option<(&'static str, &'static str)>,
    /// Has the server work for `{rounds}` and sleep for `{seconds}`; `None` where that would be within dyno.
    pub work_and_sleep: Option<&'static str>,
    /// Asks for the number of a session; `None` where no session can end another's statement.
    pub session_number: Option<&'static str>,
    /// Ends session `{number}` with its statement.
    pub kill: &'static str,
    /// Lets `{column}` of `{table}` number new rows behind those that were loaded with their numbers; `None` where it
    /// does so by itself.
    pub number_after_load: Option<&'static str>,
    /// Gathers statistics of `{table}`, and settles what a load leaves to be done; `None` where there is no such
    /// statement.
    pub analyze: Option<&'static str>,
    /// A plainer one, for systems that take this SQL and not all of that statement.
    pub analyze_alone: Option<&'static str>,
    /// Writes what has changed to the disk at once; `None` where there is no such statement.
    pub checkpoint: Option<&'static str>,
    /// Lists those of `{tables}`, names in quotes and lower case, of which no statistics were ever gathered; `None` where
    /// the system does so by itself.
    pub list_unanalyzed: Option<&'static str>,
    /// Lets a session store texts unchanged, without converting or checking characters. Only for loading ASCII, which
    /// is the same in every character set.
    pub ascii_session: Option<&'static str>,
    /// Lets a session enforce foreign keys; `None` where every session does.
    pub enforce_foreign_keys: Option<&'static str>,
    /// Lists the columns of `{table}`, by name in the first column; returns no row when there is no such table.
    pub list_columns: &'static str,
    /// Lists the columns of `{table}` with the most letters of a text in them; `None` where there is no such limit.
    pub list_text_limits: Option<&'static str>,
    /// Lists those of `{tables}`, names in quotes and lower case, that exist, in the first column.
    pub list_tables: &'static str,
    /// Lists, by name in the first column, the columns with which an index of `{table}` or its primary key begins.
    pub list_indexed: &'static str,
    /// Lists the columns of `{table}` that get the next number where an INSERT gives none.
    pub list_auto_increment: &'static str,
    /// Names the storage engine of `{table}` in the first column; `None` where tables have no engine of their own.
    pub list_engine: Option<&'static str>,
}

impl Dialect {
    /// The statement that sets the isolation level of a session's transactions; `None` where there is only
    /// one level.
    pub fn set_isolation(&self, level: Isolation) -> Option<String> {
        Some(self.isolation?.replace("{level}", level.name()))
    }

    /// The column type for texts of up to `bytes` bytes, of which a row has `columns`.
    pub fn text_type(&self, bytes: usize, columns: usize) -> String {
        if bytes.saturating_mul(columns) <= self.varchar_row_letters_max {
            format!("VARCHAR({bytes})")
        } else if bytes <= self.text_bytes_max {
            "TEXT".to_owned()
        } else {
            self.long_text.to_owned()
        }
    }

    /// `create`, a CREATE TABLE of `table`, with `count` partitions by the hash of `column`; `None` where there are none.
    pub fn partitioned(
        &self,
        create: &str,
        table: &str,
        (column, count): (&str, u64),
    ) -> Option<String> {
        let divided = format!("{create} PARTITION BY HASH ({column})");
        Some(match self.hash_partitions? {
            HashPartitions::Numbered => format!("{divided} PARTITIONS {count}"),
            HashPartitions::Tables => (0..count).fold(divided, |text, part| {
                format!(
                    "{text}; CREATE TABLE {table}_p{part} PARTITION OF {table} FOR VALUES WITH (MODULUS {count}, \
                     REMAINDER {part})"
                )
            }),
        })
    }

    /// The statement behind a load that adds the primary key `columns`; `None` where the table has had it from the start.
    pub fn key_after_load(&self, table: &str, columns: &str) -> Option<String> {
        self.keys_follow_rows.then(|| format!("ALTER TABLE {table} ADD PRIMARY KEY ({columns})"))
    }

    /// The statement behind a load of rows with their numbers in `column`, where one is needed.
    pub fn number_after_load(&self, table: &str, column: &str) -> Option<String> {
        let text = self.number_after_load?;
        Some(text.replace("{table}", table).replace("{column}", column))
    }

    /// A parameter of this type, for places in a statement that do not tell its type: an argument of a function, or a
    /// value of CASE.
    pub fn parameter(&self, kind: ParameterType) -> String {
        let name = match kind {
            ParameterType::Integer => "INTEGER",
            ParameterType::Decimal => self.decimal,
            ParameterType::Text => "VARCHAR",
        };
        self.typed_parameter.replace("{type}", name)
    }

    /// A value that was read, without the spaces that fill up a CHAR column.
    pub fn unpadded<'t>(&self, text: &'t str) -> &'t str {
        if self.pads_char { text.trim_end_matches(' ') } else { text }
    }

    /// The statement that has the server work and sleep, where there is one.
    pub fn work_and_sleep(&self, rounds: u64, seconds: f64) -> Option<String> {
        let text = self.work_and_sleep?.replace("{rounds}", &rounds.to_string());
        Some(text.replace("{seconds}", &format!("{seconds:.6}")))
    }

    /// The statement that gathers statistics of `table`, where there is one.
    pub fn analyze(&self, table: &str) -> Option<String> {
        self.analyze.map(|text| text.replace("{table}", table))
    }

    /// What to run in place of a statement of [`Dialect::analyze`] that a system refuses; `None` for any other statement.
    pub fn analyze_instead(&self, statement: &str) -> Option<String> {
        let (before, _) = self.analyze?.split_once("{table}")?;
        let table = statement.strip_prefix(before)?;
        self.analyze_alone.map(|text| text.replace("{table}", table))
    }
}

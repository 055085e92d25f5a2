//! The SQL of SQLite.

use crate::{Dialect, Isolation};

pub const DIALECT: Dialect = Dialect {
    begin_write: "BEGIN IMMEDIATE",
    begin_read: "BEGIN",
    isolation: None,
    default_isolation: Isolation::Serializable,
    row_lock: "",
    auto_increment_key: "INTEGER PRIMARY KEY AUTOINCREMENT",
    auto_increment_column: None,
    inline_index: None,
    zero_means_next_id: false,
    clustered_key_hint: "",
    has_engine_clause: false,
    hash_partitions: None,
    has_fillfactor: false,
    has_unlogged_tables: false,
    keys_follow_rows: false,
    has_frozen_rows: false,
    // Its column types set no limits: VARCHAR(n) and TEXT are the same.
    varchar_row_letters_max: usize::MAX,
    text_bytes_max: usize::MAX,
    long_text: "TEXT",
    // It has no decimals: numbers with a point are 64-bit binary fractions, and a column of another type would hold whole
    // numbers as integers, whose quotients have no fraction.
    decimal: "REAL",
    timestamp: "DATETIME",
    typed_parameter: "?",
    pads_char: false,
    has_question_operators: false,
    has_exact_decimals: false,
    // It has no dates: texts in this form have the order of their dates.
    date: "TEXT",
    date_literal: "'{date}'",
    date_plus: None,
    year_of: "CAST(SUBSTR({column}, 1, 4) AS INTEGER)",
    explain: "EXPLAIN QUERY PLAN {query}",
    explain_analyze: &[],
    plan_remark: None,
    work_and_sleep: None,
    session_number: None,
    kill: "",
    number_after_load: None,
    analyze: Some("ANALYZE {table}"),
    checkpoint: None,
    analyze_alone: None,
    list_unanalyzed: None,
    ascii_session: None,
    enforce_foreign_keys: Some("PRAGMA foreign_keys = ON"),
    list_columns: "SELECT name FROM pragma_table_info('{table}') ORDER BY cid",
    list_text_limits: None,
    list_tables: "SELECT LOWER(name) FROM sqlite_schema WHERE type IN ('table', 'view') AND \
                  LOWER(name) IN ({tables})",
    // A primary key that is the row's own number has no index that could be listed.
    list_indexed: "SELECT info.name FROM pragma_index_list('{table}') list, \
                   pragma_index_info(list.name) info WHERE info.seqno = 0 \
                   UNION SELECT name FROM pragma_table_info('{table}') WHERE pk = 1",
    // A primary key of one column with exactly this type is the row's own number.
    list_auto_increment: "SELECT name FROM pragma_table_info('{table}') WHERE pk = 1 \
                          AND UPPER(type) = 'INTEGER'",
    list_engine: None,
};

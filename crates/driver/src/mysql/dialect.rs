//! The SQL that MySQL, MariaDB and TiDB have in common. Nothing in it depends on the product.

use crate::{Dialect, HashPartitions, Isolation};

/// The SQL of every server of this protocol.
pub const DIALECT: Dialect = Dialect {
    begin_write: "BEGIN",
    begin_read: "BEGIN",
    isolation: Some("SET SESSION TRANSACTION ISOLATION LEVEL {level}"),
    default_isolation: Isolation::RepeatableRead,
    row_lock: " FOR UPDATE",
    auto_increment_key: "INTEGER NOT NULL AUTO_INCREMENT PRIMARY KEY",
    auto_increment_column: Some("INTEGER NOT NULL AUTO_INCREMENT"),
    inline_index: Some("KEY {name} ({columns})"),
    // Unless the plan sets sql_mode = NO_AUTO_VALUE_ON_ZERO; this also holds for TiDB.
    zero_means_next_id: true,
    // go-ycsb 1.0.1 and go-tpc 1.0.12 send this to every server. TiDB interprets it. InnoDB always stores rows in the
    // order of the key, and for MySQL and MariaDB it is a comment.
    clustered_key_hint: " /*T![clustered_index] CLUSTERED */",
    // TiDB accepts any engine's name and ignores it.
    has_engine_clause: true,
    hash_partitions: Some(HashPartitions::Numbered),
    has_fillfactor: false,
    has_unlogged_tables: false,
    keys_follow_rows: false,
    has_frozen_rows: false,
    // A row may have 65,535 bytes, and a letter takes up to four.
    varchar_row_letters_max: 16_000,
    text_bytes_max: 65_535,
    long_text: "LONGTEXT",
    decimal: "DECIMAL(15,2)",
    timestamp: "DATETIME",
    typed_parameter: "?",
    pads_char: false,
    has_question_operators: false,
    has_exact_decimals: true,
    date: "DATE",
    date_literal: "DATE '{date}'",
    date_plus: Some("{date} {sign} INTERVAL '{count}' {unit}"),
    year_of: "EXTRACT(YEAR FROM {column})",
    explain: "EXPLAIN {query}",
    // MariaDB has the second.
    explain_analyze: &["EXPLAIN ANALYZE {query}", "ANALYZE {query}"],
    plan_remark: None,
    work_and_sleep: Some("SELECT BENCHMARK({rounds}, CRC32('dyno')), SLEEP({seconds})"),
    session_number: Some("SELECT CONNECTION_ID()"),
    kill: "KILL {number}",
    number_after_load: None,
    analyze: Some("ANALYZE TABLE {table}"),
    checkpoint: None,
    analyze_alone: None,
    // Where texts have no bytes in common with ASCII, the server has to convert them.
    list_unanalyzed: None,
    ascii_session: Some(
        "SET character_set_client = IF(@@character_set_database IN ('ucs2', 'utf16', 'utf16le', 'utf32'), 'latin1', \
         'binary'), character_set_connection = IF(@@character_set_database IN ('ucs2', 'utf16', 'utf16le', 'utf32'), \
         'latin1', 'binary')",
    ),
    enforce_foreign_keys: None,
    list_columns: "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = \
                   DATABASE() AND TABLE_NAME = '{table}' ORDER BY ORDINAL_POSITION",
    list_text_limits: Some(
        "SELECT COLUMN_NAME, CHARACTER_MAXIMUM_LENGTH FROM information_schema.COLUMNS WHERE \
         TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '{table}' AND CHARACTER_MAXIMUM_LENGTH IS NOT NULL",
    ),
    // Where names are compared in any case, a table may be stored in another one.
    list_tables: "SELECT IF(@@lower_case_table_names = 0, TABLE_NAME, LOWER(TABLE_NAME)) FROM \
                  information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN ({tables})",
    list_indexed: "SELECT DISTINCT COLUMN_NAME FROM information_schema.STATISTICS WHERE \
                   TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '{table}' AND SEQ_IN_INDEX = 1",
    list_auto_increment: "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = \
                          DATABASE() AND TABLE_NAME = '{table}' AND EXTRA LIKE '%auto_increment%'",
    list_engine: Some(
        "SELECT ENGINE FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND \
         TABLE_NAME = '{table}'",
    ),
};

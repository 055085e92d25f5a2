//! The SQL of PostgreSQL.

use crate::{Dialect, HashPartitions, Isolation};

pub const DIALECT: Dialect = Dialect {
    begin_write: "BEGIN",
    begin_read: "BEGIN",
    // MySQL's form is taken, and has no effect.
    isolation: Some("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL {level}"),
    default_isolation: Isolation::ReadCommitted,
    row_lock: " FOR UPDATE",
    auto_increment_key: "SERIAL PRIMARY KEY",
    auto_increment_column: Some("SERIAL"),
    inline_index: None,
    zero_means_next_id: false,
    clustered_key_hint: "",
    has_engine_clause: false,
    hash_partitions: Some(HashPartitions::Tables),
    has_fillfactor: true,
    has_unlogged_tables: true,
    keys_follow_rows: true,
    has_frozen_rows: true,
    varchar_row_letters_max: 10_485_760,
    text_bytes_max: usize::MAX,
    long_text: "TEXT",
    decimal: "DECIMAL(15,2)",
    timestamp: "TIMESTAMP",
    typed_parameter: "CAST(? AS {type})",
    pads_char: true,
    has_question_operators: true,
    has_exact_decimals: true,
    date: "DATE",
    date_literal: "DATE '{date}'",
    date_plus: Some("{date} {sign} INTERVAL '{count}' {unit}"),
    year_of: "EXTRACT(YEAR FROM {column})",
    explain: "EXPLAIN {query}",
    explain_analyze: &["EXPLAIN (ANALYZE, BUFFERS) {query}"],
    plan_remark: Some((
        "JIT:",
        "the server compiles these queries (JIT), as their estimated cost is above jit_above_cost: compiling is part of \
         their latency, and other estimates switch it",
    )),
    work_and_sleep: Some(
        "SELECT (SELECT count(*) FROM generate_series(1, {rounds})), pg_sleep({seconds})",
    ),
    session_number: Some("SELECT pg_backend_pid()"),
    kill: "SELECT pg_terminate_backend({number})",
    number_after_load: Some(
        "SELECT setval(pg_get_serial_sequence('{table}', '{column}'), COALESCE(MAX({column}), 0) + 1, false) \
         FROM {table}",
    ),
    // Rows that are not frozen are written again by those who read them first.
    analyze: Some("VACUUM (FREEZE, ANALYZE) {table}"),
    checkpoint: Some("CHECKPOINT"),
    analyze_alone: Some("ANALYZE {table}"),
    list_unanalyzed: Some(
        "SELECT relname FROM pg_class WHERE relkind = 'r' AND pg_table_is_visible(oid) AND relname IN ({tables}) \
         AND NOT EXISTS (SELECT FROM pg_statistic WHERE starelid = pg_class.oid)",
    ),
    ascii_session: None,
    enforce_foreign_keys: None,
    list_columns: "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass('{table}') AND attnum > 0 \
                   AND NOT attisdropped ORDER BY attnum",
    list_text_limits: Some(
        "SELECT attname, atttypmod - 4 FROM pg_attribute WHERE attrelid = to_regclass('{table}') \
         AND atttypid IN ('bpchar'::regtype, 'varchar'::regtype) AND atttypmod > 4",
    ),
    list_tables: "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p', 'v', 'm', 'f') \
                  AND pg_table_is_visible(oid) AND relname IN ({tables})",
    list_indexed: "SELECT DISTINCT a.attname FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid \
                   AND a.attnum = i.indkey[0] WHERE i.indrelid = to_regclass('{table}')",
    list_auto_increment: "SELECT a.attname FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid \
                          AND d.adnum = a.attnum WHERE a.attrelid = to_regclass('{table}') AND a.attnum > 0 AND \
                          (a.attidentity <> '' OR pg_get_expr(d.adbin, d.adrelid) LIKE 'nextval(%')",
    list_engine: None,
};

//! sysbench's tables in the system's dialect.

use driver::Dialect;
use measure::Failure;

use super::settings::{Settings, TableMake};
use crate::parallel::unsuitable;

/// The name of table `number`, from 1.
pub(super) fn name(table: u64) -> String {
    format!("sbtest{table}")
}

/// The CREATE TABLE statement for table `number`.
///
/// # Errors
/// If the options require a feature that the system does not have.
pub(super) fn create_table(
    table: u64,
    settings: &Settings,
    dialect: &Dialect,
) -> Result<String, Failure> {
    let id = id_column(settings, dialect)?;
    let key = match (settings.secondary, settings.auto_inc) {
        (true, true) => {
            inline_index(dialect).map_or_else(String::new, |index| format!(", {index}"))
        }
        (false, false) if !dialect.keys_follow_rows => ", PRIMARY KEY (id)".to_owned(),
        // With auto-increment the type of the id column includes the primary key, unless that follows the rows. The
        // secondary index alone is created after the rows are loaded.
        _ => String::new(),
    };
    let tail = table_tail(&settings.make, dialect)?;
    Ok(format!(
        "CREATE TABLE sbtest{table} (id {id}, k INTEGER DEFAULT 0 NOT NULL, \
         c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL{key}){tail}"
    ))
}

fn inline_index(dialect: &Dialect) -> Option<String> {
    Some(dialect.inline_index?.replace("{name}", "xid").replace("{columns}", "id"))
}

/// Type and constraints of the column `id`.
fn id_column(settings: &Settings, dialect: &Dialect) -> Result<&'static str, Failure> {
    match (settings.auto_inc, settings.secondary) {
        (false, _) => Ok("INTEGER NOT NULL"),
        (true, false) => {
            Ok(match dialect.auto_increment_column.filter(|_| dialect.keys_follow_rows) {
                Some(column) => column,
                None => dialect.auto_increment_key,
            })
        }
        (true, true) => dialect.auto_increment_column.ok_or_else(|| {
            unsuitable(
                "secondary = true: on this system only a primary key numbers itself; \
                 add auto_inc = false",
            )
        }),
    }
}

/// The end of the statement: engine and options.
///
/// # Errors
/// If the plan names an engine and the system has no engines.
pub(super) fn table_tail(make: &TableMake, dialect: &Dialect) -> Result<String, Failure> {
    let mut tail = String::new();
    if dialect.has_engine_clause {
        tail = format!(" ENGINE = {}", make.engine);
    } else if make.is_engine_given {
        return Err(unsuitable(format!(
            "engine = {}: this system has no storage engines to choose from; leave it out",
            make.engine
        )));
    }
    if !make.options.is_empty() {
        tail.push(' ');
        tail.push_str(&make.options);
    }
    Ok(tail)
}

/// The key and the indexes that are created after the rows are loaded.
pub(super) fn indexes(table: u64, settings: &Settings, dialect: &Dialect) -> Vec<String> {
    let key = dialect.key_after_load(&name(table), "id").filter(|_| !settings.secondary);
    let mut indexes = Vec::from_iter(key);
    if settings.secondary && !(settings.auto_inc && dialect.inline_index.is_some()) {
        indexes.push(format!("CREATE INDEX xid_{table} ON sbtest{table}(id)"));
    }
    if settings.create_secondary {
        indexes.push(format!("CREATE INDEX k_{table} ON sbtest{table}(k)"));
    }
    indexes
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use driver::{mysql, postgres, sqlite};
    use plan::Options;

    pub(crate) fn settings(options: &str) -> Settings {
        let options = Options::parse(options).unwrap();
        let mut reader = options.reader();
        let settings = Settings::read(&mut reader);
        reader.finish().unwrap();
        settings
    }

    #[test]
    fn tables_are_as_in_sysbench_where_engines_are_known() {
        let all = [
            "",
            "auto_inc = false",
            "secondary = true\nengine = \"myisam\"",
            "secondary = true\nauto_inc = false\ncreate_table_options = \"ROW_FORMAT=DYNAMIC\"",
        ];
        let text: Vec<String> = all
            .into_iter()
            .flat_map(|options| {
                let settings = settings(options);
                let mut all = vec![create_table(3, &settings, &mysql::DIALECT).unwrap()];
                all.extend(indexes(3, &settings, &mysql::DIALECT));
                all
            })
            .collect();
        insta::assert_snapshot!(text.join("\n"), @r"
        CREATE TABLE sbtest3 (id INTEGER NOT NULL AUTO_INCREMENT PRIMARY KEY, k INTEGER DEFAULT 0 NOT NULL, c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL) ENGINE = innodb
        CREATE INDEX k_3 ON sbtest3(k)
        CREATE TABLE sbtest3 (id INTEGER NOT NULL, k INTEGER DEFAULT 0 NOT NULL, c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, PRIMARY KEY (id)) ENGINE = innodb
        CREATE INDEX k_3 ON sbtest3(k)
        CREATE TABLE sbtest3 (id INTEGER NOT NULL AUTO_INCREMENT, k INTEGER DEFAULT 0 NOT NULL, c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, KEY xid (id)) ENGINE = myisam
        CREATE INDEX k_3 ON sbtest3(k)
        CREATE TABLE sbtest3 (id INTEGER NOT NULL, k INTEGER DEFAULT 0 NOT NULL, c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL) ENGINE = innodb ROW_FORMAT=DYNAMIC
        CREATE INDEX xid_3 ON sbtest3(id)
        CREATE INDEX k_3 ON sbtest3(k)
        ");
    }

    #[test]
    fn a_system_without_engines_takes_none_and_refuses_one_by_name() {
        let dialect = &sqlite::DIALECT;
        let table = create_table(1, &settings(""), dialect).unwrap();
        insta::assert_snapshot!(table, @"CREATE TABLE sbtest1 (id INTEGER PRIMARY KEY AUTOINCREMENT, k INTEGER DEFAULT 0 NOT NULL, c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL)");
        let refusal = create_table(1, &settings("engine = \"innodb\""), dialect).unwrap_err();
        insta::assert_snapshot!(refusal, @"engine = innodb: this system has no storage engines to choose from; leave it out");
        let refusal = create_table(1, &settings("secondary = true"), dialect).unwrap_err();
        insta::assert_snapshot!(refusal, @"secondary = true: on this system only a primary key numbers itself; add auto_inc = false");
    }

    #[test]
    fn a_secondary_index_is_made_afterwards_where_create_table_takes_none() {
        let dialect = Dialect { inline_index: None, ..mysql::DIALECT };
        let settings = settings("secondary = true");
        assert!(!create_table(1, &settings, &dialect).unwrap().contains("xid"));
        let made = indexes(1, &settings, &dialect);
        assert_eq!(made[0], "CREATE INDEX xid_1 ON sbtest1(id)");
        assert_eq!(indexes(1, &settings, &mysql::DIALECT), made[1..]);
    }

    #[test]
    fn the_key_follows_the_rows_where_that_is_faster() {
        let made = |options: &str| {
            let (settings, dialect) = (settings(options), &postgres::DIALECT);
            let table = create_table(1, &settings, dialect).unwrap();
            (table, indexes(1, &settings, dialect).remove(0))
        };
        for (options, id) in [("", "SERIAL"), ("auto_inc = false", "INTEGER NOT NULL")] {
            let (table, index) = made(options);
            assert!(table.starts_with(&format!("CREATE TABLE sbtest1 (id {id}, k ")), "{table}");
            assert!(!table.contains("PRIMARY KEY"), "{table}");
            assert_eq!(index, "ALTER TABLE sbtest1 ADD PRIMARY KEY (id)");
        }
        assert_eq!(made("secondary = true").1, "CREATE INDEX xid_1 ON sbtest1(id)");
    }
}

//! sysbench's tables in the dialect that the capability record asks for.

use driver::Capabilities;
use measure::Failure;

use super::settings::{Settings, TableMake};
use crate::crewed::unfit;

/// The name of table `number`, from 1.
pub(super) fn name(table: u64) -> String {
    format!("sbtest{table}")
}

/// CREATE TABLE for table `number`.
///
/// # Errors
/// When the options ask for what the system does not have.
pub(super) fn create_table(
    table: u64,
    settings: &Settings,
    system: &Capabilities,
) -> Result<String, Failure> {
    let id = id_column(settings, system)?;
    let key = match (settings.secondary, settings.auto_inc) {
        (true, true) => ", KEY xid (id)",
        (false, false) => ", PRIMARY KEY (id)",
        // The definition of a column that numbers itself names the key; without one, the index
        // on id is made after the rows.
        (false, true) | (true, false) => "",
    };
    let tail = table_tail(&settings.make, system)?;
    Ok(format!(
        "CREATE TABLE sbtest{table} (id {id}, k INTEGER DEFAULT 0 NOT NULL, \
         c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL{key}){tail}"
    ))
}

fn id_column(settings: &Settings, system: &Capabilities) -> Result<String, Failure> {
    if !settings.auto_inc {
        return Ok("INTEGER NOT NULL".to_owned());
    }
    let own_key = system.auto_increment_key;
    if !settings.secondary {
        return Ok(own_key.to_owned());
    }
    // Only systems that understand MySQL's CREATE TABLE let a column number itself under another
    // key than the primary one.
    match own_key.strip_suffix(" PRIMARY KEY") {
        Some(column) if system.has_engine_clause => Ok(column.to_owned()),
        _ => Err(unfit(
            "secondary = true: on this system only a primary key numbers itself; \
             add auto_inc = false",
        )),
    }
}

/// What comes after the columns: engine and options.
///
/// # Errors
/// When the plan names an engine and the system has none.
pub(super) fn table_tail(make: &TableMake, system: &Capabilities) -> Result<String, Failure> {
    let mut tail = String::new();
    if system.has_engine_clause {
        tail = format!(" ENGINE = {}", make.engine);
    } else if make.is_engine_given {
        return Err(unfit(format!(
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

/// The indexes to make once the rows are in.
pub(super) fn indexes(table: u64, settings: &Settings) -> Vec<String> {
    let mut indexes = Vec::new();
    if settings.secondary && !settings.auto_inc {
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
    use crate::testing::capabilities_of_mysql;
    use plan::Options;

    pub(crate) fn settings(options: &str) -> Settings {
        let options = Options::parse(options).unwrap();
        let mut reader = options.reader();
        let settings = Settings::read(&mut reader);
        reader.finish().unwrap();
        settings
    }

    fn system(has_engine_clause: bool, auto_increment_key: &'static str) -> Capabilities {
        Capabilities { has_engine_clause, auto_increment_key, ..capabilities_of_mysql() }
    }

    #[test]
    fn tables_are_as_in_sysbench_where_engines_are_known() {
        let system = system(true, "INTEGER NOT NULL AUTO_INCREMENT PRIMARY KEY");
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
                let mut all = vec![create_table(3, &settings, &system).unwrap()];
                all.extend(indexes(3, &settings));
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
        let system = system(false, "INTEGER PRIMARY KEY");
        let table = create_table(1, &settings(""), &system).unwrap();
        insta::assert_snapshot!(table, @"CREATE TABLE sbtest1 (id INTEGER PRIMARY KEY, k INTEGER DEFAULT 0 NOT NULL, c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL)");
        let refusal = create_table(1, &settings("engine = \"innodb\""), &system).unwrap_err();
        insta::assert_snapshot!(refusal, @"engine = innodb: this system has no storage engines to choose from; leave it out");
        let refusal = create_table(1, &settings("secondary = true"), &system).unwrap_err();
        insta::assert_snapshot!(refusal, @"secondary = true: on this system only a primary key numbers itself; add auto_inc = false");
    }
}

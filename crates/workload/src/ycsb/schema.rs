//! The table, as go-ycsb and YCSB's JDBC binding make it.

use driver::Capabilities;

use super::sheet::Sheet;

/// The column of keys.
pub(super) const KEY: &str = "YCSB_KEY";
/// Longest sum of columns that may be VARCHARs: servers of the MySQL protocol bound a row by 65,535
/// bytes and reckon four for each letter.
const MOST_ROW_LETTERS: usize = 16_000;
/// Longest value of a TEXT column there.
const MOST_TEXT_BYTES: usize = 65_535;

/// A table of records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) name: String,
    /// Names of the columns behind the key.
    pub(super) fields: Vec<String>,
    /// What values that can be checked call them.
    pub(super) field_names: Vec<String>,
    /// Bytes of a value, at most.
    pub(super) field_bytes: usize,
}

impl Table {
    pub(super) fn read(sheet: &mut Sheet<'_>, field_bytes: usize, most_fields: u64) -> Self {
        let name = sheet.text("table").unwrap_or_else(|| "usertable".to_owned());
        let prefix = sheet.text("fieldnameprefix").unwrap_or_else(|| "field".to_owned());
        for (property, text) in [("table", &name), ("fieldnameprefix", &prefix)] {
            if !is_plain(text) {
                let message = format!("`{property}` is {text:?}, no plain name");
                sheet.wrong(
                    property,
                    message,
                    "letters, digits and `_`, a letter first, at most 48",
                );
            }
        }
        let count = sheet.integer("fieldcount", 10, 1..=most_fields);
        let field_names: Vec<String> = (0..count).map(|field| format!("{prefix}{field}")).collect();
        let fields = field_names.iter().map(|name| name.to_ascii_uppercase()).collect();
        Self { name, fields, field_names, field_bytes }
    }

    /// CREATE TABLE.
    pub(super) fn create(&self, system: &Capabilities) -> String {
        let letters = self.field_bytes * self.fields.len();
        let kind = if letters <= MOST_ROW_LETTERS {
            format!("VARCHAR({})", self.field_bytes)
        } else if self.field_bytes > MOST_TEXT_BYTES && system.has_engine_clause {
            "LONGTEXT".to_owned()
        } else {
            "TEXT".to_owned()
        };
        // A comment to most systems; where tables can be clustered or not, rows then lie in the order
        // of their keys.
        let clustered =
            if system.has_engine_clause { " /*T![clustered_index] CLUSTERED */" } else { "" };
        let fields: String = self.fields.iter().map(|field| format!(", {field} {kind}")).collect();
        format!("CREATE TABLE {} ({KEY} VARCHAR(64) PRIMARY KEY{clustered}{fields})", self.name)
    }

    /// All columns, the key first.
    pub(super) fn columns(&self) -> Vec<&str> {
        std::iter::once(KEY).chain(self.fields.iter().map(String::as_str)).collect()
    }
}

fn is_plain(name: &str) -> bool {
    name.len() <= 48
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

//! Writes the tables as files for bulk loaders, in the format of dbgen: cells between vertical bars.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use driver::Value;
use measure::{ErrorClass, Failure};

use super::rows::Sink;
use super::schema::Table;
use super::settings::Settings;
use crate::Export;
use crate::parallel::{at_once, interrupted};

/// Rows between two looks at a request to stop.
const CHUNK_ROWS: u64 = 50_000;

/// Writes `DATABASE.TABLE.csv` for every table, and `schema.sql` with the statements that create them.
pub(super) fn export(settings: &Settings, export: &Export<'_>) -> Result<(), Failure> {
    let schema: Vec<String> = Table::ALL
        .iter()
        .flat_map(|table| {
            let key = table.key_after_load(export.dialect);
            let made = std::iter::once(table.create(export.dialect)).chain(key);
            made.chain(table.create_indexes())
        })
        .map(|statement| format!("{statement};\n"))
        .collect();
    let path = export.folder.join("schema.sql");
    fs::write(&path, schema.concat()).map_err(|error| failed(&path, &error))?;
    let total = Table::ALL.iter().map(|table| table.rows(settings.scale)).sum();
    export.progress.begin("writing files", total);
    for table in Table::ALL {
        let path = export.folder.join(format!("{}.{}.csv", export.database, table.name()));
        let file = File::create(&path).map_err(|error| failed(&path, &error))?;
        let mut file = TableFile { path: &path, file: BufWriter::new(file), rows: 0 };
        for chunk in table.chunks(settings.scale, CHUNK_ROWS) {
            if export.stop.is_asked() {
                return Err(interrupted());
            }
            at_once(chunk.make(settings.scale, &mut file))?;
            export.progress.advance(std::mem::take(&mut file.rows));
        }
        file.file.flush().map_err(|error| failed(&path, &error))?;
    }
    Ok(())
}

struct TableFile<'a> {
    path: &'a Path,
    file: BufWriter<File>,
    rows: u64,
}

impl Sink for TableFile<'_> {
    async fn take(&mut self, row: &[Value<'_>]) -> Result<(), Failure> {
        self.rows += 1;
        write_row(&mut self.file, row).map_err(|error| failed(self.path, &error))
    }
}

fn write_row(out: &mut impl Write, row: &[Value<'_>]) -> io::Result<()> {
    for (place, value) in row.iter().enumerate() {
        if place > 0 {
            out.write_all(b"|")?;
        }
        match value {
            Value::Null => {}
            Value::Int(number) => write!(out, "{number}")?,
            Value::Float(number) => write!(out, "{number}")?,
            Value::Text(text) => out.write_all(text.as_bytes())?,
        }
    }
    out.write_all(b"\n")
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    Failure::new(ErrorClass::Server, "", format!("cannot write {}: {error}", path.display()))
}

//! Writes the initial database as CSV files for bulk loaders.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use measure::{ErrorClass, Failure};

use super::fill::{Batch, Sink, stages};
use super::rows::RowGenerator;
use super::schema::{Table, create_indexes, create_table};
use super::settings::Settings;
use crate::Export;
use crate::parallel::{at_once, interrupted, unsuitable};
use crate::row_buffer::RowBuffer;

/// Size of the write buffer of a file.
const WRITE_BYTES: usize = 256 * 1024;

/// Writes `DATABASE.TABLE.WAREHOUSE.csv` for every table and warehouse, `DATABASE.item.csv`, and `schema.sql` with
/// the statements that create the tables.
pub(super) fn export(settings: &Settings, export: &Export<'_>) -> Result<(), Failure> {
    let warehouses = settings.warehouses;
    write_schema(settings, export)?;
    let generator = RowGenerator::new(export.seed, export.now.clone());
    let next = AtomicU64::new(0);
    export.progress.begin("writing files of CSV", warehouses + 1);
    let write_jobs = || {
        loop {
            let job = next.fetch_add(1, Ordering::Relaxed);
            if job > warehouses {
                return Ok(());
            }
            if export.stop.is_asked() {
                return Err(interrupted());
            }
            write_job(export, &generator, job)?;
            export.progress.advance(1);
        }
    };
    thread::scope(|scope| {
        let writers: Vec<_> = (0..export.writers.max(1)).map(|_| scope.spawn(write_jobs)).collect();
        let ended = writers
            .into_iter()
            .map(|it| it.join().unwrap_or_else(|cause| std::panic::resume_unwind(cause)));
        ended.collect()
    })
}

/// Job 0 writes the items; each other job writes a warehouse.
fn write_job(export: &Export<'_>, generator: &RowGenerator, job: u64) -> Result<(), Failure> {
    let mut files = Files { export, job, open: BTreeMap::new() };
    for batch in stages(job.max(1)).into_iter().flatten() {
        let of_job = match batch {
            Batch::Items(_) => 0,
            Batch::Warehouse(warehouse) | Batch::Stock(warehouse, _) => warehouse,
            Batch::Customers(place) | Batch::Orders(place) => place.warehouse,
        };
        if of_job != job {
            continue;
        }
        for &table in batch.tables() {
            at_once(batch.make(table, generator, &mut files.of(table)?))?;
        }
    }
    files.close()
}

fn write_schema(settings: &Settings, export: &Export<'_>) -> Result<(), Failure> {
    let mut text = String::new();
    for table in Table::ALL {
        let create = create_table(table, settings, export.dialect)?;
        let indexes = create_indexes(table, settings, export.dialect);
        for statement in [vec![create], indexes].concat() {
            text += &format!("{statement};\n");
        }
    }
    let path = export.folder.join("schema.sql");
    fs::write(&path, text).map_err(|error| failed(&path, &error))
}

struct Files<'a> {
    export: &'a Export<'a>,
    job: u64,
    open: BTreeMap<Table, (PathBuf, BufWriter<File>)>,
}

struct TableFile<'a> {
    path: &'a Path,
    file: &'a mut BufWriter<File>,
    columns: usize,
    line: Vec<u8>,
}

impl Files<'_> {
    fn of(&mut self, table: Table) -> Result<TableFile<'_>, Failure> {
        if !self.open.contains_key(&table) {
            let Export { folder, database, .. } = self.export;
            let name = table.name();
            let path = folder.join(match self.job {
                0 => format!("{database}.{name}.csv"),
                warehouse => format!("{database}.{name}.{warehouse}.csv"),
            });
            let file = File::create(&path).map_err(|error| failed(&path, &error))?;
            self.open.insert(table, (path, BufWriter::with_capacity(WRITE_BYTES, file)));
        }
        let opened = self.open.get_mut(&table);
        let (path, file) =
            opened.ok_or_else(|| unsuitable("a file that was opened is not there"))?;
        Ok(TableFile { path, file, columns: table.column_names().len(), line: Vec::new() })
    }

    fn close(self) -> Result<(), Failure> {
        for (path, mut file) in self.open.into_values() {
            file.flush().map_err(|error| failed(&path, &error))?;
        }
        Ok(())
    }
}

impl Sink for TableFile<'_> {
    async fn take(&mut self, rows: &RowBuffer) -> Result<(), Failure> {
        self.line.clear();
        rows.append_csv(&mut self.line, self.columns);
        self.file.write_all(&self.line).map_err(|error| failed(self.path, &error))
    }
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    Failure::new(ErrorClass::Server, "", format!("cannot write {}: {error}", path.display()))
}

//! One client. Operations allocate no memory: keys and values are built in place and lent to the driver.

use std::sync::Arc;

use driver::{Answer, Session, Value};
use engine::{ClientHandle, News};
use measure::{ErrorClass, Failure, Operation, OperationId, OperationKind, Traffic};

use super::chooser::Chooser;
use super::load::YcsbLoad;
use super::operations::{NOTHING_TO_RUN, OperationChoice};
use super::resume::find_start;
use super::settings::{ScanLength, Settings};
use super::statements::{Checker, Statements, not_found, with_values};
use crate::parallel::unsuitable;
use crate::policy::ErrorPolicy;
use crate::random::{Random, Zipfian};
use crate::shared::Shared;
use crate::transaction_loop::{FailedTransaction, WorkloadClient, record, transacted};

impl Shared for YcsbLoad {
    type WorkloadClient = YcsbClient;

    fn operations(&self) -> &[Operation] {
        &self.timed.list
    }

    fn errors(&self) -> &ErrorPolicy {
        &self.settings.errors
    }

    fn news(&self) -> Option<&dyn News> {
        Some(self.inserts.as_ref())
    }

    async fn open(
        self: Arc<Self>,
        index: usize,
        handle: &ClientHandle,
    ) -> Result<YcsbClient, Failure> {
        YcsbClient::open(self, index, handle).await
    }
}

pub(super) struct YcsbClient {
    load: Arc<YcsbLoad>,
    session: Session,
    statements: Statements,
    drawn: DrawnOperation,
    checker: Checker,
}

/// The current operation, and the memory that it is drawn into.
struct DrawnOperation {
    act: OperationChoice,
    key: String,
    /// The field of a read or a scan of a single field.
    read_field: usize,
    /// The field of an update of a single field. A read-modify-write draws both, as both tools do.
    written_field: usize,
    scan: i64,
    /// The values of an update or insert: one, or one for each field.
    values: Vec<String>,
    /// The number of a new record. This client keeps it until the insert is acknowledged.
    pending: Option<u64>,
    random: Random,
    value_random: Random,
    chooser: Chooser,
    scan_length: ScanDraw,
}

impl YcsbClient {
    async fn open(
        load: Arc<YcsbLoad>,
        index: usize,
        handle: &ClientHandle,
    ) -> Result<Self, Failure> {
        let (mut session, statements) = connect(&load, handle).await?;
        if load.looks_first() {
            // No client starts its load before all are connected.
            let start =
                find_start(&mut session, &load.settings, &load.format, load.next_guess).await?;
            load.inserts.begin(start);
        }
        let drawn = DrawnOperation::new(&load, index);
        Ok(Self { load, session, statements, drawn, checker: Checker::new() })
    }
}

async fn connect(load: &YcsbLoad, handle: &ClientHandle) -> Result<(Session, Statements), Failure> {
    if load.settings.mix.is_empty() {
        return Err(unsuitable(NOTHING_TO_RUN));
    }
    let mut session = load.connector.open(handle).await?;
    let statements = Statements::prepare(&mut session, &load.settings).await?;
    Ok((session, statements))
}

impl DrawnOperation {
    fn new(load: &YcsbLoad, client: usize) -> Self {
        Self {
            act: OperationChoice::Read,
            key: String::new(),
            read_field: 0,
            written_field: 0,
            scan: 0,
            values: vec![String::new(); load.settings.table.fields.len()],
            pending: None,
            random: Random::of_part(load.seed, &[client as u64]),
            value_random: Random::of_part(load.value_seed, &[client as u64]),
            chooser: load.chooser(),
            scan_length: ScanDraw::new(load.settings.scan),
        }
    }

    fn draw(&mut self, load: &YcsbLoad) {
        let settings = &load.settings;
        self.act = settings.mix.draw(&mut self.random);
        let number = match self.act {
            OperationChoice::Insert => *self.pending.get_or_insert_with(|| load.inserts.take()),
            _ => self.chooser.draw(&mut self.random, load.inserts.end()),
        };
        load.format.write(number, &mut self.key);
        match self.act {
            OperationChoice::Read => self.draw_read(settings),
            OperationChoice::Scan => {
                self.draw_read(settings);
                self.scan = self.scan_length.draw(&mut self.random);
            }
            OperationChoice::Update => self.draw_update(load),
            OperationChoice::ReadModifyWrite => {
                self.draw_read(settings);
                self.draw_update(load);
            }
            OperationChoice::Insert => {
                (0..self.values.len()).for_each(|field| self.write_value(field, load));
            }
        }
    }

    #[inline]
    fn draw_read(&mut self, settings: &Settings) {
        if !settings.reads_all_fields {
            self.read_field = self.draw_field();
        }
    }

    #[inline]
    fn draw_update(&mut self, load: &YcsbLoad) {
        if load.settings.writes_all_fields {
            (0..self.values.len()).for_each(|field| self.write_value(field, load));
        } else {
            self.written_field = self.draw_field();
            self.write_value(self.written_field, load);
        }
    }

    #[inline]
    fn draw_field(&mut self) -> usize {
        self.random.below(self.values.len() as u64) as usize
    }

    #[inline]
    fn write_value(&mut self, field: usize, load: &YcsbLoad) {
        let name = &load.settings.table.field_names[field];
        load.values.write(&self.key, name, &mut self.value_random, &mut self.values[field]);
    }
}

impl YcsbClient {
    /// The index of the statement of a read or a scan: there is one for each field, or one for all fields.
    #[inline]
    fn read_slot(&self) -> usize {
        if self.load.settings.reads_all_fields { 0 } else { self.drawn.read_field }
    }

    async fn read(&mut self) -> Result<(), Failure> {
        let settings = &self.load.settings;
        let slot = self.read_slot();
        if settings.checks_integrity {
            let field = (!settings.reads_all_fields).then_some(slot);
            let (statement, made) =
                (&self.statements.read[slot], (&settings.table, &self.load.values));
            let key = &self.drawn.key;
            return self.checker.read(&mut self.session, statement, made, key, field).await;
        }
        let key = [Value::Text(&self.drawn.key)];
        let answer = self.session.execute(&self.statements.read[slot], &key).await?;
        if answer.rows == 0 { Err(not_found(&self.drawn.key)) } else { Ok(()) }
    }

    async fn update(&mut self) -> Result<(), Failure> {
        let writes_all = self.load.settings.writes_all_fields;
        let DrawnOperation { values, key, written_field: field, .. } = &self.drawn;
        let (written, slot) =
            if writes_all { (&values[..], 0) } else { (&values[*field..=*field], *field) };
        let value = |index: usize| Value::Text(written.get(index).unwrap_or(key));
        let (session, statement) = (&mut self.session, &self.statements.update[slot]);
        let running =
            with_values(written.len() + 1, value, |values| session.execute(statement, values));
        running.await.map(drop)
    }

    async fn insert(&mut self) -> Result<(), Failure> {
        let DrawnOperation { values, key, .. } = &self.drawn;
        let value = |index: usize| match index {
            0 => Value::Text(key),
            _ => Value::Text(&values[index - 1]),
        };
        let (session, statement) = (&mut self.session, &self.statements.insert[0]);
        let running =
            with_values(values.len() + 1, value, |values| session.execute(statement, values));
        let answer = running.await;
        // On a duplicate key the record exists: an earlier attempt succeeded, but its answer was lost.
        let is_there = match &answer {
            Ok(_) => true,
            Err(failure) => failure.key.class == ErrorClass::DuplicateKey,
        };
        if is_there && let Some(number) = self.drawn.pending.take() {
            self.load.inserts.acknowledge(number);
        }
        answer.map(drop)
    }

    async fn scan(&mut self) -> Result<(), Failure> {
        let slot = self.read_slot();
        let range = [Value::Text(&self.drawn.key), Value::Int(self.drawn.scan)];
        let Answer { rows, .. } = self.session.execute(&self.statements.scan[slot], &range).await?;
        // A scan starts at an existing record, so no row means that it is missing.
        if rows == 0 { Err(not_found(&self.drawn.key)) } else { Ok(()) }
    }

    /// Runs two statements. Each has its own latency, in addition to that of the whole operation.
    async fn read_modify_write(&mut self, handle: &mut ClientHandle) -> Result<(), Failure> {
        let [read, update] = self.load.timed.parts;
        let started = handle.now();
        let answer = self.read().await;
        record(handle, read, started, &answer);
        answer?;
        let started = handle.now();
        let answer = self.update().await;
        record(handle, update, started, &answer);
        answer
    }
}

impl WorkloadClient for YcsbClient {
    async fn ask(&mut self, statement: &str) {
        // A failure is seen by the next transaction.
        let _ = self.session.run(statement).await;
    }

    fn draw(&mut self) {
        self.drawn.draw(&self.load);
    }

    async fn transact(
        &mut self,
        handle: &mut ClientHandle,
    ) -> Result<OperationId, FailedTransaction> {
        let act = self.drawn.act;
        let done = match act {
            OperationChoice::Read => self.read().await,
            OperationChoice::Update => self.update().await,
            OperationChoice::Insert => self.insert().await,
            OperationChoice::Scan => self.scan().await,
            OperationChoice::ReadModifyWrite => self.read_modify_write(handle).await,
        };
        let operation = self.load.timed.id(act);
        transacted(operation, done)
    }

    async fn reconnect(&mut self, handle: &ClientHandle) -> Result<(), Failure> {
        (self.session, self.statements) = connect(&self.load, handle).await?;
        Ok(())
    }

    fn single_statement(&self) -> Option<OperationKind> {
        self.drawn.act.statement()
    }

    fn take_traffic(&mut self) -> Traffic {
        self.session.take_traffic()
    }

    async fn close(self) {
        self.session.close().await;
    }
}

struct ScanDraw {
    length: ScanLength,
    ranks: Zipfian,
}

impl ScanDraw {
    fn new(length: ScanLength) -> Self {
        let count = length.most - length.least + 1;
        Self { length, ranks: Zipfian::new(count, super::lengths::ZIPFIAN_EXPONENT) }
    }

    #[inline]
    fn draw(&self, random: &mut Random) -> i64 {
        let ScanLength { least, most, is_zipfian } = self.length;
        let more =
            if is_zipfian { self.ranks.draw(random) - 1 } else { random.below(most - least + 1) };
        (least + more).cast_signed()
    }
}

#[cfg(test)]
mod tests {
    use plan::Options;

    use super::*;
    use crate::LoadPart;
    use crate::testing::TestSystem;
    use crate::ycsb::Preset;
    use crate::ycsb::key::KeyScheme;

    #[test]
    fn a_read_modify_write_draws_the_field_that_it_reads_and_the_one_that_it_writes() {
        let text = "readproportion = 0\nreadallfields = false\nwriteallfields = false";
        let options = Options::parse(text).unwrap();
        let settings = Settings::read(Preset::F, &options, &plan::Files::of("")).unwrap();
        let system = TestSystem::sqlite();
        let load = YcsbLoad::new(
            &settings,
            (&system.context(), LoadPart::default()),
            KeyScheme::GoYcsb,
            0,
        );
        let mut drawn = DrawnOperation::new(&load, 0);
        let mut same = 0;
        for _ in 0..10_000 {
            drawn.draw(&load);
            same += usize::from(drawn.read_field == drawn.written_field);
        }
        // Of ten fields two draws agree in a tenth of all cases: 1,000, plus or minus five standard deviations of 30.
        assert!((850..=1150).contains(&same), "{same} of 10,000");
    }
}

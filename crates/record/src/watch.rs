//! Writes watched data during the load of a trial, as it arrives.

use std::path::{Path, PathBuf};

use measure::{Answer, ConnectionsReading, Gap, Host, HostReading, Server, ServerKind};
use plan::scrub;

use crate::RecordError;
use crate::files::Appender;
use crate::wire::WatchLine;
use crate::zipped::ZippedAppender;

/// The file's name in the trial's folder.
pub(crate) const FILE: &str = "watch.jsonl";

/// Metrics of servers, in the same folder. The file is compressed: a busy server reports 25 kB of changes a
/// second.
pub(crate) const SERVERS_FILE: &str = "servers.jsonl.gz";

/// Writes the watched data of one trial. Each call appends one whole line, so that a crash of dyno loses no
/// earlier data.
#[derive(Debug)]
pub struct WatchWriter {
    folder: PathBuf,
    file: Appender,
    hosts: usize,
    servers_file: Option<ZippedAppender>,
    servers: usize,
}

impl WatchWriter {
    pub(crate) fn create(folder: &Path) -> Result<Self, RecordError> {
        Ok(Self {
            folder: folder.to_path_buf(),
            file: Appender::create(&folder.join(FILE))?,
            hosts: 0,
            servers_file: None,
            servers: 0,
        })
    }

    /// Declares a host before its readings. Returns its number.
    ///
    /// # Errors
    /// When the line cannot be written, for example on a full disk.
    pub fn host(&mut self, host: &Host) -> Result<usize, RecordError> {
        self.write(&WatchLine::Host(host.clone()))?;
        self.hosts += 1;
        Ok(self.hosts - 1)
    }

    /// Adds a reading of a declared host.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn reading(&mut self, host: usize, reading: &HostReading) -> Result<(), RecordError> {
        self.write(&WatchLine::Reading { host, reading: Box::new(reading.clone()) })
    }

    /// Adds the kinds of servers whose metrics are collected.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn server_kinds(&mut self, kinds: Vec<ServerKind>) -> Result<(), RecordError> {
        self.append_line(&WatchLine::ServerKinds { kinds })
    }

    /// Declares a server before its answers. Returns its number. A password in its URL is scrubbed.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn server(&mut self, server: &Server) -> Result<usize, RecordError> {
        let url = scrub(&server.url);
        self.append_line(&WatchLine::Server(Server { url, ..server.clone() }))?;
        self.servers += 1;
        Ok(self.servers - 1)
    }

    /// Adds an answer of a declared server.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn answer(&mut self, server: usize, answer: &Answer) -> Result<(), RecordError> {
        self.append_line(&WatchLine::answer(server, answer))
    }

    /// Records that a server did not answer.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn gap(&mut self, server: usize, gap: &Gap) -> Result<(), RecordError> {
        let gap = Gap { at_ns: gap.at_ns, reason: scrub(&gap.reason) };
        self.append_line(&WatchLine::Gap { server, gap })
    }

    /// Adds TCP statistics of dyno's connections to the system.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn connections(&mut self, reading: &ConnectionsReading) -> Result<(), RecordError> {
        self.write(&WatchLine::Connections(*reading))
    }

    /// Records why TCP statistics of dyno's connections are missing.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn no_connections(&mut self, reason: &str) -> Result<(), RecordError> {
        self.write(&WatchLine::NoConnections { reason: scrub(reason) })
    }

    /// Waits until everything is on the disk.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(self) -> Result<(), RecordError> {
        self.servers_file.map_or(Ok(()), ZippedAppender::finish)?;
        self.file.sync()
    }

    fn append_line(&mut self, line: &WatchLine) -> Result<(), RecordError> {
        let file = match &mut self.servers_file {
            Some(file) => file,
            none => none.insert(ZippedAppender::create(self.folder.join(SERVERS_FILE))?),
        };
        file.append(line.text().as_bytes())
    }

    fn write(&mut self, line: &WatchLine) -> Result<(), RecordError> {
        self.file.append(line.text().as_bytes())
    }
}

#[cfg(test)]
mod tests;

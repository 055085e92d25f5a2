//! Opens and reads the files of a record. A record can come from anybody, so memory is bounded, whatever the
//! files hold, and nothing is read from a device or a pipe.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;

use crate::RecordError;

/// The longest file that is read as a whole, bytes. The trial.json of 100,000 clients that all failed has 20 MB.
const WHOLE_MAX: u64 = 32 << 20;

/// The longest line, bytes. The first answer of a server with 10,000 metrics has 2 MB.
const LINE_MAX: usize = 16 << 20;

/// Opens a file; `None` when there is none.
pub(crate) fn open(path: &Path) -> Result<Option<File>, RecordError> {
    // To open a pipe would wait for its writer.
    let file = File::options().read(true).custom_flags(OFlag::O_NONBLOCK.bits()).open(path);
    let file = match file {
        Ok(file) => file,
        Err(cause) if matches!(cause.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(cause) => return Err(RecordError::io("read", path, cause)),
    };
    match file.metadata() {
        Ok(metadata) if metadata.is_file() => Ok(Some(file)),
        Ok(_) => Err(RecordError::malformed(path, 0, "it is no regular file")),
        Err(cause) => Err(RecordError::io("read", path, cause)),
    }
}

/// The bytes of a file; `None` when there is none.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>, RecordError> {
    let Some(file) = open(path)? else { return Ok(None) };
    let mut bytes = Vec::new();
    let read = file.take(WHOLE_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|cause| RecordError::io("read", path, cause))?;
    if bytes.len() as u64 > WHOLE_MAX {
        return Err(RecordError::malformed(path, 0, format!("it has more than {WHOLE_MAX} bytes")));
    }
    Ok(Some(bytes))
}

/// The bytes of a view beside a record; `None` when there is none that can be read.
pub fn read_view(path: &Path) -> Option<Vec<u8>> {
    read(path).ok().flatten()
}

/// Reads the complete lines of a text one after the other.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    path: PathBuf,
    text: R,
    line: Vec<u8>,
    number: usize,
    /// How many more bytes the text may have.
    bytes_left: u64,
}

impl Lines<Box<dyn BufRead>> {
    /// The lines of a file; none when there is no file.
    pub(crate) fn of_file(path: &Path) -> Result<Self, RecordError> {
        let text: Box<dyn BufRead> = match open(path)? {
            Some(file) => Box::new(BufReader::new(file)),
            None => Box::new(io::empty()),
        };
        Ok(Self::new(path, text, u64::MAX))
    }
}

impl<R: BufRead> Lines<R> {
    /// The lines of a text of the file at `path`, which may have `bytes_max` bytes.
    pub(crate) fn new(path: &Path, text: R, bytes_max: u64) -> Self {
        let (path, bytes_left) = (path.to_path_buf(), bytes_max);
        Self { path, text, line: Vec::new(), number: 0, bytes_left }
    }

    /// The next line that is not empty, without its end; `None` after the last one. Anything after the last end of
    /// line was broken off by a crash.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, RecordError> {
        loop {
            self.line.clear();
            let max = self.bytes_left.min(LINE_MAX as u64);
            let read = (&mut self.text).take(max + 1).read_until(b'\n', &mut self.line);
            match read {
                // How a cut compressed text ends.
                Err(cause) if cause.kind() == ErrorKind::UnexpectedEof => self.line.clear(),
                Err(cause) => return Err(self.damaged_after(cause.to_string())),
                Ok(_) => {}
            }
            if self.line.len() as u64 > max {
                let reason = match self.bytes_left > LINE_MAX as u64 {
                    true => format!("the line has more than {LINE_MAX} bytes"),
                    false => "the file unpacks to far more than a run can have written".to_owned(),
                };
                return Err(self.damaged_after(reason));
            }
            self.bytes_left -= self.line.len() as u64;
            if self.line.pop() != Some(b'\n') {
                return Ok(None);
            }
            self.number += 1;
            if !self.line.is_empty() {
                return Ok(Some(&self.line));
            }
        }
    }

    /// Damage in the line that was read last.
    pub(crate) fn damaged(&self, what: impl Into<String>) -> RecordError {
        RecordError::malformed(&self.path, self.number, what)
    }

    /// Damage in the line after the one that was read last.
    pub(crate) fn damaged_after(&self, what: impl Into<String>) -> RecordError {
        RecordError::malformed(&self.path, self.number + 1, what)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use nix::sys::stat::Mode;

    use super::*;

    #[test]
    fn pipes_devices_and_folders_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        nix::unistd::mkfifo(&pipe, Mode::S_IRWXU).unwrap();
        for path in [&pipe, Path::new("/dev/zero"), folder.path()] {
            let error = read(path).unwrap_err().to_string();
            assert!(error.ends_with("is damaged: it is no regular file"), "{error}");
        }
        assert_eq!(read(&folder.path().join("missing")).unwrap(), None);
    }

    #[test]
    fn endless_files_and_lines_are_read_to_a_bound() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sparse");
        // A terabyte of zeros, which takes no room on the disk.
        fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(error.ends_with("it has more than 33554432 bytes"), "{error}");
        let mut lines = Lines::of_file(&path).unwrap();
        let error = lines.next().unwrap_err().to_string();
        assert!(error.contains("at line 1: the line has more than 16777216 bytes"), "{error}");
        assert!(lines.line.capacity() <= 2 * LINE_MAX + 2, "{}", lines.line.capacity());
    }

    #[test]
    fn whole_lines_are_numbered_and_a_broken_one_does_not_count() {
        let mut lines = Lines::new(Path::new("x"), &b"one\n\nthree\nfou"[..], u64::MAX);
        assert_eq!(lines.next().unwrap(), Some(&b"one"[..]));
        assert_eq!(lines.next().unwrap(), Some(&b"three"[..]));
        assert!(lines.damaged("y").to_string().contains("at line 3"));
        assert_eq!(lines.next().unwrap(), None);
        // The bound on all lines together.
        let mut lines = Lines::new(Path::new("x"), &b"one\ntwo\nthree\n"[..], 8);
        assert!(lines.next().unwrap().is_some() && lines.next().unwrap().is_some());
        assert!(lines.next().unwrap_err().to_string().contains("at line 3: the file unpacks"));
    }
}

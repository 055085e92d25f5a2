//! A file of whole lines that is compressed (gzip) as it grows, and is readable up to any cut.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use crate::RecordError;
use crate::files::Appender;

/// Appends to a file. After each append, everything so far can be read.
#[derive(Debug)]
pub(crate) struct ZippedAppender {
    path: PathBuf,
    file: Appender,
    encoder: GzEncoder<Vec<u8>>,
}

impl ZippedAppender {
    /// Creates a file that must not exist yet.
    pub(crate) fn create(path: PathBuf) -> Result<Self, RecordError> {
        let file = Appender::create(path.clone())?;
        Ok(Self { path, file, encoder: GzEncoder::new(Vec::new(), Compression::default()) })
    }

    /// Appends whole lines. Earlier lines improve their compression.
    pub(crate) fn append(&mut self, lines: &[u8]) -> Result<(), RecordError> {
        let zipped = self.encoder.write_all(lines).and_then(|()| self.encoder.flush());
        self.hand_on(zipped)
    }

    /// Ends the file, and waits until everything is on the disk.
    pub(crate) fn finish(mut self) -> Result<(), RecordError> {
        let ended = self.encoder.try_finish();
        self.hand_on(ended)?;
        self.file.sync()
    }

    fn hand_on(&mut self, zipped: std::io::Result<()>) -> Result<(), RecordError> {
        zipped.map_err(|cause| RecordError::io("write", &self.path, cause))?;
        let bytes = std::mem::take(self.encoder.get_mut());
        self.file.append(&bytes)
    }
}

/// Passes each whole line of a compressed text to `take`, with its number from 1. A cut ends the text.
///
/// # Errors
/// When the text is damaged in another way than by a cut, and the first error of `take`.
pub(crate) fn each_line(
    path: &Path,
    zipped: impl Read,
    mut take: impl FnMut(usize, &[u8]) -> Result<(), RecordError>,
) -> Result<(), RecordError> {
    let mut text = BufReader::new(GzDecoder::new(zipped));
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        match text.read_until(b'\n', &mut line) {
            Ok(_) if line.pop() == Some(b'\n') => take(number, &line)?,
            Ok(_) => break,
            Err(cause) if cause.kind() == ErrorKind::UnexpectedEof => break,
            Err(cause) => return Err(RecordError::malformed(path, number, cause.to_string())),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn read(bytes: &[u8]) -> Result<Vec<String>, RecordError> {
        let mut lines = Vec::new();
        each_line(Path::new("x.gz"), bytes, |number, line| {
            lines.push(format!("{number} {}", String::from_utf8_lossy(line)));
            Ok(())
        })?;
        Ok(lines)
    }

    #[test]
    fn a_truncated_log_keeps_all_complete_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.gz");
        let mut file = ZippedAppender::create(path.clone()).unwrap();
        let mut whole_at = vec![0];
        for number in 0..30 {
            file.append(format!("{number} {}\n", "0,1,".repeat(number)).as_bytes()).unwrap();
            // The file's length after a crash at this point.
            whole_at.push(fs::read(&path).unwrap().len());
        }
        file.finish().unwrap();
        let bytes = fs::read(&path).unwrap();
        let all = read(&bytes).unwrap();
        assert_eq!(all.len(), 30);
        assert_eq!(all[2], "3 2 0,1,0,1,");
        for length in 0..=bytes.len() {
            let lines = read(&bytes[..length]).unwrap();
            assert_eq!(lines, all[..lines.len()]);
            let appended = whole_at.iter().filter(|at| **at <= length).count() - 1;
            assert!(lines.len() >= appended, "{} of {appended} at {length}", lines.len());
        }
    }

    #[test]
    fn invalid_compressed_data_is_reported_as_damage() {
        let error = read(b"{\"what\":\"gap\"}\n").unwrap_err();
        assert!(matches!(error, RecordError::Malformed { .. }), "{error}");
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(b"one\ntwo\n").unwrap();
        let mut bytes = encoder.finish().unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0xff;
        assert!(matches!(read(&bytes).unwrap_err(), RecordError::Malformed { .. }));
    }
}

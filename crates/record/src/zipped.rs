//! A file of whole lines that is compressed (gzip) as it grows, and is readable up to any cut.

use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use crate::RecordError;
use crate::files::Appender;
use crate::input::Lines;

/// The most bytes of text for each compressed byte, beyond [`TEXT_MIN`]. Lines of servers take a fifth to a twentieth
/// of their text; a thousandth is possible.
const TEXT_PER_BYTE: u64 = 64;
/// Every file may unpack to as much.
const TEXT_MIN: u64 = 16 << 20;

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
        let file = Appender::create(&path)?;
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

/// The whole lines of a compressed text of `length` bytes. A cut ends the text.
pub(crate) fn lines(
    path: &Path,
    zipped: impl Read,
    length: u64,
) -> Lines<BufReader<GzDecoder<impl Read>>> {
    let text = BufReader::new(GzDecoder::new(zipped));
    Lines::new(path, text, most(length))
}

/// The most bytes of text that a file of `length` bytes may unpack to.
pub(crate) fn most(length: u64) -> u64 {
    length.saturating_mul(TEXT_PER_BYTE).max(TEXT_MIN)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn read(bytes: &[u8]) -> Result<Vec<String>, RecordError> {
        let mut lines = lines(Path::new("x.gz"), bytes, bytes.len() as u64);
        let mut texts = Vec::new();
        while let Some(line) = lines.next()? {
            texts.push(String::from_utf8_lossy(line).into_owned());
        }
        Ok(texts)
    }

    /// The error for a text of `length` times the same byte, and how much of it is compressed.
    fn bomb(byte: u8, length: usize) -> (String, usize) {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&vec![byte; length]).unwrap();
        let bytes = encoder.finish().unwrap();
        (read(&bytes).unwrap_err().to_string(), bytes.len())
    }

    #[test]
    fn a_small_file_cannot_unpack_to_gigabytes() {
        let (error, length) = bomb(b' ', 20 << 20);
        assert!(length < 30_000 && error.contains("at line 1: "), "{length} {error}");
        // Lines that are empty are not kept, but take time.
        let (error, length) = bomb(b'\n', 20 << 20);
        assert!(length < 30_000 && error.contains("at line 16777217: the file unpacks"), "{error}");
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
        assert_eq!(all[2], "2 0,1,0,1,");
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

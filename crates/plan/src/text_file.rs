//! Reads text files that people write: plans, options, properties, scripts. A file that is much longer is another file,
//! or a device without an end.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

/// The longest such file, bytes.
const BYTES_MAX: u64 = 16 << 20;

/// The text of a file.
///
/// # Errors
/// When it cannot be read, is not UTF-8, or has more than 16 MiB.
pub fn read_text(path: &Path) -> io::Result<String> {
    let not_utf8 = "stream did not contain valid UTF-8";
    String::from_utf8(read_bytes(path)?)
        .map_err(|_| io::Error::new(ErrorKind::InvalidData, not_utf8))
}

/// The same of a file whose bytes need not be UTF-8: those that are not are replaced, such as those of a comment in an
/// older encoding.
///
/// # Errors
/// When it cannot be read, or has more than 16 MiB.
pub fn read_text_lossy(path: &Path) -> io::Result<String> {
    let bytes = read_bytes(path)?;
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(io::Error::new(ErrorKind::FileTooLarge, "it has more than 16 MiB"));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_end_is_refused() {
        let error = read_text(Path::new("/dev/zero")).unwrap_err();
        assert_eq!(error.to_string(), "it has more than 16 MiB");
        assert_eq!(read_text(Path::new("/dev/null")).unwrap(), "");
        let missing = read_text(Path::new("/nowhere/at/all")).unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::NotFound);
    }
}

//! Finds `.proto` files and reads their text.

use std::ffi::OsStr;
use std::fs::File as OpenFile;
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use protox::Error;
use protox::file::{File, FileResolver, GoogleFileResolver};

use super::edition;
use super::fault::SchemaFault;
use super::reflection::without_imports;

/// The longest file that is read, bytes.
const BYTES_MAX: u64 = 16 << 20;
/// The folder of the files that are always there. protoc's own folder of them may be newer than what can be read.
const GOOGLE: &str = "google/protobuf/";
/// What the files end with that declare features of languages.
const FEATURES: &str = "_features.proto";

/// The folders in which imports are searched, in this order.
pub(super) struct Folders(Vec<PathBuf>);

impl Folders {
    /// The folders of `includes`, and the file's own.
    pub(super) fn of(file: &Path, includes: &[PathBuf]) -> Result<Self, SchemaFault> {
        if let Some(absent) = includes.iter().find(|folder| !folder.is_dir()) {
            let fault = format!("the folder {} of `proto_path` is not there", absent.display());
            return Err(SchemaFault::Proto(fault));
        }
        let own = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let own = own.unwrap_or(Path::new(".")).to_owned();
        Ok(Self(includes.iter().cloned().chain([own]).collect()))
    }

    /// The name by which others import this file: its path within the first folder that it is in.
    pub(super) fn name_of(&self, file: &Path) -> Result<String, SchemaFault> {
        let names = self.0.iter().filter_map(|folder| file.strip_prefix(folder).ok());
        let name =
            names.map(Path::to_path_buf).next().or_else(|| file.file_name().map(PathBuf::from));
        let name = name.unwrap_or_default();
        let first = self.0.iter().map(|folder| folder.join(&name)).find(|path| path.is_file());
        match first {
            Some(first) if !is_same(&first, file) => Err(SchemaFault::Proto(format!(
                "{} is hidden by {}, which is found first",
                file.display(),
                first.display()
            ))),
            _ => Ok(name.to_string_lossy().into_owned()),
        }
    }

    /// The folders for a message.
    pub(super) fn shown(&self) -> String {
        let shown: Vec<String> = self.0.iter().map(|folder| folder.display().to_string()).collect();
        shown.join(", ")
    }
}

fn is_same(one: &Path, other: &Path) -> bool {
    one == other
        || one.canonicalize().ok().is_some_and(|one| other.canonicalize().ok() == Some(one))
}

impl FileResolver for Folders {
    fn open_file(&self, name: &str) -> Result<File, Error> {
        if name.starts_with(GOOGLE)
            && let Ok(file) = GoogleFileResolver::new().open_file(name)
        {
            return Ok(file);
        }
        for folder in &self.0 {
            match bytes_of(&folder.join(name)) {
                Ok(bytes) => return read(name, bytes),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => {
                    let place = folder.join(name);
                    return Err(Error::new(format!("cannot read {}: {error}", place.display())));
                }
            }
        }
        Err(Error::file_not_found(name))
    }
}

fn read(name: &str, bytes: Vec<u8>) -> Result<File, Error> {
    let text = text_of(bytes);
    let Some((_, edition)) = edition::statement(&text) else {
        return File::from_source(name, &text);
    };
    let Some(text) = edition::as_proto3(&text) else {
        return Err(Error::new(format!(
            "{name} is of edition {edition}, which dyno cannot read: only proto2, proto3 and edition 2023"
        )));
    };
    let parsed = File::from_source(name, &text).map_err(|error| {
        Error::new(format!(
            "{error:?}; if protoc accepts this file of edition 2023, `protoc --include_imports -o` writes a set that \
             dyno can read"
        ))
    })?;
    let mut file = parsed.file_descriptor_proto().clone();
    edition::apply_options(&mut file);
    let is_of_features = |name: &&String| name.starts_with(GOOGLE) && name.ends_with(FEATURES);
    let of_features: Vec<String> = file.dependency.iter().filter(is_of_features).cloned().collect();
    Ok(File::from_file_descriptor_proto(without_imports(file, &of_features)))
}

/// The bytes of a file that is not very much longer than a `.proto` file.
pub(super) fn bytes_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    OpenFile::open(path)?.take(BYTES_MAX + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > BYTES_MAX {
        true => Err(io::Error::new(ErrorKind::FileTooLarge, "it has more than 16 MiB")),
        false => Ok(bytes),
    }
}

/// The text without the mark of UTF-8 that some editors begin it with. Bytes that are not UTF-8 are mostly of comments, in
/// Latin-1.
fn text_of(bytes: Vec<u8>) -> String {
    let text = String::from_utf8(bytes)
        .unwrap_or_else(|wrong| wrong.into_bytes().iter().map(|byte| char::from(*byte)).collect());
    let latin = text.strip_prefix("\u{ef}\u{bb}\u{bf}");
    match text.strip_prefix('\u{feff}').or(latin) {
        Some(rest) => rest.to_owned(),
        None => text,
    }
}

/// Whether a file is named as one of source text, not as a set of descriptors.
pub(super) fn is_source(file: &Path) -> bool {
    file.extension() == Some(OsStr::new("proto"))
}

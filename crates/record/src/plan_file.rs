//! The files that a plan names, such as SQL or payloads: what they held when the run began.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// The texts of all files of a run together have at most so many bytes.
const TEXTS_MAX: usize = 1 << 20;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanFile {
    /// As the plan has it.
    pub name: String,
    pub bytes: u64,
    /// Hexadecimal; of the text below where there is one, so that it tells nothing of secrets in the file.
    pub sha256: String,
    /// Without its secrets. `None` for a file that is no text or has no room.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl PlanFile {
    /// Files by their names and contents; each name counts once.
    pub fn of<'a>(contents: impl Iterator<Item = (&'a str, &'a [u8])>) -> Vec<Self> {
        let mut room = TEXTS_MAX;
        let mut files: Vec<Self> = Vec::new();
        for (name, bytes) in contents {
            if files.iter().any(|file| file.name == name) {
                continue;
            }
            let text = Some(bytes).filter(|bytes| bytes.len() <= room);
            let text = text.and_then(|bytes| std::str::from_utf8(bytes).ok()).map(plan::scrub);
            let text = text.filter(|text| text.len() <= room);
            room -= text.as_ref().map_or(0, String::len);
            let hashed = text.as_ref().map_or(bytes, |text| text.as_bytes());
            let sha256 = Sha256::digest(hashed).iter().map(|byte| format!("{byte:02x}")).collect();
            files.push(Self { name: name.to_owned(), bytes: bytes.len() as u64, sha256, text });
        }
        files
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source of the hash: `printf "SELECT 1" | sha256sum`.
    #[test]
    fn small_texts_are_kept_without_secrets_and_other_files_by_their_hash() {
        let large = vec![b'x'; TEXTS_MAX];
        let contents: [(&str, &[u8]); 5] = [
            ("a.sql", b"SELECT 1"),
            ("b.bin", &[0, 255]),
            ("c.sql", b"CREATE USER x IDENTIFIED BY 'hunter22'"),
            ("d.sql", &large),
            ("a.sql", b"SELECT 2"),
        ];
        let files = PlanFile::of(contents.into_iter());
        let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["a.sql", "b.bin", "c.sql", "d.sql"]);
        assert_eq!(files[0].text.as_deref(), Some("SELECT 1"));
        assert_eq!(
            files[0].sha256,
            "e004ebd5b5532a4b85984a62f8ad48a81aa3460c1ca07701f386135d72cdecf5"
        );
        assert!([1, 3].iter().all(|at| files[*at].text.is_none()), "{files:?}");
        let text = files[2].text.as_ref().unwrap();
        assert!(text.starts_with("CREATE USER x") && !text.contains("hunter22"), "{text}");
        let of_text = PlanFile::of([("c.sql", text.as_bytes())].into_iter());
        assert_eq!(files[2].sha256, of_text[0].sha256, "the hash tells nothing of the password");
    }
}

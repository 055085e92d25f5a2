//! What a program needs of the system that it runs on: libraries, and versions of the C library's symbols.

use anyhow::{Context, ensure};

/// The oldest C library that dyno has to run with: Ubuntu 22.04's. Debian 12 has 2.36.
pub(crate) const GLIBC_MAX: Version = Version(2, 35);
/// Libraries that every system with glibc has, but for the dynamic linker.
const LIBRARIES: [&str; 3] = ["libc.so.6", "libgcc_s.so.1", "libm.so.6"];

/// A version of glibc, as far as it counts here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version(pub(crate) u32, pub(crate) u32);

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

/// What a program needs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Needed {
    pub(crate) libraries: Vec<String>,
    /// The oldest glibc that has all symbols.
    pub(crate) glibc: Version,
    /// The symbols that are as new as that.
    pub(crate) newest: Vec<String>,
}

impl Needed {
    /// Reads what `readelf --dynamic --dyn-syms --wide` prints.
    ///
    /// # Errors
    /// When it needs no symbol of glibc, or a version cannot be read.
    pub(crate) fn read(text: &str) -> anyhow::Result<Self> {
        let mut libraries: Vec<String> = text
            .lines()
            .filter(|line| line.contains("(NEEDED)"))
            .filter_map(|line| Some(line.split_once('[')?.1.split_once(']')?.0.to_owned()))
            .collect();
        libraries.sort();
        let symbols = text
            .split_whitespace()
            .filter_map(|word| word.split_once("@GLIBC_"))
            .map(|(name, version)| Some((version_of(version)?, name.to_owned())))
            .collect::<Option<Vec<_>>>()
            .context("a symbol's version cannot be read")?;
        let glibc = symbols.iter().map(|(version, _)| *version).max();
        let glibc = glibc.context("no symbol of glibc: is this a dynamic program?")?;
        let newest = symbols.into_iter().filter(|(version, _)| *version == glibc);
        let mut newest: Vec<String> = newest.map(|(_, name)| name).collect();
        newest.sort();
        newest.dedup();
        Ok(Self { libraries, glibc, newest })
    }

    /// Refuses a program that some system does not run.
    ///
    /// # Errors
    /// When a library or a version of a symbol is not on every system.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        let is_linker = |library: &str| library.starts_with("ld-linux-");
        let others: Vec<&String> = self
            .libraries
            .iter()
            .filter(|library| !LIBRARIES.contains(&library.as_str()) && !is_linker(library))
            .collect();
        ensure!(others.is_empty(), "it needs libraries that not every system has: {others:?}");
        ensure!(
            self.glibc <= GLIBC_MAX,
            "it needs glibc {}, but has to run with {GLIBC_MAX}; as new are: {}",
            self.glibc,
            self.newest.join(", ")
        );
        Ok(())
    }
}

/// Major and minor of a version such as `2.2.5`.
fn version_of(text: &str) -> Option<Version> {
    let mut parts = text.split('.').map(str::parse);
    Some(Version(parts.next()?.ok()?, parts.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "\
Dynamic section at offset 0x5b0d8 contains 28 entries:
  Tag        Type                         Name/Value
 0x0000000000000001 (NEEDED)             Shared library: [libm.so.6]
 0x0000000000000001 (NEEDED)             Shared library: [libc.so.6]
Symbol table '.dynsym' contains 4 entries:
   Num:    Value          Size Type    Bind   Vis      Ndx Name
     1: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND free@GLIBC_2.2.5 (2)
     2: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND __libc_start_main@GLIBC_2.34 (3)
     3: 0000000000000000     0 FUNC    WEAK   DEFAULT  UND gnu_get_libc_version
     4: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND pow@GLIBC_2.29 (4)
";

    #[test]
    fn the_newest_symbols_decide_on_the_oldest_library() {
        let needed = Needed::read(PROGRAM).unwrap();
        assert_eq!(
            needed,
            Needed {
                libraries: vec!["libc.so.6".to_owned(), "libm.so.6".to_owned()],
                glibc: Version(2, 34),
                newest: vec!["__libc_start_main".to_owned()],
            }
        );
        needed.check().unwrap();
    }

    #[test]
    fn a_newer_symbol_and_an_uncommon_library_are_refused() {
        let newer = PROGRAM.replace("pow@GLIBC_2.29", "arc4random@GLIBC_2.36");
        let error = Needed::read(&newer).unwrap().check().unwrap_err().to_string();
        assert_eq!(error, "it needs glibc 2.36, but has to run with 2.35; as new are: arc4random");
        let uncommon = PROGRAM.replace("libm.so.6", "libssl.so.3");
        let error = Needed::read(&uncommon).unwrap().check().unwrap_err().to_string();
        assert!(error.contains("libssl.so.3"), "{error}");
        assert!(Needed::read("no symbols").is_err());
    }
}

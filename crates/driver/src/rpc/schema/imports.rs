//! Public imports: prost-reflect follows each way through them, so that a circle would overflow the stack, and files that
//! import the same ones again and again would take it for ever.

use std::collections::{HashMap, HashSet};

use prost_reflect::prost_types::FileDescriptorProto;

/// The most imports that prost-reflect may look at, each as often as it does: a fraction of a second. A thousand files
/// that import a hundred others each have a hundred times fewer.
const LOOKS_MAX: u64 = 100_000_000;

/// Refuses files whose public imports would take too many looks.
pub(super) fn check(files: &[FileDescriptorProto]) -> Result<(), String> {
    let places: HashMap<&str, usize> =
        files.iter().zip(0..).map(|(file, place)| (file.name(), place)).collect();
    let imports: Vec<Imports> = files.iter().map(|file| Imports::of(file, &places)).collect();
    // From file to file along public imports, one step further each time: without a circle there are fewer steps than files.
    let mut looks: Vec<u64> = vec![0; files.len()];
    for _ in 0..=files.len() {
        let through = |place: &usize| looks[*place];
        let next: Vec<u64> = imports
            .iter()
            .map(|it| it.public.iter().map(through).fold(it.looks, u64::saturating_add))
            .collect();
        let all = imports.iter().flat_map(|it| &it.all).map(|place| next[*place]);
        if all.fold(0, u64::saturating_add) > LOOKS_MAX {
            break;
        }
        if next == looks {
            return Ok(());
        }
        looks = next;
    }
    Err("its files import each other in a circle, or in too many ways".to_owned())
}

/// The imports of one file, by their places among the files.
struct Imports {
    all: Vec<usize>,
    public: Vec<usize>,
    /// The file's own: for each import a look at all public ones.
    looks: u64,
}

impl Imports {
    fn of(file: &FileDescriptorProto, places: &HashMap<&str, usize>) -> Self {
        let public: HashSet<usize> =
            file.public_dependency.iter().filter_map(|at| usize::try_from(*at).ok()).collect();
        let imports = || file.dependency.iter().map(|name| places.get(&**name).copied());
        let is_public = |(at, _): &(usize, Option<usize>)| public.contains(at);
        let width = |length: usize| u64::try_from(length).unwrap_or(u64::MAX);
        Self {
            all: imports().flatten().collect(),
            public: imports()
                .enumerate()
                .filter(is_public)
                .filter_map(|(_, place)| place)
                .collect(),
            looks: width(file.dependency.len())
                .saturating_mul(width(file.public_dependency.len()).saturating_add(1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Schema;
    use super::*;

    /// Files with these names, and the places of their public imports.
    fn files(public: &[Vec<usize>]) -> Vec<FileDescriptorProto> {
        let name = |place: usize| format!("{place}.proto");
        let file = |(place, imports): (usize, &Vec<usize>)| FileDescriptorProto {
            name: Some(name(place)),
            dependency: imports.iter().map(|place| name(*place)).collect(),
            public_dependency: (0..).take(imports.len()).collect(),
            ..FileDescriptorProto::default()
        };
        public.iter().enumerate().map(file).collect()
    }

    fn schema(public: &[Vec<usize>]) -> Result<(), String> {
        Schema::of_descriptors(files(public)).map(drop).map_err(|fault| fault.to_string())
    }

    #[test]
    fn circles_of_public_imports_are_refused() {
        for circle in [vec![vec![0]], vec![vec![1], vec![0]], vec![vec![1], vec![2], vec![1]]] {
            let why = schema(&circle).unwrap_err();
            assert!(why.contains("import each other in a circle"), "{circle:?}: {why}");
        }
    }

    #[test]
    fn files_with_more_ways_than_can_be_followed_are_refused() {
        // Each file imports the next three: 3^49 ways from the first to the last.
        let next = |place: usize| (place / 3 * 3 + 3..place / 3 * 3 + 6).collect();
        let ladder: Vec<Vec<usize>> = (0..147).map(next).chain([vec![], vec![], vec![]]).collect();
        assert!(schema(&ladder).is_err());
        let twice: Vec<Vec<usize>> = (1..60).map(|next| vec![next; 3]).chain([vec![]]).collect();
        assert!(schema(&twice).is_err(), "the same import again");
        // No way further, but each of so many imports is compared with each public one.
        let mut wide = files(&[vec![], vec![0; 20_000], vec![1]]);
        assert!(check(&wide).is_err());
        wide.pop();
        assert_eq!(check(&wide), Ok(()), "nobody imports it");
    }

    #[test]
    fn files_in_a_long_row_and_a_large_usual_schema_are_read() {
        let row: Vec<Vec<usize>> = (1..1000).map(|next| vec![next]).chain([vec![]]).collect();
        assert_eq!(schema(&row), Ok(()));
        let many: Vec<Vec<usize>> =
            (0..1000).map(|place| (place / 2..place).take(50).collect()).collect();
        let mut many = files(&many);
        many.iter_mut().for_each(|file| file.public_dependency.clear());
        assert_eq!(check(&many), Ok(()));
    }
}

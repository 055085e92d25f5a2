//! The search of `cargo xtask fuzz`, which runs in place of a test. The task builds the tests so that the compiler counts
//! every edge of the program, and links libFuzzer into them.
#![expect(unsafe_code, reason = "libFuzzer is C++")]

use std::collections::HashSet;
use std::env;
use std::ffi::{CString, c_char, c_int, c_uint};
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::ptr;
use std::slice;
use std::sync::{Mutex, OnceLock, PoisonError};

use proptest::prelude::Rng as _;
use proptest::test_runner::{RngAlgorithm, TestRng};

use crate::check::Property;
use crate::parts;

/// The folder of all inputs that searches have found; set to search.
const FOLDER: &str = "DYNO_FUZZ_FOLDER";

/// An input that takes more seconds or more memory counts as a fault.
const FLAGS: [&str; 3] = ["-timeout=20", "-rss_limit_mb=4096", "-print_final_stats=1"];

type Callback = extern "C" fn(*const u8, usize) -> c_int;

unsafe extern "C" {
    /// Source: llvm.org/docs/LibFuzzer.html, "Using libFuzzer as a library".
    #[link_name = "LLVMFuzzerRunDriver"]
    fn run_driver(count: *mut c_int, flags: *mut *mut *mut c_char, callback: Callback) -> c_int;

    /// Changes some bytes.
    #[link_name = "LLVMFuzzerMutate"]
    fn change_bytes(data: *mut u8, length: usize, most: usize) -> usize;
}

static SEARCH: OnceLock<Search> = OnceLock::new();

struct Search {
    property: Property,
    corpus: Vec<Vec<u8>>,
    single_changes: Mutex<SingleChanges>,
    /// The input at hand: a process that a signal ends, as after an overflow of the stack, cannot write it any more.
    last: File,
}

/// Searches when the environment asks for it; false when it does not.
pub(crate) fn run(corpus: &[Vec<u8>], property: Property) -> bool {
    let Some(folder) = env::var_os(FOLDER) else { return false };
    search(corpus, property, Path::new(&folder));
    true
}

/// Looks for inputs that reach new edges until it is interrupted. An input that breaks the property ends the process;
/// it is written beside the folder, and the last input is always there with its length before it.
fn search(corpus: &[Vec<u8>], property: Property, folder: &Path) {
    fs::create_dir_all(folder).expect("no folder for inputs");
    for (index, input) in corpus.iter().enumerate() {
        fs::write(folder.join(format!("corpus-{index}")), input).expect("no input is written");
    }
    let last = File::create(folder.with_extension("last")).expect("no file for an input");
    let single_changes = Mutex::default();
    SEARCH.get_or_init(|| Search { property, corpus: corpus.to_vec(), single_changes, last });
    let faults = format!("-artifact_prefix={}.", folder.display());
    let folder = folder.display().to_string();
    let words = ["dyno"].into_iter().chain(FLAGS).chain([&*faults, &*folder]);
    let words: Vec<CString> =
        words.map(|word| CString::new(word).expect("a path without a zero")).collect();
    let mut flags: Vec<*mut c_char> = words.iter().map(|word| word.as_ptr().cast_mut()).collect();
    let mut count = c_int::try_from(flags.len()).expect("there are few flags");
    flags.push(ptr::null_mut());
    let mut flags = flags.as_mut_ptr();
    // SAFETY: as many pointers to texts as `count`, and a null pointer, as in the arguments of `main`; they live until
    // the end of the search.
    unsafe { run_driver(&raw mut count, &raw mut flags, check) };
}

/// A panic cannot leave a function of C, so that it ends the process, which libFuzzer takes for a fault.
extern "C" fn check(data: *const u8, length: usize) -> c_int {
    // SAFETY: libFuzzer passes this number of bytes, which nothing changes meanwhile.
    let input = unsafe { bytes(data, length) };
    if let Some(search) = SEARCH.get() {
        let kept = [&length.to_le_bytes(), input].concat();
        search.last.write_all_at(&kept, 0).expect("an input is not written");
        (search.property)(input);
    }
    0
}

/// Makes the next input of `length` bytes at `data`, where there is room for `most`: every second time one that is changed
/// by its parts, if there is a text, otherwise one that is changed by its bytes.
///
/// Source: llvm.org/docs/LibFuzzer.html, "Custom mutators".
#[unsafe(export_name = "LLVMFuzzerCustomMutator")]
extern "C" fn change(data: *mut u8, length: usize, most: usize, seed: c_uint) -> usize {
    // SAFETY: as in `check`.
    let input = unsafe { bytes(data, length) };
    let search = SEARCH.get().filter(|_| seed.is_multiple_of(2));
    let changed = search.and_then(|search| search.changed_by_parts(input, seed));
    match changed {
        Some(changed) if !changed.is_empty() && changed != input => {
            let length = changed.len().min(most);
            // SAFETY: there is room for `most` bytes, and `changed` has a place of its own.
            unsafe { ptr::copy_nonoverlapping(changed.as_ptr(), data, length) };
            length
        }
        // SAFETY: the same arguments that libFuzzer has passed.
        _ => unsafe { change_bytes(data, length, most) },
    }
}

impl Search {
    /// A change of a text by its parts: of each text that libFuzzer takes up, each single change once, in turn with changes
    /// that are drawn.
    fn changed_by_parts(&self, input: &[u8], seed: c_uint) -> Option<Vec<u8>> {
        str::from_utf8(input).ok()?;
        let mut single_changes = self.single_changes.lock().unwrap_or_else(PoisonError::into_inner);
        if (seed / 2).is_multiple_of(2)
            && let Some(changed) = single_changes.next(input)
        {
            return Some(changed);
        }
        let mut whole_seed = [0; 32];
        whole_seed[..size_of_val(&seed)].copy_from_slice(&seed.to_le_bytes());
        let mut random = TestRng::from_seed(RngAlgorithm::ChaCha, &whole_seed);
        let draw = &mut |below| random.next_u32() as usize % below;
        Some(parts::change(input, &self.corpus, draw))
    }
}

/// The single changes of one text after the other.
#[derive(Default)]
struct SingleChanges {
    /// What is left of the present text.
    left: Option<Box<dyn Iterator<Item = Vec<u8>> + Send>>,
    /// The texts until now.
    known: HashSet<Vec<u8>>,
}

impl SingleChanges {
    /// The next change of the present text, or the first one of `input` if that is new.
    fn next(&mut self, input: &[u8]) -> Option<Vec<u8>> {
        if let Some(changed) = self.left.as_mut().and_then(Iterator::next) {
            return Some(changed);
        }
        let is_new = self.known.insert(input.to_vec());
        self.left = is_new.then(|| Box::new(parts::each_change(input.to_vec())) as _);
        self.left.as_mut()?.next()
    }
}

/// # Safety
/// At `data` are `length` bytes, which nothing changes while the slice is used.
unsafe fn bytes<'a>(data: *const u8, length: usize) -> &'a [u8] {
    // The pointer of no bytes may be null.
    if length == 0 { &[] } else { unsafe { slice::from_raw_parts(data, length) } }
}

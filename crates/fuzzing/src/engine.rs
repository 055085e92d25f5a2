//! The tasks of `cargo xtask fuzz`, which run in place of a test. It builds the tests so that the compiler counts every
//! edge of the program, and links libFuzzer into them.
#![expect(unsafe_code, reason = "libFuzzer and the counters of the compiler are C")]

use std::env;
use std::ffi::{CString, c_char, c_int};
use std::fs;
use std::path::{Path, PathBuf};
use std::ptr;
use std::slice;
use std::sync::OnceLock;

use crate::corpus;

/// What to do: `search` or `keep`.
const TASK: &str = "DYNO_FUZZ_TASK";
/// The folder of all inputs that searches have found.
const FOLDER: &str = "DYNO_FUZZ_FOLDER";

/// An input that takes more seconds or more memory counts as a fault.
const FLAGS: [&str; 3] = ["-timeout=20", "-rss_limit_mb=4096", "-print_final_stats=1"];

type Callback = extern "C" fn(*const u8, usize) -> c_int;

unsafe extern "C" {
    /// Source: llvm.org/docs/LibFuzzer.html, "Using libFuzzer as a library".
    #[link_name = "LLVMFuzzerRunDriver"]
    fn run_driver(count: *mut c_int, flags: *mut *mut *mut c_char, callback: Callback) -> c_int;
    /// The counters of all edges, from the first to the end. Source: clang.llvm.org/docs/SanitizerCoverage.html,
    /// "Inline 8bit-counters"; the linker marks both ends of the section.
    #[link_name = "__start___sancov_cntrs"]
    static mut FIRST_COUNTER: u8;
    #[link_name = "__stop___sancov_cntrs"]
    static mut END_OF_COUNTERS: u8;
}

static PROPERTY: OnceLock<fn(&[u8])> = OnceLock::new();

/// Runs the task that the environment asks for; false when it asks for none.
pub(crate) fn run(target: &str, corpus: &[Vec<u8>], property: fn(&[u8])) -> bool {
    let Ok(task) = env::var(TASK) else { return false };
    let folder = PathBuf::from(env::var_os(FOLDER).unwrap_or_default());
    match &*task {
        "search" => search(corpus, property, &folder),
        "keep" => keep(target, corpus, property, &folder),
        _ => panic!("{TASK} is `{task}`, not search or keep"),
    }
    true
}

/// Looks for inputs that reach new edges until it is interrupted. An input that breaks the property ends the process;
/// it is written into the folder's parent.
fn search(corpus: &[Vec<u8>], property: fn(&[u8]), folder: &Path) {
    fs::create_dir_all(folder).expect("no folder for inputs");
    for (index, input) in corpus.iter().enumerate() {
        fs::write(folder.join(format!("corpus-{index}")), input).expect("no input is written");
    }
    PROPERTY.get_or_init(|| property);
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
    let input = match length {
        0 => &[],
        // SAFETY: libFuzzer passes this number of bytes, which nothing changes meanwhile.
        _ => unsafe { slice::from_raw_parts(data, length) },
    };
    if let Some(property) = PROPERTY.get() {
        property(input);
    }
    0
}

/// Adds inputs of the folder to the target's corpus: the shortest ones that reach an edge that no input before them
/// reaches.
fn keep(target: &str, corpus: &[Vec<u8>], property: fn(&[u8]), folder: &Path) {
    let mut is_reached = vec![false; counters().len()];
    let mut reaches_more = |input: &Vec<u8>| {
        clear_counters();
        property(input);
        let counters = counters();
        let mut more = false;
        for (is_reached, counter) in is_reached.iter_mut().zip(counters) {
            more |= counter > 0 && !*is_reached;
            *is_reached |= counter > 0;
        }
        more
    };
    // Twice, because some edges are of what is made once.
    for input in corpus.iter().chain(corpus) {
        reaches_more(input);
    }
    let files = fs::read_dir(folder).expect("no folder with inputs").flatten();
    let mut found: Vec<Vec<u8>> = files.flat_map(|file| fs::read(file.path())).collect();
    found.sort_by(|one, other| (one.len(), one).cmp(&(other.len(), other)));
    found.retain(reaches_more);
    corpus::add(target, &found).expect("the corpus is not written");
}

/// What the counters of all edges have counted.
fn counters() -> Vec<u8> {
    let (first, length) = place_of_counters();
    let mut counters = vec![0; length];
    // SAFETY: the linker places this number of counters there; only this thread runs code that changes them.
    unsafe { ptr::copy_nonoverlapping(first, counters.as_mut_ptr(), length) };
    counters
}

fn clear_counters() {
    let (first, length) = place_of_counters();
    // SAFETY: as above.
    unsafe { ptr::write_bytes(first, 0, length) };
}

/// The first counter, and how many there are.
fn place_of_counters() -> (*mut u8, usize) {
    let (first, end) = (&raw mut FIRST_COUNTER, &raw const END_OF_COUNTERS);
    (first, end.addr() - first.addr())
}

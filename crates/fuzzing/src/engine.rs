//! The search of `cargo xtask fuzz`, which runs in place of a test. The task builds the tests so that the compiler counts
//! every edge of the program, and links libFuzzer into them.
#![expect(unsafe_code, reason = "libFuzzer is C++")]

use std::env;
use std::ffi::{CString, c_char, c_int};
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::ptr;
use std::slice;
use std::sync::OnceLock;

/// The folder of all inputs that searches have found; set to search.
const FOLDER: &str = "DYNO_FUZZ_FOLDER";

/// An input that takes more seconds or more memory counts as a fault.
const FLAGS: [&str; 3] = ["-timeout=20", "-rss_limit_mb=4096", "-print_final_stats=1"];

type Callback = extern "C" fn(*const u8, usize) -> c_int;

unsafe extern "C" {
    /// Source: llvm.org/docs/LibFuzzer.html, "Using libFuzzer as a library".
    #[link_name = "LLVMFuzzerRunDriver"]
    fn run_driver(count: *mut c_int, flags: *mut *mut *mut c_char, callback: Callback) -> c_int;
}

/// The property, and a file for the input at hand: a process that a signal ends, as after an overflow of the stack, cannot
/// write it any more.
static SEARCH: OnceLock<(fn(&[u8]), File)> = OnceLock::new();

/// Searches when the environment asks for it; false when it does not.
pub(crate) fn run(corpus: &[Vec<u8>], property: fn(&[u8])) -> bool {
    let Some(folder) = env::var_os(FOLDER) else { return false };
    search(corpus, property, Path::new(&folder));
    true
}

/// Looks for inputs that reach new edges until it is interrupted. An input that breaks the property ends the process;
/// it is written beside the folder, and the last input is always there with its length before it.
fn search(corpus: &[Vec<u8>], property: fn(&[u8]), folder: &Path) {
    fs::create_dir_all(folder).expect("no folder for inputs");
    for (index, input) in corpus.iter().enumerate() {
        fs::write(folder.join(format!("corpus-{index}")), input).expect("no input is written");
    }
    let last = File::create(folder.with_extension("last")).expect("no file for an input");
    SEARCH.get_or_init(|| (property, last));
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
    if let Some((property, last)) = SEARCH.get() {
        let kept = [&length.to_le_bytes(), input].concat();
        last.write_all_at(&kept, 0).expect("an input is not written");
        property(input);
    }
    0
}

//! The search of `cargo xtask fuzz`, which runs in place of a test. The task builds the tests so that the compiler counts
//! every edge of the program, and links libFuzzer into them.
#![expect(unsafe_code, reason = "libFuzzer is C++")]

use std::env;
use std::ffi::{CString, c_char, c_int};
use std::fs;
use std::path::Path;
use std::ptr;
use std::slice;
use std::sync::OnceLock;

use crate::check::Property;

/// The folder of the inputs that searches have found; set to search.
const INPUTS: &str = "DYNO_FUZZ_INPUTS";
/// The folder for inputs that break the property, and the length of the search.
const FAULTS: &str = "DYNO_FUZZ_FAULTS";
const SECONDS: &str = "DYNO_FUZZ_SECONDS";

/// An input that takes more seconds or more memory counts as a fault.
const FLAGS: [&str; 3] = ["-timeout=20", "-rss_limit_mb=4096", "-print_final_stats=1"];

type Callback = extern "C" fn(*const u8, usize) -> c_int;

unsafe extern "C" {
    /// Source: llvm.org/docs/LibFuzzer.html, "Using libFuzzer as a library".
    #[link_name = "LLVMFuzzerRunDriver"]
    fn run_driver(count: *mut c_int, flags: *mut *mut *mut c_char, callback: Callback) -> c_int;
}

static PROPERTY: OnceLock<Property> = OnceLock::new();

/// Searches when the environment asks for it; false when it does not. libFuzzer ends the process at the end.
///
/// # Panics
/// When a folder cannot be written.
pub(crate) fn run(corpus: &[Vec<u8>], property: Property) -> bool {
    let Ok(inputs) = env::var(INPUTS) else { return false };
    let [faults, seconds] = [FAULTS, SECONDS].map(|name| env::var(name).unwrap_or_default());
    fs::create_dir_all(&inputs).expect("no folder for inputs");
    for (index, input) in corpus.iter().enumerate() {
        let file = Path::new(&inputs).join(format!("corpus-{index}"));
        fs::write(file, input).expect("no input is written");
    }
    PROPERTY.get_or_init(|| property);
    let own = [format!("-artifact_prefix={faults}/"), format!("-max_total_time={seconds}"), inputs];
    let words = ["dyno"].into_iter().chain(FLAGS).chain(own.iter().map(String::as_str));
    let words: Vec<CString> =
        words.map(|word| CString::new(word).expect("a path without a zero")).collect();
    let mut flags: Vec<*mut c_char> = words.iter().map(|word| word.as_ptr().cast_mut()).collect();
    let mut count = c_int::try_from(flags.len()).expect("there are few flags");
    flags.push(ptr::null_mut());
    let mut flags = flags.as_mut_ptr();
    // SAFETY: as many pointers to texts as `count`, and a null pointer, as in the arguments of `main`; they live until
    // the end of the search.
    unsafe { run_driver(&raw mut count, &raw mut flags, check) };
    true
}

/// A panic cannot leave a function of C, so that it ends the process, which libFuzzer takes for a fault.
extern "C" fn check(data: *const u8, length: usize) -> c_int {
    // The pointer of no bytes may be null.
    // SAFETY: libFuzzer passes this number of bytes, which nothing changes meanwhile.
    let input = if length == 0 { &[] } else { unsafe { slice::from_raw_parts(data, length) } };
    if let Some(property) = PROPERTY.get() {
        property(input);
    }
    0
}

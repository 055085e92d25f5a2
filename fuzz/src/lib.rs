//! Only the build of libFuzzer, in the build script of `libfuzzer-sys`, is used.

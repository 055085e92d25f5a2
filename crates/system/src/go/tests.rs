//! Builds a small program with the installed Go.

use std::ops::ControlFlow;

use super::*;

/// The output of `go` when it builds a module of one file.
fn build(
    source: &str,
    listener: &mut ProgressListener<'_>,
) -> (anyhow::Result<()>, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("go.mod"), "module example.test/small\n\ngo 1.21\n").unwrap();
    fs::write(path("main.go"), source).unwrap();
    let build = Build {
        name: "a small program",
        module: folder.path(),
        package: ".",
        toolchain: "local",
        arguments: &["-trimpath".to_owned()],
        environment: &[],
        output: &path("small"),
        log: &path("build.log"),
    };
    let built = Go::find("local", &mut ignore_progress).unwrap().build(&build, listener);
    (built, folder)
}

#[test]
fn a_build_reports_its_progress() {
    let mut last = 0;
    let mut look = |step: ProgressEvent<'_>| {
        if let ProgressEvent::Stage { name: "building a small program", total, .. } = step {
            last = total;
        }
        ControlFlow::Continue(())
    };
    let (built, folder) =
        build("package main\n\nimport _ \"net/http\"\n\nfunc main() { println(7) }\n", &mut look);
    built.unwrap();
    let said = crate::process::command(folder.path().join("small")).output().unwrap();
    assert_eq!(said.stderr, b"7\n");
    assert!(last == 0 || last > 50, "net/http alone needs more than {last} packages");
}

#[test]
fn compiler_errors_are_shown() {
    let mut look = |_: ProgressEvent<'_>| ControlFlow::Continue(());
    let (built, _folder) = build("package main\n\nfunc main() { nowhere() }\n", &mut look);
    let error = built.unwrap_err().to_string();
    assert!(error.contains("building a small program failed (exit status: 1)"), "{error}");
    assert!(error.contains("undefined: nowhere"), "{error}");
}

#[test]
fn a_listener_can_abort_a_build() {
    let mut look = |_: ProgressEvent<'_>| ControlFlow::Break(());
    let (built, _folder) = build("package main\n\nfunc main() {}\n", &mut look);
    // On a fast machine the build ends before the first check.
    if let Err(error) = built {
        assert!(error.to_string().starts_with("interrupted while "), "{error}");
    }
}

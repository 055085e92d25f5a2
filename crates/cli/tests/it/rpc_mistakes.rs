//! What is wrong with a plan of calls is told before anything starts: all of it, in a dry run too, and without a secret.

use std::fs;

use crate::sandbox::{Sandbox, both};
use crate::secrets::files_below;

const PROTO: &str = "syntax = \"proto3\";\npackage a;\n\
    service Greeter { rpc Say(Hello) returns (Hello); rpc Chat(stream Hello) returns (Hello); }\n\
    message Hello { string text = 1; }\n";

#[test]
fn every_mistake_of_calls_is_told_at_once_and_before_anything_starts() {
    let sandbox = Sandbox::new();
    sandbox.file("a.proto", PROTO);
    let workload = |name: &str, method: &str, options: &str| {
        format!(
            "[workloads.{name}]\nkind = \"rpc\"\nmethod = \"a.Greeter/{method}\"\nproto = \"a.proto\"\n{options}\n"
        )
    };
    let workloads = [
        workload("right", "Say", "message = '{\"text\": \"x\"}'"),
        workload("streaming", "Chat", "message = '{}'"),
        workload("field", "Say", "message = '{\"test\": 1}'"),
        workload("unknown", "Sya", "message = '{}'"),
        workload("header", "Say", "message = '{}'\nmetadata = [\"a(b)=1\"]"),
        workload("reserved", "Say", "message = '{}'\nmetadata = [\"te: gzip\"]"),
    ];
    let plan = format!(
        "[systems.service]\nurl = \"grpc://127.0.0.1:1/a.Greeter/Say\"\n{}[load]\ntime = \"1s\"\n",
        workloads.concat()
    );
    sandbox.file("plan.toml", &plan);
    for more in [&["--dry-run"][..], &[]] {
        let output = sandbox.dyno(["run", "plan.toml"]).args(more).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", both(&output));
        let told = String::from_utf8(output.stderr).unwrap();
        for wrong in [
            "a.Greeter/Chat is a streaming method",
            "unrecognized field name 'test'",
            "has no method `Sya`; did you mean `Say`?",
            "the metadata key `a(b)` cannot be the name of an HTTP header",
            "the metadata key `te` is one that gRPC and HTTP/2 set themselves",
        ] {
            assert!(told.contains(wrong), "{wrong}: {told}");
        }
    }
}

#[test]
fn what_a_service_lacks_is_told_before_anything_starts() {
    let sandbox = Sandbox::new();
    sandbox.file("empty.pem", "");
    let missing = "--system-option=ssl_ca=missing.pem";
    let wrong: [(&str, &[&str], &str); 7] = [
        ("grpc://127.0.0.1:1", &[], "no method is named"),
        ("trpc://127.0.0.1:1", &[], "no method is named"),
        ("tcp://127.0.0.1:1", &["--option=template=${:client_id}"], "are of one size"),
        ("trpc://127.0.0.1:1/a.B/C", &["--option=message={}"], "the type of `message`"),
        ("grpc://127.0.0.1:1/a.B/C", &[missing], "missing.pem"),
        ("grpc://127.0.0.1:1/a.B/C", &["--system-option=ssl_cert=empty.pem"], "not encrypted"),
        (
            "grpc://127.0.0.1:1/a.B/C",
            &["--system-option=ssl_cert=empty.pem", "--system-option=ssl_mode=required"],
            "empty.pem",
        ),
    ];
    for (url, options, told) in wrong {
        let mut command = sandbox.dyno(["bench", "rpc", "--dry-run", "--system", url]);
        let output = command.args(options).output().unwrap();
        let text = both(&output);
        assert_eq!(output.status.code(), Some(2), "{url} {options:?}: {text}");
        assert!(text.contains(told), "{url} {options:?}: {text}");
    }
}

#[test]
fn values_of_texts_and_headers_are_taken_as_they_are() {
    let sandbox = Sandbox::new();
    for option in ["text={}", "text=true", "text=[1, 2]", "text=1,2", "hex=0010", "text=0x10"] {
        let (key, value) = option.split_once('=').unwrap();
        let mut command = sandbox.dyno(["bench", "rpc", "--time=100ms", "--system=echo"]);
        let output = command.args(["--warm-up=0s", "--option", option]).output().unwrap();
        assert!(output.status.success(), "{option}: {}", both(&output));
        let run = sandbox.runs().pop().unwrap();
        let plan = fs::read_to_string(run.join("plan.toml")).unwrap();
        assert!(plan.contains(&format!("{key} = \"{value}\"\n")), "{option}: {plan}");
    }
}

#[test]
fn a_credential_in_a_header_is_in_no_message_and_in_no_file() {
    const SECRET: &str = "YWRtaW46aHVudGVyMg==";
    for header in [
        format!("authorization: Basic {SECRET}"),
        format!("Authorization=Bearer {SECRET}"),
        format!("session-id={SECRET}"),
        format!("jwt: {SECRET}"),
        format!("x-auth={SECRET}"),
        format!("x-api-key:{SECRET}"),
        // No key and value.
        format!("authorization Basic {SECRET}"),
    ] {
        for scheme in ["grpc", "trpc"] {
            let sandbox = Sandbox::new();
            let metadata = format!("metadata={header}");
            let url = format!("{scheme}://127.0.0.1:1/a.B/C");
            let mut command = sandbox.dyno(["bench", "rpc", "--time=1s", "--system", &url]);
            command.args(["-o", &metadata, "-o", "metadata=x-trace=1"]);
            let output = command.output().unwrap();
            assert!(!output.status.success());
            assert!(!both(&output).contains("YWRta"), "{header}: {}", both(&output));
            let mut files = Vec::new();
            files_below(sandbox.path(), &mut files);
            for file in files {
                let text = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
                assert!(!text.contains("YWRta"), "{header}: {}", file.display());
            }
        }
    }
}

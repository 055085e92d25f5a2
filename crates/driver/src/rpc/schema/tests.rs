//! Methods and messages of `.proto` files.

use std::fs;

use prost_reflect::prost_types::FileDescriptorProto;

use super::super::Method;
use super::reflection::{answer_of, schema_of};
use super::{Schema, SchemaFault};

pub(super) const GREETER: &str = r#"syntax = "proto3";
package test.v1;
import "common/names.proto";
import "google/protobuf/duration.proto";
service Greeter {
  rpc SayHello(HelloRequest) returns (common.Name);
  rpc Chat(stream HelloRequest) returns (stream common.Name);
  rpc Watch(HelloRequest) returns (stream common.Name);
}
message HelloRequest {
  common.Name name = 1;
  sint64 count = 2;
  google.protobuf.Duration wait = 3;
  repeated uint32 sizes = 4;
}
"#;
const NAMES: &str = "syntax = \"proto3\";\npackage common;\nmessage Name { string text = 1; }\n";

/// Reads a `.proto` file with this text, whose import is in a folder of its own.
pub(super) fn read(text: &str) -> Result<Schema, SchemaFault> {
    let folder = tempfile::tempdir().unwrap();
    let (file, include) = (folder.path().join("greeter.proto"), folder.path().join("include"));
    fs::create_dir_all(include.join("common")).unwrap();
    fs::write(include.join("common/names.proto"), NAMES).unwrap();
    fs::write(&file, text).unwrap();
    Schema::read(&file, &[include])
}

fn method(path: &str) -> Result<super::UnaryMethod, SchemaFault> {
    read(GREETER).unwrap().unary_method(&Method::parse(path).unwrap())
}

#[test]
fn a_message_is_encoded_from_json() {
    let say_hello = method("test.v1.Greeter/SayHello").unwrap();
    let json = r#"{"name": {"text": "hello"}, "count": -2, "wait": "1.5s", "sizes": [1, 300]}"#;
    // Protocol Buffers, "Encoding": field 1 with a message, field 2 in zigzag form, field 3 with seconds and
    // nanoseconds, field 4 packed.
    let expected =
        b"\x0a\x07\x0a\x05hello\x10\x03\x1a\x08\x08\x01\x10\x80\xca\xb5\xee\x01\x22\x03\x01\xac\x02";
    assert_eq!(say_hello.request(json).unwrap(), expected);
    assert_eq!(say_hello.request("{}").unwrap(), b"");
}

#[test]
fn what_is_wrong_with_a_method_or_a_message_is_named() {
    let no_method = |path| method(path).err().unwrap().to_string();
    let say_hello = method("test.v1.Greeter/SayHello").unwrap();
    let no_message = |json| say_hello.request(json).unwrap_err().to_string();
    let texts = [
        no_method("test.v1.Greter/SayHello"),
        no_method("other.Service/SayHello"),
        no_method("test.v1.Greeter/SayHallo"),
        no_method("test.v1.Greeter/Push"),
        no_method("test.v1.Greeter/Chat"),
        no_method("test.v1.Greeter/Watch"),
        no_message("{\"nam\": 1}"),
        no_message("{\"count\": \"many\"}"),
        no_message("{\"count\": 1"),
        no_message("{} {}"),
    ];
    insta::assert_snapshot!(texts.join("\n"), @"
    there is no service `test.v1.Greter`; did you mean `test.v1.Greeter`?
    there is no service `other.Service`; known are test.v1.Greeter
    the service `test.v1.Greeter` has no method `SayHallo`; did you mean `SayHello`?
    the service `test.v1.Greeter` has no method `Push`; known are SayHello, Chat, Watch
    test.v1.Greeter/Chat is a streaming method; dyno calls unary methods only
    test.v1.Greeter/Watch is a streaming method; dyno calls unary methods only
    the message does not fit `test.v1.HelloRequest`, the input of test.v1.Greeter/SayHello: unrecognized field name 'nam' at line 1 column 6
    the message does not fit `test.v1.HelloRequest`, the input of test.v1.Greeter/SayHello: invalid digit found in string at line 1 column 16
    the message does not fit `test.v1.HelloRequest`, the input of test.v1.Greeter/SayHello: EOF while parsing an object at line 1 column 11
    the message does not fit `test.v1.HelloRequest`, the input of test.v1.Greeter/SayHello: trailing characters at line 1 column 4
    ");
}

#[test]
fn keys_that_are_given_twice_and_required_fields_that_are_not_are_refused() {
    let text = "syntax = \"proto2\";\npackage a;\nservice S { rpc M(Outer) returns (Outer); }\n\
        message Inner { required string id = 1; optional bool b = 2; }\n\
        message Outer { optional Inner one = 1; repeated Inner many = 2; map<string, Inner> by_name = 3; }\n";
    let method = read(text).unwrap().unary_method(&Method::parse("a.S/M").unwrap()).unwrap();
    let reason = |json: &str| match method.request(json) {
        Ok(bytes) => format!("{bytes:?}"),
        Err(fault) => fault.to_string().split_once("a.S/M: ").unwrap().1.to_owned(),
    };
    let texts = [
        reason("{\"one\": {\"id\": \"\"}}"),
        reason("{\"one\": {}}"),
        reason("{\"many\": [{\"id\": \"1\"}, {\"b\": true}]}"),
        reason("{\"by_name\": {\"a\": {}}}"),
        reason("{\"one\": {\"id\": \"1\", \"id\": \"2\"}}"),
        reason("{\"by_name\": {\"a\": {\"id\": \"1\"}, \"a\": {\"id\": \"2\"}}}"),
    ];
    insta::assert_snapshot!(texts.join("\n"), @"
    [10, 2, 10, 0]
    the required field a.Inner.id is missing
    the required field a.Inner.id is missing
    the required field a.Inner.id is missing
    the key 'id' is given twice at line 1 column 24
    the key 'a' is given twice at line 1 column 34
    ");
}

#[test]
fn errors_in_a_proto_file_have_their_place() {
    let fault = |text: &str| {
        let shown = read(text).unwrap_err().to_string();
        shown.split(" in ").next().unwrap().to_owned()
    };
    let texts = [
        fault("syntax = \"proto3\";\nmessage A { string = 1; }\n"),
        fault("syntax = \"proto3\";\nmessage A { B b = 1; }\n"),
        fault("syntax = \"proto3\";\nimport \"absent.proto\";\n"),
    ];
    insta::assert_snapshot!(texts.join("\n"), @"
    greeter.proto:2:20: expected an identifier, but found '='
    greeter.proto:2:13: name 'B' is not defined
    greeter.proto:2:1: import 'absent.proto' not found
    ");
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let fault = Schema::read("absent.proto".as_ref(), &[]).unwrap_err();
    insta::assert_snapshot!(fault, @"cannot read absent.proto: No such file or directory (os error 2)");
    let fault = Schema::read("Cargo.toml".as_ref(), &["absent".into()]).unwrap_err();
    insta::assert_snapshot!(fault, @"the folder absent of `proto_path` is not there");
}

#[test]
fn files_as_editors_and_protoc_leave_them_are_read() {
    let say_hello = Method::parse("test.v1.Greeter/SayHello").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, bytes).unwrap();
        file
    };
    write("common/names.proto", NAMES.as_bytes());
    // An include folder of a newer protoc, which cannot be read.
    write("google/protobuf/duration.proto", b"edition = \"2026\";");
    let marked = [b"\xef\xbb\xbf", GREETER.as_bytes()].concat();
    let latin = [b"// Gr\xfc\xdfe\n", GREETER.as_bytes()].concat();
    let set = read(GREETER).unwrap().to_bytes();
    for (name, bytes) in
        [("bom.proto", &marked), ("latin.proto", &latin), ("set.pb", &set), ("text", &latin)]
    {
        let file = write(name, bytes);
        let schema = Schema::read(&file, &[folder.path().to_owned()]).unwrap();
        assert!(schema.unary_method(&say_hello).is_ok(), "{name}");
    }
}

#[test]
fn what_a_file_or_a_set_lacks_is_named() {
    let fault = |text: &str| read(text).unwrap_err().to_string();
    let edition = fault("/* a */ // b\nedition = \"2024\";\n");
    insta::assert_snapshot!(edition, @"greeter.proto is of edition 2024, which dyno cannot read: only proto2, proto3 and edition 2023");
    let absent = fault("syntax = \"proto3\";\nimport \"absent.proto\";\n");
    assert!(absent.contains("import 'absent.proto' not found in /"), "{absent}");
    let folder = tempfile::tempdir().unwrap();
    let set = folder.path().join("part.pb");
    let file = FileDescriptorProto {
        name: Some("a.proto".to_owned()),
        dependency: vec!["b.proto".to_owned()],
        ..FileDescriptorProto::default()
    };
    let files = prost_reflect::prost_types::FileDescriptorSet { file: vec![file] };
    fs::write(&set, prost::Message::encode_to_vec(&files)).unwrap();
    let told = Schema::read(&set, &[]).unwrap_err().to_string();
    assert!(told.contains("b.proto") && told.contains("--include_imports"), "{told}");
}

#[test]
fn a_file_of_another_edition_is_refused_without_a_panic() {
    let name = Some("a.proto".to_owned());
    let file =
        FileDescriptorProto { name, syntax: Some("editions".to_owned()), ..Default::default() };
    let fault = Schema::of_descriptors(vec![file]).unwrap_err();
    insta::assert_snapshot!(fault, @"the descriptors of the server do not fit together: a.proto is of another edition than 2023, which dyno cannot read");
}

/// A source of edition 2023 in which features of each kind change what is sent.
const EDITION: &str = r#"// A comment.
edition = "2023";
package a;
import "google/protobuf/go_features.proto";
option features.(pb.go).api_level = API_OPAQUE;
option features.field_presence = IMPLICIT;
service S { rpc M(Outer) returns (Outer); }
enum Kind { option features.enum_type = CLOSED; A = 1; B = 2; }
message Outer {
  int32 number = 1 [features.field_presence = EXPLICIT];
  repeated int32 packed = 2;
  repeated Kind expanded = 3 [features.repeated_field_encoding = EXPANDED];
  Inner delimited = 4 [features.message_encoding = DELIMITED];
  Inner inner = 5;
  map<string, Inner> by_name = 6;
  message Inner { string id = 1 [features.field_presence = LEGACY_REQUIRED]; }
}
"#;

#[test]
fn files_of_edition_2023_are_read_with_their_features() {
    let schema = read(EDITION).unwrap();
    let json = r#"{"number": 0, "packed": [1, 2], "expanded": ["A", "B"], "delimited": {"id": "x"},
        "inner": {"id": "y"}, "byName": {"k": {"id": "z"}}}"#;
    // Field 1 with its default, 2 packed, 3 twice, 4 between a start and an end, 5 and 6 with lengths.
    let expected =
        b"\x08\0\x12\x02\x01\x02\x18\x01\x18\x02\x23\x0a\x01x\x24\x2a\x03\x0a\x01y\x32\x08\x0a\x01k\x12\x03\x0a\x01z";
    for schema in [&schema, &Schema::from_bytes(&schema.to_bytes()).unwrap()] {
        let method = schema.unary_method(&Method::parse("a.S/M").unwrap()).unwrap();
        assert_eq!(method.request(json).unwrap(), expected);
        let told = method.request("{\"inner\": {}}").unwrap_err().to_string();
        assert!(told.ends_with("the required field a.Outer.Inner.id is missing"), "{told}");
    }
    let told = read("edition = \"2023\";\nmessage A { int32 a = 1 [default = 3]; }").unwrap_err();
    let told = told.to_string();
    assert!(told.contains("greeter.proto:2:26: default values") && told.contains("-o`"), "{told}");
}

#[test]
fn a_schema_that_a_server_tells_is_that_of_the_file() {
    let told = schema_of(&answer_of(&read(GREETER).unwrap())).unwrap();
    let say_hello = told.unary_method(&Method::parse("test.v1.Greeter/SayHello").unwrap()).unwrap();
    let request = say_hello.request("{\"name\": {\"text\": \"hello\"}}").unwrap();
    assert_eq!(request, b"\x0a\x07\x0a\x05hello");
}

//! Properties of readers of descriptors and messages that hold for any bytes.

use std::fs;

use super::super::Method;
use super::Schema;
use super::reflection::{answer_of, schema_of};
use super::tests::{GREETER, read};

fuzzing::targets! {
    grpc_reflection: reflection;
    grpc_json_message: json_message;
    grpc_proto_file: proto_file;
}

/// The types of a file are those that a server would tell of it.
fn proto_file(bytes: &[u8]) -> Option<()> {
    thread_local! {
        static FOLDER: tempfile::TempDir = tempfile::tempdir().expect("no folder for a file");
    }
    let schema = FOLDER.with(|folder| {
        let file = folder.path().join("service.proto");
        fs::write(&file, bytes).expect("a file is not written");
        Schema::read(&file, &[]).ok()
    })?;
    let told = schema_of(&answer_of(&schema)).expect("the files of a schema are one");
    let by_name = |schema: &Schema| {
        let mut files: Vec<_> = schema.files().cloned().collect();
        files.sort_by(|one, next| one.name().cmp(next.name()));
        files
    };
    assert!(by_name(&told) == by_name(&schema), "reflection changes a file");
    let again = Schema::from_bytes(&schema.to_bytes()).expect("the files of a schema are one");
    assert!(again.files().eq(schema.files()), "a file changes on its way");
    Some(())
}

/// What a server tells of its types is a schema or an error, and a schema can be asked for any method.
fn reflection(bytes: &[u8]) -> Option<()> {
    let schema = schema_of(bytes).ok()?;
    let _ = schema.unary_method(&Method::parse("test.v1.Greeter/SayHello").unwrap());
    let again = schema_of(&answer_of(&schema));
    assert!(again.is_ok(), "the files of a schema are none: {again:?}");
    Some(())
}

/// A text is a message or an error; a message has no more bytes than its text can mean.
fn json_message(bytes: &[u8]) -> Option<()> {
    thread_local! {
        static SAY_HELLO: super::UnaryMethod = read(GREETER)
            .unwrap()
            .unary_method(&Method::parse("test.v1.Greeter/SayHello").unwrap())
            .unwrap();
    }
    let text = String::from_utf8_lossy(bytes);
    let message = SAY_HELLO.with(|method| method.request(&text)).ok()?;
    let most = 16 + 4 * text.len();
    assert!(message.len() <= most, "{} bytes of {}", message.len(), text.len());
    Some(())
}

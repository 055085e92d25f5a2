//! Properties of the codecs that hold for any bytes.

use super::answer::Answer;
use super::codec::Codec;
use super::tcp::TcpCodec;
use super::trpc::TrpcCodec;
use super::url::{Place, parse};
use super::{Protocol, captures};

fuzzing::targets! {
    rpc_trpc: trpc;
    rpc_tcp: tcp;
    rpc_url: url;
}

/// The calls that wait for an answer in [`tcp`].
const WAITING: u32 = 5;

fn codec(protocol: Protocol) -> Codec {
    match protocol {
        Protocol::Tcp { .. } => Codec::Tcp(TcpCodec::new(false, 27)),
        _ => Codec::Trpc(TrpcCodec::new(&captures::call(), None)),
    }
}

/// The answers in these pieces, and whether their end is that of an answer; `None` when they break the protocol.
type Read = (Vec<Answer>, Option<bool>);

fn read<'a>(codec: &mut Codec, pieces: impl IntoIterator<Item = &'a [u8]>) -> Read {
    let mut answers = Vec::new();
    for piece in pieces {
        let decoded = codec.decode(piece, &mut Vec::new(), &mut |answer| {
            answers.push(answer);
            Ok(())
        });
        if decoded.is_err() {
            return (answers, None);
        }
    }
    (answers, Some(!codec.is_within_answer()))
}

/// Splits `bytes` into pieces of one length, which the first byte chooses.
fn pieces(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.chunks(bytes.first().map_or(1, |first| usize::from(first % 40) + 1))
}

/// Answers are the same however their bytes are cut, and no more is kept than a header.
fn trpc(bytes: &[u8]) {
    let fresh = || codec(Protocol::Trpc);
    let whole = read(&mut fresh(), [bytes]);
    assert_eq!(read(&mut fresh(), pieces(bytes)), whole, "a cut matters");
    assert_eq!(read(&mut fresh(), bytes.chunks(1)), whole, "a cut matters");
    let mut codec = fresh();
    for piece in pieces(bytes) {
        let _ = codec.decode(piece, &mut Vec::new(), &mut |_| Ok(()));
        let Codec::Trpc(trpc) = &codec else { unreachable!("it is tRPC") };
        assert!(trpc.kept_bytes() <= 2 * (16 + 65_535), "{} bytes are kept", trpc.kept_bytes());
    }
    for answer in whole.0 {
        if let Err(error) = answer.result {
            assert!(error.message.len() <= 3 * 512, "a message without end");
        }
    }
}

/// As many answers as have arrived whole, in the order of the calls, however they are cut.
fn tcp(bytes: &[u8]) {
    let fresh = || {
        let mut codec = codec(Protocol::Tcp { announces: false });
        (0..WAITING).for_each(|id| codec.encode(id, (b"x", &[]), &mut Vec::new()));
        codec
    };
    let whole = read(&mut fresh(), [bytes]);
    let (cut, end) = read(&mut fresh(), pieces(bytes));
    assert_eq!((&cut, end), (&whole.0, whole.1), "a cut matters");
    let due = (bytes.len() / 27).min(WAITING as usize);
    assert!(cut.iter().map(|answer| answer.id).eq(0..due as u32), "{cut:?}");
    assert_eq!(end.is_none(), bytes.len() > 27 * WAITING as usize);
}

/// The parts of a URL that is accepted, put together, are a URL of the same parts.
fn url(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for protocol in [Protocol::Trpc, Protocol::Tcp { announces: false }] {
        let Ok((places, method)) = parse(protocol, &text) else { continue };
        let shown = |place: &Place| match place {
            Place::Host(host, port) => format!("[{}]:{port}", host.name),
            Place::Socket(path) => format!("unix:{}", path.display()),
        };
        let hosts: Vec<String> = places.iter().map(shown).collect();
        let mark = if matches!(places.last(), Some(Place::Socket(_))) { ":" } else { "" };
        let path = method.as_ref().map(|method| format!("{mark}{}", method.path()));
        let again =
            format!("{}://{}{}", protocol.name(), hosts.join(","), path.unwrap_or_default());
        assert_eq!(
            format!("{:?}", parse(protocol, &again)),
            format!("{:?}", parse(protocol, &text))
        );
    }
}

fn frame(header: &[u8], body: &[u8]) -> Vec<u8> {
    let total = (16 + header.len() + body.len()) as u32;
    let mut frame = vec![0x09, 0x30, 0, 0];
    frame.extend_from_slice(&total.to_be_bytes());
    frame.extend_from_slice(&(header.len() as u16).to_be_bytes());
    frame.extend_from_slice(&[0, 0, 0x40, 0x74, 1, 0]);
    [&frame, header, body].concat()
}

#[test]
fn a_header_that_is_cut_keeps_no_more_than_itself() {
    let answers = frame(b"\x18\xf4\x80\x01", b"\x0a\x05hello").repeat(2_000);
    let mut codec = codec(Protocol::Trpc);
    let (answers, end) = read(&mut codec, [&answers[..5], &answers[5..]]);
    assert_eq!((answers.len(), end), (2_000, Some(true)));
    let Codec::Trpc(trpc) = &codec else { unreachable!("it is tRPC") };
    assert!(trpc.kept_bytes() < 100, "{} bytes are kept", trpc.kept_bytes());
}

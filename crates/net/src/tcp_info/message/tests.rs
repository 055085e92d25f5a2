//! Messages in the layout of Linux's headers, and malformed ones.

use proptest::prelude::*;

use super::*;

/// An `inet_diag_msg` of a connection to 127.0.0.1:3306, followed by these attributes.
fn connection_message(attributes: &[(u16, Vec<u8>)]) -> Vec<u8> {
    let mut body = vec![AF_INET, 1, 0, 0];
    body.extend_from_slice(&40_000_u16.to_be_bytes());
    body.extend_from_slice(&3_306_u16.to_be_bytes());
    body.extend_from_slice(&[0; 16]);
    body.extend_from_slice(&[127, 0, 0, 1]);
    body.resize(44, 0);
    body.extend_from_slice(&0x1_0000_0002_u64.to_ne_bytes());
    body.resize(68, 0);
    body.extend_from_slice(&77_u32.to_ne_bytes());
    for (kind, held) in attributes {
        body.extend_from_slice(&((ATTRIBUTE + held.len()) as u16).to_ne_bytes());
        body.extend_from_slice(&kind.to_ne_bytes());
        body.extend_from_slice(held);
        body.resize(aligned(body.len()), 0);
    }
    body
}

fn framed(kind: u16, sequence: u32, body: &[u8]) -> Vec<u8> {
    let mut bytes = ((HEAD + body.len()) as u32).to_ne_bytes().to_vec();
    bytes.extend_from_slice(&kind.to_ne_bytes());
    bytes.extend_from_slice(&2_u16.to_ne_bytes());
    bytes.extend_from_slice(&sequence.to_ne_bytes());
    bytes.extend_from_slice(&0_u32.to_ne_bytes());
    bytes.extend_from_slice(body);
    bytes.resize(aligned(bytes.len()), 0);
    bytes
}

/// A `tcp_info` in which every four bytes hold their offset.
fn numbered(length: usize) -> Vec<u8> {
    (0..length as u32).step_by(4).flat_map(u32::to_ne_bytes).collect()
}

fn wide(at: u64) -> u64 {
    u64::from_ne_bytes(
        [(at as u32).to_ne_bytes(), (at as u32 + 4).to_ne_bytes()].concat()[..].try_into().unwrap(),
    )
}

#[test]
fn a_connection_is_read_past_other_attributes() {
    let body = connection_message(&[(8, vec![0]), (INET_DIAG_INFO, numbered(280))]);
    let bytes = [framed(SOCK_DIAG_BY_FAMILY, 5, &body), framed(NLMSG_DONE, 5, &[0; 4])].concat();
    let info = TcpInfo {
        segments_sent: 136,
        segments_received: 140,
        data_segments_sent: 156,
        data_segments_received: 152,
        segments_retransmitted: 100,
        bytes_acknowledged: wide(120),
        bytes_received: wide(128),
        round_trip_us: 68,
        window_full_us: wide(176),
        buffer_full_us: wide(184),
    };
    let remote = "127.0.0.1:3306".parse().unwrap();
    let connection = TcpConnection { cookie: 0x1_0000_0002, inode: 77, remote, info };
    let read: Vec<_> = messages(&bytes).collect();
    assert_eq!(read, [(5, Message::Connection(connection)), (5, Message::Done)]);
}

#[test]
fn old_kernels_without_data_segment_counters_yield_none() {
    let body = connection_message(&[(INET_DIAG_INFO, numbered(152))]);
    let bytes = framed(SOCK_DIAG_BY_FAMILY, 1, &body);
    assert_eq!(messages(&bytes).collect::<Vec<_>>(), [(1, Message::Other)]);
    let bytes = framed(SOCK_DIAG_BY_FAMILY, 1, &connection_message(&[]));
    assert_eq!(messages(&bytes).collect::<Vec<_>>(), [(1, Message::Other)]);
}

#[test]
fn a_netlink_error_keeps_its_errno() {
    let bytes = framed(NLMSG_ERROR, 9, &(-2_i32).to_ne_bytes());
    assert_eq!(messages(&bytes).collect::<Vec<_>>(), [(9, Message::Error(2))]);
}

#[test]
fn a_netlink_request_contains_port_and_address_family() {
    let bytes = request("[::1]:4000".parse().unwrap(), 3);
    assert_eq!(bytes.len(), 72);
    assert_eq!(bytes[HEAD..HEAD + 3], [AF_INET6, IPPROTO_TCP, 2]);
    assert_eq!(bytes[HEAD + 10..HEAD + 12], 4_000_u16.to_be_bytes());
}

proptest! {
    #[test]
    fn arbitrary_netlink_bytes_never_panic_or_loop(
        bytes in prop::collection::vec(any::<u8>(), 0..600),
        cut in 0_usize..600,
        change in (0_usize..600, any::<u8>()),
    ) {
        prop_assert!(messages(&bytes).count() <= bytes.len() / HEAD + 1);
        let mut real = framed(SOCK_DIAG_BY_FAMILY, 1, &connection_message(&[(INET_DIAG_INFO, numbered(280))]));
        real.truncate(cut);
        if let Some(byte) = real.get_mut(change.0) {
            *byte = change.1;
        }
        prop_assert!(messages(&real).count() <= real.len() / HEAD + 1);
    }
}

//! The netlink messages for TCP connections, without a socket.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Lengths of `nlmsghdr`, `inet_diag_req_v2`, `inet_diag_msg` and of an attribute's head.
const HEAD: usize = 16;
const REQUEST: usize = 56;
const CONNECTION: usize = 72;
const ATTRIBUTE: usize = 4;

const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const SOCK_DIAG_BY_FAMILY: u16 = 20;
/// `NLM_F_REQUEST | NLM_F_DUMP`.
const DUMP: u16 = 0x301;
const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;
const IPPROTO_TCP: u8 = 6;
/// The attribute with a `tcp_info`, and the bit that asks for it.
const INET_DIAG_INFO: u16 = 2;
const WITH_INFO: u8 = 1 << (INET_DIAG_INFO - 1);
/// Bits of the states of an established connection that is not closed yet: ESTABLISHED, FIN_WAIT1, FIN_WAIT2,
/// CLOSE_WAIT, LAST_ACK, CLOSING.
const STATES: u32 = 1 << 1 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9 | 1 << 11;

/// The kernel's counters of one connection since it was established. Segment counters wrap at 2^32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// Segments sent, acknowledgements and retransmissions included (`tcpi_segs_out`).
    pub segments_sent: u32,
    /// Segments received (`tcpi_segs_in`).
    pub segments_received: u32,
    /// Segments sent that carried data (`tcpi_data_segs_out`).
    pub data_segments_sent: u32,
    /// Segments received that carried data (`tcpi_data_segs_in`).
    pub data_segments_received: u32,
    /// Segments retransmitted (`tcpi_total_retrans`).
    pub segments_retransmitted: u32,
    /// Bytes sent that the other side has acknowledged (`tcpi_bytes_acked`).
    pub bytes_acknowledged: u64,
    /// Bytes received and acknowledged (`tcpi_bytes_received`).
    pub bytes_received: u64,
    /// The smoothed round-trip time as TCP estimates it, µs (`tcpi_rtt`).
    pub round_trip_us: u32,
    /// How long data could not be sent because the other side's receive window was full, µs (`tcpi_rwnd_limited`; 0 before
    /// Linux 4.10, as is the next).
    pub window_full_us: u64,
    /// The same because this side's send buffer was too small, µs (`tcpi_sndbuf_limited`).
    pub buffer_full_us: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpConnection {
    /// The kernel's unique identifier of it.
    pub cookie: u64,
    /// The inode of its socket in `/proc/PID/fd`; 0 when no process has it open any more.
    pub inode: u32,
    pub remote: SocketAddr,
    pub info: TcpInfo,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Message {
    Connection(TcpConnection),
    Done,
    /// The request was refused, with the error's number.
    Error(i32),
    Other,
}

/// The request for all connections to the port of `remote`, in its address family.
pub(super) fn request(remote: SocketAddr, sequence: u32) -> Vec<u8> {
    let family = if remote.is_ipv4() { AF_INET } else { AF_INET6 };
    let mut bytes = Vec::with_capacity(HEAD + REQUEST);
    bytes.extend_from_slice(&((HEAD + REQUEST) as u32).to_ne_bytes());
    bytes.extend_from_slice(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    bytes.extend_from_slice(&DUMP.to_ne_bytes());
    bytes.extend_from_slice(&sequence.to_ne_bytes());
    bytes.extend_from_slice(&0_u32.to_ne_bytes());
    bytes.extend_from_slice(&[family, IPPROTO_TCP, WITH_INFO, 0]);
    bytes.extend_from_slice(&STATES.to_ne_bytes());
    // From any port to this port, at any address.
    bytes.extend_from_slice(&0_u16.to_be_bytes());
    bytes.extend_from_slice(&remote.port().to_be_bytes());
    bytes.resize(HEAD + REQUEST, 0);
    bytes
}

/// The messages in a received buffer, each with the number of its request. A truncated message is left out.
pub(super) fn messages(mut bytes: &[u8]) -> impl Iterator<Item = (u32, Message)> {
    std::iter::from_fn(move || {
        let length = u32_at(bytes, 0)? as usize;
        let message = bytes.get(..length.max(HEAD))?;
        bytes = bytes.get(aligned(message.len())..).unwrap_or_default();
        Some((u32_at(message, 8)?, message_of(u16_at(message, 4)?, &message[HEAD..])))
    })
}

fn message_of(kind: u16, body: &[u8]) -> Message {
    match kind {
        NLMSG_DONE => Message::Done,
        // The kernel sends errors as negative numbers.
        NLMSG_ERROR => {
            Message::Error(u32_at(body, 0).map_or(0, |it| it.cast_signed().wrapping_neg()))
        }
        SOCK_DIAG_BY_FAMILY => connection(body).map_or(Message::Other, Message::Connection),
        _ => Message::Other,
    }
}

/// An `inet_diag_msg` with its attributes; `None` where it has no `tcp_info` as long as those of Linux
/// 4.6 and later.
fn connection(body: &[u8]) -> Option<TcpConnection> {
    let address = body.get(24..40)?;
    let ip = match *body.first()? {
        AF_INET => IpAddr::from(Ipv4Addr::from(*address.first_chunk::<4>()?)),
        AF_INET6 => IpAddr::from(Ipv6Addr::from(*address.first_chunk::<16>()?)),
        _ => return None,
    };
    let port = u16::from_be_bytes(*body.get(6..8)?.first_chunk()?);
    let cookie = u64::from(u32_at(body, 44)?) | u64::from(u32_at(body, 48)?) << 32;
    let inode = u32_at(body, 68)?;
    let info = tcp_info(attribute(body.get(CONNECTION..)?, INET_DIAG_INFO)?)?;
    Some(TcpConnection { cookie, inode, remote: SocketAddr::new(ip, port), info })
}

fn attribute(mut bytes: &[u8], wanted: u16) -> Option<&[u8]> {
    loop {
        let length = usize::from(u16_at(bytes, 0)?);
        let kind = u16_at(bytes, 2)?;
        let held = bytes.get(ATTRIBUTE..length)?;
        if kind == wanted {
            return Some(held);
        }
        bytes = bytes.get(aligned(length)..)?;
    }
}

/// A `tcp_info`; later kernels append more fields.
fn tcp_info(bytes: &[u8]) -> Option<TcpInfo> {
    Some(TcpInfo {
        round_trip_us: u32_at(bytes, 68)?,
        segments_retransmitted: u32_at(bytes, 100)?,
        bytes_acknowledged: u64_at(bytes, 120)?,
        bytes_received: u64_at(bytes, 128)?,
        segments_sent: u32_at(bytes, 136)?,
        segments_received: u32_at(bytes, 140)?,
        data_segments_received: u32_at(bytes, 152)?,
        data_segments_sent: u32_at(bytes, 156)?,
        window_full_us: u64_at(bytes, 176).unwrap_or(0),
        buffer_full_us: u64_at(bytes, 184).unwrap_or(0),
    })
}

/// Messages and attributes begin at multiples of four bytes.
fn aligned(length: usize) -> usize {
    length.next_multiple_of(4)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests;

//! One connection of the server: reads, answers, and does not read on while answers cannot be sent.

use std::io;

use net::FixedSizes;
use net::{Accepted, Handle, Stream};

use super::codec::Codec;

/// The largest buffer that is kept for later answers, bytes.
const DRAFT_BYTES_KEPT: usize = 256 * 1024;

/// Serves a connection until it ends.
pub(super) async fn serve(handle: Handle, accepted: Accepted, sizes: Option<FixedSizes>) {
    // The peer has closed or broken the connection, or the kernel has: there is nobody to tell.
    let _ = answer_all(handle, accepted, sizes).await;
}

/// Answers all requests until the peer closes or sends what belongs to no protocol. All answers to the requests of one
/// read leave in one write, as far as the kernel takes them. The next read comes after that write, so a peer that does
/// not read is not read from.
async fn answer_all(
    handle: Handle,
    accepted: Accepted,
    sizes: Option<FixedSizes>,
) -> io::Result<()> {
    let mut stream = Stream::accepted(&handle, accepted)?;
    let mut codec = Codec::new(sizes);
    loop {
        let read = stream.read_with(|bytes| {
            let mut draft = handle.take_draft();
            draft.clear();
            let is_open = !bytes.is_empty() && codec.answer(bytes, &mut draft).is_ok();
            (is_open, draft)
        });
        let (is_open, draft) = read.await?;
        if !draft.is_empty() {
            stream.write_all(&draft).await?;
        }
        if draft.capacity() <= DRAFT_BYTES_KEPT {
            handle.give_draft(draft);
        }
        while let Some(piece) = codec.next_piece() {
            stream.write_all(piece).await?;
        }
        if !is_open {
            return Ok(());
        }
    }
}

//! The allocator of the program: it overwrites memory before others get it, so that libraries which handle the text of a
//! plan, arguments or packets leave no password in free memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;

/// The largest block that is overwritten, bytes. No plan and no packet of a login is larger; blocks that are larger,
/// such as the texts of a report, keep the speed of the system's allocator, which mostly returns them to the kernel.
const BYTES_MAX: usize = 1 << 20;

/// The system's allocator, which overwrites blocks when they are freed. The load path frees none.
pub(crate) struct WipingAllocator;

#[expect(
    unsafe_code,
    reason = "an allocator cannot be written without; each call is passed on to the system's own"
)]
// SAFETY: blocks are those of the system's allocator, with the layouts of the caller, who owns them until they are freed.
unsafe impl GlobalAlloc for WipingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's duties are the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's duties are the same.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if layout.size() <= BYTES_MAX {
            // SAFETY: the block has this size, and its owner has given it up.
            unsafe { block.write_bytes(0, layout.size()) };
            // Otherwise the compiler leaves out writes that nothing reads.
            black_box(block);
        }
        // SAFETY: the caller's duties are the same.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        if layout.size() > BYTES_MAX {
            // SAFETY: the caller's duties are the same.
            return unsafe { System.realloc(block, layout, bytes) };
        }
        // SAFETY: the caller guarantees that the size, rounded up to the alignment, does not overflow.
        let new = unsafe { self.alloc(Layout::from_size_align_unchecked(bytes, layout.align())) };
        if !new.is_null() {
            // SAFETY: both blocks have at least so many bytes, and do not overlap.
            unsafe { block.copy_to_nonoverlapping(new, layout.size().min(bytes)) };
            // SAFETY: the block has this layout, and its owner has given it up.
            unsafe { self.dealloc(block, layout) };
        }
        new
    }
}

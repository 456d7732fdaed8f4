//! A hint to the processor. It changes no result.

/// Of every processor for which there is such an instruction here.
const LINE_BYTES: usize = 64;

/// Brings the cache lines of an item of a slice near while there is other work to do, so that the
/// next to read it does not wait: that where it begins and that where it ends. Does nothing where
/// there is no such instruction. There need be no item with this number.
#[inline(always)]
pub fn prefetch<T>(items: &[T], number: usize) {
    let first = items.as_ptr().wrapping_add(number).cast::<u8>();
    prefetch_line(first);
    if align_of::<T>() < LINE_BYTES && size_of::<T>() > 1 {
        prefetch_line(first.wrapping_add(size_of::<T>() - 1));
    }
}

/// The same for all cache lines of an item.
#[inline(always)]
pub fn prefetch_all<T>(item: &T) {
    let first = std::ptr::from_ref(item).cast::<u8>();
    for line in 0..size_of::<T>().div_ceil(LINE_BYTES) {
        prefetch_line(first.wrapping_add(line * LINE_BYTES));
    }
}

#[inline(always)]
fn prefetch_line(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        #[expect(
            unsafe_code,
            reason = "the instruction reads nothing, and cannot fault whatever the address"
        )]
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(address.cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

//! A hint to the processor. It changes no result.

/// Brings the cache lines of an item of a slice near while there is other work to do, so that the next to read it does not
/// wait. Does nothing where there is no such instruction. There need be no item with this number.
#[inline(always)]
pub fn prefetch<T>(items: &[T], number: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let first = items.as_ptr().wrapping_add(number).cast::<i8>();
        #[expect(unsafe_code, reason = "the instruction reads nothing, and cannot fault whatever the address")]
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(first);
            if align_of::<T>() < LINE_BYTES && size_of::<T>() > 1 {
                _mm_prefetch::<_MM_HINT_T0>(first.wrapping_add(size_of::<T>() - 1));
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (items, number);
}

/// Of every processor of this instruction set.
#[cfg(target_arch = "x86_64")]
const LINE_BYTES: usize = 64;

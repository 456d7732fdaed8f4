//! Extended registers of the processor: a guest's kernel copies those of its programs, and has a
//! fixed room for them.

/// Room of a guest's kernel for registers. `crates/exact/kernel/registers.patch` has the arithmetic
/// and the reason.
pub const ROOM_BYTES: u32 = 11_008;

/// Registers of a processor without XSAVE: the area of FXSAVE.
const LEGACY_BYTES: u32 = 512;

/// Bytes of the extended registers that this machine's kernel saves for a process.
///
/// Intel SDM vol. 1, 13.2: CPUID leaf 0xD, sub-leaf 0, has in EBX the size of the standard XSAVE
/// area for what is enabled in XCR0, which is what ptrace(2) gives and takes. OSXSAVE says that the
/// kernel has enabled it.
#[cfg(target_arch = "x86_64")]
#[allow(unused_unsafe, reason = "CPUID is unsafe in older compilers only")]
#[expect(unsafe_code, reason = "CPUID is unsafe in older compilers")]
pub fn of_processor() -> u32 {
    use core::arch::x86_64::{__cpuid, __cpuid_count};
    const OSXSAVE: u32 = 1 << 27;
    const XSAVE_LEAF: u32 = 0xD;
    // SAFETY: every processor of this architecture has CPUID; a leaf is asked for only where it is
    // there.
    unsafe {
        let has_xsave = __cpuid(0).eax >= XSAVE_LEAF && __cpuid(1).ecx & OSXSAVE != 0;
        if has_xsave { __cpuid_count(XSAVE_LEAF, 0).ebx } else { LEGACY_BYTES }
    }
}

/// User-Mode Linux is for x86 alone, so that no guest ever asks.
#[cfg(not(target_arch = "x86_64"))]
pub fn of_processor() -> u32 {
    LEGACY_BYTES
}

/// Why no guest runs on a processor with so many bytes of extended registers, if there is no room
/// for them.
pub fn problem(bytes: u32) -> Option<String> {
    (bytes > ROOM_BYTES).then(|| {
        format!(
            "the extended registers of this processor have {bytes} bytes, and the kernel of exact runs has room for {ROOM_BYTES} \
             (hint: raise both numbers, HOST_FP_SIZE in crates/exact/kernel/registers.patch and ROOM_BYTES, and build them)"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Offset and size of the user states in a standard XSAVE area (CPUID leaf 0xD of processors
    /// that have them; Intel SDM vol. 1, 13.5, and Intel's APX and AMX specifications). APX uses
    /// the area of MPX.
    const STATES: [(&str, u32, u32); 9] = [
        ("x87, SSE and the header", 0, 576),
        ("AVX", 576, 256),
        ("APX", 960, 128),
        ("AVX-512 opmask", 1_088, 64),
        ("AVX-512 upper halves", 1_152, 512),
        ("AVX-512 upper sixteen", 1_664, 1_024),
        ("PKRU", 2_688, 8),
        ("AMX configuration", 2_752, 64),
        ("AMX tiles", 2_816, 8_192),
    ];

    #[test]
    fn there_is_room_for_every_state_that_is_defined_and_not_for_a_byte_more() {
        let end = STATES.iter().map(|(_, offset, bytes)| offset + bytes).max();
        assert_eq!(end, Some(ROOM_BYTES));
        assert_eq!(problem(ROOM_BYTES), None);
        let problem = problem(ROOM_BYTES + 1).expect("there is no room");
        assert!(
            problem.starts_with("the extended registers of this processor have 11009 bytes"),
            "{problem}"
        );
        assert!(problem.contains("room for 11008 (hint: ") && !problem.contains('\n'), "{problem}");
    }

    #[test]
    fn the_patch_of_the_kernel_has_the_same_room() {
        let patch = include_str!("../kernel/registers.patch");
        let line = format!("+\tDEFINE_LONGS(HOST_FP_SIZE, {ROOM_BYTES});");
        assert_eq!(patch.lines().filter(|found| **found == line).count(), 1);
    }

    #[test]
    fn this_processor_has_the_registers_of_sse_at_least() {
        assert!(of_processor() >= LEGACY_BYTES);
        assert_eq!(problem(of_processor()), None);
    }
}

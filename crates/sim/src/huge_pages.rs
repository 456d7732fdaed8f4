//! Huge pages for the memory of a large network.
//!
//! The TLB of a processor holds some two thousand pages. A network of thousands of hosts lies on
//! tens of thousands of pages of 4 KiB, and almost every event misses the TLB: on pages of 2 MiB
//! they are some dozens. An allocator cannot be asked for huge pages, but Linux can collapse
//! adjacent pages into one afterwards (`MADV_COLLAPSE`, madvise(2), Linux 6.1). Other systems and
//! older kernels leave the pages as they are. No result depends on it.

/// Networks with fewer wires are in the caches of a processor, and lie on few pages: with 768 of
/// them, in a fat tree of 128 hosts, on 8 MiB.
pub(crate) const WIRES_MIN: usize = 2_048;

/// Asks for huge pages now and then, because memory grows.
#[derive(Debug, Default)]
pub(crate) struct HugePages {
    /// Number of checks whether a run is cancelled.
    checks: u32,
}

impl HugePages {
    /// Collapses the pages of a network with this many wires, whose memory lies around these
    /// addresses: each time after twice as many events as the time before.
    pub(crate) fn check<A: Iterator<Item = usize>>(
        &mut self,
        wires: usize,
        addresses: impl FnOnce() -> A,
    ) {
        self.checks += 1;
        if self.checks.is_power_of_two() && wires >= WIRES_MIN {
            linux::collapse(addresses().collect());
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod linux {
    pub(super) fn collapse(_: Vec<usize>) {}
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::read_to_string;
    use std::ops::Range;

    /// Puts the pages around these addresses into huge ones: of all the mappings in which they lie.
    pub(super) fn collapse(mut addresses: Vec<usize>) {
        // The call ignores the setting of the system, which may forbid huge pages for a reason.
        let setting =
            read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
        if !setting.contains("[always]") && !setting.contains("[madvise]") {
            return;
        }
        addresses.sort_unstable();
        let maps = read_to_string("/proc/self/maps").unwrap_or_default();
        for Range { start, end } in maps.lines().filter_map(private_memory) {
            let next = addresses.partition_point(|&address| address < start);
            if addresses.get(next).is_some_and(|&address| address < end) {
                // An error says that nothing could be done, or not everything: then the pages stay
                // small.
                #[expect(
                    unsafe_code,
                    reason = "the call changes where pages lie in the machine, and neither their addresses nor their contents"
                )]
                let _ = unsafe {
                    libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_COLLAPSE)
                };
            }
        }
    }

    /// The addresses of a mapping that can be written and belongs to no file.
    fn private_memory(line: &str) -> Option<Range<usize>> {
        let mut words = line.split_ascii_whitespace();
        let (addresses, rights) = (words.next()?, words.next()?);
        let (start, end) = addresses.split_once('-')?;
        let address = |digits| usize::from_str_radix(digits, 16).ok();
        let inode = words.nth(2)?;
        (rights == "rw-p" && inode == "0").then_some(address(start)?..address(end)?)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        const MIB: usize = 1 << 20;

        /// KiB on huge pages in the mapping of this address.
        fn huge_kib(address: usize) -> u64 {
            let maps = read_to_string("/proc/self/smaps").expect("there is one");
            let mut is_ours = false;
            for line in maps.lines() {
                if let Some(range) = private_memory(line) {
                    is_ours = range.contains(&address);
                } else if is_ours && let Some(value) = line.strip_prefix("AnonHugePages:") {
                    return value.trim().trim_end_matches(" kB").parse().expect("a number");
                }
            }
            panic!("the address is in some mapping")
        }

        /// Whether the kernel is new enough, and allows it.
        fn is_possible() -> bool {
            let release = read_to_string("/proc/sys/kernel/osrelease").expect("there is one");
            let mut numbers =
                release.split(['.', '-']).map_while(|number| number.parse::<u32>().ok());
            let setting =
                read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
            (numbers.next(), numbers.next()) >= (Some(6), Some(1)) && setting.contains("[madvise]")
        }

        #[test]
        fn memory_that_is_used_comes_to_lie_on_huge_pages() {
            if !is_possible() {
                return;
            }
            let memory = vec![1_u8; 16 * MIB];
            let address = memory.as_ptr() as usize;
            assert_eq!(huge_kib(address), 0);
            collapse(vec![address + 8 * MIB]);
            assert!(huge_kib(address) >= 14 * 1024, "{} KiB", huge_kib(address));
            assert!(memory.iter().all(|&byte| byte == 1));
        }

        #[test]
        fn mappings_of_files_and_without_rights_are_left_out() {
            let line = |rights: &str, inode: &str| {
                format!("7f00-8f00 {rights} 00000000 00:00 {inode}    /some/file")
            };
            assert_eq!(private_memory(&line("rw-p", "0")), Some(0x7f00..0x8f00));
            assert_eq!(private_memory("7f00-8f00 rw-p 00000000 00:00 0 "), Some(0x7f00..0x8f00));
            for (rights, inode) in [("r--p", "0"), ("---p", "0"), ("rw-s", "0"), ("rw-p", "77")] {
                assert_eq!(private_memory(&line(rights, inode)), None);
            }
        }
    }
}

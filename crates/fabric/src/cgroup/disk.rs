//! Disk limits for the reads and writes of the programs of a group.

use super::Groups;
use serde::Deserialize;
use std::ffi::CString;
use std::fs;
use std::io;
use std::path::PathBuf;

/// Limits of one group on one disk: `blkio.throttle` of version 1, `io.max` of version 2. They hold
/// for direct requests only: requests that the page cache absorbs never reach the disk.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IoLimits {
    /// The group: programs of the same name share the limits.
    pub name: String,
    /// Major and minor number of the whole disk, as `254:0`.
    pub disk: String,
    /// Bytes per second.
    pub read_bps: u64,
    /// Bytes per second.
    pub write_bps: u64,
    /// Requests per second.
    pub read_iops: u64,
    /// Requests per second.
    pub write_iops: u64,
}

/// Files of version 1, in the order of [`IoLimits::values`].
const FILES: [&str; 4] =
    ["read_bps_device", "write_bps_device", "read_iops_device", "write_iops_device"];

impl IoLimits {
    fn values(&self) -> [u64; 4] {
        [self.read_bps, self.write_bps, self.read_iops, self.write_iops]
    }

    fn check(&self) -> io::Result<()> {
        let is_plain = !self.name.is_empty()
            && self
                .name
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter));
        let is_disk = self
            .disk
            .split_once(':')
            .is_some_and(|(major, minor)| [major, minor].iter().all(|n| n.parse::<u32>().is_ok()));
        if is_plain && is_disk && !self.values().contains(&0) {
            return Ok(());
        }
        Err(io::Error::other(
            "a name has letters, digits, - and _; a disk has two numbers, as 254:0; limits are above zero",
        ))
    }
}

impl Groups {
    /// Makes a group with these limits, or sets those of the one that is there. Returns the file by
    /// which a process joins it, where that is another group than its host's: the controller of
    /// version 1 has a hierarchy of its own.
    ///
    /// # Errors
    /// When this machine has no controller for disks, or the kernel refuses the limits.
    pub fn limit_io(&self, member: &str, limits: &IoLimits) -> io::Result<Option<CString>> {
        limits.check()?;
        if let Some(root) = &self.hierarchies.blkio {
            let path = root.join(&self.name).join(&limits.name);
            fs::create_dir_all(&path)?;
            for (file, value) in FILES.iter().zip(limits.values()) {
                fs::write(
                    path.join(format!("blkio.throttle.{file}")),
                    format!("{} {value}", limits.disk),
                )?;
            }
            let file = path.join("cgroup.procs").into_os_string().into_encoded_bytes();
            return Ok(Some(CString::new(file).expect("a name has no zero byte")));
        }
        let root = self
            .hierarchies
            .unified
            .as_ref()
            .ok_or_else(|| io::Error::other("this machine has no control groups"))?;
        let lab = root.join(&self.name);
        for group in [root, &lab] {
            fs::write(group.join("cgroup.subtree_control"), "+io")?;
        }
        let [rbps, wbps, riops, wiops] = limits.values();
        let line = format!("{} rbps={rbps} wbps={wbps} riops={riops} wiops={wiops}", limits.disk);
        fs::write(lab.join(member).join("io.max"), line)?;
        Ok(None)
    }

    /// Whether the disk traffic of a program can be limited.
    pub fn can_limit_io(&self) -> bool {
        let has_io = |root: &PathBuf| {
            let offered = fs::read_to_string(root.join("cgroup.controllers")).unwrap_or_default();
            offered.split_whitespace().any(|controller| controller == "io")
        };
        self.hierarchies.blkio.is_some() || self.hierarchies.unified.as_ref().is_some_and(has_io)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Hierarchies;
    use super::*;

    fn limits() -> IoLimits {
        let (name, disk) = ("io-san".to_owned(), "254:0".to_owned());
        IoLimits {
            name,
            disk,
            read_bps: 540_000_000,
            write_bps: 520_000_000,
            read_iops: 98_000,
            write_iops: 90_000,
        }
    }

    #[test]
    fn limits_are_written_for_each_version() {
        let root = std::env::temp_dir().join(format!("tailrace-io-{}", std::process::id()));
        for version in [1, 2] {
            fs::create_dir_all(root.join("tailrace-test/host-0"))
                .expect("there is a place for scratch files");
            let own = |wanted: i32| (version == wanted).then(|| root.clone());
            let groups = Groups::named(
                Hierarchies { cpu: None, unified: own(2), blkio: own(1) },
                "tailrace-test",
            );
            assert_eq!(groups.can_limit_io(), version == 1, "no controllers are offered");
            let joined = groups.limit_io("host-0", &limits()).expect("files can be written");
            let read = |name: &str| {
                fs::read_to_string(root.join("tailrace-test").join(name)).expect("it was written")
            };
            if version == 1 {
                assert!(joined.is_some_and(|file| {
                    file.to_string_lossy().ends_with("tailrace-test/io-san/cgroup.procs")
                }));
                assert_eq!(read("io-san/blkio.throttle.read_iops_device"), "254:0 98000");
                assert_eq!(read("io-san/blkio.throttle.write_bps_device"), "254:0 520000000");
            } else {
                assert_eq!(joined, None);
                assert_eq!(
                    read("host-0/io.max"),
                    "254:0 rbps=540000000 wbps=520000000 riops=98000 wiops=90000"
                );
                assert_eq!(read("cgroup.subtree_control"), "+io");
            }
            fs::remove_dir_all(&root).expect("it is ours");
        }
    }

    #[test]
    fn limits_that_no_kernel_takes_are_refused_before() {
        let groups = Groups::named(
            Hierarchies { cpu: None, unified: None, blkio: Some(std::env::temp_dir()) },
            "tailrace-none",
        );
        let wrong = [
            IoLimits { name: "../host-0".into(), ..limits() },
            IoLimits { name: String::new(), ..limits() },
            IoLimits { disk: "vda".into(), ..limits() },
            IoLimits { read_iops: 0, ..limits() },
        ];
        assert!(wrong.iter().all(|wrong| groups.limit_io("host-0", wrong).is_err()));
        assert!(!std::env::temp_dir().join("tailrace-none").exists());
    }
}

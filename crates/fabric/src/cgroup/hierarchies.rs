//! Where control groups are mounted.

use std::fs;
use std::path::PathBuf;

/// Where control groups are mounted on this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hierarchies {
    /// Version 1 with the `cpu` controller.
    pub cpu: Option<PathBuf>,
    /// Version 2.
    pub unified: Option<PathBuf>,
    /// Version 1 with the `blkio` controller, which only programs with limits on a disk join.
    pub blkio: Option<PathBuf>,
}

impl Hierarchies {
    /// The hierarchies of this machine.
    pub fn find() -> Hierarchies {
        Hierarchies::parse(&fs::read_to_string("/proc/self/mountinfo").unwrap_or_default())
    }

    pub(super) fn parse(mountinfo: &str) -> Hierarchies {
        let mut found = Hierarchies::default();
        for line in mountinfo.lines() {
            let Some((place, kind)) = line.split_once(" - ") else { continue };
            let Some(path) = place.split(' ').nth(4).map(PathBuf::from) else { continue };
            let mut words = kind.split(' ');
            let (kind, options) =
                (words.next().unwrap_or_default(), words.nth(1).unwrap_or_default());
            let has = |controller| {
                kind == "cgroup" && options.split(',').any(|option| option == controller)
            };
            if kind == "cgroup2" {
                found.unified.get_or_insert(path);
            } else if has("cpu") {
                found.cpu.get_or_insert(path);
            } else if has("blkio") {
                found.blkio.get_or_insert(path);
            }
        }
        found
    }

    /// `v1`, `v2`, `hybrid` or `none`.
    pub fn kind(&self) -> &'static str {
        match (&self.cpu, &self.unified) {
            (Some(_), Some(_)) => "hybrid",
            (Some(_), None) => "v1",
            (None, Some(_)) => "v2",
            (None, None) => "none",
        }
    }

    pub(super) fn roots(&self) -> impl Iterator<Item = &PathBuf> {
        self.cpu.iter().chain(&self.unified)
    }

    /// Wherever a lab may have groups.
    pub(super) fn all_roots(&self) -> impl Iterator<Item = &PathBuf> {
        self.roots().chain(&self.blkio)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hierarchies_are_found_on_every_kind_of_machine() {
        let v1 = "33 32 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n";
        let v1_other = "34 32 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n";
        let v2 = "35 32 0:31 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw,nsdelegate\n";
        let kind = |text: &str| Hierarchies::parse(text).kind();
        assert_eq!(
            [kind(v1), kind(v2), kind(&[v1_other, v1, v2].concat()), kind(v1_other)],
            ["v1", "v2", "hybrid", "none"]
        );
        assert_eq!(Hierarchies::parse(v1).cpu, Some(PathBuf::from("/sys/fs/cgroup/cpu,cpuacct")));
        let blkio = "36 32 0:31 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\n";
        let found = Hierarchies::parse(&[blkio, v1].concat());
        assert_eq!(
            (found.roots().count(), found.all_roots().count()),
            (1, 2),
            "only those with limits on a disk join it"
        );
    }
}

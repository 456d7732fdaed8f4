//! The files of a guest: those of the machine, read-only, with folders of its own on top.

use super::users;
use crate::spec::{FolderCopy, GuestSpec, of_machine};
use nix::mount::{MsFlags, mount, umount};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::{chown, symlink};
use std::path::Path;

/// The output of programs; a folder of the machine.
pub(super) const OUTPUT: &str = "/run/tailrace/out";
/// The plan.
const PLAN: &str = "/run/tailrace/plan.json";
/// A folder of the machine while it is copied.
const SOURCE: &str = "/run/tailrace/source";
/// Folders of the machine that are covered and have programs in them.
const UNCOVERED: &str = "/run/tailrace/covered";
/// Folders in the guest's memory.
const IN_MEMORY: [&str; 3] = ["/run", "/tmp", "/var/tmp"];
/// File systems of its kernel.
const OF_KERNEL: [(&str, &str); 3] = [("proc", "/proc"), ("sysfs", "/sys"), ("devtmpfs", "/dev")];

/// Mounts what a guest has of its own. Folders with programs that this covers are mounted
/// elsewhere, and the words point there.
pub(super) fn mount_all(spec: &mut GuestSpec, plan: &str) -> io::Result<()> {
    let covered = covered_folders(spec)?;
    OF_KERNEL.iter().try_for_each(|(kind, folder)| of_kernel(kind, folder))?;
    for folder in IN_MEMORY {
        if Path::new(folder).is_dir() {
            of_kernel("tmpfs", folder)?;
        }
    }
    for folder in ["/dev/shm", "/dev/pts", "/run/lock"] {
        fs::create_dir_all(folder)?;
    }
    of_kernel("tmpfs", "/dev/shm")?;
    of_kernel("devpts", "/dev/pts")?;
    fs::create_dir_all(OUTPUT)?;
    let output =
        spec.output.to_str().ok_or_else(|| io::Error::other("the folder's name is no text"))?;
    mount_of_machine(OUTPUT, output, MsFlags::empty())?;
    fs::write(PLAN, plan)?;
    for (number, folder) in covered.iter().enumerate() {
        let at = uncovered(number);
        fs::create_dir_all(&at)?;
        mount_of_machine(&at, folder, MsFlags::MS_RDONLY)?;
    }
    for program in &spec.programs {
        let owner = program
            .user
            .as_deref()
            .map(users::find)
            .transpose()?
            .map(|(user, group)| (user.as_raw(), group.as_raw()));
        program
            .copies
            .iter()
            .try_for_each(|copied| copy_folder(copied, owner.unwrap_or((0, 0))))?;
    }
    Ok(())
}

/// Reads a file in the folder of the host, before anything is mounted.
pub(super) fn read_in_folder(name: &str) -> io::Result<String> {
    mount_of_machine("/proc", "", MsFlags::MS_RDONLY)?;
    let text = fs::read_to_string(Path::new("/proc").join(name));
    umount("/proc")?;
    text
}

fn mount_of_machine(at: &str, folder: &str, flags: MsFlags) -> io::Result<()> {
    Ok(mount(Some("none"), at, Some("hostfs"), flags, Some(of_machine(folder).as_str()))?)
}

/// Copies a folder of the machine into the guest's memory. It does not matter if the guest mounts
/// something over it.
fn copy_folder(copied: &FolderCopy, owner: (u32, u32)) -> io::Result<()> {
    let from =
        copied.from.to_str().ok_or_else(|| io::Error::other("the folder's name is no text"))?;
    let say = |error: io::Error| io::Error::new(error.kind(), format!("copying {from}: {error}"));
    fs::create_dir_all(SOURCE).map_err(say)?;
    mount_of_machine(SOURCE, from, MsFlags::MS_RDONLY).map_err(say)?;
    let parent = copied.to.parent().ok_or_else(|| io::Error::other("a copy is below a folder"))?;
    fs::create_dir_all(parent).map_err(say)?;
    copy_tree(Path::new(SOURCE), &copied.to, owner).map_err(say)?;
    umount(SOURCE).map_err(|error| say(error.into()))
}

/// In the order of names: the machine's file system has another one every time.
fn copy_tree(from: &Path, to: &Path, owner: (u32, u32)) -> io::Result<()> {
    let found = fs::symlink_metadata(from)?;
    if found.is_symlink() {
        return symlink(fs::read_link(from)?, to);
    }
    if found.is_dir() {
        fs::create_dir(to)?;
        let mut names = fs::read_dir(from)?
            .map(|entry| Ok(entry?.file_name()))
            .collect::<io::Result<Vec<_>>>()?;
        names.sort();
        names.iter().try_for_each(|name| copy_tree(&from.join(name), &to.join(name), owner))?;
    } else {
        io::copy(&mut fs::File::open(from)?, &mut fs::File::create(to)?)?;
    }
    fs::set_permissions(to, found.permissions())?;
    chown(to, Some(owner.0), Some(owner.1))
}

fn of_kernel(kind: &str, folder: &str) -> io::Result<()> {
    let mounted = mount(Some("none"), folder, Some(kind), MsFlags::empty(), None::<&str>);
    mounted.map_err(|error| io::Error::other(format!("{kind} on {folder}: {error}")))
}

/// Folders with programs that lie where the guest has folders of its own. Such a program finds
/// there what lies beside it.
fn covered_folders(spec: &mut GuestSpec) -> io::Result<Vec<String>> {
    let mut folders: Vec<String> = Vec::new();
    for word in spec.programs.iter_mut().filter_map(|program| program.words.first_mut()) {
        let path = Path::new(word.as_str());
        let is_below = |folder: &str| path.starts_with(folder);
        if IN_MEMORY.iter().any(|folder| is_below(folder))
            || OF_KERNEL.iter().any(|(_, folder)| is_below(folder))
        {
            fs::metadata(path)
                .map_err(|error| io::Error::new(error.kind(), format!("{word}: {error}")))?;
            let (Some(folder), Some(name)) =
                (path.parent().and_then(Path::to_str), path.file_name().and_then(OsStr::to_str))
            else {
                return Err(io::Error::other(format!("{word} is no program")));
            };
            let number = folders.iter().position(|known| known == folder).unwrap_or_else(|| {
                folders.push(folder.to_owned());
                folders.len() - 1
            });
            *word = format!("{}/{name}", uncovered(number));
        }
    }
    Ok(folders)
}

fn uncovered(number: usize) -> String {
    format!("{UNCOVERED}/{number}")
}

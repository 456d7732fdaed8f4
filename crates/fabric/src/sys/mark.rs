//! A text that a folder carries beside its name: an extended attribute (xattr(7)).

use std::ffi::{CStr, CString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The kernel's groups of version 2 and ordinary folders take the first from their owner, groups of version 1 take the second
/// from root.
const NAMES: [&CStr; 2] = [c"user.tailrace", c"trusted.tailrace"];
/// Longest mark.
const BYTES_MAX: usize = 64;

/// Marks a folder.
///
/// # Errors
/// When the file system takes no marks from this user.
pub fn set(folder: &Path, text: &str) -> io::Result<()> {
    let path = CString::new(folder.as_os_str().as_bytes())?;
    let [first, second] = NAMES;
    set_as(&path, first, text).or_else(|_| set_as(&path, second, text))
}

/// The mark of a folder, if it has one that this user may read.
pub fn of(folder: &Path) -> Option<String> {
    let path = CString::new(folder.as_os_str().as_bytes()).ok()?;
    NAMES.iter().find_map(|name| read(&path, name))
}

#[expect(unsafe_code, reason = "extended attributes have no safe wrapper")]
fn set_as(path: &CStr, name: &CStr, text: &str) -> io::Result<()> {
    // SAFETY: path, name and text outlive the call.
    let result = unsafe { libc::setxattr(path.as_ptr(), name.as_ptr(), text.as_ptr().cast(), text.len(), 0) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[expect(unsafe_code, reason = "extended attributes have no safe wrapper")]
fn read(path: &CStr, name: &CStr) -> Option<String> {
    let mut text = [0_u8; BYTES_MAX];
    // SAFETY: path and name outlive the call, and the buffer is as long as told.
    let length = unsafe { libc::getxattr(path.as_ptr(), name.as_ptr(), text.as_mut_ptr().cast(), text.len()) };
    let length = usize::try_from(length).ok()?;
    String::from_utf8(text[..length].to_vec()).ok()
}

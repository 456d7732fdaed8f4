//! Users of the machine, by which programs of a guest may run.

use nix::unistd::{Gid, Uid, User};
use std::io;

/// A user, by name or number, and its group.
pub(super) fn find(name: &str) -> io::Result<(Uid, Gid)> {
    if let Ok(number) = name.parse() {
        return Ok((Uid::from_raw(number), Gid::from_raw(number)));
    }
    let found = User::from_name(name)?
        .ok_or_else(|| io::Error::other(format!("there is no user {name:?}")))?;
    Ok((found.uid, found.gid))
}

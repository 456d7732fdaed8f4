//! The name of a lab's group identifies its owner: number and start of the process that created it,
//! and a checksum that distinguishes it from unrelated groups. The name exists together with the
//! group; a separate mark would be set later.

use crate::sys::process::is_alive;
use std::fs;

/// Every lab's group begins with this.
const PREFIX: &str = "tailrace-";
/// The hash FNV-1a with 64 bits, of Fowler, Noll and Vo.
const CHECK_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const CHECK_PRIME: u64 = 0x0000_0100_0000_01b3;
/// Placeholder for a missing observer.
const NO_OBSERVER: &str = "nobody";

/// The name of a group of this process, as the observer counts processes.
pub(super) fn name(pid: u32, start: u64, observer: Option<&str>) -> String {
    let check = check(&format!("tailrace lab {pid} {start} {}", observer.unwrap_or(NO_OBSERVER)));
    format!("{PREFIX}{pid}-{start}-{check:016x}")
}

/// The observer: it can decide whether an owner lives, because it counts processes as the owner
/// did. Containers that share control groups may not. `None` if it is unknown how this process
/// counts.
pub(super) fn observer() -> Option<String> {
    fs::read_link("/proc/self/ns/pid").ok().map(|link| link.to_string_lossy().into_owned())
}

/// Whether this is the name of a lab's group, created in the observer's process namespace, whose
/// owner has ended.
pub(super) fn is_dead(group: &str, observer: Option<&str>) -> bool {
    let (Some(_), Some((pid, start))) = (observer, parse(group)) else { return false };
    name(pid, start, observer) == group && !is_alive(&pid.to_string(), start)
}

fn parse(group: &str) -> Option<(u32, u64)> {
    let mut words = group.strip_prefix(PREFIX)?.split('-');
    Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

fn check(text: &str) -> u64 {
    text.bytes()
        .fold(CHECK_OFFSET, |check, byte| (check ^ u64::from(byte)).wrapping_mul(CHECK_PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::process::start_ticks;

    #[test]
    fn only_groups_of_the_dead_are_stale() {
        let start = start_ticks("self").expect("this process exists");
        let (own, us) = (std::process::id(), observer());
        let (us, other) = (us.as_deref(), Some("pid:[1]"));
        assert!(us.is_some() && !is_dead(&name(own, start, us), us));
        assert!(is_dead(&name(own, start + 1, us), us)); // an earlier process had the same number
        // its giver counts processes otherwise
        assert!(!is_dead(&name(own, start + 1, other), us));
    }

    #[test]
    fn who_cannot_tell_how_processes_are_counted_takes_none_for_dead() {
        let (unobserved, us) = (name(u32::MAX, 1, None), observer());
        assert!(!is_dead(&unobserved, None) && !is_dead(&unobserved, us.as_deref()));
    }

    #[test]
    fn other_peoples_groups_are_not_taken_for_ours() {
        let own = std::process::id();
        for group in [
            "tailrace-notes",
            "user.slice",
            &format!("tailrace-{own}-1"),
            &format!("tailrace-{own}-1-0123456789abcdef"),
        ] {
            assert!(!is_dead(group, observer().as_deref()), "{group}");
        }
    }

    #[test]
    fn the_check_is_the_published_hash() {
        // Known values of the empty text, "a" and "foobar".
        assert_eq!(
            [check(""), check("a"), check("foobar")],
            [0xcbf29ce484222325, 0xaf63dc4c8601ec8c, 0x85944171f73967e8]
        );
    }
}

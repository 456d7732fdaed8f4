//! Where the kernel of guests lies: in the user's cache, built by `make exact-deps`.

use std::env;
use std::path::{self, PathBuf};

/// Names the kernel's file itself.
pub const VARIABLE: &str = "TAILRACE_EXACT_KERNEL";
/// The kernel that was built last, in the cache's folder.
const CURRENT: &str = "tailrace/exact/linux";

/// The kernel, if there is one. Its path begins at the root: guests start elsewhere.
pub fn find() -> Option<PathBuf> {
    if let Some(named) = env::var_os(VARIABLE) {
        return path::absolute(named).ok().filter(|path| path.is_file());
    }
    let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = cache.or_else(|| env::home_dir().map(|home| home.join(".cache")))?;
    Some(cache.join(CURRENT)).filter(|path| path.is_file())
}

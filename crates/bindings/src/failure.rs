//! A broken invariant becomes a Python exception with the place in its message, and nothing on the terminal: a failed
//! trial is recorded as failed, and the other trials of the experiment go on.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};

thread_local! {
    /// While a trial runs on this thread: the message of its panic.
    static MESSAGE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keep the message of a panic inside [`caught`]; every other panic is reported as before.
pub fn install_hook() {
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let kept = MESSAGE.with_borrow_mut(|message| message.as_mut().map(|text| *text = describe(info)).is_some());
        if !kept {
            report(info);
        }
    }));
}

/// What `run` returns, or the message of its panic.
pub fn caught<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    MESSAGE.set(Some(String::new()));
    // The trial's state is dropped with the panic: its half-changed state is never read.
    let result = panic::catch_unwind(AssertUnwindSafe(run));
    let message = MESSAGE.take();
    result.map_err(|_| message.unwrap_or_default())
}

fn describe(info: &PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    let literal = payload.downcast_ref::<&str>().copied();
    let formatted = payload.downcast_ref::<String>().map(String::as_str);
    let what = literal.or(formatted).unwrap_or("a panic without a message");
    match info.location() {
        Some(place) => format!("{what} (at {}:{})", place.file(), place.line()),
        None => what.to_owned(),
    }
}

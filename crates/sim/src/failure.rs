//! Turns a broken invariant into a message with its source location, and prints nothing: a failed
//! trial is recorded as failed, and the other trials of the experiment continue.

use std::any::Any;
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
        let kept = MESSAGE.with_borrow_mut(|message| {
            message.as_mut().map(|text| *text = describe(info)).is_some()
        });
        if !kept {
            report(info);
        }
    }));
}

/// Returns the result of `run`, or the message of its panic.
///
/// # Errors
/// The message of a panic and its source location, which are known once [`install_hook`] was
/// called.
pub fn caught<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    MESSAGE.set(Some(String::new()));
    // The trial's state is dropped with the panic: its half-changed state is never read.
    let result = panic::catch_unwind(AssertUnwindSafe(run));
    let message = MESSAGE.take();
    result.map_err(|_| message.unwrap_or_default())
}

/// A trial has reached a limit that its plan cannot know: no invariant is broken, and the message
/// needs no source location.
struct Limit(&'static str);

/// Ends the trial with this message.
pub(crate) fn end_at_limit(what: &'static str) -> ! {
    panic::panic_any(Limit(what))
}

/// The panic of one thread of a trial, which another thread continues.
pub(crate) struct Panic {
    payload: Box<dyn Any + Send>,
    message: Option<String>,
}

/// Whether panics of this thread are caught.
pub(crate) fn is_caught() -> bool {
    MESSAGE.with_borrow(Option::is_some)
}

/// Returns the result of `run` on a thread of a trial, or its panic. `is_caught`: on the thread
/// that began the trial.
pub(crate) fn on_a_thread<T>(is_caught: bool, run: impl FnOnce() -> T) -> Result<T, Panic> {
    MESSAGE.set(is_caught.then(String::new));
    // As in `caught`.
    panic::catch_unwind(AssertUnwindSafe(run))
        .map_err(|payload| Panic { payload, message: MESSAGE.with_borrow(Option::clone) })
}

impl Panic {
    /// Whether it is of this type.
    pub(crate) fn is<T: Any>(&self) -> bool {
        self.payload.is::<T>()
    }

    /// Panics again with the message and source location of this panic.
    pub(crate) fn go_on(self) -> ! {
        if is_caught() {
            MESSAGE.set(self.message);
        }
        panic::resume_unwind(self.payload)
    }
}

fn describe(info: &PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    if let Some(&Limit(what)) = payload.downcast_ref::<Limit>() {
        return what.to_owned();
    }
    let literal = payload.downcast_ref::<&str>().copied();
    let formatted = payload.downcast_ref::<String>().map(String::as_str);
    let what = literal.or(formatted).unwrap_or("a panic without a message");
    match info.location() {
        Some(place) => format!("{what} (at {}:{})", place.file(), place.line()),
        None => what.to_owned(),
    }
}

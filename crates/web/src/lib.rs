//! The simulator as a WebAssembly module: a page writes a plan into its memory, runs it, and reads
//! the outcome.
//!
//! `input` makes room for the text of a plan, `run` runs it, and `answer` and `answer_bytes` say
//! where the text of its result is. The page gives one function, `env.told`: it receives the
//! completed share of the run, and ends the run by returning something else than zero. One run at a
//! time; a module whose run has failed is not used again.

mod answer;

use std::cell::RefCell;
use tailrace_plan::Plan;
use tailrace_sim::Control;

thread_local! {
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static ANSWER: RefCell<String> = const { RefCell::new(String::new()) };
}

/// The result of `run`.
#[repr(u32)]
enum Status {
    /// The answer is `{"outcome": .., "tables": ..}`.
    Done = 0,
    /// The answer says what is wrong with the plan.
    Refused = 1,
}

#[cfg(target_arch = "wasm32")]
mod page {
    #[link(wasm_import_module = "env")]
    #[expect(unsafe_code, reason = "the page's functions")]
    unsafe extern "C" {
        /// How much of the run is done, 0 to 1. Another answer than 0 ends it.
        #[link_name = "told"]
        pub safe fn report_progress(progress: f64) -> u32;
        /// The run has failed, and nothing follows: where the message is, and its length.
        pub safe fn failed(message: *const u8, bytes: usize);
    }
}

/// Without a page, calls have no effect.
#[cfg(not(target_arch = "wasm32"))]
mod page {
    pub(crate) fn report_progress(_progress: f64) -> u32 {
        0
    }
    pub(crate) fn failed(_message: *const u8, _bytes: usize) {}
}

/// Makes room for the text of a plan of so many bytes; returns where it goes.
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "the page calls it by this name")]
pub extern "C" fn input(bytes: usize) -> *mut u8 {
    INPUT.with_borrow_mut(|input| {
        input.clear();
        input.resize(bytes, 0);
        input.as_mut_ptr()
    })
}

/// Runs the plan that was written to the room of `input`. Returns a status; the answer is there
/// afterwards.
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "the page calls it by this name")]
pub extern "C" fn run() -> u32 {
    std::panic::set_hook(Box::new(|info| {
        let message = info.to_string();
        page::failed(message.as_ptr(), message.len());
    }));
    let text = INPUT.take();
    let (status, answer) = match plan_of(&text) {
        Ok(plan) => (
            Status::Done,
            answer::text(&tailrace_sim::run(
                &plan,
                &Control::listened_by(|progress| page::report_progress(progress) != 0),
            )),
        ),
        Err(message) => (Status::Refused, message),
    };
    ANSWER.set(answer);
    status as u32
}

/// Where the latest answer is.
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "the page calls it by this name")]
pub extern "C" fn answer() -> *const u8 {
    ANSWER.with_borrow(|answer| answer.as_ptr())
}

/// How long it is.
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "the page calls it by this name")]
pub extern "C" fn answer_bytes() -> usize {
    ANSWER.with_borrow(String::len)
}

fn plan_of(text: &[u8]) -> Result<Plan, String> {
    let text = std::str::from_utf8(text).map_err(|error| error.to_string())?;
    Plan::parse(text).map_err(|error| error.to_string())
}

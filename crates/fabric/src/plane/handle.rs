//! The data plane as the lab holds it: a thread that is asked and answers.

use super::question::{Answer, Ask, Question};
use super::run::Run;
use crate::log::Writer;
use crate::sys::thread;
use nix::sys::eventfd::{EfdFlags, EventFd};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::thread::JoinHandle;
use std::time::Duration;
use tailrace_outcome::NetworkOutcome;
use tailrace_plan::Plan;

/// How long a question to the thread may take: it answers between two ticks.
const ANSWER_WAIT: Duration = Duration::from_secs(5);

/// The running data plane.
#[derive(Debug)]
pub struct Plane {
    questions: Sender<Question>,
    wake: Arc<EventFd>,
    thread: Option<JoinHandle<()>>,
    /// Whether the thread runs before all ordinary ones.
    pub is_realtime: bool,
}

impl Plane {
    /// Starts the data plane of a plan; for each host the queues of its wire.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn start(
        plan: Arc<Plan>,
        wires: Vec<Vec<OwnedFd>>,
        log: Option<Writer>,
    ) -> io::Result<Plane> {
        let (questions, asked) = mpsc::channel();
        let wake = Arc::new(EventFd::from_value_and_flags(
            0,
            EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK,
        )?);
        let mut run = Run::new(plan, wires, log, asked, Arc::clone(&wake))?;
        let (sender, is_realtime) = mpsc::channel();
        let work = move || {
            // The receiver waits for this message.
            let _ = sender.send(thread::be_realtime().is_ok());
            thread::use_exact_timers();
            run.run();
        };
        let thread = std::thread::Builder::new().name("data-plane".into()).spawn(work)?;
        let is_realtime = is_realtime.recv().map_err(io::Error::other)?;
        Ok(Plane { questions, wake, thread: Some(thread), is_realtime })
    }

    /// Asks the thread.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn ask(&self, what: Ask) -> Result<Answer, String> {
        let (sender, answer) = mpsc::channel();
        self.questions.send((what, sender)).map_err(|_| "the data plane has ended")?;
        self.wake.write(1).map_err(|error| format!("waking the data plane: {error}"))?;
        answer.recv_timeout(ANSWER_WAIT).map_err(|_| "the data plane does not answer")?
    }

    /// The outcome so far.
    ///
    /// # Errors
    /// When the thread does not answer.
    pub fn outcome(&self) -> Result<NetworkOutcome, String> {
        self.ask(Ask::Counters).map(Answer::outcome)
    }

    /// Ends the thread. Returns the outcome.
    ///
    /// # Errors
    /// When it does not answer or has failed.
    pub fn stop(mut self) -> Result<NetworkOutcome, String> {
        let outcome = self.ask(Ask::Stop)?.outcome();
        if let Some(thread) = self.thread.take() {
            thread.join().map_err(|_| "the data plane has failed")?;
        }
        Ok(outcome)
    }
}

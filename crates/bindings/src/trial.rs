//! A trial as a Python object: made from a plan, run, watched and cancelled from other threads.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use std::sync::atomic::{AtomicUsize, Ordering};
use tailrace_plan::Plan;
use tailrace_sim::{
    Control, Cores, Outcome, Partition, Refusal, Wanted, WantedTransaction, failure, run_on,
};

use crate::{NotDivided, PlanError, TrialFailed, room, tables};

/// The outcome as JSON in pieces, which of them have the rows of a list (name, first, one after the
/// last), and the tables by name.
type TrialParts<'py> = (Bound<'py, PyList>, Vec<(&'static str, usize, usize)>, Bound<'py, PyDict>);

/// One trial of one arm.
#[pyclass(frozen, module = "tailrace._native")]
pub struct Trial {
    plan: Plan,
    control: Control,
    /// Threads that the next run has.
    cores: Cores,
    /// Threads that the last run had.
    used: AtomicUsize,
}

#[pymethods]
impl Trial {
    /// With so many cores, or up to so many where that is faster.
    #[new]
    #[pyo3(signature = (plan_json, cores = 1, is_automatic = false))]
    fn new(py: Python<'_>, plan_json: &str, cores: usize, is_automatic: bool) -> PyResult<Self> {
        let plan = py
            .detach(|| Plan::parse(plan_json))
            .map_err(|error| PlanError::new_err(error.to_string()))?;
        let cores =
            if is_automatic { Cores::UpTo(cores, room::is_there) } else { Cores::Exactly(cores) };
        Ok(Self { plan, control: Control::default(), cores, used: AtomicUsize::new(1) })
    }

    /// Parts into which the network is divided for so many cores: at most so many.
    fn parts(&self, py: Python<'_>, cores: usize) -> PyResult<usize> {
        let partition = py
            .detach(|| Partition::balanced(&self.plan, cores))
            .map_err(|refusal| not_divided(&refusal))?;
        Ok(partition.parts())
    }

    /// Cores that the run had.
    fn cores(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Run to the end, without the interpreter lock.
    fn run<'py>(&self, py: Python<'py>) -> PyResult<TrialParts<'py>> {
        let ran = py.detach(|| failure::caught(|| run_on(&self.plan, self.cores, &self.control)));
        let (outcome, course) =
            ran.map_err(TrialFailed::new_err)?.map_err(|refusal| not_divided(&refusal))?;
        self.used.store(course.map_or(1, |course| course.events.len()), Ordering::Relaxed);
        let tables = tables::to_python(py, outcome.tables())?;
        to_python(py, outcome, tables)
    }

    /// The same run with the latency of everything that workloads complete split by cause: the
    /// tables are those of causes.
    fn explain<'py>(&self, py: Python<'py>) -> PyResult<TrialParts<'py>> {
        let explained = py
            .detach(|| failure::caught(|| tailrace_sim::explain(&self.plan, &self.control)))
            .map_err(TrialFailed::new_err)?;
        let tables = tables::to_python(py, &explained.tables())?;
        to_python(py, explained.outcome, tables)
    }

    /// Workloads whose latencies are not explained: name and reason.
    fn unexplained(&self) -> Vec<(String, &'static str)> {
        tailrace_sim::unexplained(&self.plan)
    }

    /// The same up to the end of the last of these windows (from, to in picoseconds): the tables of
    /// causes of what was complete by then, and the timeline of the windows and of the connections
    /// of these transactions (workload, place in the order of completion, user).
    fn trace<'py>(
        &self,
        py: Python<'py>,
        windows_ps: Vec<(u64, u64)>,
        transactions: Vec<(u32, u32, u32)>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let transactions = transactions
            .into_iter()
            .map(|(workload, number, user)| WantedTransaction { workload, number, user })
            .collect();
        let wanted = Wanted::from_ps(windows_ps, transactions);
        let found = py
            .detach(|| failure::caught(|| tailrace_sim::traced(&self.plan, &self.control, &wanted)))
            .map_err(TrialFailed::new_err)?;
        tables::to_python(py, &found)
    }

    /// The spanning trees of the plan, as they stand in its outcome.
    fn spanning_trees(&self) -> String {
        serde_json::to_string(&self.plan.trees_summary()).expect("trees are JSON")
    }

    /// Part of the run that is done, 0 to 1.
    fn progress(&self) -> f64 {
        self.control.progress()
    }

    /// Ask the run to return soon with `"cancelled": true`.
    fn cancel(&self) {
        self.control.cancel();
    }
}

/// Each piece is freed when its copy is there: the text is never there twice.
fn to_python<'py>(
    py: Python<'py>,
    outcome: Outcome,
    tables: Bound<'py, PyDict>,
) -> PyResult<TrialParts<'py>> {
    let (pieces, lists) = outcome.into_pieces();
    let copies = PyList::empty(py);
    for piece in pieces {
        copies.append(PyString::new(py, &piece))?;
    }
    Ok((copies, lists.into_iter().map(|(name, at)| (name, at.start, at.end)).collect(), tables))
}

/// Why a network is not divided: what is wrong, a hint, and the workload or the ends of the link
/// that it is about.
fn not_divided(refusal: &Refusal) -> PyErr {
    let workload = refusal.workload().map(str::to_owned);
    NotDivided::new_err((refusal.what(), refusal.hint(), workload, refusal.link().cloned()))
}

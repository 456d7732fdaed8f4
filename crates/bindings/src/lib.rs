//! `tailrace._native`: one trial, the profile of a capture, and the names and limits that scenarios
//! share with plans, for Python. This crate converts types and decides nothing.

mod capture;
mod facts;
mod pcapng;
mod room;
mod tables;
mod trial;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::{create_exception, pymodule};

create_exception!(
    tailrace._native,
    PlanError,
    PyValueError,
    "A plan that cannot be run; the message names the place and the fault."
);
create_exception!(
    tailrace._native,
    NotDivided,
    PyValueError,
    "A plan that cannot be run on several cores; its values are what is wrong, a hint, and the name of a workload or None."
);
create_exception!(
    tailrace._native,
    TrialFailed,
    PyRuntimeError,
    "A broken invariant inside the simulator; the message names it and its place. The trial has no result."
);

create_exception!(
    tailrace._native,
    CaptureError,
    PyValueError,
    "A file that is no capture, or options that cannot be used; the message names the fault."
);

/// The extension module.
#[pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::CaptureError;
    #[pymodule_export]
    use super::NotDivided;
    #[pymodule_export]
    use super::PlanError;
    #[pymodule_export]
    use super::TrialFailed;
    #[pymodule_export]
    use super::capture::profile_capture;
    #[pymodule_export]
    use super::facts::distributions;
    #[pymodule_export]
    use super::facts::drop_causes;
    #[pymodule_export]
    use super::facts::dropped_by;
    #[pymodule_export]
    use super::facts::limits;
    #[pymodule_export]
    use super::pcapng::PcapngFile;
    #[pymodule_export]
    use super::trial::Trial;

    /// Version of the simulator, the same as the package's.
    #[pyfunction]
    fn version() -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    #[pymodule_init]
    fn init(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        tailrace_sim::failure::install_hook();
        Ok(())
    }
}

//! The profile of a capture as a Python function.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tailrace_capture::{Options, Profile};
use tailrace_sim::failure;

use crate::{CaptureError, TrialFailed, tables};

/// Profile the capture in a file, without the interpreter lock; gives the profile as JSON and the
/// tables by name.
#[pyfunction]
pub fn profile_capture<'py>(
    py: Python<'py>,
    path: PathBuf,
    options_json: &str,
) -> PyResult<(String, Bound<'py, PyDict>)> {
    let options =
        Options::parse(options_json).map_err(|error| CaptureError::new_err(error.to_string()))?;
    let (json, profile) = py
        .detach(|| {
            failure::caught(|| {
                Profile::of_file(&path, options).map(|profile| (profile.to_json(), profile))
            })
        })
        .map_err(TrialFailed::new_err)?
        .map_err(|error| CaptureError::new_err(error.to_string()))?;
    Ok((json, tables::to_python(py, profile.tables())?))
}

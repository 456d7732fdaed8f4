//! Tables of a trial as Python sees them: name → column → (type, little-endian bytes), ready for
//! Arrow or `array`.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use tailrace_sim::{Column, Table};

/// All tables, in their order.
pub fn to_python<'py>(py: Python<'py>, tables: &[Table]) -> PyResult<Bound<'py, PyDict>> {
    let by_name = PyDict::new(py);
    for table in tables {
        let columns = PyDict::new(py);
        for (name, column) in &table.columns {
            columns.set_item(name, column_to_python(py, column)?)?;
        }
        by_name.set_item(table.name, columns)?;
    }
    Ok(by_name)
}

fn column_to_python<'py>(
    py: Python<'py>,
    column: &Column,
) -> PyResult<(&'static str, Bound<'py, PyBytes>)> {
    Ok(match column {
        Column::U32(values) => ("u32", little_endian(py, values, u32::to_le_bytes)?),
        Column::U64(values) => ("u64", little_endian(py, values, u64::to_le_bytes)?),
        Column::F64(values) => ("f64", little_endian(py, values, f64::to_le_bytes)?),
    })
}

/// Written straight into the Python object: a table of transactions can hold hundreds of megabytes.
fn little_endian<'py, T: Copy, const N: usize>(
    py: Python<'py>,
    values: &[T],
    to_bytes: fn(T) -> [u8; N],
) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, values.len() * N, |bytes| {
        for (place, &value) in bytes.chunks_exact_mut(N).zip(values) {
            place.copy_from_slice(&to_bytes(value));
        }
        Ok(())
    })
}

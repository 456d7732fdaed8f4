//! The fabric from outside. A test that needs root says in one line that it was skipped for lack of
//! it.

mod back_pressure;
mod common;
mod killing;
mod kinds;
mod lab;
mod neighbours;
mod replay;
mod watched;

//! tailrace-sim

//! tailrace-dataplane

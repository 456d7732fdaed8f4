//! tailrace-record

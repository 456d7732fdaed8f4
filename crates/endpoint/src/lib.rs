//! tailrace-endpoint

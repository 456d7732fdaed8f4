//! The tests of the room for threads, which is decided beside the bindings: only Python can load
//! that library.

#[path = "../../../bindings/src/room.rs"]
mod decided;

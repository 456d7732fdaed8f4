//! The third engine: real Linux kernels in virtual time, joined by the simulator's network.
//!
//! Each host is a guest, a User-Mode Linux kernel that runs as a process and whose clock the engine
//! owns. A frame's way: a program of a guest → its kernel's TCP → `device` → `interface` → the
//! network of `tailrace_lab::network` → the `interface` of another guest → its kernel. `engine`
//! decides whose turn it is; `init` is the first process inside a guest.

mod boot;
pub mod commands;
pub mod device;
pub mod engine;
pub mod fault;
pub mod guest;
pub mod init;
pub mod interface;
pub mod kernel;
mod outcome;
mod progress;
pub mod registers;
pub mod spec;
pub mod trial;

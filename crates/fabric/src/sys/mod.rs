//! Functions of Linux that the standard library and `nix` do not offer, each as a safe function.
//! All unsafe code of the fabric is in this folder.

pub mod blast;
pub mod bpf;
pub mod observed;
pub mod packet;
pub mod process;
pub mod shared;
pub mod stopping;
pub mod tap;
pub mod thread;

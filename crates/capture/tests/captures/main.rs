//! Captures that the tests write themselves, read and profiled.

mod files;
mod frames;
mod inputs;
mod profiles;
mod readers;
mod segments;

//! The outcome of a trial: one JSON document and tables of columns: five, run queues of processors,
//! and windows where they are wanted.

mod cut_off;
mod hypervisors;
pub(crate) mod netstat;
mod processors;
mod summary;
mod tables;
mod text;
mod written;

pub use tailrace_record::{Column, Table};

use crate::control::Control;
use crate::world::{World, frames_in_network};
use serde_json::Value;
use std::ops::Range;
use std::sync::OnceLock;
use std::time::Duration;
use summary::OnTheirWay;
use tailrace_network::{OnWires, Wire};
use tailrace_plan::Plan;
use text::Text;

/// Results of one trial.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// As text: the values of a network of thousands of ports would be larger than the network.
    text: Text,
    /// The same in one piece, once it is wanted.
    whole: OnceLock<String>,
    read: OnceLock<Value>,
    tables: Vec<Table>,
}

impl Outcome {
    /// The summary as JSON.
    pub fn json(&self) -> &str {
        self.whole.get_or_init(|| self.text.whole())
    }
    /// The summary as JSON, in pieces: for a program that only writes it down.
    pub fn json_pieces(&self) -> impl Iterator<Item = &str> {
        self.text.pieces()
    }
    /// The summary as JSON, in pieces that the caller can free one by one, and which of them have
    /// the rows of a list (without its brackets).
    pub fn into_pieces(self) -> (Vec<String>, Vec<(&'static str, Range<usize>)>) {
        self.text.into_pieces()
    }
    /// The summary as a value.
    pub fn summary(&self) -> &Value {
        self.read.get_or_init(|| {
            serde_json::from_str(self.json()).expect("the summary was written as JSON")
        })
    }
    /// The tables.
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }
}

/// The outcome of a run at its end: processors are brought up to date. A cancelled run has no
/// tables and no lists: these take a second and more for a network of thousands of hosts.
pub(crate) fn gather(plan: &Plan, world: &mut World, wall: Duration, control: &Control) -> Outcome {
    world.is_cancelled |= control.is_cancelled();
    if world.is_cancelled {
        return cancelled(plan, world, wall);
    }
    // From here on the rest is gathering, which has no share of its own.
    control.report(1.0);
    world.settle_processors();
    let cut_off = cut_off::cut_off(world);
    let on_wires = OnWires::of(&world.links.wires, &world.switches, world.now);
    let on_their_way = OnTheirWay { frames: frames_in_network(world), on_wires };
    // The text takes the memory of the frames on their way.
    world.links.wires.iter_mut().for_each(Wire::discard);
    let text = summary::summary(plan, world, &cut_off, &on_their_way, wall, control);
    world.is_cancelled = control.is_cancelled();
    if world.is_cancelled {
        return cancelled(plan, world, wall);
    }
    Outcome {
        text,
        whole: OnceLock::new(),
        read: OnceLock::new(),
        tables: tables::tables(plan, world, &cut_off),
    }
}

/// The outcome of a trial that did not run to its end, or was not gathered.
fn cancelled(plan: &Plan, world: &World, wall: Duration) -> Outcome {
    Outcome {
        text: summary::cancelled(plan, world, wall),
        whole: OnceLock::new(),
        read: OnceLock::new(),
        tables: Vec::new(),
    }
}

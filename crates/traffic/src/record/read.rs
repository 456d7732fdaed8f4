//! Reading a record.

use super::numbers::take;
use super::{Closing, Failure, Item, MAGIC, Sample, Transaction};
use crate::counters::Counters;
use serde_json::Value;
use tailrace_programs::Tallies;
use tailrace_units::{Span, Time};
use tailrace_workloads::Ends;

/// Most bytes of a head.
const HEAD_BYTES_MAX: u64 = 1 << 20;

/// The head before the items.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Head {
    /// Name of the host.
    pub host: String,
    /// Name of the plan.
    pub plan: String,
    /// Its seed.
    pub seed: u64,
    /// Width of bins.
    pub bin: Span,
}

/// A record that was read whole.
#[derive(Clone, Debug)]
pub struct Record {
    /// The head before the items.
    pub head: Head,
    /// In the order in which they happened, [`Item::Received`] when its bin was over.
    pub items: Vec<Item>,
    /// The figures of the last item.
    pub closing: Closing,
}

impl Record {
    /// Reads a file.
    ///
    /// # Errors
    /// When it is no record, or not a whole one.
    pub fn parse(bytes: &[u8]) -> Result<Record, String> {
        let mut rest =
            bytes.strip_prefix(MAGIC).ok_or("the file is no record of traffic of version 1")?;
        let head = take_head(&mut rest).ok_or("the head of the record cannot be read")?;
        let mut items = Vec::new();
        loop {
            let at = bytes.len() - rest.len();
            match take_item(&mut rest).ok_or_else(|| {
                format!("the record is not whole: nothing that is known stands at byte {at}")
            })? {
                Item::End(closing) if rest.is_empty() => {
                    return Ok(Record { head, items, closing });
                }
                Item::End(_) => {
                    return Err(format!("the record goes on after its end, at byte {at}"));
                }
                item => items.push(item),
            }
        }
    }
}

fn take_head(rest: &mut &[u8]) -> Option<Head> {
    let length = take(rest).filter(|&length| length <= HEAD_BYTES_MAX)? as usize;
    let (head, after) = rest.split_at_checked(length)?;
    *rest = after;
    let head: Value = serde_json::from_slice(head).ok()?;
    let text = |key: &str| head[key].as_str().map(str::to_owned);
    let bin = Span::from_ps(head["bin_ps"].as_u64().filter(|&bin| bin > 0)?);
    Some(Head { host: text("host")?, plan: text("plan")?, seed: head["seed"].as_u64()?, bin })
}

fn take_item(rest: &mut &[u8]) -> Option<Item> {
    let (&kind, after) = rest.split_first()?;
    *rest = after;
    Some(match kind {
        1 => {
            let (workload, user, intended) = (index(rest)?, user(rest)?, time(rest)?);
            let first_byte = intended + span(rest)?;
            let end = first_byte + span(rest)?;
            let (bytes, ends) = (take(rest)?, Ends { client: index(rest)?, server: index(rest)? });
            let flow = (bytes > 0).then_some((ends, bytes));
            Item::Transaction(Transaction { workload, user, intended, first_byte, end, flow })
        }
        2 => Item::Received {
            workload: index(rest)?,
            user: user(rest)?,
            bin: take(rest)?,
            bytes: take(rest)?,
        },
        3 => {
            let (at, workload, user, side) = (time(rest)?, index(rest)?, user(rest)?, side(rest)?);
            let (port, received) = (u16::try_from(take(rest)?).ok()?, take(rest)?);
            let counters = take_counters(rest)?;
            Item::Sample(Box::new(Sample { at, workload, user, side, port, received, counters }))
        }
        4 => Item::Finished { workload: index(rest)?, user: user(rest)?, at: time(rest)? },
        5 => Item::CutOff { workload: index(rest)?, user: user(rest)?, start: time(rest)? },
        6 => {
            let (at, workload, user, side) = (time(rest)?, index(rest)?, user(rest)?, side(rest)?);
            Item::Failed(Failure {
                at,
                workload,
                user,
                side,
                error: i32::try_from(take(rest)?).ok()?,
            })
        }
        7 => Item::End(Closing {
            at: time(rest)?,
            busy_ps: take(rest)?,
            calls: take(rest)?,
            late_ps: take(rest)?,
            late_max_ps: take(rest)?,
            unsent_datagrams: take(rest)?,
        }),
        8 => {
            Item::Tallies { at: time(rest)?, workload: index(rest)?, tallies: take_tallies(rest)? }
        }
        9 => {
            let (workload, since) = (index(rest)?, time(rest)?);
            Item::Part { workload, since, end: since + span(rest)? }
        }
        _ => return None,
    })
}

/// A later version may have more counts, which have no name here.
fn take_tallies(rest: &mut &[u8]) -> Option<Tallies> {
    let mut counts = [0; Tallies::COUNT];
    for place in 0..take(rest)? {
        let value = take(rest)?;
        if let Some(count) = counts.get_mut(place as usize) {
            *count = value;
        }
    }
    Some(Tallies::from_counts(counts))
}

/// A later version may have more counters, which have no name here.
fn take_counters(rest: &mut &[u8]) -> Option<Counters> {
    let mut counters = Counters::default();
    for place in 0..take(rest)? {
        let value = take(rest)?.checked_sub(1);
        if let Some(counter) = counters.0.get_mut(place as usize) {
            *counter = value;
        }
    }
    Some(counters)
}

fn index(rest: &mut &[u8]) -> Option<u32> {
    u32::try_from(take(rest)?).ok()
}

fn user(rest: &mut &[u8]) -> Option<u32> {
    Some(index(rest)?.wrapping_sub(1))
}

fn side(rest: &mut &[u8]) -> Option<u8> {
    take(rest).filter(|&side| side <= 1).map(|side| side as u8)
}

fn time(rest: &mut &[u8]) -> Option<Time> {
    take(rest).map(Time::from_ps)
}

fn span(rest: &mut &[u8]) -> Option<Span> {
    take(rest).map(Span::from_ps)
}

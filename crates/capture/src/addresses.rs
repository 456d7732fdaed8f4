//! Addresses of the tables: each has an index, in the order in which they were first needed.

use crate::anonymise::Key;
use std::collections::HashMap;
use std::net::Ipv6Addr;
use tailrace_record::{Column, Table};

/// Addresses, anonymous if there is a key.
pub(crate) struct Addresses {
    key: Option<Key>,
    indices: HashMap<u128, u32>,
    list: Vec<u128>,
}

impl Addresses {
    pub(crate) fn new(key: Option<Key>) -> Addresses {
        Addresses { key, indices: HashMap::new(), list: Vec::new() }
    }

    /// The index of an address.
    pub(crate) fn index(&mut self, address: u128) -> u32 {
        *self.indices.entry(address).or_insert_with(|| {
            self.list.push(self.key.map_or(address, |key| key.anonymous(address)));
            (self.list.len() - 1) as u32
        })
    }

    /// An address as people write it.
    pub(crate) fn text(&self, address: u128) -> String {
        let shown = self.key.map_or(address, |key| key.anonymous(address));
        Ipv6Addr::from(shown).to_canonical().to_string()
    }

    /// The addresses in halves; IPv4 ones are mapped into `::ffff:0:0/96`.
    pub(crate) fn table(self) -> Table {
        let high = self.list.iter().map(|address| (address >> 64) as u64).collect();
        let low = self.list.iter().map(|&address| address as u64).collect();
        Table {
            name: "addresses",
            columns: vec![("high", Column::U64(high)), ("low", Column::U64(low))],
        }
    }
}

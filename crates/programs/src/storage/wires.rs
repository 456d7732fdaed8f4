//! Contents of the connections between initiators and a target.

use super::protocol::Conduit;
use crate::Peer;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::Mutex;

/// Both directions of a connection: to the target, and to the initiator.
pub(super) type Wire = Arc<Mutex<[Conduit; 2]>>;

/// All connections of a workload, by the end that opened each. Both ends hold this, since packets
/// carry no payload.
#[derive(Clone, Default, Debug)]
pub struct Wires(Arc<Mutex<BTreeMap<(u16, u16), Wire>>>);

impl Wires {
    /// Of a connection that is being opened from this end. A port that is used again begins anew.
    pub(super) fn open(&self, end: Peer) -> Wire {
        let wire = Wire::default();
        self.0
            .lock()
            .expect("nothing panics while it has this")
            .insert((end.host, end.port), Arc::clone(&wire));
        wire
    }

    /// Of a connection that this end has opened.
    pub(super) fn find(&self, end: Peer) -> Wire {
        Arc::clone(
            self.0
                .lock()
                .expect("nothing panics while it has this")
                .get(&(end.host, end.port))
                .expect("initiators note what they open"),
        )
    }
}

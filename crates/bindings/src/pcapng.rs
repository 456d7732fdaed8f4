//! A capture file that Python fills.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tailrace_record::pcapng::{Interface, LINKTYPE_ETHERNET, Packet, Section};

/// A pcapng file of one section with Ethernet interfaces.
#[pyclass]
pub struct PcapngFile {
    content: Vec<u8>,
    interfaces: u32,
}

#[pymethods]
impl PcapngFile {
    #[new]
    fn new(application: &str, comment: &str) -> PcapngFile {
        PcapngFile { content: Section { application, comment }.block(), interfaces: 0 }
    }

    /// Adds an interface; returns its number.
    fn interface(&mut self, name: &str, description: &str, speed_bps: u64, snap_bytes: u32) -> u32 {
        let speed_bps = Some(speed_bps);
        let link_type = LINKTYPE_ETHERNET;
        let interface = Interface { name, description, speed_bps, link_type, snap_bytes };
        self.content.extend(interface.block());
        self.interfaces += 1;
        self.interfaces - 1
    }

    /// Adds a packet of which only the first bytes are kept.
    fn packet(
        &mut self,
        interface: u32,
        at_ns: u64,
        captured: &[u8],
        wire_bytes: u32,
        comment: &str,
    ) {
        let direction = None;
        let packet = Packet { interface, at_ns, direction, frame: captured, wire_bytes, comment };
        self.content.extend(packet.block());
    }

    /// The whole file.
    fn content<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.content)
    }
}

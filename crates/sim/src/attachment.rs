//! The attachment of a host to the network.

/// The attachment of a host, and its index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attachment {
    pub(crate) index: u32,
    /// The wire behind the interface.
    pub(crate) wire_out: u32,
    /// The wire that ends at the interface.
    pub(crate) wire_in: u32,
    /// Whether frames of VLANs carry their tag on its link.
    pub(crate) is_tagged: bool,
    /// Its processor's agenda source, if it has one.
    pub(crate) processor: Option<u32>,
    /// The agenda source of the hypervisor that runs it, if it is a virtual machine.
    pub(crate) hypervisor: Option<u32>,
}

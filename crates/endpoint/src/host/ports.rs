//! Ephemeral ports of one host.

/// First ephemeral port (Linux: `ip_local_port_range`).
const FIRST_EPHEMERAL_PORT: u16 = 32_768;

/// Hands out source ports in order, from the first again after the last.
#[derive(Clone, Copy, Debug)]
pub(super) struct EphemeralPorts {
    next: u16,
}

impl EphemeralPorts {
    pub(super) fn new() -> EphemeralPorts {
        EphemeralPorts { next: FIRST_EPHEMERAL_PORT }
    }

    pub(super) fn take(&mut self) -> u16 {
        let port = self.next;
        self.next = if port == u16::MAX { FIRST_EPHEMERAL_PORT } else { port + 1 };
        port
    }
}

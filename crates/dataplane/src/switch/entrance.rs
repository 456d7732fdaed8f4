//! The path of a frame before it comes to a port: lines that lose frames, MTUs, classification,
//! routing, policers, accounts.

use super::Switch;
use crate::ingress::Account;
use crate::line::Lines;
use crate::mtu::Mtus;
use crate::{Classifier, DropCause, Frame, LineLoss, Outputs, Policer, PortNo, Vlans};
use tailrace_units::Time;

impl<F: Frame> Switch<F> {
    /// Sets the rules of classification.
    pub fn classify_by(&mut self, classifier: Classifier) {
        if !classifier.is_empty() {
            self.open_entrance();
        }
        self.classifier = classifier;
    }

    /// Checks the VLANs of frames.
    pub fn look_at_vlans(&mut self, vlans: Vlans) {
        self.open_entrance();
        self.vlans = Some(vlans);
    }

    /// Drops frames that are longer than this, by port: from its neighbour, and on their way out.
    /// All ports must have been added.
    pub fn limit_frames(&mut self, frame_bytes_max: Vec<Option<u32>>) {
        assert_eq!(frame_bytes_max.len(), self.ports.len(), "one limit for each port");
        self.open_entrance();
        self.mtus = Some(Box::new(Mtus::new(frame_bytes_max)));
    }

    /// Loses frames on the lines of the ports, by port: of received and of sent ones. All ports
    /// must have been added.
    pub fn lose(&mut self, into: Vec<Option<LineLoss>>, out: Vec<Option<LineLoss>>) {
        assert!([&into, &out].map(Vec::len) == [self.ports.len(); 2], "one or none for each port");
        self.open_entrance();
        self.lines = Some(Box::new(Lines { into, out }));
    }

    /// Polices the frames that enter by a port.
    pub fn police(&mut self, port: PortNo, policer: Policer) {
        self.policers[port] = Some(policer);
        self.open_entrance();
    }

    /// There is something to do at the entrance: no frame takes the fast path.
    pub(super) fn open_entrance(&mut self) {
        (self.has_entrance, self.is_plain) = (true, false);
    }

    /// The entrance of a switch that classifies, polices, checks VLANs, has MTUs, lossy lines or
    /// accounts: at which port and why a frame is dropped, or where it goes and its account when it
    /// waits.
    #[inline(never)]
    pub(super) fn enter(
        &mut self,
        now: Time,
        in_port: PortNo,
        frame: &mut F,
        out: &mut impl Outputs<F>,
    ) -> Result<(PortNo, Option<Account>), (PortNo, DropCause)> {
        if let Some(lines) = &mut self.lines
            && lines.loses_entering(in_port, frame)
        {
            return Err((in_port, DropCause::Line));
        }
        if let Some(mtus) = &mut self.mtus
            && !mtus.admits(in_port, frame.bytes())
        {
            return Err((in_port, DropCause::Mtu));
        }
        frame.set_priority(self.classifier.class(in_port, frame));
        let table = self
            .vlans
            .as_ref()
            .and_then(|vlans| vlans.table(frame.vlan()))
            .unwrap_or(&self.forwarding);
        let port = table.route(frame).ok_or((in_port, DropCause::NoRoute))?;
        self.inspect(now, in_port, port, frame, out).map(|account| (port, account))
    }

    /// The same for a frame that goes to `port`: its account.
    fn inspect(
        &mut self,
        now: Time,
        in_port: PortNo,
        port: PortNo,
        frame: &mut F,
        out: &mut impl Outputs<F>,
    ) -> Result<Option<Account>, (PortNo, DropCause)> {
        if let Some(policer) = &mut self.policers[in_port]
            && !policer.conforms(now, frame.priority(), frame.flow_hash(), frame.bytes())
        {
            return Err((in_port, DropCause::Policed));
        }
        if let Some(vlans) = &self.vlans {
            vlans.retag(port, frame);
        }
        if let Some(mtus) = &mut self.mtus
            && !mtus.lets_out(port, frame.bytes())
        {
            return Err((port, DropCause::Mtu));
        }
        if let Some(lines) = &mut self.lines
            && lines.loses_leaving(port, frame)
        {
            return Err((port, DropCause::Line));
        }
        if self.ingress.is_none() {
            return Ok(None);
        }
        self.handle_timeout(now, out);
        let ingress = self.ingress.as_mut().expect("it was there");
        let free = ingress.pool.free_bytes();
        let admitted = ingress.ports[in_port].admit(frame.priority(), frame.bytes(), free);
        let group = admitted.map_err(|cause| (in_port, cause))?;
        Ok(Some(Account { port: in_port as u16, group }))
    }

    /// A frame is dropped before it comes to any queue.
    #[cold]
    pub(super) fn drop_early(
        &mut self,
        now: Time,
        port: PortNo,
        frame: &F,
        cause: DropCause,
        out: &mut impl Outputs<F>,
    ) {
        self.early.count_drop(cause, frame.bytes());
        out.dropped(now, port, 0, frame, cause);
    }
}

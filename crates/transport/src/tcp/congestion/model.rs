//! Congestion control by a model of the path: where its state is kept, and when it is called.

use tailrace_units::Time;

use super::bbr::{Ack, Bbr, Path, Window};
use super::{Algorithm, Congestion};
use crate::tcp::pacing::Paced;

/// BBR, and the pace and samples that it needs: in a box, because other connections have none.
pub(super) struct Model {
    pub(super) bbr: Bbr,
    paced: Paced,
}

impl Model {
    pub(super) fn new(seed: u64, flow_hash: u32) -> Model {
        Model { bbr: Bbr::new(seed, flow_hash), paced: Paced::new() }
    }
}

/// Congestion control by a model. Each of these does nothing for the others.
impl Congestion {
    /// Pace and samples of a connection that has them.
    #[inline]
    pub(in crate::tcp) fn paced(&self) -> Option<&Paced> {
        match &self.algorithm {
            Algorithm::Bbr(model) => Some(&model.paced),
            Algorithm::Cubic(_) | Algorithm::NewReno | Algorithm::Dctcp(_) => None,
        }
    }

    #[inline]
    pub(in crate::tcp) fn paced_mut(&mut self) -> Option<&mut Paced> {
        match &mut self.algorithm {
            Algorithm::Bbr(model) => Some(&mut model.paced),
            Algorithm::Cubic(_) | Algorithm::NewReno | Algorithm::Dctcp(_) => None,
        }
    }

    /// The model, and the window that it sets.
    fn model(&mut self) -> Option<(&mut Model, Window<'_>)> {
        match &mut self.algorithm {
            Algorithm::Bbr(model) => Some((
                model,
                Window { cwnd: &mut self.cwnd, ssthresh: &mut self.ssthresh, clamp: self.clamp },
            )),
            Algorithm::Cubic(_) | Algorithm::NewReno | Algorithm::Dctcp(_) => None,
        }
    }

    /// The connection is open.
    pub(in crate::tcp) fn start_model(&mut self, now: Time, path: Path) {
        if let Some((model, window)) = self.model() {
            model.bbr.start(now, *window.cwnd, path, &mut model.paced.pace);
        }
    }

    /// An acknowledgement has been read.
    pub(in crate::tcp) fn follow_model(&mut self, ack: impl FnOnce(&mut Paced) -> Ack<'_>) {
        if let Some((model, mut window)) = self.model() {
            model.bbr.handle_ack(&mut ack(&mut model.paced), &mut window);
        }
    }

    /// Sending starts with nothing in flight.
    pub(in crate::tcp) fn handle_transmission_start(&mut self, now: Time) {
        if let Some((model, mut window)) = self.model() {
            model.bbr.handle_transmission_start(now, &mut window, &mut model.paced);
        }
    }

    /// The retransmission timer has expired, and `lost` segments have been lost so far.
    pub(in crate::tcp) fn handle_loss_state(&mut self, lost: u64) {
        if let Some((model, _)) = self.model() {
            model.bbr.handle_timeout(lost, &model.paced);
        }
    }
}

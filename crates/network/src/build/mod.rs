//! Builds the models of a plan: switches, and interfaces of data-centre bridging.

mod interface;
mod switch;

pub use interface::lossless_nics;
pub use switch::notifies;
pub(crate) use switch::switches;

use tailrace_dataplane::Service;
use tailrace_plan::RawService;

fn service(raw: RawService) -> Service {
    match raw {
        RawService::Strict(level) => Service::Strict(level),
        RawService::Dwrr(weight) => Service::Dwrr(weight),
    }
}

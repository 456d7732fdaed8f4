//! Numbers of what can be due in the agenda.

use crate::agenda::Source;

/// The first number of each kind; those of wires begin at zero, those of sockets have no end.
///
/// The kinds follow one another in this order, so that a number tells its kind by comparisons.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sources {
    pub(crate) generators: Source,
    /// Interfaces and switches that take part in data-centre bridging.
    pub(crate) members: Source,
    pub(crate) processors: Source,
    pub(crate) hypervisors: Source,
    /// Programs with several sockets.
    pub(crate) programs: Source,
    pub(crate) sockets: Source,
}

/// How many there are of each kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SourceCounts {
    pub(crate) wires: usize,
    pub(crate) generators: usize,
    pub(crate) members: usize,
    pub(crate) processors: usize,
    pub(crate) hypervisors: usize,
    pub(crate) programs: usize,
}

impl Sources {
    pub(crate) fn number(counts: SourceCounts) -> Sources {
        let generators = counts.wires as Source;
        let members = generators + counts.generators as Source;
        let processors = members + counts.members as Source;
        let hypervisors = processors + counts.processors as Source;
        let programs = hypervisors + counts.hypervisors as Source;
        let sockets = programs + counts.programs as Source;
        Sources { generators, members, processors, hypervisors, programs, sockets }
    }
}

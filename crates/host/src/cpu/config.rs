//! Configuration of the processor of a host.

use tailrace_units::Span;

/// Most cores of one host.
pub const CORES_MAX: usize = 256;
const WORD_BITS: usize = 64;

/// Load weights of the nice values -20 to 19 (Linux `sched_prio_to_weight`, kernel/sched/core.c):
/// each step is a factor of 1.25.
const WEIGHTS: [u32; 40] = [
    88_761, 71_755, 56_483, 46_273, 36_291, 29_154, 23_254, 18_705, 14_949, 11_916, 9_548, 7_620,
    6_100, 4_904, 3_906, 3_121, 2_501, 1_991, 1_586, 1_277, 1_024, 820, 655, 526, 423, 335, 272,
    215, 172, 137, 110, 87, 70, 56, 45, 36, 29, 23, 18, 15,
];
/// The weight of nice 0, at which virtual time passes as fast as time.
pub(super) const NICE_0_WEIGHT: u32 = 1_024;
const NICE_MIN: i32 = -20;
const NICE_MAX: i32 = 19;

/// The weight of a nice value from -20 to 19.
pub fn weight_of(nice: i32) -> u32 {
    WEIGHTS[(nice.clamp(NICE_MIN, NICE_MAX) - NICE_MIN) as usize]
}

/// A set of cores.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CoreSet([u64; CORES_MAX / WORD_BITS]);

impl CoreSet {
    /// The first so many cores.
    pub fn first(cores: usize) -> CoreSet {
        (0..cores as u32).collect()
    }
    /// Adds a core.
    pub(crate) fn insert(&mut self, core: usize) {
        self.0[core / WORD_BITS] |= 1 << (core % WORD_BITS);
    }
    /// Takes a core out.
    pub(crate) fn remove(&mut self, core: usize) {
        self.0[core / WORD_BITS] &= !(1 << (core % WORD_BITS));
    }
    /// Takes the first core out.
    pub(crate) fn pop_first(&mut self) -> Option<usize> {
        let (number, word) = self.0.iter_mut().enumerate().find(|(_, word)| **word != 0)?;
        let core = number * WORD_BITS + word.trailing_zeros() as usize;
        *word &= *word - 1;
        Some(core)
    }
    /// Whether this core belongs to it.
    pub fn contains(&self, core: usize) -> bool {
        self.0[core / WORD_BITS] >> (core % WORD_BITS) & 1 == 1
    }
}

impl FromIterator<u32> for CoreSet {
    fn from_iter<I: IntoIterator<Item = u32>>(cores: I) -> CoreSet {
        let mut set = CoreSet::default();
        for core in cores {
            set.insert(core as usize);
        }
        set
    }
}

/// Settings of the scheduler.
#[derive(Clone, Copy, Debug)]
pub struct SchedulerConfig {
    /// How long a task runs before the scheduler compares it with the others of its core (Linux
    /// `base_slice_ns`: 0.75 ms for one core, 3 ms from eight on).
    pub slice: Span,
    /// The end of a slice is noticed at a tick (Linux with HZ = 250: 4 ms); zero for at once.
    pub tick: Span,
    /// Work of the kernel for each task that takes the core of another, or of none.
    pub context_switch: Span,
}

/// The hypervisor takes every core for `slice`, once in `every`. The cores are taken one after the
/// other.
#[derive(Clone, Copy, Debug)]
pub struct Steal {
    /// How long a core is gone.
    pub slice: Span,
    /// From one time to the next.
    pub every: Span,
}

/// A control group: the programs of one or several workloads on this host.
#[derive(Clone, Debug)]
pub struct GroupConfig {
    /// Where its tasks may run (cpuset).
    pub cores: CoreSet,
    /// The weight of each of its tasks.
    pub weight: u32,
    /// Time of all cores together that its tasks may have in each period (Linux `cpu.max`): quota
    /// and period.
    pub quota: Option<(Span, Span)>,
}

/// A processor.
#[derive(Clone, Debug)]
pub struct ProcessorConfig {
    /// Its cores.
    pub cores: usize,
    /// Its scheduler.
    pub scheduler: SchedulerConfig,
    /// Time that a hypervisor takes away.
    pub steal: Option<Steal>,
    /// Control groups. Group 0 holds the tasks that belong to no other.
    pub groups: Vec<GroupConfig>,
    /// Workloads for which is counted.
    pub owners: usize,
    /// Run-queue depth over time: width of a bin, and how many; zero for none.
    pub depth_bin: Span,
    /// Number of these bins.
    pub depth_bins: usize,
}

//! A trial: guests are started, set themselves up, run their programs, and end.

use crate::device::{Card, Negotiation, TRANSMIT};
use crate::engine::Engine;
use crate::fault::Fault;
use crate::guest::{EPOCH_NS, Guest, GuestEvent, Machine, Start};
use crate::interface::{Counted, Interface};
use crate::outcome::{Answer, Counts, assembled, network_tables, traffic};
use crate::progress::ProgressReport;
use crate::registers;
use crate::spec::{BEGIN_NS, Ending, GuestSpec, Line, Program, QueueReport, SPEC, START_NS};
use std::fs;
use std::io;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};
use tailrace_lab::address;
use tailrace_lab::capture::Capture;
use tailrace_lab::network::outcome;
use tailrace_outcome::{Capture as Captured, Exact, ExactHost, Registers};
use tailrace_plan::{Plan, RawHost};
use tailrace_units::{Span, Time};

/// Virtual time that guests have to end after they were asked to.
const END: Span = Span::from_ms(5_000);

/// Virtual time that programs other than servers have to end after they were asked to: for the work
/// that they have begun.
const STOP: Span = Span::from_ms(30_000);

/// Configuration of a trial.
#[derive(Debug)]
pub struct Trial {
    /// The plan.
    pub plan: Plan,
    /// Its file.
    pub plan_file: PathBuf,
    /// Everything that guests write goes here, by host.
    pub folder: PathBuf,
    /// Guests.
    pub machine: Machine,
    /// By host.
    pub programs: Vec<Vec<Program>>,
    /// Whether the programs are those of the plan's workloads, which record the outcome of the
    /// workloads.
    pub is_traffic: bool,
    /// Warnings that precede the figures of its outcome.
    pub warnings: Vec<String>,
    /// Ports that are captured.
    pub captures: Vec<CaptureOrder>,
    /// Reports the completed share.
    pub tells_progress: bool,
    /// Wall time after which a guest that says nothing spins.
    pub limit: Duration,
}

/// A capture of a port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CaptureOrder {
    /// As `NODE>TOWARDS`.
    pub port: String,
    /// Written from the start of the programs to the end of the plan's time.
    pub file: PathBuf,
}

/// A guest that is set up.
struct Ready {
    guest: Guest,
    /// Slots of the ring whose frames its driver has sent meanwhile.
    slots: Vec<u16>,
    /// The last message of its first process.
    said: Option<Line>,
}

impl Trial {
    /// Runs it.
    ///
    /// # Errors
    /// When there is no result.
    pub fn run(&self) -> Result<Answer, Fault> {
        let started = Instant::now();
        let plan = &self.plan;
        let of_engine = |what: String| Fault::new("(engine)", what);
        registers::problem(self.machine.registers_bytes)
            .map_or(Ok(()), |problem| Err(of_engine(problem)))?;
        let folders = self
            .folders()
            .map_err(|error| of_engine(format!("{}: {error}", self.folder.display())))?;
        let ready = self.boot(&folders)?;
        let booted = started.elapsed();
        let (mut guests, mut sent, mut said) = (Vec::new(), Vec::new(), Vec::new());
        for one in ready {
            guests.push(one.guest);
            sent.push(one.slots);
            said.push(one.said);
        }
        let mut engine = Engine::new(plan, guests, said, self.limit).map_err(of_engine)?;
        for (interface, slots) in engine.interfaces.iter_mut().zip(sent) {
            slots.into_iter().for_each(|slot| interface.sends(Time::from_ns(START_NS), slot));
        }
        self.begin_captures(&mut engine).map_err(of_engine)?;
        let begin = Time::from_ns(BEGIN_NS);
        engine.advance(begin, has_failed)?;
        engine.network.begin(plan, begin);
        let stop = begin + Span::from_ps(plan.raw.stop_at_ps);
        if self.tells_progress {
            engine.progress = Some(ProgressReport::new(begin, stop));
        }
        let ends_early = self.ends_early();
        let are_done =
            |said: &[Option<Line>]| said.iter().all(|said| matches!(said, Some(Line::Done(_))));
        let end = engine.advance(stop, |said| has_failed(said) || ends_early && are_done(said))?;
        let end = end.max(begin);
        engine.network.advance(end);
        engine.network.settle(end);
        let captured = engine.network.end_captures(end).map_err(of_engine)?;
        let counted = outcome(plan, &engine.network, end);
        let mut tables = network_tables(plan, &engine.network);
        // Later counts are not in the plan's time.
        let interfaces: Vec<Counted> = engine.interfaces.iter().map(Interface::counted).collect();
        let ran = started.elapsed();
        let said = engine.said().to_vec();
        if self.programs.iter().flatten().any(|program| program.is_server) {
            let asked_at = engine.tell(Line::Stop)?;
            let is_over = |said: &Option<Line>| matches!(said, Some(Line::Stopped | Line::Failed));
            engine.advance(asked_at + STOP, |said| said.iter().all(is_over))?;
        }
        let asked_at = engine.tell(Line::End)?;
        let ended =
            engine.advance(asked_at + END, |said| said.iter().all(|said| *said == Some(Line::End)));
        let endings = self.endings(&folders);
        self.judge(&said, &endings, &engine)?;
        ended?;
        self.check_endings_are_reported(&endings, &engine)?;
        let queues = self.queues(&folders)?;
        let merged = self
            .is_traffic
            .then(|| traffic(plan, &self.folder, Time::ZERO + end.since(begin)))
            .transpose();
        let (summary, of_traffic) =
            merged.map_err(of_engine)?.map(|merged| (merged.summary, merged.tables)).unzip();
        tables.extend(of_traffic.unwrap_or_default());
        let exact = Exact {
            hosts: self.hosts(&engine, &endings, &queues),
            captures: self.captures.iter().zip(captured).map(captured_of).collect(),
            registers: engine.guests.first().map(|guest| Registers {
                bytes: guest.registers.bytes.into(),
                room_bytes: guest.registers.room_bytes.into(),
            }),
            start_wall_s: booted.as_secs_f64(),
            span_ps: end.since(begin).ps(),
            run_wall_s: (ran - booted).as_secs_f64(),
            turns: engine.turns,
            programs: None,
            warnings: Some(self.warnings.clone()).filter(|warnings| !warnings.is_empty()),
        };
        let counts = Counts { interfaces: &interfaces, queues: &queues };
        let wall_s = started.elapsed().as_secs_f64();
        let outcome =
            assembled(plan, (counted, &engine.network), &counts, summary, (exact, wall_s));
        Ok(Answer::new(outcome, &tables))
    }

    /// Times in the files are those of the guests' clocks.
    fn begin_captures(&self, engine: &mut Engine) -> Result<(), String> {
        self.captures.iter().try_for_each(|CaptureOrder { port, file }| {
            let (node, towards) =
                port.split_once('>').ok_or_else(|| format!("{port:?} is no port NODE>TOWARDS"))?;
            let (node, towards) = (node.trim(), towards.trim());
            let capture = Capture::create(file, &format!("{node}>{towards}"), EPOCH_NS);
            let capture =
                capture.map_err(|error| format!("creating {}: {error}", file.display()))?;
            engine.network.capture(&self.plan, (node, towards), capture.complete())
        })
    }

    /// Whether the trial is over when every awaited program has finished: not where nothing that
    /// the plan has ever does.
    fn ends_early(&self) -> bool {
        let is_finite = |workload| tailrace_workloads::record_for(&self.plan, workload).is_finite();
        !self.plan.raw.lasts_to_stop
            && (!self.is_traffic || self.plan.workloads.iter().any(is_finite))
    }

    /// A folder for each host, and in it the orders of its guest.
    fn folders(&self) -> io::Result<Vec<PathBuf>> {
        let mut folders = Vec::new();
        for (host, raw) in self.plan.raw.hosts.iter().enumerate() {
            let folder = self.folder.join("hosts").join(&raw.name);
            fs::create_dir_all(folder.join("out"))?;
            let folder = folder.canonicalize()?;
            let spec = GuestSpec {
                host,
                plan: self.plan_file.canonicalize()?,
                output: folder.join("out"),
                programs: self.programs[host].clone(),
            };
            fs::write(folder.join(SPEC), serde_json::to_string(&spec)?)?;
            folders.push(folder);
        }
        Ok(folders)
    }

    /// Starts all guests side by side: until the programs start, nothing of one can reach another.
    fn boot(&self, folders: &[PathBuf]) -> Result<Vec<Ready>, Fault> {
        // A process ends with the thread that has made it, so this one makes them all.
        let start = |(host, folder): (usize, &PathBuf)| {
            let name = &self.plan.raw.hosts[host].name;
            self.machine.start(host, name, folder).map_err(|error| Fault::new(name, error))
        };
        let starts =
            folders.iter().enumerate().map(start).collect::<Result<Vec<Start>, Fault>>()?;
        thread::scope(|scope| {
            let boot = |(host, start): (usize, Start)| {
                let mtu_bytes = self.plan.raw.hosts[host].mtu_bytes;
                let negotiation = Negotiation::new(
                    address::mac(host),
                    mtu_bytes,
                    Interface::features(&self.plan, host),
                );
                scope.spawn(move || boot(start, negotiation, folders.len(), self.limit))
            };
            let threads: Vec<_> = starts.into_iter().enumerate().map(boot).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().expect("starting a guest does not panic"))
                .collect()
        })
    }

    /// How the programs of each host ended; none where its guest did not report it.
    fn endings(&self, folders: &[PathBuf]) -> Vec<Vec<Ending>> {
        let read = |folder: &PathBuf| {
            let text =
                fs::read_to_string(folder.join("out").join("endings.json")).unwrap_or_default();
            serde_json::from_str(&text).unwrap_or_default()
        };
        folders.iter().map(read).collect()
    }

    /// Counters of the queueing disciplines.
    fn queues(&self, folders: &[PathBuf]) -> Result<Vec<QueueReport>, Fault> {
        let read = |(folder, raw): (&PathBuf, &RawHost)| {
            let file = folder.join("out").join(QueueReport::FILE);
            let text = fs::read_to_string(&file).map_err(|error| error.to_string());
            let report = text
                .and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string()));
            report.map_err(|error| Fault::new(&raw.name, format!("{}: {error}", file.display())))
        };
        folders.iter().zip(&self.plan.raw.hosts).map(read).collect()
    }

    /// Whether the trial counts.
    fn judge(
        &self,
        said: &[Option<Line>],
        endings: &[Vec<Ending>],
        engine: &Engine,
    ) -> Result<(), Fault> {
        for (host, raw) in self.plan.raw.hosts.iter().enumerate() {
            let bad = endings[host]
                .iter()
                .zip(&self.programs[host])
                .find(|(ending, _)| !ending.was_asked_to_end && ending.code != Some(0));
            if let Some((ending, program)) = bad {
                let how = ending
                    .code
                    .map_or("by a signal".to_owned(), |code| format!("with status {code}"));
                return Err(Fault::new(
                    &raw.name,
                    format!("{} ended {how}: {}", program.words[0], ending.last_words),
                ));
            }
            if said[host] == Some(Line::Failed) {
                return Err(Fault::new(
                    &raw.name,
                    engine.guests[host].process.why("its first process failed"),
                ));
            }
        }
        Ok(())
    }

    /// Checks that every guest has reported how its programs ended, which it does before it ends.
    fn check_endings_are_reported(
        &self,
        endings: &[Vec<Ending>],
        engine: &Engine,
    ) -> Result<(), Fault> {
        let silent =
            (0..endings.len()).find(|&host| endings[host].len() < self.programs[host].len());
        silent.map_or(Ok(()), |host| {
            let guest = &engine.guests[host];
            Err(Fault::new(
                &guest.name,
                guest.process.why("it did not tell how its programs ended"),
            ))
        })
    }

    fn hosts(
        &self,
        engine: &Engine,
        endings: &[Vec<Ending>],
        queues: &[QueueReport],
    ) -> Vec<ExactHost> {
        let of = |(host, interface): (usize, &Interface)| ExactHost {
            name: self.plan.raw.hosts[host].name.clone(),
            foreign_frames: interface.foreign,
            qdisc_drops: queues[host].drop_frames,
            programs: endings[host].iter().map(|ending| ending.code).collect(),
        };
        engine.interfaces.iter().enumerate().map(of).collect()
    }
}

fn captured_of((order, frames): (&CaptureOrder, u64)) -> Captured {
    Captured { port: order.port.clone(), file: order.file.to_string_lossy().into_owned(), frames }
}

fn has_failed(said: &[Option<Line>]) -> bool {
    said.iter().any(|said| matches!(said, Some(Line::Failed | Line::Done(false))))
}

/// Lets a guest set itself up.
fn boot(
    start: Start,
    negotiation: Negotiation,
    guests: usize,
    limit: Duration,
) -> Result<Ready, Fault> {
    let mut guest = Guest::meet(start, negotiation, guests, limit)?;
    let (mut slots, mut row, mut said, mut kicks) = (Vec::new(), Vec::new(), None, Vec::new());
    loop {
        let news = guest.hear(limit)?;
        guest.take_kicks(&mut kicks);
        for kick in kicks.iter().filter(|kick| kick.ring == TRANSMIT) {
            let taken = take_all(&mut guest.card, kick.index, &mut row, &mut slots);
            said = taken.map_err(|error| Fault::new(&guest.name, error))?.or(said);
        }
        match news {
            GuestEvent::Waits if guest.wake() >= START_NS => break,
            GuestEvent::Waits => guest.run(guest.wake(), START_NS),
            GuestEvent::Kicked => guest.go_on(START_NS),
            GuestEvent::Asks => guest.answer()?,
            GuestEvent::Off => {
                return Err(Fault::new(&guest.name, guest.process.why("it does not start")));
            }
        }
    }
    if said.is_none() {
        let how = format!("it is not set up {} s after its start", START_NS / 1_000_000_000);
        return Err(Fault::new(&guest.name, guest.process.why(&how)));
    }
    Ok(Ready { guest, slots, said })
}

/// Takes the frames that a guest sends while nothing is connected; returns the messages of its
/// first process.
fn take_all(
    card: &mut Card,
    end: u16,
    row: &mut Vec<u8>,
    slots: &mut Vec<u16>,
) -> Result<Option<Line>, String> {
    let mut said = None;
    while let Some(sent) = card.take(end, row)? {
        said = Line::read(row).or(said);
        slots.push(sent.slot);
    }
    Ok(said)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailrace_lab::measured_plan::two_hosts;

    #[test]
    fn no_guest_is_started_on_a_processor_with_more_registers_than_there_is_room_for() {
        let folder =
            std::env::temp_dir().join(format!("tailrace-exact-registers-{}", std::process::id()));
        let machine = Machine {
            kernel: PathBuf::from("/no/such/kernel"),
            program: PathBuf::from("/no/such/program"),
            memory_mib: 256,
            seed: 1,
            registers_bytes: registers::ROOM_BYTES + 64,
        };
        let trial = Trial {
            plan: Plan::parse(&two_hosts(1_000_000_000, 1_500).to_string())
                .expect("the plan is sound"),
            plan_file: folder.join("plan.json"),
            folder: folder.clone(),
            machine,
            programs: vec![Vec::new(); 2],
            is_traffic: false,
            warnings: Vec::new(),
            captures: Vec::new(),
            tells_progress: false,
            limit: Duration::from_secs(1),
        };
        let fault = trial.run().expect_err("there is no room").to_string();
        assert!(
            fault.contains(
                "this processor have 11072 bytes, and the kernel of exact runs has room for 11008"
            ),
            "{fault}"
        );
        assert!(!folder.exists(), "nothing was begun");
    }
}

//! Random and damaged files: the reader ends, nothing panics.
//!
//! `CAPTURE_INPUTS=10000000 CAPTURE_SEED=7 cargo test --release -p tailrace-capture inputs` tries
//! more of them.

use crate::files::{BIG, Captured, ETHERNET, LITTLE, gzip, open, whole, zstd};
use crate::frames::{ACK, FIN, SYN, Segment, ethernet, ipv4, ipv6, udp};
use tailrace_capture::reader::End;
use tailrace_capture::{Options, Profile};

/// Inputs that are tried unless the environment says otherwise.
const INPUTS: u64 = 20_000;

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

/// Frames of every kind that the decoder knows.
fn frames() -> Vec<Captured> {
    let open = |options: Vec<u8>| Segment { options, ..Segment::new(true, SYN, 99, 0, 0) };
    let bytes = [
        open(vec![2, 4, 5, 180, 1, 3, 3, 7]).frame(),
        Segment::new(false, SYN | ACK, 499, 100, 0).frame(),
        Segment::new(true, ACK, 100, 500, 40).frame(),
        Segment::new(false, ACK, 500, 140, 90).frame(),
        Segment::new(true, ACK | FIN, 140, 590, 0).frame(),
        ethernet(
            &[(0x88A8, 0x2007), (0x8100, 9)],
            0x0800,
            &ipv4([1; 4], [2; 4], 17, 0xB9, 0x2000, &udp((53, 999), 60)),
        ),
        ethernet(&[], 0x0800, &ipv4([1; 4], [2; 4], 17, 0, 0x0008, &[7; 30])),
        ethernet(
            &[],
            0x86DD,
            &ipv6(
                0,
                &[
                    &[60, 0, 0, 0, 0, 0, 0, 0, 44, 0, 0, 0, 0, 0, 0, 0][..],
                    &[17, 0, 0, 1, 0, 0, 0, 3],
                    &udp((1, 2), 9),
                ]
                .concat(),
            ),
        ),
        ethernet(&[], 0x0806, &[0; 28]),
        ethernet(&[], 38, &[0xAA, 0xAA, 3, 0, 0, 0, 8, 0, 0x45, 0]),
    ];
    bytes
        .into_iter()
        .enumerate()
        .map(|(number, bytes)| whole(1_000_000_000 + number as u64 * 50_000, bytes))
        .collect()
}

fn valid() -> Vec<Vec<u8>> {
    let frames = frames();
    let raw: Vec<Captured> =
        (0..3).map(|at| whole(at, Segment::new(true, ACK, 1, 1, 5).packet())).collect();
    let mut files = Vec::new();
    for writer in [LITTLE, BIG] {
        files.push(writer.pcap(false, ETHERNET, &frames));
        files.push(writer.pcapng(ETHERNET, &frames));
        for link in [0, 101, 108, 113, 228, 276] {
            files.push(writer.pcap(true, link, &raw));
        }
    }
    files.push(gzip(&files[0]));
    files.push(zstd(&files[1]));
    files
}

/// A file with a few changes: bytes, numbers of the sizes that lengths have, cuts, repetitions.
fn changed(file: &[u8], random: &mut Random) -> Vec<u8> {
    let mut file = file.to_vec();
    for _ in 0..1 + random.below(6) {
        let at = random.below(file.len().max(1));
        match random.below(5) {
            0 | 1 if at < file.len() => file[at] = random.next() as u8,
            2 if at + 4 <= file.len() => {
                let number = [0, 1, 4, 12, 65_535, 262_144, 262_145, u32::MAX][random.below(8)];
                let bytes =
                    if random.below(2) == 0 { number.to_le_bytes() } else { number.to_be_bytes() };
                file[at..at + 4].copy_from_slice(&bytes);
            }
            3 => file.truncate(at),
            _ => {
                let part = file[at..(at + random.below(64)).min(file.len())].to_vec();
                file.splice(at..at, part);
            }
        }
    }
    file
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a whole number"))
}

#[test]
fn inputs_of_any_kind_end_without_a_panic() {
    let (valid, mut random) = (valid(), Random(setting("CAPTURE_SEED", 1)));
    let mut begun = 0;
    for _ in 0..setting("CAPTURE_INPUTS", INPUTS) {
        let file = match random.below(8) {
            0 => (0..random.below(300)).map(|_| random.next() as u8).collect(),
            _ => changed(&valid[random.below(valid.len())], &mut random),
        };
        let bytes = file.len() as u64;
        let is_compressed =
            file.starts_with(&[0x1F, 0x8B]) || file.starts_with(&[0x28, 0xB5, 0x2F, 0xFD]);
        let Ok(reader) = open(file) else { continue };
        begun += 1;
        let options = Options { flows_max: 4, rows_max: 3, ..Options::default() };
        let profile = Profile::of(reader, options).expect("the options are sound").to_json();
        assert!(
            profile.len() < 1 << 20,
            "the document does not grow with the file: {}",
            profile.len()
        );
        let read = profile
            .split("\"read_bytes\":")
            .nth(1)
            .and_then(|rest| rest.split(',').next())
            .expect("it is reported");
        assert!(
            is_compressed || read.parse::<u64>().expect("a number") <= bytes,
            "no byte is read twice"
        );
    }
    assert!(begun > 0, "some inputs begin as captures do");
}

#[test]
fn files_without_changes_are_complete() {
    for file in valid() {
        let mut reader = open(file).expect("it begins as a capture does");
        while reader.next_record().is_some() {}
        assert_eq!(reader.end(), Some(&End::Complete));
    }
}

//! Every format gives the same frames, and every end is reported.

use crate::files::{BIG, Captured, ETHERNET, LITTLE, Writer, gzip, open, whole, zstd};
use crate::frames::{ACK, Segment};
use tailrace_capture::CaptureError;
use tailrace_capture::reader::{Direction, End};

type Read = (Option<u64>, u32, u32, Vec<u8>);

fn frames() -> Vec<Captured> {
    let of = |number: u64| Segment::new(true, ACK, number as u32, 1, 10 + number as usize).frame();
    (0..5).map(|number| whole(1_700_000_000_123_456_000 + number * 1_000, of(number))).collect()
}

/// Times, interfaces, lengths and bytes of all frames, and how the file ended.
fn read(file: Vec<u8>) -> (Vec<Read>, End) {
    let mut reader = open(file).expect("it begins as a capture does");
    let mut all = Vec::new();
    while let Some(record) = reader.next_record() {
        all.push((record.time_ns, record.interface, record.wire_bytes, record.bytes.to_vec()));
    }
    (all, reader.end().expect("it is over").clone())
}

fn expected(frames: &[Captured]) -> Vec<Read> {
    frames
        .iter()
        .map(|frame| (Some(frame.at_ns), 0, frame.wire_bytes, frame.bytes.clone()))
        .collect()
}

#[test]
fn every_format_byte_order_and_compression_gives_the_same_frames() {
    let frames = frames();
    for writer in [LITTLE, BIG] {
        let plain = [
            writer.pcap(false, ETHERNET, &frames),
            writer.pcap(true, ETHERNET, &frames),
            writer.pcapng(ETHERNET, &frames),
        ];
        for file in plain {
            let split = file.len() / 2;
            let members = [gzip(&file[..split]), gzip(&file[split..])].concat();
            let parts = [zstd(&file[..split]), zstd(&file[split..])].concat();
            for form in [file.clone(), gzip(&file), zstd(&file), members, parts] {
                assert_eq!(read(form), (expected(&frames), End::Complete), "{writer:?}");
            }
        }
    }
}

#[test]
fn a_frame_of_which_only_the_beginning_was_captured_has_its_length_on_the_wire() {
    let mut frames = frames();
    frames.iter_mut().for_each(|frame| frame.bytes.truncate(20));
    for file in [LITTLE.pcap(true, ETHERNET, &frames), LITTLE.pcapng(ETHERNET, &frames)] {
        assert_eq!(read(file).0, expected(&frames));
    }
}

#[test]
fn interfaces_have_their_own_clocks_and_links_in_every_section() {
    let frame = whole(0, vec![1, 2, 3]);
    let section = |writer: Writer| {
        let offset = if writer.is_big { 10_i64.to_be_bytes() } else { 10_i64.to_le_bytes() };
        [
            writer.section(),
            writer.interface(ETHERNET, &[]),
            writer.interface(101, &[writer.option(9, &[0x80 | 10]), writer.option(14, &offset)]),
            writer.packet(1, 1_536, &frame, &[]),
            writer.packet(0, 7, &frame, &[writer.option(2, &writer.u32(2))]),
        ]
        .concat()
    };
    let file = [section(LITTLE), section(BIG)].concat();
    let mut reader = open(file).expect("it begins as a capture does");
    let mut records = Vec::new();
    while let Some(record) = reader.next_record() {
        records.push((record.time_ns, record.interface, record.link, record.direction));
    }
    let (unknown, outbound) = (Direction::Unknown, Direction::Outbound);
    assert_eq!(
        records,
        [
            (Some(11_500_000_000), 1, 101, unknown),
            (Some(7_000), 0, 1, outbound),
            (Some(11_500_000_000), 3, 101, unknown),
            (Some(7_000), 2, 1, outbound),
        ]
    );
    assert_eq!(reader.end(), Some(&End::Complete));
    assert_eq!(
        reader.interfaces().iter().map(|one| one.resolution.as_str()).collect::<Vec<_>>(),
        ["1e-6 s", "2^-10 s", "1e-6 s", "2^-10 s"]
    );
}

#[test]
fn simple_packets_old_packets_and_unknown_blocks_are_read_or_skipped() {
    let simple = [LITTLE.u32(5).to_vec(), vec![9, 8, 7, 6, 5]].concat();
    let old = [
        LITTLE.u16(0).to_vec(),
        LITTLE.u16(0).to_vec(),
        LITTLE.u32(0).to_vec(),
        LITTLE.u32(3).to_vec(),
        LITTLE.u32(2).to_vec(),
        LITTLE.u32(64).to_vec(),
        vec![1, 2],
    ]
    .concat();
    let file = [
        LITTLE.section(),
        LITTLE.interface(ETHERNET, &[]),
        LITTLE.block(3, &simple),
        LITTLE.block(0x0BAD, &vec![0; 3_000_000]),
        LITTLE.block(2, &old),
    ]
    .concat();
    let (frames, end) = read(file);
    assert_eq!(frames, [(None, 0, 5, vec![9, 8, 7, 6, 5]), (Some(3_000), 0, 64, vec![1, 2])]);
    assert_eq!(end, End::Complete);
}

#[test]
fn a_file_that_ends_early_has_its_whole_frames_and_says_where_it_ended() {
    let frames = frames();
    let file = LITTLE.pcap(true, ETHERNET, &frames);
    let last = file.len() - frames[4].bytes.len() - 16;
    let within = |cut: usize| read(file[..cut].to_vec());
    assert_eq!(within(last), (expected(&frames[..4]), End::Complete));
    assert_eq!(
        within(last + 9),
        (
            expected(&frames[..4]),
            End::Truncated { within: "the header of a record", offset_bytes: last as u64 }
        )
    );
    assert_eq!(
        within(last + 20),
        (expected(&frames[..4]), End::Truncated { within: "a frame", offset_bytes: last as u64 })
    );

    let file = BIG.pcapng(ETHERNET, &frames);
    let (read_frames, end) = read(file[..file.len() - 1].to_vec());
    assert_eq!(read_frames, expected(&frames[..4]));
    assert!(matches!(end, End::Truncated { within: "a block", .. }), "{end:?}");
}

#[test]
fn damage_is_reported_with_its_position() {
    let frames = frames();
    let mut file = LITTLE.pcap(true, ETHERNET, &frames[..2]);
    let place = 24 + 16 + frames[0].bytes.len();
    file[place + 8..place + 12].copy_from_slice(&LITTLE.u32(300_000));
    let (read_frames, end) = read(file);
    assert_eq!(read_frames, expected(&frames[..1]));
    assert!(
        matches!(&end, End::Damaged { what, offset_bytes } if what.contains("300000") && *offset_bytes == place as u64),
        "{end:?}"
    );

    let mut file = LITTLE.pcapng(ETHERNET, &frames);
    let last = file.len() - 4;
    file[last] ^= 1;
    assert!(matches!(read(file).1, End::Damaged { what, .. } if what.contains("at its end")));

    let file = [LITTLE.section(), LITTLE.packet(0, 0, &frames[0], &[])].concat();
    assert!(matches!(read(file).1, End::Damaged { what, .. } if what.contains("interface 0")));

    let mut file = gzip(&LITTLE.pcap(true, ETHERNET, &frames));
    let middle = file.len() - 6;
    file[middle] ^= 0xFF;
    assert!(
        matches!(read(file).1, End::Damaged { what, .. } if what.contains("cannot be read on"))
    );
}

#[test]
fn what_is_no_capture_is_refused() {
    let error = |bytes: Vec<u8>| open(bytes).err().expect("it is no capture");
    assert!(matches!(error(Vec::new()), CaptureError::Empty));
    assert!(matches!(error(vec![0xD4, 0xC3]), CaptureError::Short(2)));
    assert!(matches!(
        error(LITTLE.pcap(true, ETHERNET, &[])[..20].to_vec()),
        CaptureError::Short(20)
    ));
    assert!(matches!(error(LITTLE.section()[..20].to_vec()), CaptureError::Short(20)));
    assert!(matches!(error(b"GIF89a".to_vec()), CaptureError::Unknown([b'G', b'I', b'F', b'8'])));
    let mut old = LITTLE.pcap(true, ETHERNET, &[]);
    old[4] = 1;
    assert!(matches!(error(old), CaptureError::Version(1, 4)));
}

//! Cutting a row of TCP segments into frames, as an interface with TCP segmentation offload does.
//!
//! TCP checksums stay as the kernel left them, partial: the receiving interface vouches for its
//! frames.

const IP: usize = 14;
const TCP_FLAGS: usize = 13;
const FIN: u8 = 0x01;
const PSH: u8 = 0x08;
const CWR: u8 = 0x80;

/// The frames of a row, one after the other.
#[derive(Debug)]
pub struct Segments<'a> {
    row: &'a [u8],
    /// Bytes of headers.
    headers: usize,
    segment_bytes: usize,
    /// Payload that was handed out.
    done: usize,
    is_first: bool,
}

impl<'a> Segments<'a> {
    /// An IPv4 row with this payload in each frame; `None` where the bytes are no such row.
    pub fn new(row: &'a [u8], segment_bytes: usize) -> Option<Segments<'a>> {
        let tcp = IP + usize::from(row.get(IP)? & 15) * 4;
        let headers = tcp + usize::from(row.get(tcp + 12)? >> 4) * 4;
        let is_sound = row.get(IP + 9) == Some(&6) && row.len() >= headers && segment_bytes > 0;
        is_sound.then_some(Segments { row, headers, segment_bytes, done: 0, is_first: true })
    }

    /// Writes the next frame; returns whether there was one.
    pub fn next(&mut self, frame: &mut Vec<u8>) -> bool {
        let payload = &self.row[self.headers..];
        if self.done >= payload.len() && !self.is_first {
            return false;
        }
        let end = payload.len().min(self.done + self.segment_bytes);
        frame.clear();
        frame.extend_from_slice(&self.row[..self.headers]);
        frame.extend_from_slice(&payload[self.done..end]);
        let number = (self.done / self.segment_bytes) as u16;
        self.write_ip(frame, number);
        self.write_tcp(frame, end == payload.len());
        self.done = end;
        self.is_first = false;
        true
    }

    /// Length and identification, which counts on (as tcp_gso_segment and inet_gso_segment do), and
    /// with them the checksum.
    fn write_ip(&self, frame: &mut [u8], number: u16) {
        let length = (frame.len() - IP) as u16;
        let tcp = IP + usize::from(frame[IP] & 15) * 4;
        let ip = &mut frame[IP..tcp];
        ip[2..4].copy_from_slice(&length.to_be_bytes());
        let identification = u16::from_be_bytes([ip[4], ip[5]]).wrapping_add(number);
        ip[4..6].copy_from_slice(&identification.to_be_bytes());
        ip[10..12].fill(0);
        let sum: u32 =
            ip.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
        let folded = (sum & 0xFFFF) + (sum >> 16);
        let checksum = !((folded & 0xFFFF) + (folded >> 16)) as u16;
        ip[10..12].copy_from_slice(&checksum.to_be_bytes());
    }

    /// The sequence number, and the flags that belong to the first or the last segment alone.
    fn write_tcp(&self, frame: &mut [u8], is_last: bool) {
        let tcp = IP + usize::from(frame[IP] & 15) * 4;
        let bytes = &mut frame[tcp..];
        let first = u32::from_be_bytes(bytes[4..8].try_into().expect("four bytes"));
        bytes[4..8].copy_from_slice(&first.wrapping_add(self.done as u32).to_be_bytes());
        if !is_last {
            bytes[TCP_FLAGS] &= !(FIN | PSH);
        }
        if !self.is_first {
            bytes[TCP_FLAGS] &= !CWR;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A row with this payload; sequence number 1000, identification 7, flags FIN, PSH and CWR.
    fn row(payload: usize) -> Vec<u8> {
        let mut row = vec![0; IP];
        row[12] = 8;
        row.extend([0x45, 2, 0, 0, 0, 7, 0x40, 0, 64, 6, 0, 0, 10, 77, 0, 1, 10, 77, 0, 2]);
        row.extend([
            0,
            1,
            0,
            2,
            0,
            0,
            3,
            0xE8,
            0,
            0,
            0,
            0,
            0x80,
            FIN | PSH | CWR,
            1,
            0,
            0,
            0,
            0,
            0,
        ]);
        row.extend([1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]);
        row.extend((0..payload).map(|n| n as u8));
        row
    }

    fn cut(row: &[u8], segment_bytes: usize) -> Vec<Vec<u8>> {
        let mut segments = Segments::new(row, segment_bytes).expect("a row");
        let mut frame = Vec::new();
        std::iter::from_fn(|| segments.next(&mut frame).then(|| frame.clone())).collect()
    }

    #[test]
    fn the_frames_of_a_row_count_on_and_the_last_one_ends_it() {
        let frames = cut(&row(2_500), 1_000);
        assert_eq!(frames.iter().map(Vec::len).collect::<Vec<_>>(), [1_066, 1_066, 566]);
        let sequence =
            |frame: &Vec<u8>| u32::from_be_bytes(frame[38..42].try_into().expect("four bytes"));
        assert_eq!(frames.iter().map(sequence).collect::<Vec<_>>(), [1_000, 2_000, 3_000]);
        assert_eq!(frames.iter().map(|frame| frame[19]).collect::<Vec<_>>(), [7, 8, 9]);
        assert_eq!(frames.iter().map(|frame| frame[47]).collect::<Vec<_>>(), [CWR, 0, FIN | PSH]);
    }

    #[test]
    fn what_is_no_tcp_over_ipv4_is_no_row() {
        let mut datagram = row(100);
        datagram[IP + 9] = 17;
        assert!(Segments::new(&datagram, 1_000).is_none());
        assert!(Segments::new(&row(100)[..40], 1_000).is_none());
        assert!(Segments::new(&[], 1_000).is_none());
    }

    proptest! {
        #[test]
        fn the_payload_comes_out_as_it_went_in(
            payload in 0_usize..70_000,
            segment_bytes in 500_usize..9_000,
        ) {
            let row = row(payload);
            let frames = cut(&row, segment_bytes);
            let joined: Vec<u8> = frames.iter().flat_map(|frame| frame[66..].to_vec()).collect();
            prop_assert_eq!(&joined[..], &row[66..]);
            for frame in &frames {
                let sum: u32 = frame[IP..34]
                    .chunks(2)
                    .map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])))
                    .sum();
                prop_assert_eq!((sum & 0xFFFF) + (sum >> 16), 0xFFFF);
                prop_assert_eq!(
                    usize::from(u16::from_be_bytes([frame[16], frame[17]])),
                    frame.len() - IP
                );
            }
        }
    }
}

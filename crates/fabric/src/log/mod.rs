//! The log of the frames that entered the network and their times: enough for an exact replay.
//!
//! A file of 16 bytes of name and version and then records of [`RECORD_BYTES`], all numbers
//! little-endian. The thread that drives the network fills pieces of memory; another one writes
//! them.

mod record;

pub use record::{Entry, RECORD_BYTES};

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// First bytes of a log, with the version of its format.
const NAME: [u8; 16] = *b"tailrace-log\x01\0\0\0";
/// Records of a piece.
const PIECE_RECORDS: usize = 8_192;
/// Pieces that may wait to be written: 75 MB. A disk that is slower for longer loses the log, not
/// the run.
const PIECES_MAX: usize = 128;

/// A log that is being written.
#[derive(Debug)]
pub struct Writer {
    piece: Vec<u8>,
    pieces: SyncSender<Vec<u8>>,
    thread: JoinHandle<io::Result<()>>,
    is_whole: bool,
    /// Bytes that may still be added.
    room_bytes: u64,
    is_full: bool,
}

impl Writer {
    /// Begins a log.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn create(path: &Path) -> io::Result<Writer> {
        Writer::bounded(path, u64::MAX)
    }

    /// Begins a log of at most so many bytes.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn bounded(path: &Path, room_bytes: u64) -> io::Result<Writer> {
        let mut file = File::create(path)?;
        file.write_all(&NAME)?;
        let (pieces, to_write) = sync_channel(PIECES_MAX);
        let thread = std::thread::Builder::new()
            .name("log".into())
            .spawn(move || write_pieces(file, &to_write))?;
        Ok(Writer {
            piece: new_piece(),
            pieces,
            thread,
            is_whole: true,
            room_bytes,
            is_full: false,
        })
    }

    /// Adds an entry.
    #[inline]
    pub fn add(&mut self, entry: &Entry) {
        if self.room_bytes < RECORD_BYTES as u64 {
            self.is_full = true;
            return;
        }
        self.room_bytes -= RECORD_BYTES as u64;
        entry.encode(&mut self.piece);
        if self.piece.len() >= PIECE_RECORDS * RECORD_BYTES {
            self.hand_over();
        }
    }

    /// Writes the rest and closes the file.
    ///
    /// # Errors
    /// When the log is not complete.
    pub fn finish(mut self) -> Result<(), String> {
        self.hand_over();
        drop(self.pieces);
        let written = self.thread.join().map_err(|_| "the writer of the log has failed")?;
        written.map_err(|error| format!("the log could not be written: {error}"))?;
        if self.is_full {
            return Err("the log has reached its size limit: later frames are missing".into());
        }
        if self.is_whole { Ok(()) } else { Err("the log has gaps: the disk was too slow".into()) }
    }

    fn hand_over(&mut self) {
        let piece = std::mem::replace(&mut self.piece, new_piece());
        self.is_whole &= self.pieces.try_send(piece).is_ok();
    }
}

fn new_piece() -> Vec<u8> {
    Vec::with_capacity(PIECE_RECORDS * RECORD_BYTES)
}

fn write_pieces(mut file: File, pieces: &Receiver<Vec<u8>>) -> io::Result<()> {
    pieces.iter().try_for_each(|piece| file.write_all(&piece))
}

/// Reads a log from its beginning.
///
/// # Errors
/// When there is no log of this version; each entry, when it cannot be read.
pub fn read(path: &Path) -> io::Result<impl Iterator<Item = io::Result<Entry>>> {
    let mut file = BufReader::new(File::open(path)?);
    let mut name = [0; NAME.len()];
    file.read_exact(&mut name)?;
    if name != NAME {
        return Err(io::Error::other("not an ingress log of this version"));
    }
    Ok(std::iter::from_fn(move || {
        let mut record = [0; RECORD_BYTES];
        match file.read_exact(&mut record) {
            Ok(()) => Some(Entry::decode(&record)),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => None,
            Err(error) => Some(Err(error)),
        }
    }))
}

//! `tailrace-fabric fill` and `drain`: one TCP connection that carries so many bytes.

use super::print_json;
use serde_json::json;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tailrace_lab::options::{Words, required, unknown};

/// Bytes of one write or read.
const CHUNK_BYTES: usize = 65_536;
/// How long to try until the other side listens.
const CONNECT_WAIT: Duration = Duration::from_secs(10);
const CONNECT_POLL: Duration = Duration::from_millis(20);
/// A connection on which nothing moves for so long has failed.
const STALL_WAIT: Duration = Duration::from_secs(60);

/// Sends: `--to ADDRESS:PORT --bytes N`.
pub(super) fn fill(mut words: Words) -> Result<(), String> {
    let (mut to, mut bytes) = (None, None);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--to" => to = Some(words.value::<SocketAddrV4>()?),
            "--bytes" => bytes = Some(words.value::<u64>()?),
            other => return unknown(other),
        }
    }
    let (to, bytes) = (required(to, "--to")?, required(bytes, "--bytes")?);
    send(to, bytes).map_err(|error| format!("sending to {to}: {error}"))?;
    print_json(&json!({ "bytes": bytes }))
}

/// Receives one connection to its end: `--port N`.
pub(super) fn drain(mut words: Words) -> Result<(), String> {
    let mut port = None;
    while let Some(word) = words.next() {
        match word.as_str() {
            "--port" => port = Some(words.value::<u16>()?),
            other => return unknown(other),
        }
    }
    let port = required(port, "--port")?;
    let bytes = receive(port).map_err(|error| format!("port {port}: {error}"))?;
    print_json(&json!({ "bytes": bytes }))
}

fn send(to: SocketAddrV4, bytes: u64) -> io::Result<()> {
    let mut stream = connect(to)?;
    stream.set_write_timeout(Some(STALL_WAIT))?;
    let chunk = [0; CHUNK_BYTES];
    let mut left = bytes;
    while left > 0 {
        left -= stream.write(&chunk[..left.min(CHUNK_BYTES as u64) as usize])? as u64;
    }
    Ok(())
}

/// The receiver may have been started a moment ago.
fn connect(to: SocketAddrV4) -> io::Result<TcpStream> {
    let deadline = Instant::now() + CONNECT_WAIT;
    loop {
        match TcpStream::connect(to) {
            Err(error)
                if error.kind() == io::ErrorKind::ConnectionRefused
                    && Instant::now() < deadline =>
            {
                sleep(CONNECT_POLL)
            }
            result => return result,
        }
    }
}

fn receive(port: u16) -> io::Result<u64> {
    let (mut stream, _) = TcpListener::bind((Ipv4Addr::UNSPECIFIED, port))?.accept()?;
    stream.set_read_timeout(Some(STALL_WAIT))?;
    let mut chunk = [0; CHUNK_BYTES];
    let mut bytes = 0;
    loop {
        match stream.read(&mut chunk)? {
            0 => return Ok(bytes),
            read => bytes += read as u64,
        }
    }
}

//! `tailrace-fabric generator`: carries out trials for `tailrace measure switch`, one line of JSON
//! for each over a socket.

use crate::generator::{PacketWire, TrialSpec, VhostWire, Wire, run as run_trial};
use crate::sys::process::die_with_parent;
use crate::sys::thread::use_exact_timers;
use nix::sys::signal::Signal;
use serde_json::json;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixListener;
use tailrace_lab::options::{Words, required, unknown};

/// Serves one client: `--listen SOCKET`, and either `--receiver NAMESPACE` (by packet sockets, from
/// the namespace of the caller to that one; `--queued`: by the queue of the interface) or `--vhost
/// SOCKET` twice (sender and receiver, to which a switch in user space connects).
pub(super) fn run(mut words: Words) -> Result<(), String> {
    let (mut listen, mut receiver, mut is_direct, mut sockets) = (None, None, true, Vec::new());
    while let Some(word) = words.next() {
        match word.as_str() {
            "--listen" => listen = Some(words.path()?),
            "--receiver" => receiver = Some(words.path()?),
            "--queued" => is_direct = false,
            "--vhost" => sockets.push(words.path()?),
            other => return unknown(other),
        }
    }
    die_with_parent(Signal::SIGTERM).map_err(|error| format!("requesting a signal: {error}"))?;
    use_exact_timers();
    let mut wire: Box<dyn Wire> = match sockets.as_slice() {
        [sender, receiver] => Box::new(
            VhostWire::open(sender, receiver)
                .map_err(|error| format!("opening ports of vhost-user: {error}"))?,
        ),
        _ => {
            let receiver = required(receiver, "--receiver")?;
            Box::new(
                PacketWire::open(&receiver, is_direct)
                    .map_err(|error| format!("opening packet sockets: {error}"))?,
            )
        }
    };
    let listen = required(listen, "--listen")?;
    let socket =
        UnixListener::bind(&listen).map_err(|error| format!("{}: {error}", listen.display()))?;
    serve(&socket, wire.as_mut()).map_err(|error| error.to_string())
}

/// Until the client has gone.
fn serve(socket: &UnixListener, wire: &mut dyn Wire) -> io::Result<()> {
    let (client, _) = socket.accept()?;
    let mut answers = client.try_clone()?;
    for line in BufReader::new(client).lines() {
        let done = TrialSpec::parse(&line?)
            .and_then(|order| run_trial(wire, &order).map_err(|error| error.to_string()));
        let answer = done.map_or_else(|error| json!({ "error": error }), |report| report.json());
        writeln!(answers, "{answer}")?;
    }
    Ok(())
}

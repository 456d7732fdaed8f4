//! The protocol of a lab: commands and events as JSON, one document per line.

use crate::cgroup::IoLimits;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

/// Longest line that is read.
pub const LINE_BYTES_MAX: usize = 1 << 20;

/// A command with the number that its answer will have.
#[derive(Debug, Deserialize)]
pub struct Command {
    /// Chosen by the client.
    pub id: u64,
    /// The operation.
    #[serde(flatten)]
    pub op: Op,
}

/// The operations.
#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "kebab-case")]
pub enum Op {
    /// Starts a program.
    Spawn(Box<Spawn>),
    /// Sends a signal to a program.
    Signal {
        /// Name of the program.
        name: String,
        /// Name of the signal, such as `INT` or `SIGTERM`.
        signal: String,
        /// Sends it to all processes of the program's group.
        #[serde(default)]
        group: bool,
    },
    /// The measured interval begins: everything is counted anew.
    Begin,
    /// The measured interval ends: counters stay as they are.
    End,
    /// Asks for the outcome so far.
    Counters,
    /// Writes the frames that pass a port of a switch to a pcapng file.
    Capture {
        /// Switch and neighbour.
        port: (String, String),
        /// File to be made.
        path: PathBuf,
    },
    /// Ends a capture.
    CaptureStop {
        /// Switch and neighbour.
        port: (String, String),
    },
    /// Asks for the outcome and ends the lab.
    Down,
}

/// A program to be started.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spawn {
    /// Unique among the programs that run.
    pub name: String,
    /// Its host; none for the lab's own network namespace, which has a loopback interface and
    /// nothing else.
    #[serde(default)]
    pub host: Option<String>,
    /// The program and its arguments. There is no shell.
    pub argv: Vec<String>,
    /// Its environment, in addition to the lab's `PATH`.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Its working directory.
    #[serde(default)]
    pub cwd: Option<PathBuf>,
    /// The user that it runs as; none for the lab's own.
    #[serde(default)]
    pub user: Option<String>,
    /// File for its input; none for an empty one.
    #[serde(default)]
    pub stdin: Option<PathBuf>,
    /// File for its output, made anew.
    pub stdout: PathBuf,
    /// File for its messages, made anew; may be the same as `stdout`.
    pub stderr: PathBuf,
    /// Processor time of its host, in cores; none leaves it as it is.
    #[serde(default)]
    pub cpus: Option<f64>,
    /// Cores of the machine that it may use, with all that it starts; none for all.
    #[serde(default)]
    pub cores: Option<Vec<usize>>,
    /// A control group of its own beside those of the hosts, by this name; none for that of its
    /// host.
    #[serde(default)]
    pub group: Option<String>,
    /// Priority (0 to 7) of the sockets that it creates; none for the machine's default, 0.
    #[serde(default)]
    pub priority: Option<u8>,
    /// Code point of the connections that it opens, 0 to 63; the accepting end answers with the
    /// same.
    #[serde(default)]
    pub dscp: Option<u8>,
    /// It only observes its host, for a moment: where the lab itself is in a group of its own, it
    /// stays there and need not join one.
    #[serde(default)]
    pub observes: bool,
    /// Limits on a disk.
    #[serde(default)]
    pub io: Option<IoLimits>,
}

/// Reads one line.
///
/// # Errors
/// The answer to an invalid line.
pub fn parse(line: &str) -> Result<Command, Value> {
    serde_json::from_str(line).map_err(|error| {
        let id = serde_json::from_str::<Value>(line)
            .ok()
            .and_then(|value| value.get("id").cloned())
            .unwrap_or_default();
        json!({ "id": id, "ok": false, "error": format!("not a valid command: {error}") })
    })
}

/// Writes a message to our own output, whether or not it is read.
pub fn say(value: &Value) {
    let _ = writeln!(std::io::stdout(), "{value}");
}

/// The answer to a command: fields beside `ok`, or why not.
pub fn answer(id: u64, result: Result<Value, String>) -> Value {
    match result {
        Ok(Value::Object(mut fields)) => {
            fields.insert("id".into(), id.into());
            fields.insert("ok".into(), true.into());
            Value::Object(fields)
        }
        Ok(_) => json!({ "id": id, "ok": true }),
        Err(error) => json!({ "id": id, "ok": false, "error": error }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_read_and_what_is_none_is_answered() {
        let spawn = r#"{"op":"spawn","id":3,"name":"p","host":"db1","argv":["true"],"stdout":"/o","stderr":"/e","cpus":0.5,
            "cores":[1],"group":"noise"}"#;
        let command = parse(spawn).expect("a command");
        let Op::Spawn(spawn) = command.op else { panic!("a program") };
        assert!(command.id == 3 && spawn.cpus.is_some() && spawn.priority.is_none());
        assert_eq!((spawn.cores, spawn.group.as_deref()), (Some(vec![1]), Some("noise")));
        assert!(matches!(
            parse(r#"{"op":"capture-stop","id":1,"port":["sw","a"]}"#).expect("one").op,
            Op::CaptureStop { .. }
        ));
        assert_eq!(parse(r#"{"op":"fly","id":7}"#).expect_err("unknown")["id"], 7);
        assert_eq!(parse("fly").expect_err("no JSON")["ok"], false);
    }

    #[test]
    fn an_answer_carries_the_number_of_its_question() {
        assert_eq!(answer(5, Ok(json!({ "pid": 9 }))), json!({ "id": 5, "ok": true, "pid": 9 }));
        assert_eq!(answer(5, Ok(Value::Null)), json!({ "id": 5, "ok": true }));
        assert_eq!(answer(5, Err("no".into()))["error"], "no");
    }
}

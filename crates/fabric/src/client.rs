//! The client of a lab: starts it, sends commands and receives events.

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A lab that this process holds: it ends with it.
#[derive(Debug)]
pub struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next_id: u64,
    events: VecDeque<Value>,
    dir: PathBuf,
    /// The lab's first message.
    pub ready: Value,
}

impl Client {
    /// Starts a lab with this program of the fabric. The plan is written to the lab's folder.
    ///
    /// # Errors
    /// Why there is no lab.
    pub fn start(
        program: &Path,
        plan: &Value,
        dir: &Path,
        options: &[&str],
    ) -> Result<Client, String> {
        Client::start_with(program, plan, dir, options, Stdio::inherit())
    }

    /// As [`Client::start`]; the standard error of the lab is discarded.
    ///
    /// # Errors
    /// Why there is no lab.
    pub fn start_silent(
        program: &Path,
        plan: &Value,
        dir: &Path,
        options: &[&str],
    ) -> Result<Client, String> {
        Client::start_with(program, plan, dir, options, Stdio::null())
    }

    fn start_with(
        program: &Path,
        plan: &Value,
        dir: &Path,
        options: &[&str],
        errors: Stdio,
    ) -> Result<Client, String> {
        let text = |error: std::io::Error| format!("starting a lab: {error}");
        std::fs::create_dir_all(dir).map_err(text)?;
        let file = dir.join("plan.json");
        std::fs::write(&file, plan.to_string()).map_err(text)?;
        let mut command = Command::new(program);
        command.arg("lab").arg("--plan").arg(file).arg("--dir").arg(dir).args(options);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors)
            .spawn()
            .map_err(text)?;
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        let (input, dir) = (child.stdin.take(), dir.to_owned());
        let mut client = Client {
            child,
            input,
            output,
            next_id: 0,
            events: VecDeque::new(),
            dir,
            ready: Value::Null,
        };
        client.ready = client.line()?;
        if client.ready["event"] == "ready" {
            Ok(client)
        } else {
            Err(client.ready["error"]
                .as_str()
                .unwrap_or("the lab ended without a message")
                .to_owned())
        }
    }

    /// Number of the supervisor.
    pub fn supervisor(&self) -> u32 {
        self.child.id()
    }

    /// Gives a command and waits for its answer.
    ///
    /// # Errors
    /// The error that the lab answers, or that it has ended.
    pub fn ask(&mut self, mut command: Value) -> Result<Value, String> {
        self.next_id += 1;
        command["id"] = self.next_id.into();
        let input = self.input.as_mut().ok_or("the lab was released")?;
        writeln!(input, "{command}").map_err(|error| format!("sending a command: {error}"))?;
        loop {
            let line = self.line()?;
            if line["id"] != self.next_id {
                self.events.push_back(line);
            } else if line["ok"] == true {
                return Ok(line);
            } else {
                return Err(line["error"].as_str().unwrap_or("no reason was reported").to_owned());
            }
        }
    }

    /// Starts a program on a host; its output goes to a file of its name in the lab's folder.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub fn spawn(&mut self, name: &str, host: &str, argv: &[&str]) -> Result<(), String> {
        let file = |ending: &str| self.dir.join(format!("{name}.{ending}"));
        let (stdout, stderr) = (file("out"), file("err"));
        self.ask(json!({ "op": "spawn", "name": name, "host": host, "argv": argv, "stdout": stdout, "stderr": stderr }))?;
        Ok(())
    }

    /// Waits until a program has ended. Returns the event and what the program has written.
    ///
    /// # Errors
    /// When the lab ends before.
    pub fn wait(&mut self, name: &str) -> Result<(Value, String), String> {
        loop {
            if let Some(found) = self
                .events
                .iter()
                .position(|event| event["event"] == "exited" && event["name"] == name)
            {
                let event = self.events.remove(found).expect("it is there");
                let output = std::fs::read_to_string(self.dir.join(format!("{name}.out")));
                return output
                    .map(|output| (event, output))
                    .map_err(|error| format!("reading the output of {name}: {error}"));
            }
            let line = self.line()?;
            self.events.push_back(line);
        }
    }

    /// Ends the lab. Returns its outcome.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub fn down(mut self) -> Result<Value, String> {
        let mut answer = self.ask(json!({ "op": "down" }))?;
        self.input = None;
        self.child.wait().map_err(|error| format!("waiting for the lab: {error}"))?;
        Ok(answer["outcome"].take())
    }

    fn line(&mut self) -> Result<Value, String> {
        let mut line = String::new();
        match self.output.read_line(&mut line) {
            Ok(0) => Err("the lab has ended".into()),
            Ok(_) => serde_json::from_str(&line)
                .map_err(|error| format!("unexpected message of the lab {line:?}: {error}")),
            Err(error) => Err(format!("reading messages of the lab: {error}")),
        }
    }
}

impl Drop for Client {
    /// Closing its input ends the lab; the supervisor ends when all is cleaned up. Remains of a
    /// killed supervisor are removed.
    fn drop(&mut self) {
        self.input = None;
        // It was waited for already, or it ends within its own time limits.
        if self.child.wait().is_ok_and(|status| !status.success()) {
            let _ = crate::cgroup::clear(); // its cleanup process may have been killed too
        }
    }
}

//! The folder of a test, and trials in it.

use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Once;

/// With the value 1, set where `make exact-deps` has succeeded: there are a kernel and the programs
/// of guests.
const REQUIRED: &str = "TAILRACE_EXACT_REQUIRED";
const NOT_RUN: &str = "not run: TAILRACE_EXACT_REQUIRED=1 runs guests (after make exact-deps)\n";
static IS_SAID: Once = Once::new();

/// It is removed with the test.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(test: &str) -> Folder {
        let folder =
            std::env::temp_dir().join(format!("tailrace-exact-{test}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder for the test");
        Folder(folder)
    }

    /// Two hosts at a switch, and their programs.
    pub fn command(
        &self,
        (rate_bps, delay_ps, seed): (u64, u64, u64),
        programs: &Value,
    ) -> Option<Command> {
        let change = |plan: &mut Value| {
            plan["seed"] = seed.into();
            for link in plan["links"].as_array_mut().expect("it has links") {
                link["rate_bps"] = rate_bps.into();
                link["delay_ps"] = delay_ps.into();
            }
        };
        self.changed(change, programs)
    }

    /// The same with another change of the plan.
    pub fn changed(&self, change: impl Fn(&mut Value), programs: &Value) -> Option<Command> {
        self.by(Path::new(env!("CARGO_BIN_EXE_tailrace-exact")), change, programs)
    }

    /// The same by a copy of the engine.
    pub fn by(
        &self,
        engine: &Path,
        change: impl Fn(&mut Value),
        programs: &Value,
    ) -> Option<Command> {
        if std::env::var_os(REQUIRED).is_none_or(|value| value != "1") {
            // Past the harness, which keeps what tests print.
            IS_SAID.call_once(|| {
                std::io::stderr().write_all(NOT_RUN.as_bytes()).expect("somebody reads it")
            });
            return None;
        }
        assert!(
            tailrace_exact::kernel::find().is_some(),
            "there is no kernel of exact runs (make exact-deps)"
        );
        let mut plan: Value =
            serde_json::from_str(include_str!("../../../lab/src/measured_plan.json"))
                .expect("JSON");
        plan["stop_at_ps"] = 4_000_000_000_000_u64.into();
        change(&mut plan);
        fs::write(self.0.join("plan.json"), plan.to_string()).expect("it is ours");
        fs::write(self.0.join("programs.json"), programs.to_string()).expect("it is ours");
        let mut command = Command::new(engine);
        command
            .arg("run")
            .arg("--plan")
            .arg(self.0.join("plan.json"))
            .arg("--dir")
            .arg(self.0.join("run"));
        command.arg("--programs").arg(self.0.join("programs.json")).args(["--spin-limit", "20"]);
        Some(command)
    }

    /// The output of a host.
    pub fn output(&self, host: &str, name: &str) -> String {
        fs::read_to_string(self.0.join("run/hosts").join(host).join("out").join(name))
            .expect("the guest has written it")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

//! Real kernels in virtual time, where they are asked for (`folder::REQUIRED`). Most run in `make
//! test-all` alone.

mod folder;
mod interfaces;

use folder::Folder;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tailrace_outcome::Outcome;

fn ping() -> Value {
    json!({ "h0": [{ "words": ["ping", "-c", "3", "-i", "0.5", "10.77.0.2"], "is_awaited": true }] })
}

fn answer(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("an answer")
}

/// With its tables, whose columns have their types here.
fn outcome(output: &Output) -> Value {
    let answer = answer(output);
    let mut own = answer.clone();
    own.as_object_mut().expect("an object").remove("tables");
    serde_json::from_value::<Outcome>(own).expect("it has the keys of outcomes and no others");
    answer
}

fn error(output: &Output) -> String {
    assert!(!output.status.success());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn an_echo_takes_what_links_and_rates_say() {
    let folder = Folder::new("echo");
    let Some(mut command) = folder.command((1_000_000, 10_000_000_000, 1), &ping()) else { return };
    outcome(&command.output().expect("it starts"));
    // 98 bytes and 24 of overhead are 976 us on each of four links, and each has a delay of 10 ms.
    let answer = folder.output("h0", "0.out");
    assert!(answer.contains("rtt min/avg/max/mdev = 43.904/43.904/43.904/0.000 ms"), "{answer}");
}

#[test]
fn why_a_program_cannot_be_started_is_said_and_nothing_else() {
    let programs = |program: Value| json!({ "h1": [program] });
    let cases = [
        (
            json!({ "words": ["/no/such/program"], "is_awaited": true }),
            "/no/such/program: No such file or directory",
        ),
        (
            json!({ "words": ["/tmp/no-such-program"], "is_awaited": true }),
            "/tmp/no-such-program: No such file or directory",
        ),
        (
            json!({ "words": ["id"], "is_awaited": true, "user": "nosuch" }),
            "there is no user \"nosuch\"",
        ),
        (
            json!({ "words": ["id"], "is_awaited": true, "copies": [{ "from": "/no/such", "to": "/run/x" }] }),
            "copying /no/such",
        ),
    ];
    for (number, (program, expected)) in cases.into_iter().enumerate() {
        let folder = Folder::new(&format!("reason-{number}"));
        let Some(mut command) = folder.command((1_000_000_000, 0, 1), &programs(program)) else {
            return;
        };
        let error = error(&command.output().expect("it starts"));
        assert!(error.contains("host h1: ") && error.contains(expected), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}

#[test]
fn a_program_without_a_name_and_an_unknown_signal_are_refused_with_their_keys() {
    let folder = Folder::new("refused");
    let cases = [
        (json!({ "words": [], "is_awaited": true }), "h1[0].words: a program has a name"),
        (
            json!({ "words": ["id"], "is_awaited": true, "stop_signal": "FOO" }),
            "h1[0].stop_signal: \"FOO\" is no signal",
        ),
    ];
    for (program, expected) in cases {
        let Some(mut command) = folder.command((1_000_000_000, 0, 1), &json!({ "h1": [program] }))
        else {
            return;
        };
        let error = error(&command.output().expect("it starts"));
        assert!(error.contains("programs.json: ") && error.contains(expected), "{error}");
    }
}

#[test]
fn memory_that_no_guest_or_no_machine_has_is_refused_at_once() {
    for memory in ["31", "999999999", "99999999999"] {
        let folder = Folder::new("memory");
        let Some(mut command) = folder.command((1_000_000_000, 0, 1), &ping()) else { return };
        let error = error(&command.args(["--memory", memory]).output().expect("it starts"));
        assert!(
            error.contains(&format!("--memory {memory}: a guest has 32 to "))
                && error.contains("(hint: "),
            "{error}"
        );
    }
}

#[test]
fn a_kernel_that_never_reads_its_clock_is_named() {
    let folder = Folder::new("silent");
    let Some(mut command) = folder.command((1_000_000_000, 0, 1), &ping()) else { return };
    let silent = folder.0.join("silent");
    fs::write(&silent, "#!/bin/sh\nexec sleep 100\n").expect("it is ours");
    fs::set_permissions(&silent, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let error = error(
        &command
            .arg("--kernel")
            .arg(&silent)
            .args(["--spin-limit", "1"])
            .output()
            .expect("it starts"),
    );
    assert!(error.contains("host h0: its kernel has not looked at its clock within 1 s: it is not one of exact runs"), "{error}");
}

#[test]
#[ignore = "only in make test-all"]
fn the_same_seed_has_the_same_digest_and_random_numbers_and_another_has_others() {
    let draw = |seed: u64| {
        let folder = Folder::new(&format!("digest-{seed}"));
        let words = ["sh", "-c", "od -N 16 -t x1 /dev/urandom; ping -c 2 10.77.0.2 > /dev/null"];
        let programs = json!({ "h0": [{ "words": words, "is_awaited": true }] });
        let mut command = folder.command((1_000_000_000, 1_000_000, seed), &programs)?;
        let digest = outcome(&command.output().expect("it starts"))["digest"].clone();
        Some((digest, folder.output("h0", "0.out")))
    };
    let Some(first) = draw(1) else { return };
    assert_eq!(draw(1), Some(first.clone()));
    assert_ne!(draw(2).map(|drawn| drawn.1), Some(first.1));
}

#[test]
#[ignore = "only in make test-all"]
fn a_program_that_spins_is_found_and_its_host_named() {
    let folder = Folder::new("spin");
    let programs =
        json!({ "h1": [{ "words": ["sh", "-c", "while :; do :; done"], "is_awaited": true }] });
    let Some(mut command) = folder.command((1_000_000_000, 0, 1), &programs) else { return };
    let error = error(&command.args(["--spin-limit", "3"]).output().expect("it starts"));
    assert!(error.contains("host h1: a program spins: time stands still at"), "{error}");
}

#[test]
#[ignore = "only in make test-all"]
fn folders_with_blanks_in_their_names_are_as_good_as_others() {
    let folder = Folder::new("with blanks");
    let Some(command) = folder.command((1_000_000_000, 0, 1), &ping()) else { return };
    let place = folder.0.join("bin of mine");
    fs::create_dir(&place).expect("it is ours");
    let (program, kernel) = (place.join("tailrace exact"), place.join("a kernel"));
    fs::copy(command.get_program(), &program).expect("it is ours");
    fs::copy(tailrace_exact::kernel::find().expect("there is one"), &kernel).expect("it is ours");
    let mut moved = Command::new(program);
    moved.args(command.get_args()).env(tailrace_exact::kernel::VARIABLE, kernel);
    outcome(&moved.output().expect("it starts"));
}

#[test]
#[ignore = "only in make test-all"]
fn a_kernel_is_named_from_the_folder_in_which_the_command_is_given() {
    let folder = Folder::new("relative");
    for is_option in [false, true] {
        let Some(mut command) = folder.command((1_000_000_000, 0, 1), &ping()) else { return };
        let kernel = tailrace_exact::kernel::find().expect("there is one");
        command.current_dir(kernel.parent().expect("it is a file"));
        let name = kernel.file_name().expect("it is a file");
        if is_option {
            command.arg("--kernel").arg(name)
        } else {
            command.env(tailrace_exact::kernel::VARIABLE, name)
        };
        outcome(&command.output().expect("it starts"));
    }
}

/// Reads the clock for 5 ms, and counts how often.
const CLOCK_READER: &str = "import time
end, count = time.time() + 0.005, 0
while time.time() < end:
    count += 1
print(count)";

#[test]
#[ignore = "only in make test-all"]
fn a_program_that_reads_the_clock_is_interrupted_as_often_as_others() {
    let folder = Folder::new("clock");
    let programs = json!({
        "h0": [{ "words": ["ping", "-f", "-c", "100", "10.77.0.2"], "is_awaited": true }],
        "h1": [{ "words": ["python3", "-c", CLOCK_READER], "is_awaited": true }],
    });
    // An echo is sent, and so completed, within the reading in which its request came.
    let Some(mut command) = folder.command((100_000_000_000, 20_000, 1), &programs) else { return };
    outcome(&command.output().expect("it starts"));
    assert!(folder.output("h0", "0.out").contains("100 received"));
    // Each reading costs 256 ns.
    let count: u64 = folder.output("h1", "0.out").trim().parse().expect("a number");
    assert!((15_000..20_000).contains(&count), "{count}");
}

#[test]
#[ignore = "only in make test-all"]
fn a_program_has_a_user_and_folders_of_its_own_and_a_server_ends_after_the_others() {
    let folder = Folder::new("user");
    fs::create_dir_all(folder.0.join("template/inner")).expect("it is ours");
    fs::write(folder.0.join("template/inner/file"), "as on the machine").expect("it is ours");
    let server = "cat /run/own/inner/file; id -u; echo changed > /run/own/inner/file; trap 'date +%s; exit 0' INT; \
                  while :; do sleep 0.01; done";
    let client = "echo did it >&2; sleep 1.5; echo did it >&2; trap 'sleep 1; exit 0' ALRM; while :; do sleep 0.01; done";
    let copies = json!([{ "from": folder.0.join("template"), "to": "/run/own" }]);
    let programs = json!({
        "h0": [{ "words": ["sh", "-c", client], "is_awaited": true, "stop_signal": "ALRM",
                 "finished_by": { "stream": "err", "text": "did it", "lines": 2 } }],
        "h1": [{ "words": ["sh", "-c", server], "is_awaited": false, "stop_signal": "INT", "is_server": true,
                 "user": "65534", "copies": copies }],
    });
    let Some(mut command) = folder.command((1_000_000_000, 1_000_000, 1), &programs) else {
        return;
    };
    let outcome = outcome(&command.output().expect("it starts"));
    assert_eq!(outcome["exact"]["hosts"][1]["programs"], json!([0]));
    let span_ps = outcome["exact"]["span_ps"].as_u64().expect("a number");
    assert_eq!(
        span_ps / 10_000_000_000,
        50,
        "the client has said for the second time that it has finished"
    );
    // 2020-01-01 00:00:02, half a second, and a second for the client.
    assert_eq!(folder.output("h1", "0.out"), "as on the machine65534\n1577836803\n");
    assert_eq!(
        fs::read_to_string(folder.0.join("template/inner/file")).expect("it is ours"),
        "as on the machine"
    );
}

#[test]
#[ignore = "only in make test-all"]
fn a_trial_depends_neither_on_its_folder_nor_on_that_of_the_engine() {
    // How long the requests are is random.
    let words = [
        "sh",
        "-c",
        "ping -c 2 -s $(od -A n -N 1 -t u1 /dev/urandom) 10.77.0.2 && cat /proc/sys/kernel/random/boot_id",
    ];
    let programs = json!({ "h0": [{ "words": words, "is_awaited": true }] });
    let draw = |name: &str| {
        let folder = Folder::new(name);
        let engine = folder.0.join("tailrace-exact");
        fs::copy(env!("CARGO_BIN_EXE_tailrace-exact"), &engine).expect("it is ours");
        let mut command = folder.by(&engine, |_| (), &programs)?;
        let digest = outcome(&command.output().expect("it starts"))["digest"].clone();
        let answer = folder.output("h0", "0.out");
        Some((digest, answer.lines().last().map(str::to_owned)))
    };
    let Some(first) = draw("one-folder") else { return };
    assert_eq!(draw("another-folder-with-a-longer-name"), Some(first));
}

#[test]
#[ignore = "only in make test-all"]
fn a_program_where_a_guest_has_folders_of_its_own_finds_what_is_beside_it() {
    for parent in ["/tmp", "/var/tmp"].map(Path::new).into_iter().filter(|parent| parent.is_dir()) {
        let folder = Folder::new("beside");
        let programs =
            Folder(parent.join(format!("tailrace-exact-programs-{}", std::process::id())));
        fs::create_dir_all(&programs.0).expect("it is ours");
        fs::write(programs.0.join("words"), "echo found").expect("it is ours");
        fs::write(programs.0.join("program.sh"), "#!/bin/sh\n. \"$(dirname \"$0\")/words\"\n")
            .expect("it is ours");
        fs::set_permissions(programs.0.join("program.sh"), fs::Permissions::from_mode(0o755))
            .expect("it is ours");
        let words = json!([{ "words": [programs.0.join("program.sh")], "is_awaited": true }]);
        let Some(mut command) = folder.changed(|_| (), &json!({ "h0": words })) else { return };
        outcome(&command.output().expect("it starts"));
        assert_eq!(folder.output("h0", "0.out"), "found\n");
    }
}

#[test]
#[ignore = "only in make test-all"]
fn a_guest_is_set_up_the_same_way_everywhere() {
    let folder = Folder::new("facts");
    fs::create_dir_all(folder.0.join("template/inner")).expect("it is ours");
    let copies = json!([{ "from": folder.0.join("template"), "to": "/run/own" }]);
    let words = "date +%s.%N; cat /proc/sys/net/ipv4/tcp_mem; ls /run/tailrace/source; stat -c %u /run/own/inner; \
                 echo $OPENSSL_ia32cap; cat /proc/self/personality";
    let program = json!({ "words": ["sh", "-c", words], "is_awaited": true, "delay_ns": 1_500_000_000, "user": "65534", "copies": copies });
    let Some(mut command) = folder.changed(|_| (), &json!({ "h0": [program] })) else { return };
    outcome(&command.output().expect("it starts"));
    let answer = folder.output("h0", "0.out");
    let lines: Vec<&str> = answer.lines().collect();
    // 2020-01-01 00:00:01, and the delay.
    assert!(lines[0].starts_with("1577836802.5"), "{answer}");
    assert_eq!(
        lines[1..4],
        ["1000000\t1000000\t1000000", "65534", "~0x4000000000000010:~0x40000"],
        "nothing is left of what was copied"
    );
}

#[test]
#[ignore = "only in make test-all"]
fn a_program_that_fails_fails_its_trial_with_its_last_words() {
    let folder = Folder::new("fail");
    let programs = json!({ "h0": [{ "words": ["sh", "-c", "echo no disk >&2; exit 3"], "is_awaited": true }] });
    let Some(mut command) = folder.command((1_000_000_000, 0, 1), &programs) else { return };
    let error = error(&command.output().expect("it starts"));
    assert!(error.contains("host h0: sh ended with status 3: no disk"), "{error}");
}

/// Processes whose command line or working directory has this folder.
fn processes_of(folder: &Path) -> usize {
    let name = folder.to_string_lossy().into_owned();
    let has = |text: &[u8]| String::from_utf8_lossy(text).contains(&name);
    let processes = fs::read_dir("/proc").expect("it is there").flatten();
    let is_ours = |process: &fs::DirEntry| {
        let is_in_folder = fs::read_link(process.path().join("cwd"))
            .is_ok_and(|cwd| has(cwd.as_os_str().as_bytes()));
        is_in_folder || fs::read(process.path().join("cmdline")).is_ok_and(|line| has(&line))
    };
    processes.into_iter().filter(is_ours).count()
}

/// They end by themselves, or the test does not.
fn await_no_process(folder: &Path) {
    while processes_of(folder) > 0 {
        std::thread::yield_now();
    }
}

/// One host waits, and the other one never does.
fn sleeper_and_spinner() -> Value {
    json!({ "h0": [{ "words": ["sleep", "1000"], "is_awaited": true }],
            "h1": [{ "words": ["sh", "-c", "while :; do :; done"], "is_awaited": true }] })
}

/// The process of a host's kernel, which has the others of the guest as children.
fn kernel_of(folder: &Path, host: &str) -> Option<i32> {
    let folder = folder.canonicalize().expect("it is there").join("run/hosts").join(host);
    let processes = fs::read_dir("/proc").expect("it is there").flatten();
    processes.into_iter().find_map(|process| {
        let line =
            String::from_utf8_lossy(&fs::read(process.path().join("cmdline")).ok()?).into_owned();
        let is_kernel =
            fs::read_link(process.path().join("cwd")).ok()? == folder && !line.contains("\0cage\0");
        if is_kernel { process.file_name().to_string_lossy().parse().ok() } else { None }
    })
}

#[test]
fn a_guest_that_dies_fails_its_trial_and_is_named() {
    let folder = Folder::new("died");
    let Some(mut command) = folder.command((1_000_000_000, 0, 1), &sleeper_and_spinner()) else {
        return;
    };
    let mut engine =
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    while !folder.0.join("run/hosts/h1/out/0.out").exists() {
        assert!(
            engine.try_wait().expect("it is ours").is_none(),
            "it ends before its programs have started"
        );
        std::thread::yield_now();
    }
    let kernel = kernel_of(&folder.0, "h1").expect("it runs");
    let personality =
        fs::read_to_string(format!("/proc/{kernel}/personality")).expect("it is ours");
    assert_eq!(personality, "00040000\n", "addresses are not random");
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(kernel), nix::sys::signal::Signal::SIGKILL)
        .expect("it is ours");
    let error = error(&engine.wait_with_output().expect("it ends"));
    assert!(error.contains("host h1: its kernel ended at"), "{error}");
    await_no_process(&folder.0);
}

#[test]
#[ignore = "only in make test-all"]
fn an_engine_that_is_killed_leaves_no_process() {
    let folder = Folder::new("killed");
    let programs = sleeper_and_spinner();
    let Some(mut command) = folder.command((1_000_000_000, 0, 1), &programs) else { return };
    let mut engine =
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    while processes_of(&folder.0) < 5 {
        assert!(
            engine.try_wait().expect("it is ours").is_none(),
            "it ends before its guests are there"
        );
        std::thread::yield_now();
    }
    engine.kill().expect("it is ours");
    engine.wait().expect("it is ours");
    await_no_process(&folder.0);
}

#[test]
fn two_guests_that_do_nothing_say_what_they_have_seen() {
    let folder = Folder::new("boot");
    let Some(command) = folder.command((1_000_000_000, 0, 1), &ping()) else { return };
    let seen =
        answer(&Command::new(command.get_program()).arg("boot").output().expect("it starts"));
    let kernel = tailrace_exact::kernel::find().expect("there is one");
    let release = Command::new(kernel).arg("--version").output().expect("it starts").stdout;
    assert_eq!(seen["release"].as_str(), Some(String::from_utf8_lossy(&release).trim()));
    assert!(seen["wall_s"].as_f64().is_some_and(|wall_s| wall_s > 0.0));
    let expected =
        (tailrace_exact::registers::of_processor(), tailrace_exact::registers::ROOM_BYTES);
    assert_eq!(seen["registers"], json!({ "bytes": expected.0, "room_bytes": expected.1 }));
}

//! Toolchains in the sandbox, from a home directory with secrets in it, and a disk that is full.

use std::{
    env, fs,
    io::{BufRead as _, BufReader, Write as _},
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use crate::{acp, home::Home, kept::full};

/// What lies beside toolchains and must not be seen.
const SECRETS: [&str; 16] = [
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".cargo/config.toml",
    ".npmrc",
    ".nvm/versions/node/v20/etc/npmrc",
    ".config/pip/pip.conf",
    ".pip/pip.conf",
    ".pyenv/versions/3.12/pip.conf",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
    ".netrc",
    ".config/gh/hosts.yml",
    ".ssh/id_ed25519",
    ".rustup/secret",
    "go/secret",
    ".sdkman/etc/config",
];

/// Programs of toolchains, in folders that are shown.
const PROGRAMS: [(&str, &str); 4] = [
    (".cargo/bin", "cargo-seen"),
    (".nvm/versions/node/v20/bin", "node-seen"),
    (".pyenv/versions/3.12/bin", "python-seen"),
    (".sdkman/candidates/java/21/bin", "java"),
];

/// A chart that runs one command.
fn chart(command: &str) -> String {
    format!(
        "chart = \"one\"\nversion = 1\nstart = \"runs\"\nauthority = \"propose\"\n\
         [any]\ncancel = \"stopped\"\n\
         [state.runs]\nrun = \"tool.call\"\ntools = [\"shell\"]\ntimeout = \"5m\"\n\
         with = {{ tool = \"shell\", args = {{ command = '{command}' }} }}\n\
         on.ok = \"done\"\non.failed = \"failed\"\non.denied = \"failed\"\non.stuck = \"failed\"\n\
         [state.done]\nfinal = \"succeeded\"\n[state.failed]\nfinal = \"failed\"\n\
         [state.stopped]\nfinal = \"cancelled\"\n"
    )
}

fn kinds() -> [(&'static str, &'static str); 2] {
    [("bubblewrap", ""), ("landlock", "bubblewrap = \"/nowhere/bwrap\"\n")]
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn secrets_next_to_a_toolchain_are_hidden() {
    for (kind, settings) in kinds() {
        let home = Home::new(&format!("secrets-{kind}"));
        home.settings(&format!("[sandbox]\n{settings}"));
        for file in SECRETS {
            home.write(file, "PLANTED-SECRET\n");
        }
        let mut path = env::var("PATH").expect("it is set");
        for (folder, program) in PROGRAMS {
            let file = home.path(folder).join(program);
            home.write(
                &format!("{folder}/{program}"),
                &format!("#!/bin/sh\necho {program} runs\n"),
            );
            fs::set_permissions(file, fs::Permissions::from_mode(0o755))
                .expect("the owner may set permissions");
            path = format!("{path}:{}", home.path(folder).display());
        }
        fs::create_dir(home.path("work")).expect("the folder is created");
        let root = home.path("").canonicalize().expect("the path exists");
        let look = format!(
            "cargo-seen > ran; node-seen >> ran; python-seen >> ran; env > variables; \
             for file in {}; do cat {}/$file; done > found 2>&1; \
             grep -rs PLANTED-SECRET {} >> found; true",
            SECRETS.join(" "),
            root.display(),
            root.display()
        );
        home.write("look.toml", &chart(&look));
        let shown =
            home.from("work", &[("PATH", &path)], &["run", "../look.toml", "--allow", "shell"]);
        assert_eq!(shown.code, Some(0), "{kind}: {}", shown.err);
        let read = |name: &str| {
            fs::read_to_string(home.path("work").join(name)).expect("the file exists and is UTF-8")
        };
        assert!(!read("found").contains("PLANTED-SECRET"), "{kind}: {}", read("found"));
        assert_eq!(read("ran"), "cargo-seen runs\nnode-seen runs\npython-seen runs\n", "{kind}");
        let caches = root.join("cache/pointsman").display().to_string();
        for name in ["CARGO_HOME", "PIP_CACHE_DIR", "npm_config_cache", "GRADLE_USER_HOME"] {
            let variables = read("variables");
            let value = variables.lines().find_map(|it| it.strip_prefix(&format!("{name}=")));
            assert!(value.is_some_and(|it| it.starts_with(&caches)), "{kind} {name}: {value:?}");
        }
        // The setting turns it off, and the way to turn it on is named.
        home.settings(&format!("[sandbox]\ntoolchains = false\n{settings}"));
        home.write("look.toml", &chart("cargo-seen"));
        let shown =
            home.from("work", &[("PATH", &path)], &["run", "../look.toml", "--allow", "shell"]);
        assert!(
            shown.err.contains("[notice] `cargo-seen` is installed in"),
            "{kind}: {}",
            shown.err
        );
        assert!(shown.err.contains("[sandbox] read_only = ["), "{kind}: {}", shown.err);
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn doctor_says_which_toolchains_work_by_trying_them() {
    let person = env::var_os("HOME").expect("it is set");
    let usual = |name: &str, folder: &str| {
        let usual = Path::new(&person).join(folder).display().to_string();
        env::var(name).unwrap_or(usual)
    };
    let (rustup, cargo) = (usual("RUSTUP_HOME", ".rustup"), usual("CARGO_HOME", ".cargo"));
    for (kind, settings) in kinds() {
        let home = Home::new(&format!("doctor-{kind}"));
        fs::create_dir(home.path("work")).expect("the folder is created");
        home.settings(&format!("[sandbox]\n{settings}"));
        let checks = |variables: &[(&str, &str)]| -> Vec<(String, String)> {
            let shown = home.from("work", variables, &["doctor", "--json"]);
            let told: Value = serde_json::from_str(&shown.out).expect("the text is valid JSON");
            let text = |check: &Value, key: &str| check[key].as_str().unwrap_or("").to_owned();
            let checks = told["checks"].as_array().expect("the value is a list").iter();
            let tried = checks.filter(|check| check["name"] == "toolchain");
            tried.map(|check| (text(check, "status"), text(check, "detail"))).collect()
        };
        let tried = checks(&[("RUSTUP_HOME", &rustup), ("CARGO_HOME", &cargo)]);
        let works = |it: &(String, String)| it.0 == "ok" && it.1.starts_with("cargo: cargo 1.");
        assert!(tried.iter().any(works), "{kind}: {tried:?}");
        // A program that cannot run is reported as such, with the reason.
        home.write("bin/go", "#!/bin/sh\necho broken >&2\nexit 3\n");
        let go = home.path("bin/go");
        fs::set_permissions(go, fs::Permissions::from_mode(0o755))
            .expect("the owner may set permissions");
        let path = format!("{}:/usr/bin:/bin", home.path("bin").display());
        let tried = checks(&[("PATH", &path)]);
        let fails = |it: &(String, String)| {
            it.0 == "warn"
                && it.1.starts_with("go (")
                && it.1.contains("does not run in the sandbox")
        };
        assert!(tried.iter().any(fails), "{kind}: {tried:?}");
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn full_disk_is_reported_with_a_hint() {
    let home = Home::new("full-disk");
    let (whole, small) = (home.path(""), home.path("small"));
    fs::create_dir_all(&small).expect("the folder is created");
    let output = Command::new("bwrap")
        .args(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"])
        .arg("--bind")
        .args([&whole, &whole])
        .args(["--size", "100000", "--tmpfs"])
        .arg(&small)
        .arg(env!("CARGO_BIN_EXE_pointsman"))
        .args(["run", "research", "points", "--dir", "docs"])
        .current_dir(&whole)
        .env_clear()
        .envs(home.variables())
        .env("XDG_STATE_HOME", &small)
        .stdin(Stdio::null())
        .output()
        .expect("bubblewrap starts");
    let told = String::from_utf8(output.stderr).expect("the output is UTF-8");
    assert_eq!(output.status.code(), Some(10), "{told}");
    full(&told);
}

const WRITES: &str = "[[turn]]\ntext = 'I write it.'\n[[turn.calls]]\ntool = 'write'\n\
                      arguments = { path = 'a.txt', content = 'x' }\n\
                      [[turn]]\ntext = 'Write a file'\n[[turn]]\ntext = 'All done.'\n";

/// Sends the requests of an editor one after the other, allows everything, and returns the last
/// result with all output.
fn edited(home: &Home, requests: &[(&str, Value)]) -> (Value, String) {
    let model = format!("script:{}", home.path("script.toml").display());
    let mut child = acp::start(home, &["--model", &model, "--commit"]);
    let mut stdin = child.stdin.take().expect("stdin is piped");
    let mut answers = BufReader::new(child.stdout.take().expect("stdout is piped")).lines();
    let (mut result, mut shown) = (Value::Null, String::new());
    let first = ("initialize", json!({ "protocolVersion": 1 }));
    for (id, (method, params)) in [&first].into_iter().chain(requests).enumerate() {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        writeln!(stdin, "{message}").expect("the process reads its stdin");
        loop {
            let line = answers.next().expect("it answers").expect("the output is UTF-8");
            let said: Value = serde_json::from_str(&line).expect("it is a message");
            if said["method"] == "session/request_permission" {
                let outcome = json!({ "outcome": "selected", "optionId": "allow_once" });
                let result = json!({ "outcome": outcome });
                let answer = json!({ "jsonrpc": "2.0", "id": said["id"], "result": result });
                writeln!(stdin, "{answer}").expect("the process reads its stdin");
            } else if said["id"] == json!(id) {
                result = said["result"].clone();
                assert!(result.is_object(), "{line}");
                break;
            } else {
                shown += &line;
            }
        }
    }
    drop(stdin);
    assert!(child.wait().expect("the process ends").success());
    (result, shown)
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn commits_are_shown_live_and_when_a_session_is_loaded() {
    let home = Home::new("acp-commit");
    home.write("script.toml", WRITES);
    let work = home.path("docs");
    let made = Command::new("git").args(["init", "--quiet"]).arg(&work).status();
    assert!(made.expect("git runs").success());
    let new = json!({ "cwd": work, "mcpServers": [] });
    let (begun, _) = edited(&home, &[("session/new", new)]);
    let id = &begun["sessionId"];
    let load = json!({ "sessionId": id, "cwd": work, "mcpServers": [] });
    let prompt = json!({ "sessionId": id, "prompt": [{ "type": "text", "text": "write" }] });
    let requests = [("session/load", load.clone()), ("session/prompt", prompt)];
    let (stopped, shown) = edited(&home, &requests);
    assert_eq!(stopped["stopReason"], "end_turn");
    let wanted = "committed 1 file as ";
    assert!(shown.contains(wanted) && shown.contains("Write a file"), "{shown}");
    let (_, shown) = edited(&home, &[("session/load", load)]);
    assert!(shown.contains(wanted), "{shown}");
}

//! Commands in the sandbox, in both kinds of it, and without any.

mod attack;
mod bombs;
mod git;
mod hook;
mod links;
mod orphans;
mod probes;
mod progress;
mod repositories;
mod stop;
mod toolchains;

use std::{
    env, fs,
    net::{TcpListener, UdpSocket},
    path::{Path, PathBuf},
    sync::OnceLock,
};

use pointsman_runtime::tool::SandboxPolicy;
use serde_json::json;

use super::{TestSession, wait};
use crate::{examples::built, store::TempFolder};

/// The two kinds.
const KINDS: [&str; 2] = ["bubblewrap", "landlock"];

/// Builds the helper, so that it is never an older one, and says where it is. The tier that
/// runs these tests as another user, who has no cargo, has built it before.
pub(crate) fn helper() -> &'static Path {
    static HELPER: OnceLock<PathBuf> = OnceLock::new();
    HELPER.get_or_init(|| {
        let before = env::var_os("POINTSMAN_SANDBOX_HELPER").map(PathBuf::from);
        before.unwrap_or_else(|| built("sandbox_helper"))
    })
}

/// Says that one kind is to be used and not the other.
fn policy(kind: &str) -> SandboxPolicy {
    let nowhere = (kind != "bubblewrap").then(|| "/nowhere/bwrap".into());
    let landlock = kind == "landlock";
    let helper = Some(helper().to_owned());
    SandboxPolicy { bubblewrap: nowhere, landlock, helper, ..SandboxPolicy::default() }
}

/// A workspace whose commands run in one kind of sandbox.
fn desk(kind: &str, name: &str) -> TestSession {
    open(kind, name, |_| {})
}

fn open(kind: &str, name: &str, change: impl FnOnce(&mut SandboxPolicy)) -> TestSession {
    let desk = TestSession::with(&format!("{kind}-{name}"), |settings| {
        settings.sandbox = policy(kind);
        change(&mut settings.sandbox);
        settings.limits.shell_ms = 60_000;
    });
    assert_eq!(desk.tools.tool_sandbox(), kind);
    desk
}

/// Runs a command; returns whether it succeeded and what it wrote.
fn sh(desk: &TestSession, command: &str) -> (bool, String) {
    let said = wait(desk.call("shell", json!({ "command": command })));
    (said.ok, said.output)
}

#[track_caller]
fn works(desk: &TestSession, command: &str) -> String {
    let (ok, output) = sh(desk, command);
    assert!(ok, "{command}: {output}");
    output
}

#[track_caller]
fn fails(desk: &TestSession, command: &str) -> String {
    let (ok, output) = sh(desk, command);
    assert!(!ok, "{command}: {output}");
    output
}

#[test]
fn without_a_sandbox_nothing_runs() {
    let desk = TestSession::with("no-sandbox", |settings| {
        settings.sandbox.bubblewrap = Some("/nowhere/bwrap".into());
        settings.sandbox.landlock = false;
        // Any file will do: it is never run.
        settings.sandbox.helper = Some("/bin/false".into());
    });
    assert_eq!(desk.tools.tool_sandbox(), "none");
    for (tool, arguments) in
        [("shell", json!({ "command": "touch ran" })), ("git", json!({ "args": ["init"] }))]
    {
        let said = desk.refuses(tool, arguments);
        assert_eq!(
            said,
            "commands need a sandbox, and none works here: there is no bubblewrap \
             at /nowhere/bwrap; landlock is turned off. Install bubblewrap (`apt install \
             bubblewrap`), or use a kernel with landlock, 6.12 or later"
        );
    }
    assert_eq!(fs::read_dir(&desk.root).expect("the folder is readable").count(), 0);
}

#[test]
fn a_bubblewrap_that_does_not_work_is_not_used() {
    let desk = TestSession::with("bad-bwrap", |settings| {
        settings.sandbox.bubblewrap = Some("/bin/false".into());
        settings.sandbox.helper = Some("/bin/false".into());
        settings.sandbox.landlock = false;
    });
    assert_eq!(desk.tools.tool_sandbox(), "none");
    let said = desk.refuses("shell", json!({ "command": "true" }));
    assert!(said.contains("/bin/false does not work"), "{said}");
}

#[test]
fn without_a_helper_nothing_runs() {
    let desk = TestSession::new("no-helper");
    assert_eq!(desk.tools.tool_sandbox(), "none");
    let said = desk.refuses("shell", json!({ "command": "touch ran" }));
    for kind in KINDS {
        assert!(said.contains(&format!("{kind} needs a helper: none is set")), "{said}");
    }
    assert_eq!(fs::read_dir(&desk.root).expect("the folder is readable").count(), 0);
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn a_command_works_in_the_workspace() {
    for kind in KINDS {
        let desk = desk(kind, "works");
        desk.put("sub/a.txt", "text\n");
        let said = wait(desk.call("shell", json!({ "command": "cat a.txt; pwd", "cwd": "sub" })));
        let pwd = desk.root.join("sub");
        assert_eq!(said.output, format!("exit code 0\ntext\n{}\n", pwd.display()), "{kind}");
        assert!(said.mutated);
        works(&desk, "echo made > new && mkdir -p x/y && mv new x/y/ && rm sub/a.txt");
        assert_eq!(desk.text("x/y/new"), "made\n");
        let said = fails(&desk, "echo out; echo err >&2; exit 7");
        assert_eq!(said, "exit code 7\nout\n[stderr]\nerr\n", "{kind}");
        works(&desk, "echo x > $TMPDIR/t && cat $TMPDIR/t && echo y > $HOME/h");
        works(&desk, "echo nothing > /dev/null");
        assert_eq!(works(&desk, "cat"), "exit code 0\n", "{kind}: there is no input");
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn the_home_directory_cannot_be_read() {
    let home = PathBuf::from(env::var_os("HOME").expect("there is a home"));
    let secret = home.join(format!(".pointsman-test-{}", std::process::id()));
    fs::write(&secret, "SECRET").expect("the file is written");
    for kind in KINDS {
        let desk = desk(kind, "home");
        let (_, said) = sh(
            &desk,
            &format!("cat {0}; ls -A {1}; cat ~/.[a-z]*", secret.display(), home.display()),
        );
        assert!(!said.contains("SECRET"), "{kind}: {said}");
        assert!(!said.contains(".pointsman-test-") || said.contains("[stderr]"), "{kind}: {said}");
        let desk = open(kind, "home-shown", |policy| policy.read_only.push(secret.clone()));
        assert!(works(&desk, &format!("cat {}", secret.display())).contains("SECRET"), "{kind}");
        fails(&desk, &format!("echo x >> {}", secret.display()));
    }
    assert_eq!(fs::read_to_string(&secret).expect("the file exists and is UTF-8"), "SECRET");
    fs::remove_file(secret).expect("the file existed and is removed");
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn nothing_outside_the_workspace_can_be_written() {
    for kind in KINDS {
        let desk = desk(kind, "outside");
        let outside = desk.folder.0.join("outside");
        fs::create_dir(&outside).expect("the folder is created");
        fs::write(outside.join("file"), "kept").expect("the file is written");
        let outside = outside.display();
        fails(&desk, &format!("echo x > {outside}/file"));
        fails(&desk, &format!("cat {outside}/file"));
        fails(&desk, "ln -s ../outside away && echo x > away/file");
        fails(&desk, "echo x > /usr/pointsman-test");
        fails(&desk, "echo x > /etc/pointsman-test");
        fails(&desk, "cat /etc/shadow");
        sh(&desk, &format!("mkdir -p {outside}; echo x > {outside}/file; rm -rf {outside}"));
        let file = desk.folder.0.join("outside/file");
        assert_eq!(
            fs::read_to_string(file).expect("the file exists and is UTF-8"),
            "kept",
            "{kind}"
        );
        let cache = desk.folder.0.join("cache");
        let allowed = open(kind, "allowed", |policy| policy.writable.push(cache.clone()));
        works(&allowed, &format!("echo x > {}/made", cache.display()));
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn read_only_paths_stay_read_only_everywhere() {
    for kind in KINDS {
        let ground = TempFolder::new(&format!("{kind}-read-only"));
        let place = |name: &str| {
            let path = ground.0.join(name);
            fs::create_dir_all(&path).expect("the folder is created");
            fs::write(path.join("file"), "kept\n").expect("the file is written");
            path.canonicalize().expect("the path exists")
        };
        // It lies beside everything else; the tests' folders are below the temporary one,
        // which bubblewrap covers.
        let beside = place("beside");
        let shown = open(kind, "beside", |policy| policy.read_only.push(beside.clone()));
        assert!(works(&shown, &format!("cat {}/file", beside.display())).contains("kept"));
        fails(&shown, &format!("echo x > {}/file", beside.display()));
        // It lies in what can be written, and what can be written lies in it.
        let (cache, inner) = (place("cache"), place("cache/inner"));
        let desk = TestSession::with(&format!("{kind}-inner"), |settings| {
            settings.sandbox = policy(kind);
            settings.sandbox.writable.push(cache.clone());
            settings.sandbox.read_only.push(inner.clone());
        });
        if kind == "landlock" {
            let said = desk.refuses("shell", json!({ "command": "true" }));
            assert!(said.contains("landlock cannot do both"), "{said}");
        } else {
            works(&desk, &format!("echo x > {}/made", cache.display()));
            fails(&desk, &format!("echo x > {}/file", inner.display()));
            assert!(works(&desk, &format!("cat {}/file", inner.display())).contains("kept"));
        }
        let outer = open(kind, "outer", |policy| {
            policy.read_only.push(cache.clone());
            policy.writable.push(inner.clone());
        });
        works(&outer, &format!("echo x > {}/made", inner.display()));
        fails(&outer, &format!("echo x > {}/other", cache.display()));
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn the_network_cannot_be_reached_unless_it_is_allowed() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a loopback port is free");
    let port = listener.local_addr().expect("a bound socket has an address").port();
    let tcp = format!("bash -c ': < /dev/tcp/127.0.0.1/{port}'");
    let heard = UdpSocket::bind("127.0.0.1:0").expect("a loopback port is free");
    heard.set_nonblocking(true).expect("the socket becomes non-blocking");
    let port = heard.local_addr().expect("a bound socket has an address").port();
    let udp = format!("bash -c 'echo out > /dev/udp/127.0.0.1/{port}'");
    // Perl is part of every Debian.
    let made = |family: u8, kind: u8| {
        format!("perl -e 'socket(my $it, {family}, {kind}, 0) or die \"$!\\n\"'")
    };
    let [unix, internet, sixth, netlink, machines] = [1, 2, 10, 16, 40];
    let [stream, datagram, raw] = [1, 2, 3];
    for kind in KINDS {
        let (offline, online) =
            (desk(kind, "offline"), open(kind, "online", |policy| policy.network = true));
        fails(&offline, &tcp);
        sh(&offline, &udp);
        assert!(heard.recv(&mut [0; 9]).is_err(), "{kind}");
        works(&online, &tcp);
        works(&online, &udp);
        assert_eq!(heard.recv(&mut [0; 9]).expect("it has come"), 4, "{kind}");
        works(&offline, &made(unix, stream));
        works(&offline, "perl -e 'socketpair(my $a, my $b, 1, 1, 0) or die \"$!\\n\"'");
    }
    // In a separate network namespace, sockets lead nowhere; elsewhere there
    // must be none.
    let offline = desk("landlock", "sockets");
    for (family, kind) in [
        (internet, datagram),
        (internet, stream),
        (sixth, datagram),
        (netlink, raw),
        (machines, stream),
    ] {
        let said = fails(&offline, &made(family, kind));
        assert!(said.contains("Permission denied"), "{family}: {said}");
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn the_environment_of_this_process_cannot_be_seen() {
    let known = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    for kind in KINDS {
        let desk = desk(kind, "env");
        let said = works(&desk, "env");
        assert!(said.contains("PATH=") && said.contains("TMPDIR="), "{kind}: {said}");
        assert!(!said.contains("CARGO_MANIFEST_DIR") && !said.contains(&known), "{kind}: {said}");
        // Names alone are printed, so that no cut can hide one.
        let (ok, said) = sh(&desk, "grep -alsw CARGO_MANIFEST_DIR /proc/[0-9]*/environ");
        assert!(!ok && !said.contains("/environ"), "{kind}: {said}");
        let passed = open(kind, "passed", |policy| policy.env.push("CARGO_MANIFEST_DIR".into()));
        assert!(works(&passed, "echo $CARGO_MANIFEST_DIR").contains(&known), "{kind}");
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn a_workspace_that_holds_the_home_directory_runs_nothing() {
    for kind in KINDS {
        let desk = TestSession::with(&format!("{kind}-all"), |settings| {
            settings.root = "/".into();
            settings.sandbox = policy(kind);
        });
        let said = desk.refuses("shell", json!({ "command": "true" }));
        assert!(said.contains("contains the home directory"), "{said}");
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn long_output_keeps_both_ends_of_both_streams() {
    for kind in KINDS {
        let desk = TestSession::with(&format!("{kind}-long"), |settings| {
            settings.sandbox = policy(kind);
            settings.limits.output_bytes = 1000;
        });
        let said = works(&desk, "seq 1 100000; seq 1 100000 >&2");
        assert!(said.len() < 1200, "{}", said.len());
        assert!(said.starts_with("exit code 0\n1\n2\n"), "{kind}: {said}");
        assert!(said.contains("\n100000\n[stderr]\n1\n2\n"), "{kind}: {said}");
        assert!(said.ends_with("\n100000\n"), "{kind}: {said}");
        assert_eq!(said.matches("bytes are cut here").count(), 2, "{kind}: {said}");
        let said = works(&desk, "head -c 300 /dev/zero; printf '\\377\\n'");
        assert!(said.contains('\u{fffd}'), "{kind}: {said}");
    }
}

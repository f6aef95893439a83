//! What a hostile command tries first, in both sandboxes. The `sandbox` tier runs these as
//! root and as an ordinary user.

use std::{
    env, fs,
    io::ErrorKind,
    net::{TcpListener, UdpSocket},
    os::{
        fd::AsRawFd,
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixListener},
    },
};

use rustix::io::{FdFlags, fcntl_setfd};

use super::{super::TestSession, KINDS, desk, fails, sh, works};

/// Puts a secret beside the workspace, and returns its path.
fn secret(desk: &TestSession) -> String {
    let path = desk.folder.0.join("secret");
    fs::write(&path, "SECRET").expect("the file is written");
    path.display().to_string()
}

/// Makes a system call, and says what it returned and the number of the error.
fn called(number: i64, arguments: &str) -> String {
    format!(
        "perl -e '@a = ({arguments}); $! = 0; $r = syscall({number}, @a); print \"$r \", $! + 0'"
    )
}

/// Returns whether a call was forbidden, or is none that this kernel has.
fn is_forbidden(said: &str) -> bool {
    ["-1 1", "-1 13", "-1 38"].iter().any(|end| said.trim_end().ends_with(end))
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn files_outside_stay_unread_and_unwritten() {
    for kind in KINDS {
        let desk = desk(kind, "probe-files");
        let secret = secret(&desk);
        let beside = desk.folder.0.join("made");
        for command in [
            format!("cat {secret}"),
            "cat /etc/shadow".into(),
            "cat ../secret".into(),
            format!("ln -s {secret} link && cat link"),
            "ln -s /etc/shadow shadow && cat shadow".into(),
            format!("ln {secret} hard && cat hard"),
            "ln /etc/shadow harder && cat harder".into(),
            "echo x > /usr/local/pointsman-probe".into(),
            "echo x > /etc/pointsman-probe".into(),
            format!("mv {secret} here"),
        ] {
            let said = fails(&desk, &command);
            assert!(!said.contains("SECRET") && !said.contains("root:"), "{kind}: {said}");
        }
        // In bubblewrap these are files of the private folder, which goes with the command.
        sh(&desk, &format!("echo x > {}; echo x > {secret}", beside.display()));
        assert!(!beside.exists(), "{kind}");
        assert_eq!(
            fs::read_to_string(&secret).expect("the file exists and is UTF-8"),
            "SECRET",
            "{kind}"
        );
        works(&desk, "echo x > mine && ln mine second && ln -s mine third && cat second third");
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn sandbox_reaches_no_server_outside() {
    for kind in KINDS {
        let desk = desk(kind, "probe-net");
        let tcp = TcpListener::bind("127.0.0.1:0").expect("a loopback port is free");
        let udp = UdpSocket::bind("127.0.0.1:0").expect("a loopback port is free");
        let name = format!("pointsman-probe-{}-{kind}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).expect("it is a name");
        let hidden = UnixListener::bind_addr(&address).expect("it binds");
        let outside = desk.folder.0.join("socket");
        let beside = UnixListener::bind(&outside).expect("the socket binds");
        let inside = UnixListener::bind(desk.root.join("socket")).expect("the socket binds");
        tcp.set_nonblocking(true).expect("the socket becomes non-blocking");
        udp.set_nonblocking(true).expect("the socket becomes non-blocking");
        for listener in [&hidden, &beside, &inside] {
            listener.set_nonblocking(true).expect("the socket becomes non-blocking");
        }
        let connect = |path: &str| {
            format!(
                "perl -MSocket -e 'socket(my $s, AF_UNIX, SOCK_STREAM, 0) or die; \
                 connect($s, pack_sockaddr_un(\"{path}\")) or die \"$!\\n\"; print \"REACHED\"'"
            )
        };
        let [tcp_port, udp_port] =
            [tcp.local_addr(), udp.local_addr()].map(|address| address.expect("it has one").port());
        fails(&desk, &format!("bash -c ': < /dev/tcp/127.0.0.1/{tcp_port}'"));
        sh(&desk, &format!("bash -c 'echo x > /dev/udp/127.0.0.1/{udp_port}'"));
        fails(&desk, "perl -e 'gethostbyname(\"example.com\") or die \"$!\\n\"'");
        fails(&desk, &connect(&format!("\\0{name}")));
        // A file outside the workspace is not there in bubblewrap. Landlock cannot keep a
        // command from a socket that it can name: the page on tools says so.
        if kind == "bubblewrap" {
            fails(&desk, &connect(&outside.display().to_string()));
            assert!(beside.accept().is_err_and(|it| it.kind() == ErrorKind::WouldBlock));
        }
        assert!(tcp.accept().is_err(), "{kind}");
        assert!(udp.recv(&mut [0; 9]).is_err(), "{kind}");
        assert!(hidden.accept().is_err(), "{kind}");
        assert!(works(&desk, &connect("socket")).contains("REACHED"), "{kind}");
        inside.accept().expect("a socket of the workspace is reached");
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn only_the_socket_families_that_are_needed_are_made() {
    // Virtual machines, packets, the kernel's ciphers, Bluetooth.
    let strangers = [libc::AF_VSOCK, libc::AF_PACKET, libc::AF_ALG, libc::AF_BLUETOOTH];
    let internet = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
    let made = |family: i32| {
        let kind = if family == libc::AF_NETLINK { libc::SOCK_RAW } else { libc::SOCK_DGRAM };
        format!("perl -e 'socket(my $s, {family}, {kind}, 0) or die $! + 0, \"\\n\"'")
    };
    for kind in KINDS {
        let desk = desk(kind, "probe-families");
        for family in strangers {
            let said = fails(&desk, &made(family));
            assert!(said.ends_with("\n13\n"), "{kind} {family}: {said}");
        }
        for family in internet {
            if kind == "bubblewrap" {
                works(&desk, &made(family));
            } else {
                let said = fails(&desk, &made(family));
                assert!(said.ends_with("\n13\n"), "{kind} {family}: {said}");
            }
        }
        works(&desk, &made(libc::AF_UNIX));
        let online = super::open(kind, "probe-online", |policy| policy.network = true);
        for family in internet {
            works(&online, &made(family));
        }
        for family in strangers {
            let said = fails(&online, &made(family));
            assert!(said.ends_with("\n13\n"), "{kind} {family}: {said}");
        }
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn other_processes_are_neither_seen_nor_touched() {
    let us = std::process::id();
    for kind in KINDS {
        let desk = desk(kind, "probe-processes");
        let said = works(&desk, "env; grep -alsw CARGO_MANIFEST_DIR /proc/[0-9]*/environ; true");
        assert!(!said.contains("CARGO_MANIFEST_DIR") && !said.contains("/environ"), "{said}");
        assert!(!said.contains("LD_PRELOAD"), "{kind}: {said}");
        // Attach, read the memory, take a descriptor, signal: in a pid namespace there is no such
        // process. Using a descriptor of it is a second call.
        let opened = format!("syscall({}, {us}, 0)", libc::SYS_pidfd_open);
        let region = "pack(\"PQ\", \"x\" x 8, 8)";
        let numbers = [
            (libc::SYS_ptrace, format!("16, {us}, 0, 0")),
            (libc::SYS_process_vm_readv, format!("{us}, {region}, 1, {region}, 1, 0")),
            (libc::SYS_pidfd_getfd, format!("{opened}, 0, 0")),
            (libc::SYS_pidfd_send_signal, format!("{opened}, 0, 0, 0")),
            (libc::SYS_kill, format!("{us}, 0")),
            (libc::SYS_kill, format!("-{us}, 0")),
            (libc::SYS_tkill, format!("{us}, 0")),
        ];
        for (number, arguments) in numbers {
            let said = works(&desk, &called(number, &arguments));
            // Without the process there is no descriptor of it either.
            let absent = ["-1 3", "-1 9"].iter().any(|end| said.trim_end().ends_with(end));
            assert!(is_forbidden(&said) || absent, "{kind} {number}: {said}");
        }
        // Nothing is open but the three streams, whatever other children of this process inherit.
        let open = format!(
            "perl -e 'print join \",\", grep {{ syscall({}, $_, 1, 0) >= 0 }} 0..1023'",
            libc::SYS_fcntl
        );
        assert_eq!(works(&desk, &open).trim_end(), "exit code 0\n0,1,2", "{kind}");
        works(&desk, "sleep 60 & kill $!");
    }
}

/// Returns whether bubblewrap can keep commands from making user namespaces here.
fn seals() -> bool {
    let mut bubblewrap = std::process::Command::new("bwrap");
    bubblewrap.args(["--unshare-user", "--disable-userns", "--ro-bind", "/", "/"]);
    bubblewrap.args(["--proc", "/proc", "--", "/bin/true"]);
    bubblewrap.status().is_ok_and(|status| status.success())
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn nothing_that_only_root_may_do_is_done() {
    for kind in KINDS {
        let desk = desk(kind, "probe-root");
        // An allowed call would change nothing: each gets the current value.
        let now = "pack(\"qq\", time, 0)";
        let name =
            "do { chomp(my $n = `uname -n`); $n }, do { chomp(my $n = `uname -n`); length $n }";
        for (number, arguments) in [
            (libc::SYS_clock_settime, format!("0, {now}")),
            (libc::SYS_sethostname, name.into()),
            (libc::SYS_chroot, "\".\"".into()),
            (libc::SYS_swapoff, "\"/none\"".into()),
            (libc::SYS_init_module, "0, 0, \"\"".into()),
            (libc::SYS_bpf, "0, 0, 0".into()),
            (libc::SYS_perf_event_open, "0, 0, -1, -1, 0".into()),
            (libc::SYS_keyctl, "0, -3, 0".into()),
            (libc::SYS_add_key, "\"user\", \"probe\", \"x\", 1, -2".into()),
            (libc::SYS_request_key, "\"user\", \"probe\", 0, 0".into()),
            (libc::SYS_io_uring_setup, "1, 0".into()),
            (libc::SYS_io_uring_enter, "0, 0, 0, 0, 0, 0".into()),
            (libc::SYS_io_uring_register, "0, 0, 0, 0".into()),
        ] {
            let said = works(&desk, &called(number, &arguments));
            assert!(is_forbidden(&said), "{kind} {number}: {said}");
        }
        for command in [
            "mknod disk b 7 0",
            "mknod terminal c 5 0",
            "mknod memory c 1 1",
            "mkdir -p m && mount -t tmpfs x m",
            "mkdir -p m && mount --bind / m",
            "mkdir -p m && unshare -Urm sh -c 'mount -t tmpfs x m'",
            "mount -o remount,rw /",
        ] {
            fails(&desk, command);
        }
        assert!(!desk.root.join("disk").exists() && !desk.root.join("memory").exists());
        // Where bubblewrap can keep namespaces from having more, none is made.
        if kind == "bubblewrap" && seals() {
            fails(&desk, "unshare -U true");
        }
        // Landlock refuses them before the system looks for the right to make them, so that a
        // capability which is left over does not matter.
        if kind == "landlock" {
            for node in ["mknod disk b 7 0", "mknod memory c 1 1"] {
                assert!(fails(&desk, node).contains("Permission denied"), "{node}");
            }
        }
        works(&desk, "mkfifo pipe && touch file && chmod 755 file");
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn a_command_has_no_capability_and_gets_none() {
    // Two sets behind a header of the third version, as the kernel writes them.
    let held = format!(
        "perl -e '$h = pack(\"LL\", 0x20080522, 0); $d = \"\\0\" x 24; \
         syscall({}, $h, $d) == 0 or die; print unpack(\"H*\", $d)'",
        libc::SYS_capget
    );
    let bounding = format!(
        "perl -e 'print join \",\", grep {{ syscall({}, 23, $_, 0, 0, 0) == 1 }} 0..40'",
        libc::SYS_prctl
    );
    let new_privileges = format!("perl -e 'print syscall({}, 39, 0, 0, 0, 0)'", libc::SYS_prctl);
    let filter = format!("perl -e 'print syscall({}, 21, 0, 0, 0, 0)'", libc::SYS_prctl);
    let root = rustix::process::getuid().is_root();
    for kind in KINDS {
        let desk = desk(kind, "probe-caps");
        let said = works(&desk, &held);
        assert!(said.ends_with(&format!("\n{}", "0".repeat(48))), "{kind}: {said}");
        // An ordinary user cannot empty the bounding set, and without new privileges it
        // grants nothing.
        if root || kind == "bubblewrap" {
            assert_eq!(works(&desk, &bounding), "exit code 0\n", "{kind}");
        }
        assert_eq!(works(&desk, &new_privileges), "exit code 0\n1", "{kind}");
        assert_eq!(works(&desk, &filter), "exit code 0\n2", "{kind}");
        if kind == "bubblewrap" {
            // Nor has the first process of the namespace, which a command can trace.
            let said = works(&desk, "grep -E '^(Cap...|Seccomp|NoNewPrivs):' /proc/1/status");
            assert!(said.contains("Seccomp:\t2\n"), "{said}");
            assert!(said.contains("NoNewPrivs:\t1\n"), "{said}");
            let sets = said.lines().filter(|line| line.starts_with("Cap"));
            assert!(
                sets.filter(|line| line.ends_with("\t0000000000000000")).count() == 5,
                "{said}"
            );
        }
        // A program that changes its user gets nothing by it.
        works(&desk, "cp /usr/bin/perl mine && chmod 4755 mine");
        let said = works(&desk, &held.replace("perl -e", "./mine -e"));
        assert!(said.ends_with(&"0".repeat(48)), "{kind}: {said}");
        if root && kind == "landlock" {
            let bits = format!("perl -e 'print syscall({}, 27, 0, 0, 0, 0)'", libc::SYS_prctl);
            assert_eq!(works(&desk, &bits), "exit code 0\n239", "the bits are locked");
        }
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn few_devices_are_there_and_no_terminal() {
    for kind in KINDS {
        let desk = desk(kind, "probe-devices");
        fails(&desk, "exec 3<>/dev/tty");
        for device in ["/dev/kmsg", "/dev/mem", "/dev/fuse", "/dev/kvm", "/dev/vda", "/dev/loop0"] {
            fails(&desk, &format!("exec 3<{device}"));
        }
        fails(&desk, "echo x > /dev/made");
        works(&desk, "head -c 9 /dev/urandom > /dev/null && head -c 9 /dev/zero > /dev/null");
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn the_tier_says_which_user_it_ran_as() {
    // The tier sets this, so that a run as the wrong user is not taken for one as the right.
    let Ok(wanted) = env::var("POINTSMAN_SANDBOX_USER") else { return };
    assert_eq!(rustix::process::getuid().as_raw().to_string(), wanted);
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn commands_get_no_inherited_descriptors() {
    for kind in KINDS {
        let desk = desk(kind, "probe-inherited");
        let file = fs::File::options().read(true).write(true).open(secret(&desk));
        let file = file.expect("it can be opened");
        // As a shell leaves it that has opened it for a program.
        fcntl_setfd(&file, FdFlags::empty()).expect("it is open");
        let number = file.as_raw_fd();
        let says = format!(
            "perl -e 'open(my $f, \"+<&=\", {number}) or die \"closed\\n\"; print <$f>; \
             print $f \"CHANGED\"'"
        );
        let said = fails(&desk, &says);
        assert!(said.contains("closed") && !said.contains("SECRET"), "{kind}: {said}");
        assert_eq!(
            fs::read_to_string(desk.folder.0.join("secret")).expect("the file exists and is UTF-8"),
            "SECRET"
        );
        drop(file);
    }
}

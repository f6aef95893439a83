//! Commands that take too much of the machine. The limits here are small, and so are the bombs.

use std::fs;

use pointsman_runtime::tool::sandbox::CommandLimits;

use super::{super::TestSession, KINDS, fails, open, sh, works};

const MIB: u64 = 1 << 20;

fn limited(kind: &str, name: &str, change: impl FnOnce(&mut CommandLimits)) -> TestSession {
    open(kind, name, |policy| change(&mut policy.limits))
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn too_many_processes_end_the_command_with_all_of_them() {
    for kind in KINDS {
        let desk = limited(kind, "bomb-processes", |limits| limits.processes = 20);
        // As an ordinary user the system itself refuses to fork in bubblewrap, and the shell
        // gives up; else the watcher ends it.
        let (ok, said) = sh(&desk, "for i in $(seq 100); do sleep 600 & done; wait");
        let watched = said.starts_with(
            "stopped because it ran more than 20 processes at once (limit `processes`)",
        );
        let refused = said.contains("fork") || said.contains("Resource temporarily unavailable");
        assert!(!ok && (watched || refused), "{kind}: {said}");
        works(&desk, "for i in 1 2 3 4; do sleep 0.1 & done; wait; echo fine | cat | cat");
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn too_much_memory_ends_the_command() {
    for kind in KINDS {
        let desk = limited(kind, "bomb-memory", |limits| limits.memory_bytes = Some(64 * MIB));
        let limit = "stopped because it used more than 67108864 bytes of memory (limit `memory`)";
        let said = fails(&desk, "perl -e '$x = \"x\" x (200 << 20); sleep 600'");
        assert!(said.starts_with(limit), "{kind}: {said}");
        // Several that are small each.
        let one = "perl -e '$x = \"x\" x (20 << 20); sleep 600' &";
        let said = fails(&desk, &format!("{} wait", one.repeat(6)));
        assert!(said.starts_with(limit), "{kind}: {said}");
        // Pages that are shared are counted once.
        works(
            &desk,
            "perl -e '$x = \"x\" x (15 << 20); for (1..5) { if (!fork) { sleep 1; exit } } wait; \
             sleep 1'",
        );
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn files_and_open_files_and_time_are_bounded() {
    for kind in KINDS {
        let desk = limited(kind, "bomb-files", |limits| {
            limits.file_bytes = 8 * MIB;
            limits.open_files = 64;
            limits.cpu_ms = 1_000;
            limits.data_bytes = 128 * MIB;
            limits.temporary_bytes = 4 * MIB;
        });
        fails(&desk, "head -c 20000000 /dev/zero > big");
        let size = fs::metadata(desk.root.join("big")).expect("the file exists").len();
        assert_eq!(size, 8 * MIB, "{kind}");
        let opens = "perl -e 'for (1..100) { open(my $f, \"<\", \"/dev/null\") or die \"$!\\n\"; \
                     push @f, $f }'";
        assert!(fails(&desk, opens).contains("Too many open files"), "{kind}");
        fails(&desk, "exec perl -e '1 while 1'");
        fails(&desk, "perl -e '$x = \"x\" x (300 << 20)'");
        if kind == "bubblewrap" {
            for folder in ["/tmp", "/dev/shm"] {
                let said = fails(&desk, &format!("head -c 6000000 /dev/zero > {folder}/big"));
                assert!(said.contains("No space left"), "{said}");
                works(&desk, &format!("echo x > {folder}/small"));
            }
        }
        works(&desk, "head -c 1000000 /dev/zero > small && wc -c small");
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn result_names_the_limit_that_stopped_it() {
    for kind in KINDS {
        let desk = limited(kind, "bomb-named", |limits| {
            limits.file_bytes = MIB;
            limits.cpu_ms = 1_000;
        });
        let said = fails(&desk, "exec head -c 2000000 /dev/zero > big");
        assert!(said.contains("its limit `file`"), "{kind}: {said}");
        let said = fails(&desk, "exec perl -e '1 while 1'");
        assert!(said.contains("its limit `cpu`"), "{kind}: {said}");
    }
}

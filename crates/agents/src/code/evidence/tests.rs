//! Tables: command lines, what runners print, and what both come to.

use alloc::{format, string::String, vec, vec::Vec};

use pointsman_kernel::agent::{ToolCall, ToolResult};
use serde_json::json;

use super::{command::TestRun, *};
use crate::testing::raw;

fn seen(command: &str, code: i32, printed: &str) -> Option<bool> {
    seen_with(command, code, printed, &[])
}

fn seen_with(command: &str, code: i32, printed: &str, named: &[String]) -> Option<bool> {
    let arguments = raw(&json!({"command": command}));
    let call = ToolCall { id: "c".into(), tool: "shell".into(), arguments };
    let output = format!("exit code {code}\n{printed}");
    of(&call, &ToolResult { ok: code == 0, output, mutated: true }, named)
}

#[test]
fn runners_are_known_by_their_commands() {
    let decides = [
        "cargo test",
        "cargo +nightly test -q --all",
        "cargo nextest run --workspace",
        "RUST_LOG=debug cargo test",
        "cd crates/x && cargo test",
        "cd x; FOO='a b' BAR=1 timeout 60 cargo test -- --nocapture",
        "timeout -k 5 60s go test ./...",
        "time nice go test ./...",
        "pytest -x tests/test_a.py",
        "python -m pytest",
        "python3 -m unittest discover",
        "python manage.py test",
        ".venv/bin/python -m pytest -q",
        "uv run pytest",
        "poetry run python -m pytest",
        "npm test",
        "npm run test -- --watch=false",
        "pnpm test",
        "yarn run test",
        "npx jest",
        "npx --yes vitest run",
        "./node_modules/.bin/mocha test/",
        "node --test",
        "bundle exec rspec spec/",
        "vendor/bin/phpunit",
        "php vendor/bin/phpunit --testdox",
        "dotnet test Some.sln",
        "mvn -q test",
        "mvn clean verify",
        "./gradlew clean test",
        "ctest --output-on-failure",
        "make -j4 check",
        "make test",
        "env CI=1 make test",
        "sh -c 'cd x && cargo test'",
        "export A=1; cargo test",
        "cargo build && cargo test",
    ];
    for line in decides {
        assert_eq!(command::ran(line, &[]), Some(TestRun::Decides), "{line}");
    }
    for line in ["cargo test && cargo clippy", "make test && echo fine"] {
        assert_eq!(command::ran(line, &[]), Some(TestRun::Chained), "{line}");
    }
    for line in ["cargo test | tail -5", "cargo test || true", "pytest; echo $?"] {
        assert_eq!(command::ran(line, &[]), Some(TestRun::Hidden), "{line}");
    }
    for line in ["./ci.sh", "bash run_all.sh", "make", "npm run build", "cargo build"] {
        assert_eq!(command::ran(line, &[]), Some(TestRun::Unknown), "{line}");
    }
    for line in ["cat test.log", "grep 'cargo test' README.md", "echo cargo test", "cd x", ""] {
        assert_eq!(command::ran(line, &[]), None, "{line}");
    }
    let named: Vec<String> = vec!["./check all".into()];
    assert_eq!(command::ran("./check all --fast", &named), Some(TestRun::Decides));
    assert_eq!(command::ran("cargo testify", &[]), Some(TestRun::Unknown));
}

#[test]
fn lookalikes_are_not_test_runs() {
    let unknown = [
        "cargo test --no-run",
        "cargo test -- --list",
        "cargo test --help",
        "cargo nextest list",
        "pytest --collect-only -q",
        "go test -c ./x",
        "go test -list . ./x",
        "ctest -N",
        "make -n test",
        "make testdata",
        "mvn verify -DskipTests",
        "npx vitest list",
        "command -v pytest",
        "which pytest",
        "pip install pytest",
        "uv run --with pytest python x.py",
        "./gradlew build",
    ];
    for line in unknown {
        assert_eq!(command::ran(line, &[]), Some(TestRun::Unknown), "{line}");
        assert_eq!(seen(line, 0, "BUILD SUCCESSFUL in 2s"), None, "{line}");
        assert_eq!(seen(line, 1, "error: could not compile `x`"), None, "{line}");
    }
    let nothing = [
        "grep \"cargo test\" x",
        "echo pytest",
        "/bin/cat log",
        "git commit -m 'then; cargo test'",
        "echo \"say \\\"x\\\"; cargo test\"",
        "ls # then; cargo test",
        "# don't; cargo test\nls",
        "cat > ci.sh <<'EOF'\ncargo test\nEOF",
    ];
    for line in nothing {
        assert_eq!(command::ran(line, &[]), None, "{line}");
    }
}

#[test]
fn a_runner_is_known_in_a_longer_line() {
    let decides = [
        "make -C sub test",
        "go -C x test ./...",
        "npm --prefix web test",
        "cargo --manifest-path x/Cargo.toml test",
        "sudo make check",
        "php artisan test",
        "uv run --with x pytest",
        "cargo test 2>&1",
        "cargo test &> log",
        "bash -lc 'cargo test' 2>&1",
        "sh -c \"bash -c 'cd x && cargo test'\"",
        "cat > a <<EOF\nit's\nEOF\ncargo test",
        "echo $((1<<2)); cargo test",
    ];
    for line in decides {
        assert_eq!(command::ran(line, &[]), Some(TestRun::Decides), "{line}");
    }
    assert_eq!(command::ran("bash -c 'cargo test' && echo ok", &[]), Some(TestRun::Chained));
    let hidden = [
        "cargo test &",
        "cargo test & wait",
        "nohup cargo test > log 2>&1 &",
        "cargo test && ./serve &",
        "sh -c 'cargo test &'",
        "cargo test |& tail",
        "bash -lc 'cargo test' | tail -5",
        "[ -f skip ] || cargo test",
        "if cargo test; then echo fine; fi",
        "out=$(cargo test 2>&1); echo \"$out\"",
    ];
    for line in hidden {
        assert_eq!(command::ran(line, &[]), Some(TestRun::Hidden), "{line}");
        assert_eq!(seen(line, 0, ""), None, "{line}");
    }
}

#[test]
fn what_runners_print_is_read() {
    let printed = [
        ("test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured", Some(true)),
        ("test result: FAILED. 11 passed; 1 failed; 0 ignored", Some(false)),
        ("test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured", None),
        ("     Summary [   0.1s] 5 tests run: 5 passed, 0 skipped", Some(true)),
        ("     Summary [   0.1s] 5 tests run: 4 passed, 1 failed, 0 skipped", Some(false)),
        ("ok  \texample.com/a\t0.012s", Some(true)),
        ("ok  \texample.com/a\t0.012s [no tests to run]", None),
        ("?   \texample.com/a\t[no test files]", None),
        ("--- FAIL: TestA (0.00s)\nFAIL\nFAIL\texample.com/a\t0.01s", Some(false)),
        ("===== 3 passed, 1 warning in 0.12s =====", Some(true)),
        ("===== 1 failed, 2 passed in 0.12s =====", Some(false)),
        ("===== 1 error in 0.12s =====", Some(false)),
        ("3 passed in 0.01s", Some(true)),
        ("===== no tests ran in 0.01s =====", None),
        ("Ran 3 tests in 0.001s\n\nOK", Some(true)),
        ("Ran 3 tests in 0.001s\n\nFAILED (failures=1, errors=1)", Some(false)),
        ("Ran 0 tests in 0.000s\n\nOK", None),
        ("Tests:       2 passed, 2 total\nTime: 1 s", Some(true)),
        ("Tests:       1 failed, 2 passed, 3 total", Some(false)),
        ("No tests found, exiting with code 1", None),
        (" Test Files  1 passed (1)\n      Tests  2 passed (2)", Some(true)),
        ("      Tests  1 failed | 2 passed (3)", Some(false)),
        ("  2 passing (5ms)", Some(true)),
        ("  2 passing (5ms)\n  1 failing", Some(false)),
        ("  0 passing (1ms)", None),
        ("# tests 3\n# pass 3\n# fail 0", Some(true)),
        ("ℹ tests 3\nℹ pass 2\nℹ fail 1", Some(false)),
        ("# tests 0\n# pass 0\n# fail 0", None),
        ("3 examples, 0 failures", Some(true)),
        ("3 examples, 1 failure", Some(false)),
        ("No examples found.\n\n0 examples, 0 failures", None),
        ("OK (3 tests, 5 assertions)", Some(true)),
        ("FAILURES!\nTests: 3, Assertions: 5, Failures: 1.", Some(false)),
        ("No tests executed!", None),
        ("Passed!  - Failed:     0, Passed:     3, Skipped:     0, Total:     3", Some(true)),
        ("Failed!  - Failed:     1, Passed:     2, Skipped:     0, Total:     3", Some(false)),
        ("[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0", Some(true)),
        ("[ERROR] Tests run: 3, Failures: 0, Errors: 1, Skipped: 0", Some(false)),
        ("[INFO] No tests to run.", None),
        ("3 tests completed, 1 failed\n\nBUILD FAILED in 2s", Some(false)),
        ("BUILD SUCCESSFUL in 2s", Some(true)),
        ("100% tests passed, 0 tests failed out of 3", Some(true)),
        ("67% tests passed, 1 tests failed out of 3", Some(false)),
        ("No tests were found!!!", None),
        ("\u{1b}[32mtest result: ok\u{1b}[0m. 2 passed; 0 failed", Some(true)),
        ("hello", None),
    ];
    for (text, told) in printed {
        assert_eq!(output::tally(text).told(), told, "{text}");
    }
}

#[test]
fn the_exit_status_decides_and_the_output_confirms() {
    let good = "test result: ok. 2 passed; 0 failed";
    let bad = "test result: FAILED. 1 passed; 1 failed";
    let none = "running 0 tests\ntest result: ok. 0 passed; 0 failed";
    let rows = [
        ("cargo test", 0, good, Some(true)),
        ("cargo test", 0, "", Some(true)),
        ("cargo test", 0, none, None),
        ("cargo test", 101, bad, Some(false)),
        ("cargo test", 101, "error[E0308]: mismatched types", Some(false)),
        ("pytest", 5, "no tests ran in 0.01s", None),
        // Another program's status is not that of the tests.
        ("cargo test | tail -3", 0, bad, Some(false)),
        ("cargo test | tail -3", 0, good, Some(true)),
        ("cargo test | tail -3", 0, "", None),
        ("cargo test || true", 0, "", None),
        ("cargo test; echo done", 0, bad, Some(false)),
        ("cargo test && cargo fmt --check", 1, good, Some(true)),
        ("cargo test && cargo fmt --check", 0, "", Some(true)),
        ("cargo test && cargo fmt --check", 1, "", None),
        // What could not be built, or broke off, has not passed.
        ("cargo test 2>&1 | tail -3", 0, "error: could not compile `x` (lib test)", Some(false)),
        ("cargo test || exit 1", 1, "error: could not compile `x`", Some(false)),
        (
            "cargo test | tail -9",
            0,
            "test result: ok. 2 passed; 0 failed\nerror: test failed, to \
          rerun pass `--test it`",
            Some(false),
        ),
        (
            "cargo test",
            101,
            "test result: ok. 0 passed; 0 failed\nerror: test failed, to rerun \
          pass `--test it`\n(signal: 6, SIGABRT)",
            Some(false),
        ),
        ("cargo build", 101, "error: could not compile `x`", None),
        // A successful build is not a passed test.
        ("./gradlew assemble", 0, "BUILD SUCCESSFUL in 2s", None),
        ("./gradlew test", 0, "BUILD SUCCESSFUL in 2s", Some(true)),
        // An unknown script, and one that only looks.
        ("./ci.sh", 0, good, Some(true)),
        ("./ci.sh", 1, good, Some(false)),
        ("./ci.sh", 0, "fine", None),
        ("cat log.txt", 0, good, None),
        ("git show HEAD:log.txt", 0, bad, None),
    ];
    for (command, code, printed, passed) in rows {
        assert_eq!(seen(command, code, printed), passed, "`{command}` {code} {printed}");
    }
}

#[test]
fn call_that_did_not_run_is_not_evidence() {
    let arguments = raw(&json!({"command": "cargo test"}));
    let call = ToolCall { id: "c".into(), tool: "shell".into(), arguments };
    let refused = ToolResult { ok: false, output: "not done: no".into(), mutated: false };
    assert_eq!(of(&call, &refused, &[]), None);
    let slow = "stopped after 1000 ms, its time limit\nrunning 3 tests";
    let slow = ToolResult { ok: false, output: slow.into(), mutated: true };
    assert_eq!(of(&call, &slow, &[]), Some(false), "tests that hang have not passed");
    let arguments = raw(&json!({"path": "cargo test"}));
    let read = ToolCall { id: "c".into(), tool: "read".into(), arguments };
    let said = "test result: ok. 2 passed; 0 failed";
    let said = ToolResult { ok: true, output: said.into(), mutated: false };
    assert_eq!(of(&read, &said, &[]), None, "only commands run tests");
    assert_eq!(seen_with("just ci", 0, "", &["just ci".into()]), Some(true));
}

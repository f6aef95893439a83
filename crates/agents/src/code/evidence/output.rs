//! What test runners print at their end: how many tests passed and failed.

use alloc::{string::String, vec::Vec};

/// What the last lines of the runners add up to.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct TestTally {
    /// Whether a runner's last lines were seen.
    seen: bool,
    passed: u64,
    /// Tests that failed.
    pub(super) failed: u64,
    /// A runner said that there was nothing to run.
    nothing: bool,
    /// A runner reported success or failure, without a number.
    word: Option<bool>,
    /// Some output says that the tests could not be built, or were aborted.
    broken: bool,
}

/// Line prefixes for tests that could not be built, or were aborted.
const BROKEN: &[&str] = &[
    "error: could not compile",
    "error: test failed",
    "error: doctest failed",
    "build failed",
    "[error] build failure",
    "[info] build failure",
    "npm err! test failed",
    "npm error test failed",
    "make: ***",
];

/// What runners say when they have run nothing.
const NOTHING: &[&str] = &[
    "no tests ran",
    "no tests to run",
    "no tests found",
    "no tests were found",
    "no tests executed",
    "no test files",
    "no test files found",
    "no test is available",
    "no test matches",
    "no examples found",
    "ran 0 tests",
    "0 passing",
    "collected 0 items",
];

impl TestTally {
    /// Returns what the output alone says: nothing, unless a test was run.
    pub(super) const fn told(&self) -> Option<bool> {
        if self.failed > 0 {
            return Some(false);
        }
        if let Some(false) = self.word {
            return Some(false);
        }
        if self.passed > 0 { Some(true) } else { self.word }
    }

    /// Returns the same, but aborted tests count as well: for a command that is known to run
    /// tests.
    pub(super) const fn told_by_runner(&self) -> Option<bool> {
        if self.broken { Some(false) } else { self.told() }
    }

    /// Returns what tests that were counted, or named, say: a build that succeeded is none.
    pub(super) const fn counted(&self) -> Option<bool> {
        match self.told() {
            Some(true) if self.passed == 0 => None,
            told => told,
        }
    }

    /// Returns whether a runner was at work and found nothing to run.
    pub(super) const fn is_empty_run(&self) -> bool {
        self.told_by_runner().is_none() && (self.nothing || self.seen)
    }

    const fn add(&mut self, passed: u64, failed: u64) {
        self.seen = true;
        self.passed = self.passed.saturating_add(passed);
        self.failed = self.failed.saturating_add(failed);
    }
}

/// Reads what was printed.
pub(super) fn tally(output: &str) -> TestTally {
    let mut tally = TestTally::default();
    for line in output.lines() {
        let line = plain(line);
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        // One package without tests says nothing of the others.
        tally.nothing |= NOTHING.iter().any(|words| line.contains(words));
        tally.broken |= BROKEN.iter().any(|words| line.starts_with(words));
        read(line, &mut tally);
    }
    tally
}

fn read(line: &str, tally: &mut TestTally) {
    let before = |word| number_before(line, word);
    let after = |word| number_after(line, word);
    if line.starts_with("test result: ") {
        // cargo test
        tally.add(before("passed"), before("failed"));
    } else if line.starts_with("summary [") && line.contains("tests run:") {
        // cargo nextest
        tally.add(before("passed"), before("failed").max(before("timed")));
    } else if line.contains(" tests passed, ") && line.contains(" out of ") {
        // ctest
        let failed = before("tests failed").max(before("test failed"));
        tally.add(before_last(line).saturating_sub(failed), failed);
    } else if let Some(rest) = line.strip_prefix("tests:").filter(|it| it.contains("total")) {
        // jest
        tally.add(number_before(rest, "passed"), number_before(rest, "failed"));
    } else if line.starts_with("tests: ") && line.contains("assertions:") {
        // phpunit, when something failed
        let failed = after("failures:").saturating_add(after("errors:"));
        tally.add(after("tests:").saturating_sub(failed), failed);
    } else if line.starts_with("ok (") && line.contains("assertion") {
        // phpunit
        tally.add(before("tests").max(before("test")), 0);
    } else if line.starts_with("tests ") && line.contains('(') {
        // vitest
        tally.add(before("passed"), before("failed"));
    } else if line.contains("tests run:") && line.contains("failures:") {
        // maven; its last line sums up the others, which does no harm
        let failed = after("failures:").saturating_add(after("errors:"));
        tally.add(after("tests run:").saturating_sub(failed), failed);
    } else if line.contains("tests completed,") && line.contains("failed") {
        // gradle
        tally.add(0, before("failed"));
    } else if line.contains("failed:") && line.contains("passed:") {
        // dotnet
        tally.add(after("passed:"), after("failed:"));
    } else if line.contains(" example") && line.contains(" failure") {
        // rspec
        let failed = before("failures").max(before("failure"));
        tally.add(before("examples").max(before("example")).saturating_sub(failed), failed);
    } else if is_pytest(line) {
        let failed = before("failed").saturating_add(before("error").max(before("errors")));
        tally.add(before("passed"), failed);
    } else if line.starts_with("ran ") && line.contains(" test") && line.contains(" in ") {
        // unittest; whether they passed is on its own line
        tally.add(after("ran"), 0);
    } else if line.starts_with("failed (") {
        // unittest
        let failed = after("failures=").saturating_add(after("errors="));
        tally.add(0, failed.max(1));
    } else if line.ends_with(" passing") || line.contains(" passing (") {
        // mocha
        tally.add(before("passing"), 0);
    } else if line.ends_with(" failing") {
        tally.add(0, before("failing"));
    } else if let Some(rest) = line.strip_prefix("# ").or_else(|| line.strip_prefix("ℹ ")) {
        // node --test
        if rest.starts_with("pass ") {
            tally.add(number_after(rest, "pass"), 0);
        } else if rest.starts_with("fail ") {
            tally.add(0, number_after(rest, "fail"));
        }
    } else if line.starts_with("ok \t") || line.starts_with("ok  \t") {
        // go test, a line per package
        let run = !line.contains("[no tests to run]") && !line.contains("[no test files]");
        tally.add(u64::from(run), 0);
    } else if line.starts_with("--- fail:") || line == "fail" || line.starts_with("fail\t") {
        tally.seen = true;
        tally.word = Some(false);
    } else if line == "build successful" || line.starts_with("build successful in") {
        // gradle says no more when all is well
        tally.word = tally.word.or(Some(true));
    }
}

fn is_pytest(line: &str) -> bool {
    let words = line.trim_matches(['=', ' ']);
    let counts = [" passed", " failed", " error"].iter().any(|word| words.contains(word));
    counts && words.starts_with(|c: char| c.is_ascii_digit()) && words.contains(" in ")
}

/// Returns a line in lower case, without colours.
fn plain(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            let mut rest = chars.by_ref().skip(1);
            rest.find(char::is_ascii_alphabetic);
        } else {
            out.extend(c.to_lowercase());
        }
    }
    out
}

/// Returns the number in front of a word; 0 if there is none.
fn number_before(line: &str, word: &str) -> u64 {
    let numbers = line.match_indices(word).filter_map(|(at, _)| {
        let before = line.get(..at)?.trim_end();
        let number: Vec<&str> = before.rsplit(|c: char| !c.is_ascii_digit()).take(1).collect();
        number.first()?.parse().ok()
    });
    numbers.max().unwrap_or(0)
}

/// Returns the number after a word; 0 if there is none.
fn number_after(line: &str, word: &str) -> u64 {
    let numbers = line.match_indices(word).filter_map(|(at, found)| {
        let after = line.get(at.saturating_add(found.len())..)?.trim_start();
        let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        after.get(..end)?.parse().ok()
    });
    numbers.max().unwrap_or(0)
}

/// Returns the last number of a line; 0 if it has none.
fn before_last(line: &str) -> u64 {
    let end = line.trim_end_matches(|c: char| !c.is_ascii_digit());
    end.rsplit(|c: char| !c.is_ascii_digit()).next().and_then(|it| it.parse().ok()).unwrap_or(0)
}

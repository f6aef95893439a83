//! Lines that are allowed, and lines that are not.

use super::*;

#[track_caller]
fn check(line: &str, expected: bool) {
    let args: Vec<String> = line.split(' ').map(String::from).collect();
    let ruled = allowed(&args).map(|asked| asked.verb.name);
    assert_eq!(ruled.is_ok(), expected, "git {line}: {ruled:?}");
}

#[test]
fn verbs_that_look_and_add_are_allowed() {
    for line in [
        "status --short",
        "diff HEAD~1 -- src",
        "log -p -3 --oneline",
        "show HEAD:src/main.rs",
        "add -A",
        "commit -m done",
        "commit -am done",
        "commit --message=done",
        "commit -m -e",
        "commit -mSeen",
        "branch --list",
        "branch next",
        "switch -c next",
        "restore --staged a.txt",
        "restore -qS --source=HEAD~1 -- a.txt",
        "log -10 -p --since=yesterday -- src",
        "log -n 3 --format=%s",
        "log -Sneedle --stat=80",
        "commit -m --amend",
        "commit -m --",
        "commit -qam --amend",
        "commit -m one -m -two",
        "commit --message -x",
        "status --porcelain=v1 -z --no-renames -uall -- :(literal)a",
        "diff --cached --name-only -z --no-renames",
        "diff -U5 -M90% HEAD",
        "show --stat HEAD -- .gitignore",
        "add -- -f",
        "rm -r --cached build",
        "mv a.txt b.txt",
        "ls-files -o --exclude-standard",
        "rev-parse --abbrev-ref HEAD",
        "blame -L 3,5 a.txt",
        "init -q -b main",
    ] {
        check(line, true);
    }
}

#[test]
fn dangerous_git_options_are_rejected() {
    for line in [
        "",
        "push",
        "fetch origin",
        "clone /etc",
        "config core.pager evil",
        "-c core.pager=evil log",
        "reset --hard",
        "stash",
        "rebase main",
        "checkout main",
        "checkout -- a.txt",
        "checkout HEAD -- a.txt",
        "checkout -f -- a.txt",
        "restore a.txt",
        "restore -- --staged",
        "restore --source=HEAD a.txt",
        "restore -s -S a.txt",
        "restore -SW a.txt",
        "restore --staged --worktree a.txt",
        "restore --staged --ours a.txt",
        "commit",
        "commit --amend -m x",
        "commit --am -m x",
        "commit -Skey -m x",
        "commit -em x",
        "commit -m x --amend",
        "diff --ext-diff",
        "diff --ext-d",
        "diff --output=/tmp/x",
        "diff --outp /tmp/x",
        "log --textconv",
        "diff --no-index /etc/passwd a",
        "branch -D main",
        "branch --delete main",
        "branch --del main",
        "switch --discard-changes main",
        "init --template=/tmp/evil",
        "init --t=evil",
        "init -b -- --template=evil",
        "init --bare",
        "branch --d main",
        "branch -vd main",
        "branch --set-upstream-to=origin/main",
        "commit -t -m --amend -m z",
        "commit -m -- --amend",
        "commit --message",
        "commit -m",
        "commit -m x -F --amend",
        "commit -qt template -m x",
        "commit --trailer=a:b -m x",
        "commit --allow-empty=x -m x",
        "rm -f a.txt",
        "rm -rf src",
        "rm --force a.txt",
        "mv -f a b",
        "add -f secret",
        "add --forc secret",
        "add -p",
        "log -S --output=x",
        "log -n --output=x",
        "log --output x",
        "diff -O/etc/passwd",
        "diff --submodule=log",
        "checkout -b -- x",
        "checkout -q main",
        "switch -C main",
        "switch -fc main",
        "switch --orphan=x",
        "show --end-of-options --output=x",
        "blame --contents /etc/passwd a",
        "ls-files -X /etc/passwd",
    ] {
        check(line, false);
    }
}

#[test]
fn no_verb_begins_as_another_does() {
    // A rule such as `log*` matches one verb.
    for one in VERBS {
        let like = VERBS.iter().filter(|other| other.name.starts_with(one.name));
        assert_eq!(like.count(), 1, "{}", one.name);
    }
}

#[test]
fn abbreviated_git_options_are_rejected() {
    let said = |line: &str| {
        let args: Vec<String> = line.split(' ').map(String::from).collect();
        allowed(&args).map(|asked| asked.verb.name).unwrap_err()
    };
    assert_eq!(
        said("log --onel"),
        "`git log` does not allow `--onel` here; write options in full, such as `--oneline`"
    );
    assert_eq!(said("rm -rf x"), "`git rm` does not allow `-f` here");
    assert_eq!(said("log -n"), "`-n` of `git log` needs a value");
}

#[test]
fn gits_own_files_are_known_by_their_names() {
    for path in [".git", "a/.git/b", "./.GIT/hooks", ":(top).git/x", "HEAD:.git/x", ":/.git"] {
        assert!(names_git(path), "{path}");
    }
    for path in [".gitignore", "a.git", "x/.github/y", ".gitattributes"] {
        assert!(!names_git(path), "{path}");
    }
    // A message may mention them.
    let args = ["commit", "-m", "keep .git/hooks"].map(String::from);
    assert!(allowed(&args).unwrap().places.is_empty());
    let args = ["mv", "a", "--", ".git/hooks/x"].map(String::from);
    assert_eq!(allowed(&args).unwrap().places, ["a", ".git/hooks/x"]);
}

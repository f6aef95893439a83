//! The library's examples, run as a user would, with a scripted model.

use std::{
    env, fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::SystemTime,
};

use crate::store::TempFolder;

/// Runs an example in a folder, and returns what it printed.
fn example(
    name: &str,
    folder: &TempFolder,
    script: &str,
    arguments: &[&str],
    said: &str,
) -> String {
    let file = folder.0.join("script.toml");
    fs::write(&file, script).expect("the file is written");
    let work = folder.0.join("work");
    fs::create_dir_all(&work).expect("the folder is created");
    let mut child = Command::new(built(name))
        .arg(&work)
        .args(arguments)
        .env("POINTSMAN_MODEL", format!("script:{}", file.display()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("stdin is piped");
    stdin.write_all(said.as_bytes()).expect("the process reads its stdin");
    drop(stdin);
    let output = child.wait_with_output().expect("the process ends");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

/// Returns the place of an example, and builds it if it is missing or older than its sources.
/// `cargo test` has built it, unless it was asked for single tests: to build it alone, cargo chooses
/// other features, compiles most dependencies again, and has everything else wait meanwhile.
pub(crate) fn built(name: &str) -> PathBuf {
    let ours = env::current_exe().expect("this test has a file");
    let profile = ours.ancestors().nth(2).expect("it lies in a target folder");
    let example = profile.join("examples").join(name);
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("crates are in a folder");
    let sources = ["kernel/src", "agents/src", "runtime/src", "runtime/examples"];
    let newest = sources.iter().filter_map(|folder| newest(&crates.join(folder))).max();
    if changed(&example).is_some_and(|built| Some(built) > newest) {
        return example;
    }
    let target = profile.parent().expect("the path has a parent folder");
    let mut build = Command::new(env!("CARGO"));
    // Without what cargo tells a test of its package.
    build.args(["build", "--quiet", "--locked", "--workspace"]);
    build.args(["--example", name, "--target-dir"]).arg(target);
    for (variable, _) in env::vars_os() {
        let text = variable.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            build.env_remove(&variable);
        }
    }
    if profile.ends_with("release") {
        build.arg("--release");
    }
    assert!(build.status().expect("cargo runs").success(), "{name} was not built");
    example
}

fn changed(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}

/// Returns when a file of a folder was last changed.
fn newest(folder: &Path) -> Option<SystemTime> {
    let entries = fs::read_dir(folder).expect("the sources are readable").flatten();
    let times = entries.map(|entry| {
        let path = entry.path();
        if path.is_dir() { newest(&path) } else { changed(&path) }
    });
    times.flatten().max()
}

#[test]
fn chat_shows_answers_and_asks_before_it_writes() {
    let folder = TempFolder::new("example-chat");
    let script = "[[turn]]\ntext = 'Hello.'\n[[turn]]\n[[turn.calls]]\ntool = 'write'\n\
                  arguments = { path = 'a.txt', content = 'x' }\n[[turn]]\ntext = 'It is there.'\n";
    let shown = example("chat", &folder, script, &["hi", "write it"], "yes\n");
    for line in ["Hello.", "[may this run?", "[calls write", "It is there.", "[Ended(Succeeded)"] {
        assert!(shown.contains(line), "{line} is missing: {shown}");
    }
    assert!(folder.0.join("work/a.txt").exists());
}

#[test]
fn code_works_through_its_plan_and_reports() {
    let folder = TempFolder::new("example-code");
    let complete = pointsman_agents::code::PHASE_COMPLETE;
    let done = format!(
        "[[turn]]\n[[turn.calls]]\ntool = '{complete}'\narguments = {{ success = true }}\n"
    );
    let script = format!(
        "[[turn]]\n[[turn.calls]]\ntool = 'write'\narguments = {{ path = 'a.txt', content = 'x' }}\n\
         {done}{done}"
    );
    let shown = example("code", &folder, &script, &["make it", "write", "check"], "");
    for line in ["[calls write]", "[phase_transition: ", "[Ended(Succeeded)"] {
        assert!(shown.contains(line), "{line} is missing: {shown}");
    }
    assert!(folder.0.join("work/a.txt").exists());
}

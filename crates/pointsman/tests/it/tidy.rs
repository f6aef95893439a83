//! The house rules that a test can keep: file sizes, module docs, how many crates are needed.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the root is there")
}

pub(crate) fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder is readable") {
        let path = entry.expect("the folder is readable").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn no_source_file_is_over_600_lines_and_each_says_what_belongs_there() {
    let mut found = Vec::new();
    sources(&root(), &mut found);
    assert!(found.len() > 50, "the sources were not found");
    for path in found {
        let text = fs::read_to_string(&path).expect("the file exists and is UTF-8");
        let lines = text.lines().count();
        assert!(lines <= 600, "{} has {lines} lines", path.display());
        assert!(text.starts_with("//!"), "{} does not open with its purpose", path.display());
    }
}

/// Returns the name of the public type that a line declares, if it declares one.
fn public_type(line: &str) -> Option<&str> {
    let (kind, rest) = line.trim_start().strip_prefix("pub ")?.split_once(' ')?;
    let name = rest.split(|it: char| !it.is_alphanumeric() && it != '_').next();
    name.filter(|_| matches!(kind, "struct" | "enum" | "trait" | "type"))
}

#[test]
fn every_public_type_has_a_name_of_its_own() {
    let mut found = Vec::new();
    sources(&root().join("crates"), &mut found);
    found.retain(|path| path.components().any(|part| part.as_os_str() == "src"));
    let mut declared: BTreeMap<String, Vec<&Path>> = BTreeMap::new();
    for path in &found {
        let text = fs::read_to_string(path).expect("the file exists and is UTF-8");
        for name in text.lines().filter_map(public_type) {
            declared.entry(name.to_owned()).or_default().push(path);
        }
    }
    assert!(declared.len() > 300, "only {} types were found", declared.len());
    declared.retain(|_, places| places.len() > 1);
    assert!(declared.is_empty(), "these names have several public types: {declared:#?}");
}

/// Returns what a package and all that it needs are, with these features.
fn tree(package: &str, more: &[&str]) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--package", package, "--locked", "--prefix", "none", "--format", "{p}"])
        .args(more)
        .current_dir(root())
        .output()
        .expect("cargo starts");
    let text = String::from_utf8(output.stdout).expect("output is text");
    let crates = text.lines().map(|line| line.trim_end_matches(" (*)").to_owned());
    let crates: BTreeSet<String> = crates.collect();
    assert!(crates.len() > 5, "the tree was not read: {text}");
    crates
}

#[test]
fn the_kernel_needs_few_crates() {
    let crates = tree("pointsman-kernel", &["--edges", "normal,build"]);
    assert!(crates.len() <= 30, "{} crates: {crates:#?}", crates.len());
}

/// A library user of the runtime pays only for the features that are turned on.
#[test]
fn a_library_user_needs_few_crates() {
    let only = ["--edges", "normal", "--no-default-features", "--features", "sqlite"];
    let crates = tree("pointsman-runtime", &only);
    assert!(crates.len() <= 75, "{} crates: {crates:#?}", crates.len());
    assert!(!crates.iter().any(|it| it.starts_with("pointsman-agents")), "{crates:#?}");
}

#[test]
fn the_readme_is_short() {
    let readme =
        fs::read_to_string(root().join("README.md")).expect("the file exists and is UTF-8");
    assert!(readme.lines().count() < 150);
}

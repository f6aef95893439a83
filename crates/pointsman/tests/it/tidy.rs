//! House rules that a test can check: file sizes, module docs, names of types, numbers of crates.

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
fn source_files_are_short_and_begin_with_a_doc_comment() {
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

/// Types that share a name, each private to its crate or module, with the reason. The list may
/// only shrink.
const SHARED: &[(&str, &str)] = &[
    ("Checksum", "both stores have checksums of rows"),
    ("Command", "the subcommands of the program, and the commands of a run's handle"),
    ("Keys", "charts and settings are both read key by key"),
    ("Poller", "both stores poll for changes"),
    ("Run", "the subcommand `run`, and the kernel's run"),
    ("Source", "the source of a chart, and of a form's value"),
    ("Submit", "the subcommand `submit`, and whether `form` sends a form"),
    ("Tip", "both stores have a checksum of the newest entry"),
];

/// Returns the name of the type that a line declares, and whether it is public, if it declares
/// one that other modules can see.
fn visible_type(line: &str) -> Option<(&str, bool)> {
    let line = line.trim_start();
    let (visibility, rest) = line.split_once(' ')?;
    let is_public = visibility == "pub";
    if !is_public && !visibility.starts_with("pub(") {
        return None;
    }
    let rest = if visibility == "pub(in" { rest.split_once(' ')?.1 } else { rest };
    let (kind, rest) = rest.split_once(' ')?;
    let name = rest.split(|it: char| !it.is_alphanumeric() && it != '_').next();
    // A macro names its types by a variable.
    let is_type = matches!(kind, "struct" | "enum" | "trait" | "type");
    name.filter(|name| is_type && !name.is_empty()).map(|name| (name, is_public))
}

#[test]
fn every_type_that_other_modules_see_has_its_own_name() {
    let mut found = Vec::new();
    sources(&root().join("crates"), &mut found);
    let is_source = |path: &PathBuf| {
        let has = |name: &str| path.components().any(|part| part.as_os_str() == name);
        has("src") && !has("tests") && !path.ends_with("tests.rs")
    };
    found.retain(is_source);
    let mut declared: BTreeMap<String, Vec<(&Path, bool)>> = BTreeMap::new();
    for path in &found {
        let text = fs::read_to_string(path).expect("the file exists and is UTF-8");
        for (name, is_public) in text.lines().filter_map(visible_type) {
            declared.entry(name.to_owned()).or_default().push((path, is_public));
        }
    }
    assert!(declared.len() > 500, "only {} types were found", declared.len());
    declared.retain(|_, places| places.len() > 1);
    for (name, _) in SHARED {
        let places = declared.remove(*name).unwrap_or_default();
        assert!(places.len() > 1, "`{name}` has one type: remove it from the list");
        let public = places.iter().filter(|(_, is_public)| *is_public).count();
        assert!(public < 2, "`{name}` has several public types: {places:#?}");
    }
    assert!(declared.is_empty(), "these names have several types: {declared:#?}");
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

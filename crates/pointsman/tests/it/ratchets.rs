//! Knowledge that belongs in one place: no other source file may have it. A word that means
//! something else is listed with its meaning, and a line that nothing needs must go.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use crate::tidy::{root, sources};

/// A file, a word in it, and what the word means there.
type Exemption = (&'static str, &'static str, &'static str);

/// Words that are also the name of an agent.
const AGENTS: &[Exemption] = &[
    ("crates/pointsman/src/appmap/paint.rs", "code", "a class of text in a picture"),
    ("crates/pointsman/src/command/dry.rs", "form", "a key of the answer"),
    ("crates/pointsman/src/command/names.rs", "code", "an argument: the code of a diagnostic"),
    ("crates/pointsman/src/draw/text.rs", "code", "a class of text in a picture"),
    ("crates/pointsman/src/start/form.rs", "form", "the web page's form, on the screen"),
    ("crates/pointsman/src/telemetry/names.rs", "chat", "an operation of OpenTelemetry"),
    ("crates/runtime/src/config.rs", "chat", "a table of the settings file"),
    ("crates/runtime/src/config.rs", "code", "a table of the settings file"),
    ("crates/runtime/src/config.rs", "explore", "a table of the settings file"),
    ("crates/runtime/src/config.rs", "form", "a table of the settings file"),
    ("crates/runtime/src/model/decode/fault.rs", "code", "a key of a provider's error"),
    ("crates/runtime/src/model/endpoint.rs", "chat", "a part of a provider's address"),
    ("crates/runtime/src/tool/shell/always.rs", "builtin", "a command of the shell"),
    ("crates/webdriver/src/explore.rs", "explore", "the folder of the agent's own executor"),
];

/// Words that are also the name of a tool, and the constants that hold one.
const TOOLS: &[Exemption] = &[
    ("crates/pointsman/src/command/doctor.rs", "git", "the program"),
    ("crates/pointsman/src/start.rs", "SUBMIT_TOOL", "the agent that has it fills forms"),
    ("crates/pointsman/src/start/form.rs", "SUBMIT_TOOL", "the rules that `--submit` stands for"),
    ("crates/runtime/src/model/quote.rs", "SEARCH", "a model names the tool that it calls"),
    ("crates/runtime/src/tool/fts/word.rs", "list", "a word of a question"),
    ("crates/runtime/src/tool/git/author.rs", "git", "the program"),
    ("crates/runtime/src/tool/sandbox/landlock.rs", "read", "a right to files"),
    ("crates/runtime/src/tool/sandbox/landlock.rs", "write", "a right to files"),
    ("crates/runtime/src/tool/shell/always.rs", "git", "the program"),
];

/// Returns the source files of the crates that act and of the binary, without their tests.
fn acting() -> Vec<(String, String)> {
    let mut paths = Vec::new();
    for room in ["fleet", "pointsman", "runtime", "webdriver"] {
        sources(&root().join("crates").join(room).join("src"), &mut paths);
    }
    assert!(paths.len() > 100, "the sources were not found");
    let named = paths.iter().map(|path| (name(path), path));
    named
        .filter(|(name, _)| !name.contains("tests"))
        .map(|(name, path)| (name, text(path)))
        .collect()
}

fn name(path: &Path) -> String {
    path.strip_prefix(root()).expect("it is below").display().to_string()
}

fn text(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("the file exists and is UTF-8");
    text.split("\nmod tests {").next().unwrap_or_default().to_owned()
}

/// Compares the words in files with the exemptions: each must be listed, and each line be needed.
fn are_exempt(what: &str, found: &BTreeSet<(String, String)>, exemptions: &[Exemption]) {
    let listed: BTreeSet<(String, String)> =
        exemptions.iter().map(|(file, word, _)| ((*file).into(), (*word).into())).collect();
    let unlisted: Vec<_> = found.difference(&listed).collect();
    assert!(unlisted.is_empty(), "{what} outside their place: {unlisted:#?}");
    let unneeded: Vec<_> = listed.difference(found).collect();
    assert!(unneeded.is_empty(), "remove these lines here: {unneeded:#?}");
}

fn quotes(text: &str, name: &str) -> bool {
    text.contains(&format!("\"{name}\""))
}

#[test]
fn agents_are_named_in_their_own_places_only() {
    let names = pointsman_agents::AGENTS.iter().map(|agent| agent.name);
    let sources = acting();
    let found = names.flat_map(|name| {
        let files = sources.iter().filter(move |(_, text)| quotes(text, name));
        files.map(move |(file, _)| (file.clone(), name.to_owned()))
    });
    are_exempt("names of agents", &found.collect(), AGENTS);
}

/// Returns the constants of `agents` that hold a tool's name, by that name.
fn constants() -> BTreeMap<&'static str, String> {
    let mut paths = Vec::new();
    sources(&root().join("crates/agents/src"), &mut paths);
    let texts: Vec<String> = paths.iter().map(|path| text(path)).collect();
    let holds = |name: &str| {
        let value = format!(": &str = \"{name}\";");
        let line =
            texts.iter().flat_map(|text| text.lines()).find(|line| line.ends_with(&value))?;
        Some(line.strip_suffix(&value)?.rsplit(' ').next()?.to_owned())
    };
    let names = pointsman_agents::TOOLS.iter().map(|tool| tool.name);
    names.filter_map(|name| Some((name, holds(name)?))).collect()
}

/// Returns whether a file is a tool's own: it implements `Tool` and declares this name, or returns
/// the constant that holds it.
fn is_own(text: &str, name: &str, constant: Option<&str>) -> bool {
    let declared = format!("const NAME: &str = \"{name}\";");
    let returns = |line: &str, held: &str| {
        line.trim_start() == held || line.ends_with(&format!("{held} as NAME;"))
    };
    let is_own = |line: &str| line == declared || constant.is_some_and(|held| returns(line, held));
    text.contains("impl Tool for") && text.lines().any(is_own)
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|letter: char| letter != '_' && !letter.is_alphanumeric()).any(|it| it == word)
}

#[test]
fn tools_are_named_in_their_own_files_only() {
    let (sources, constants) = (acting(), constants());
    assert!(constants.len() > 2, "the constants were not found: {constants:?}");
    let (mut found, mut own) = (BTreeSet::new(), BTreeSet::new());
    for tool in pointsman_agents::TOOLS {
        let constant = constants.get(tool.name).map(String::as_str);
        for (file, text) in &sources {
            if is_own(text, tool.name, constant) {
                own.insert(tool.name);
                continue;
            }
            let held = constant.filter(|it| has_word(text, it));
            let words = held.into_iter().chain(quotes(text, tool.name).then_some(tool.name));
            found.extend(words.map(|word| (file.clone(), word.to_owned())));
        }
    }
    assert_eq!(own.len(), pointsman_agents::TOOLS.len(), "only these have a file: {own:?}");
    are_exempt("names of tools", &found, TOOLS);
}

/// Returns the public items of a text: functions with their whole signatures, of others the first line.
fn public_items(text: &str) -> Vec<String> {
    let mut items = Vec::new();
    let mut lines = text.lines().map(str::trim);
    while let Some(line) = lines.next() {
        if !line.starts_with("pub ") {
            continue;
        }
        let mut item = line.to_owned();
        let is_function = line.split(' ').any(|word| word == "fn");
        while is_function && !item.ends_with(['{', '}', ';']) {
            let Some(more) = lines.next() else { break };
            item.push_str(more);
        }
        items.push(item);
    }
    items
}

/// Returns the public items of a text that show plain JSON.
fn shown_json(text: &str) -> Vec<String> {
    public_items(text).into_iter().filter(|item| item.contains("Value")).collect()
}

#[test]
fn the_driver_the_engine_and_the_stores_show_no_plain_json() {
    let rooms = ["driver", "engine", "executor", "journal", "session", "store", "task"];
    for (file, text) in acting() {
        let room = file.strip_prefix("crates/runtime/src/").unwrap_or_default();
        if rooms.iter().any(|it| room.starts_with(it)) {
            let shown = shown_json(&text);
            assert!(shown.is_empty(), "{file} has public items with plain JSON: {shown:#?}");
        }
    }
}

#[test]
fn plain_json_is_found_in_every_line_of_a_signature() {
    let planted = "
        pub body: Value,
        pub async fn long(
            &self,
            digest: [u8; 32],
            config: &Value,
        ) -> Result<(), StoreError> {
            let inner: Value = read();
        }
        pub fn result(&self) -> impl Iterator<Item = u8>
        where
            Self: Into<Value>;
        pub const fn none(&self) {}
        fn private(value: Value) {}
        pub(crate) fn inside(
            value: Value,
        ) {}
    ";
    let shown = shown_json(planted);
    assert_eq!(shown.len(), 3, "{shown:#?}");
    assert_eq!(shown[0], "pub body: Value,");
    assert!(shown[1].contains("fn long(") && !shown[1].contains("inner"), "{shown:#?}");
    assert!(shown[2].contains("fn result("), "{shown:#?}");
}

#[test]
fn only_the_journal_makes_permits() {
    for (file, text) in acting() {
        // It has the function, for tests of executors.
        if file == "crates/runtime/src/journal.rs" {
            assert!(text.contains("pub const fn unwritten("), "the function has another name");
            continue;
        }
        assert!(!text.contains("Permit::unwritten"), "{file} makes a permit without an entry");
    }
}

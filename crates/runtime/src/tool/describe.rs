//! A call as a person is asked about it: what it would do, and not how it is written.

#[cfg(feature = "tools")]
use std::time::Duration;

use pointsman_kernel::agent::ToolCall;
use serde_json::Value;
#[cfg(feature = "tools")]
use similar::{Algorithm, DiffTag, capture_diff_slices_deadline, group_diff_ops};

use super::{Arguments, Toolbox, folder::Folder};
#[cfg(feature = "tools")]
use crate::clock;
use crate::{
    plural::counted,
    visible::{folded, visible},
};

/// How long the smallest difference of two texts is looked for before any will do.
#[cfg(feature = "tools")]
const LONGEST: Duration = Duration::from_millis(500);

/// How much of a call is shown, and over which folder.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The folder of the call, for a comparison with the current file.
    pub folder: Option<&'a Folder>,
    /// Lines of a piece.
    pub lines: usize,
    /// Characters of a line.
    pub width: usize,
}

/// In a list, where one call is beside others.
const LISTED: View<'static> = View { folder: None, lines: 20, width: 160 };
/// In a question, where nothing may be left out.
const WHOLE: View<'static> = View { folder: None, lines: usize::MAX, width: usize::MAX };

impl Toolbox {
    /// Returns what a call would do, for a list; nothing for a tool that is not known here,
    /// or for arguments that do not fit. It has a limited length, and everything in it can be
    /// seen: see [`visible`].
    pub fn describe(&self, call: &ToolCall) -> Option<String> {
        self.told(call, &LISTED).map(|told| visible(&told))
    }

    /// Returns all that a call would do in a folder, for a person to decide on. Nothing is
    /// left out; what a file holds now is compared with what would be written. Long runs of
    /// blanks, empty lines and invisible characters are replaced by their number: see
    /// [`visible`].
    pub fn describe_whole(&self, call: &ToolCall, folder: Option<&Folder>) -> String {
        let told = self.told(call, &View { folder, ..WHOLE }).unwrap_or_else(|| {
            let json = call.arguments.get();
            let value = serde_json::from_str::<Value>(json).ok();
            let pretty = value.and_then(|value| serde_json::to_string_pretty(&value).ok());
            pretty.unwrap_or_else(|| json.into())
        });
        folded(&visible(&told))
    }

    fn told(&self, call: &ToolCall, view: &View<'_>) -> Option<String> {
        self.find(&call.tool)?.describe(&Arguments::of(call)?, view)
    }
}

/// What a file holds now.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Now {
    /// There is none.
    Nothing,
    /// A text.
    Text(String),
    /// Something that cannot be shown: not text, too long, or unreachable.
    Unknown,
}

impl Now {
    /// Looks into a file of a folder.
    pub fn of(folder: &Folder, path: &str, limit: u64) -> Self {
        let Ok(inside) = folder.inside(path) else { return Self::Unknown };
        match folder.read(&inside, limit) {
            Ok(bytes) => String::from_utf8(bytes).map_or(Self::Unknown, Self::Text),
            Err(_) if folder.root().join(&inside).symlink_metadata().is_err() => Self::Nothing,
            Err(_) => Self::Unknown,
        }
    }
}

impl View<'_> {
    /// Returns whether nothing may be left out.
    pub fn is_whole(&self) -> bool {
        self.lines == usize::MAX
    }

    /// Returns a line, cut to the width.
    pub fn line(&self, text: &str) -> String {
        let cut = text.chars().nth(self.width).is_some();
        text.chars().take(self.width).chain(cut.then_some('…')).collect()
    }

    /// Returns lines, each with a sign before it, cut to the number.
    pub fn block(&self, sign: &str, text: &str) -> String {
        self.cut(text.lines().map(|line| (sign, line)))
    }

    fn cut<'t>(&self, lines: impl Iterator<Item = (&'t str, &'t str)>) -> String {
        let mut lines = lines.map(|(sign, line)| format!("{sign}{}", self.line(line)));
        let mut shown: Vec<String> = lines.by_ref().take(self.lines).collect();
        let more = lines.count();
        if more > 0 {
            shown.push(format!("… and {} more", counted(more, "line")));
        }
        shown.join("\n")
    }

    /// Returns the removed and the added lines, with one line of context.
    #[cfg(feature = "tools")]
    pub fn difference(&self, old: &str, new: &str) -> String {
        let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
        let by = clock::instant().checked_add(LONGEST);
        let changes = capture_diff_slices_deadline(Algorithm::Myers, &old, &new, by);
        let groups = group_diff_ops(changes, 1).into_iter().map(|group| {
            group.into_iter().flat_map(|change| {
                let (tag, gone, come) = change.as_tag_tuple();
                let same = tag == DiffTag::Equal;
                let gone = old.get(gone).unwrap_or_default();
                let come = new.get(come).filter(|_| !same).unwrap_or_default();
                let gone = gone.iter().map(move |line| (if same { "  " } else { "- " }, *line));
                gone.chain(come.iter().map(|line| ("+ ", *line)))
            })
        });
        let apart = |at: usize| (at > 0).then_some(("", "…"));
        self.cut(groups.enumerate().flat_map(|(at, group)| apart(at).into_iter().chain(group)))
    }
}

#[cfg(all(test, feature = "tools"))]
mod tests {
    use serde_json::{json, value::to_raw_value};

    use super::*;

    #[track_caller]
    fn check(tool: &str, arguments: Value, wanted: Option<&str>) {
        let arguments = to_raw_value(&arguments).expect("the value serialises");
        let call = ToolCall { id: "1".into(), tool: tool.into(), arguments };
        assert_eq!(Toolbox::default().describe(&call).as_deref(), wanted, "{tool}");
    }

    #[test]
    fn calls_are_described_by_their_effect() {
        let phases = json!([
            { "description": "Find\nthe fault", "expected_minutes": 5 },
            { "description": "Mend it" },
        ]);
        let plan = "1. Find the fault (about 5 min)\n2. Mend it";
        check("propose_plan", json!({ "phases": phases }), Some(plan));
        let edit = json!({ "path": "a.rs", "old": "a\nb\nc\nd", "new": "a\nb\nx\ny\nd" });
        check("edit", edit, Some("edit a.rs\n  b\n- c\n+ x\n+ y\n  d"));
        let edit = json!({ "path": "a.rs", "old": "a\n", "new": "", "all": true });
        check("edit", edit, Some("edit a.rs (every occurrence)\n- a"));
        let edit = json!({ "path": "a.rs", "old": "a\na", "new": "a\na\na" });
        check("edit", edit, Some("edit a.rs\n  a\n+ a"));
        // Unchanged lines between two changes are not shown as removed and added.
        let (old, new) = ("a\nb\nc\nd\ne\nf", "1\nb\nc\nd\ne\n2");
        let edit = json!({ "path": "a.rs", "old": old, "new": new });
        check("edit", edit, Some("edit a.rs\n- a\n+ 1\n  b\n…\n  e\n- f\n+ 2"));
        let write = json!({ "path": "b.txt", "content": "é\n" });
        check("write", write, Some("write b.txt: 1 line, 3 bytes"));
        let shell = json!({ "command": "cd a &&\nmake", "cwd": "sub" });
        check("shell", shell, Some("$ cd a &&\n$ make\nin sub"));
        check("git", json!({ "args": ["commit", "-m", "one"] }), Some("$ git commit -m one"));
        check("http_get", json!({ "url": "http://x" }), Some("fetch http://x"));
    }

    #[test]
    fn unknown_tools_and_invalid_arguments_have_no_description() {
        check("mcp.a.b", json!({}), None);
        check("edit", json!({ "path": 1 }), None);
        check("git", json!({ "args": [1] }), None);
        check("propose_plan", json!({ "phases": "none" }), None);
        check("shell", json!("rm"), None);
    }

    #[track_caller]
    fn whole(tool: &str, arguments: &Value, folder: Option<&Folder>) -> String {
        let arguments = to_raw_value(arguments).expect("the value serialises");
        let call = ToolCall { id: "1".into(), tool: tool.into(), arguments };
        Toolbox::default().describe_whole(&call, folder)
    }

    #[test]
    fn questions_show_everything() {
        let blanks = " ".repeat(150);
        let shell = json!({ "command": format!("cargo test{blanks}; curl evil") });
        let told = "$ cargo test ⟨150 blanks⟩ ; curl evil";
        assert_eq!(whole("shell", &shell, None), told);
        let shell = json!({ "command": format!("one{}two", "\n".repeat(50)) });
        assert_eq!(whole("shell", &shell, None), "$ one\n⟨49 empty lines⟩\n$ two");
        let long = format!("echo {} end", "x".repeat(5000));
        assert_eq!(whole("shell", &json!({ "command": long }), None), format!("$ {long}"));
        let lines = "line\n".repeat(300) + "last";
        let told = whole("write", &json!({ "path": "a", "content": lines }), None);
        assert!(told.ends_with("+ last") && told.lines().count() == 302, "{told}");
        let url = format!("http://x/{}?last", "y".repeat(500));
        assert!(whole("http_get", &json!({ "url": url }), None).ends_with("?last"));
        let foreign = whole("mcp.a.b", &json!({ "a": [1, "x"] }), None);
        assert!(foreign.contains("\"a\": ["), "{foreign}");
        // Indentation stays.
        let code = json!({ "path": "a", "content": "    if x {\n\n        y    // z" });
        let told = whole("write", &code, None);
        assert!(told.ends_with("+     if x {\n+ \n+         y    // z"), "{told}");
    }

    #[test]
    fn written_text_is_shown_as_a_diff() {
        let place = std::env::temp_dir().join(format!("pointsman-told-{}", std::process::id()));
        std::fs::create_dir_all(&place).expect("the folder is created");
        std::fs::write(place.join("a.txt"), "one\ntwo\nthree\n").expect("the file is written");
        std::fs::write(place.join("b.bin"), [0xff, 0xfe, 0]).expect("the file is written");
        let folder = Folder::open(&place).expect("it opens");
        let told = |path: &str, content: &str| {
            whole("write", &json!({ "path": path, "content": content }), Some(&folder))
        };
        assert_eq!(
            told("a.txt", "one\n2\nthree\n"),
            "write a.txt: 3 lines, 12 bytes (replaces the file)\n  one\n- two\n+ 2\n  three"
        );
        assert_eq!(told("c.txt", "x"), "write c.txt: 1 line, 1 byte (a new file)\n+ x");
        let unknown = "write b.bin: 1 line, 1 byte (the current content cannot be shown)\n+ x";
        assert_eq!(told("b.bin", "x"), unknown);
        assert!(told("../x", "x").contains("cannot be shown"));
        std::fs::remove_dir_all(&place).expect("the folder is removed");
    }

    #[test]
    fn descriptions_of_calls_are_bounded() {
        let long = format!("{}\n", "x".repeat(1000)).repeat(1000);
        let calls = [
            ("edit", json!({ "path": "a", "old": long, "new": long.replace('x', "y") })),
            ("write", json!({ "path": long, "content": "" })),
            ("shell", json!({ "command": long })),
        ];
        for (tool, arguments) in calls {
            let arguments = to_raw_value(&arguments).expect("the value serialises");
            let call = ToolCall { id: "1".into(), tool: tool.into(), arguments };
            let told = Toolbox::default().describe(&call).expect("it is known");
            assert!(told.len() < 8000 && told.contains('…'), "{tool}: {}", told.len());
        }
    }
}

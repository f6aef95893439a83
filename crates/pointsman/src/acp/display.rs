//! How a call is shown in an editor: its title and kind, the files that it is about, and
//! what it would change.

use std::path::{Path, PathBuf};

use agent_client_protocol::v1::schema::{
    ContentBlock, Diff, TextContent, ToolCall as ProgressSink, ToolCallContent, ToolCallId,
    ToolCallLocation, ToolCallStatus, ToolCallUpdateFields, ToolKind as Kind,
};
use pointsman_kernel::agent::ToolCall;
use pointsman_runtime::{
    observe::AGAIN,
    tool::{Arguments, FileChange, Now, ToolKind, Toolbox, folder::Folder},
    visible::{folded, line, visible},
};
use serde_json::Value;

use super::AcpLimits;

/// The arguments that say what a call is about, the most telling first.
const TELLING: [&str; 5] = ["command", "path", "url", "query", "pattern"];

/// Where calls act, as far as it is needed to show them.
#[derive(Clone, Debug)]
pub(super) struct CallDisplay {
    root: PathBuf,
    /// Nothing where what was there before a call can no longer be known.
    folder: Option<Folder>,
    limits: AcpLimits,
    tools: Toolbox,
}

impl CallDisplay {
    /// The workspace as it is now.
    pub(super) fn open(root: &Path, limits: &AcpLimits, tools: &Toolbox) -> Self {
        let folder = Folder::open(root).ok();
        Self { folder, tools: tools.clone(), ..Self::past(root, limits) }
    }

    /// The workspace of calls that were made long ago.
    pub(super) fn past(root: &Path, limits: &AcpLimits) -> Self {
        let tools = Toolbox::default();
        Self { root: root.into(), folder: None, limits: limits.clone(), tools }
    }

    /// Returns the tools that calls are of.
    pub(super) const fn tools(&self) -> &Toolbox {
        &self.tools
    }

    /// Returns a call as it is first shown.
    pub(super) fn call(&self, id: ToolCallId, call: &ToolCall) -> ProgressSink {
        let arguments = Arguments::of(call).unwrap_or_default();
        let path = arguments.text("path");
        let line = arguments.0.get("from").and_then(Value::as_u64);
        let location = path.map(|path| {
            let line = line.and_then(|line| u32::try_from(line).ok());
            ToolCallLocation::new(self.root.join(path)).line(line)
        });
        ProgressSink::new(id, self.title(&call.tool, &arguments))
            .name(call.tool.clone())
            .kind(kind(self.tools.kind(&call.tool)))
            .status(ToolCallStatus::Pending)
            .content(self.content(call, &arguments).into_iter().collect())
            .locations(location.into_iter().collect())
            .raw_input(Value::Object(arguments.0))
    }

    /// Returns a call as a person is asked about it: nothing is left out.
    pub(super) fn question(
        &self,
        id: ToolCallId,
        call: &ToolCall,
        again: bool,
    ) -> ToolCallUpdateFields {
        let mut shown = self.call(id, call);
        if !matches!(shown.content.as_slice(), [ToolCallContent::Diff(_)]) {
            shown.content = vec![said(&self.tools.describe_whole(call, self.folder.as_ref()))];
        }
        if again {
            shown.content.insert(0, said(AGAIN));
        }
        ToolCallUpdateFields::new()
            .title(shown.title)
            .name(shown.name)
            .kind(shown.kind)
            .status(ToolCallStatus::Pending)
            .content(shown.content)
            .locations(shown.locations)
            .raw_input(shown.raw_input)
    }

    fn title(&self, tool: &str, arguments: &Arguments) -> String {
        let own = self.tools.find(tool).and_then(|tool| tool.title(arguments));
        let words = arguments.0.get("args").and_then(Value::as_array).map(|words| {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            words.join(" ")
        });
        let about = TELLING.iter().find_map(|name| arguments.text(name)).or(words.as_deref());
        let title = own.unwrap_or_else(|| match about {
            Some(about) => format!("{tool} {about}"),
            None if arguments.0.is_empty() => tool.to_owned(),
            None => format!("{tool} {}", Value::Object(arguments.0.clone())),
        });
        line(&title, self.limits.title)
    }

    /// Returns what a call would do, where its title does not say it.
    fn content(&self, call: &ToolCall, arguments: &Arguments) -> Option<ToolCallContent> {
        let change = self.change(&call.tool, arguments);
        change.or_else(|| {
            let described = self.tools.describe(call).filter(|_| !self.shows_change(&call.tool))?;
            Some(said(&described))
        })
    }

    /// Returns what a call changes in a file, where old and new text are known.
    fn change(&self, tool: &str, arguments: &Arguments) -> Option<ToolCallContent> {
        let limit = u64::try_from(self.limits.diff).unwrap_or(u64::MAX);
        let now = |path: &str| match &self.folder {
            Some(folder) => Now::of(folder, path, limit),
            None => Now::Unknown,
        };
        let FileChange { path, old, new } = self.tools.find(tool)?.change(arguments, &now)?;
        if old.as_deref().map_or(0, str::len).max(new.len()) > self.limits.diff {
            return None;
        }
        // An editor draws a change as it is: a change that hides something is described in words.
        if [path.as_str(), new.as_str()].into_iter().chain(old.as_deref()).any(hides) {
            return None;
        }
        Some(Diff::new(self.root.join(path), new).old_text(old).into())
    }

    /// Returns whether a call of this tool shows a change that its result need not repeat.
    pub(super) fn shows_change(&self, tool: &str) -> bool {
        self.tools.kind(tool) == ToolKind::Edit
    }

    /// Returns as much of a tool's output as is shown.
    pub(super) fn output(&self, output: &str) -> String {
        let most = self.limits.output;
        if output.len() <= most {
            return output.into();
        }
        let kept = output.get(..output.floor_char_boundary(most)).unwrap_or_default();
        format!("{kept}\n(and {} more bytes)", output.len() - kept.len())
    }

    /// Returns the end of what a tool has put out so far.
    pub(super) fn progress<'a>(&self, output: &'a str) -> &'a str {
        let from = output.len().saturating_sub(self.limits.progress);
        output.get(output.ceil_char_boundary(from)..).unwrap_or_default()
    }

    /// Returns a text in one line, cut to the length of a title.
    pub(super) fn line(&self, text: &str) -> String {
        line(text, self.limits.title)
    }
}

/// Returns whether a text holds something that cannot be seen; the ends of lines do not.
fn hides(text: &str) -> bool {
    let text = text.replace("\r\n", "\n");
    visible(&text) != text
}

/// Returns a text without anything hidden.
pub(super) fn said(text: &str) -> ToolCallContent {
    ContentBlock::Text(TextContent::new(folded(&visible(text)))).into()
}

const fn kind(kind: ToolKind) -> Kind {
    match kind {
        ToolKind::Read => Kind::Read,
        ToolKind::Search => Kind::Search,
        ToolKind::Edit => Kind::Edit,
        ToolKind::Execute => Kind::Execute,
        ToolKind::Fetch => Kind::Fetch,
        ToolKind::Plan => Kind::Think,
        _ => Kind::Other,
    }
}

#[cfg(test)]
mod tests {
    use pointsman_agents::PLAN_TOOL;
    use serde_json::json;

    use super::*;

    fn shown(tool: &str, arguments: &Value) -> ProgressSink {
        let call =
            serde_json::from_value(json!({ "id": "a", "tool": tool, "arguments": arguments }));
        let workspace = CallDisplay::past(Path::new("/folder"), &AcpLimits::default());
        workspace.call(ToolCallId::new("call-1"), &call.expect("a call"))
    }

    #[test]
    fn a_title_names_what_a_call_is_about() {
        assert_eq!(shown("read", &json!({ "path": "a.rs", "from": 3 })).title, "read a.rs");
        assert_eq!(shown("shell", &json!({ "command": "cargo\ttest\n-q" })).title, "cargo test -q");
        assert_eq!(shown("mcp.x.y", &json!({ "n": 1 })).title, r#"mcp.x.y {"n":1}"#);
        assert_eq!(shown("git", &json!({ "args": ["log", "-1"] })).title, "git log -1");
        assert_eq!(shown("git", &json!({})).title, "git");
        let long = shown("shell", &json!({ "command": "é".repeat(1000) })).title;
        assert_eq!(long.chars().count(), AcpLimits::default().title);
        assert!(long.ends_with('…'));
    }

    #[test]
    fn locations_have_absolute_paths_and_lines() {
        let shown = shown("read", &json!({ "path": "src/a.rs", "from": 3 }));
        let [location] = shown.locations.as_slice() else { panic!("one place") };
        assert_eq!(
            (location.path.as_path(), location.line),
            (Path::new("/folder/src/a.rs"), Some(3))
        );
        assert_eq!(shown.kind, Kind::Read);
    }

    #[test]
    fn an_edit_shows_its_change_and_a_past_write_none() {
        let edit = shown("edit", &json!({ "path": "a", "old": "x", "new": "y" }));
        let [ToolCallContent::Diff(diff)] = edit.content.as_slice() else { panic!("a diff") };
        assert_eq!((diff.old_text.as_deref(), diff.new_text.as_str()), (Some("x"), "y"));
        assert!(shown("write", &json!({ "path": "a", "content": "y" })).content.is_empty());
    }

    #[test]
    fn a_plan_is_shown_as_a_list() {
        let plan = json!({ "phases": [{ "description": "look" }, { "description": "do\u{1b}" }] });
        let plan = shown(PLAN_TOOL, &plan);
        let [ToolCallContent::Content(content)] = plan.content.as_slice() else { panic!("a text") };
        let ContentBlock::Text(text) = &content.content else { panic!("a text") };
        assert!(text.text.contains("look") && text.text.contains("do"), "{}", text.text);
        assert!(!text.text.contains('\u{1b}'), "nothing moves a cursor");
    }

    #[test]
    fn question_hides_nothing() {
        let hidden = "\u{202e}\u{200b}\u{e0041}\u{9b}\u{7f}\u{200f}";
        let blanks = "\u{3164}".repeat(800);
        let calls = [
            ("shell", json!({ "command": format!("echo hi{blanks}{hidden}; touch ran") })),
            ("write", json!({ "path": format!("a{hidden}"), "content": format!("x{blanks}") })),
            ("edit", json!({ "path": "a", "old": format!("x{hidden}"), "new": blanks })),
            ("mcp.x.y", json!({ "text": format!("{hidden}{blanks}") })),
            ("http_get", json!({ "url": format!("http://x/{hidden}{blanks}") })),
        ];
        let workspace = CallDisplay::past(Path::new("/folder"), &AcpLimits::default());
        for (tool, arguments) in calls {
            let call = json!({ "id": "a", "tool": tool, "arguments": arguments });
            let call = serde_json::from_value(call).expect("the value is a tool call");
            let asked = workspace.question(ToolCallId::new("call-1"), &call, true);
            let shown = json!([asked.title, asked.content]).to_string();
            let raw = hidden.chars().chain(['\u{3164}']).find(|c| shown.contains(*c));
            assert_eq!(raw, None, "{tool}: {shown}");
            assert!(shown.contains("U+3164⟩"), "{tool}: {shown}");
        }
        let content = said(&format!("Ship it?{}Now", " ".repeat(300)));
        assert!(json!(content).to_string().contains("⟨300 blanks⟩"));
    }

    #[test]
    fn a_long_output_is_cut_between_characters() {
        let limits = AcpLimits { output: 3, progress: 3, ..AcpLimits::default() };
        let workspace = CallDisplay::past(Path::new("/"), &limits);
        assert_eq!(workspace.output("éé"), "é\n(and 2 more bytes)");
        assert_eq!(workspace.output("abc"), "abc");
        assert_eq!(workspace.progress("éé"), "é");
    }
}

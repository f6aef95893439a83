//! Everything that ships, as tables: what a chart may name, and what can run.

use alloc::vec::Vec;

use pointsman_kernel::{
    agent::Agent,
    agents::Agents,
    chart::{Certificate, CertificateScope, Chart, RefusedChart, verify},
    erased::AgentRow,
    job::{
        AgentDecl, Argument,
        ArgumentKind::{self, Any, Flag, Number, Text, Texts},
        Child, Registry, ToolShape,
    },
    tool::{Recovery, ToolDecl, ToolEffect},
};

use crate::{
    builtin::BuiltinAgent,
    chat::ChatAgent,
    code::CodeAgent,
    explore::ExploreAgent,
    form::{FormAgent, SUBMIT_TOOL},
    research::ResearchAgent,
};

/// The shipped charts, by name.
pub const CHARTS: &[(&str, &str)] = &[
    ("chat", include_str!("../charts/chat.toml")),
    ("code", include_str!("../charts/code.toml")),
    ("research", include_str!("../charts/research.toml")),
    ("form", include_str!("../charts/form.toml")),
    ("explore", include_str!("../charts/explore.toml")),
];

/// The agents whose jobs a chart can use.
pub const AGENTS: &[AgentDecl] = &[
    ChatAgent::DECL,
    CodeAgent::DECL,
    ResearchAgent::DECL,
    FormAgent::DECL,
    ExploreAgent::DECL,
    BuiltinAgent::DECL,
];

/// The agents as rows: how a driver starts and loads runs of any of them.
pub const ROWS: &[AgentRow] = &[
    AgentRow::of::<ChatAgent>(),
    AgentRow::of::<CodeAgent>(),
    AgentRow::of::<ResearchAgent>(),
    AgentRow::of::<FormAgent>(),
    AgentRow::of::<ExploreAgent>(),
    AgentRow::of::<BuiltinAgent>(),
];

/// Declares the tools, each once: its arguments for `check`, and what it declares of itself.
macro_rules! tools {
    ($($shape:expr => $decl:expr;)*) => {
        /// The tools that a state may allow, with their arguments. Servers that a user configures
        /// add theirs. A test of the runtime compares these with the schemas that models are given.
        pub const TOOLS: &[ToolShape<'static>] = &[$($shape),*];

        /// Returns what those tools declare of themselves.
        pub fn tools() -> Vec<ToolDecl> {
            let decls = [$($decl),*];
            let named = |(tool, decl): (&ToolShape<'_>, _)| ToolDecl { name: tool.name.into(), ..decl };
            TOOLS.iter().zip(decls).map(named).collect()
        }
    };
}

tools! {
    ToolShape::new("context.fts_search", &[must("query", Text)]) => query();
    ToolShape::new(
        "edit",
        &[must("path", Text), must("old", Text), must("new", Text), may("all", Flag), DIGEST],
    ) => file();
    // Only the agent that fills forms calls it. Whether a form was sent can be seen on its page.
    ToolShape::named(SUBMIT_TOOL) =>
        ToolDecl { recovery: Recovery::Probe, ..ToolDecl::write("", &["page", "selector"]) };
    ToolShape::new("git", &[must("args", Texts)]) => command("args");
    ToolShape::new("http_get", &[must("url", Text)]) => ToolDecl::read("", &["url"]);
    ToolShape::new("list", &[may("path", Text), may("depth", Number)]) =>
        ToolDecl::read("", &["path"]).with_paths(&["path"]).with_default("path", ROOT);
    // It is new where the plan is, and there is nothing that it could change.
    ToolShape::new(PLAN_TOOL, &[must("phases", Any)]) =>
        ToolDecl { parallel_safe: false, ..ToolDecl::read("", &[]) };
    ToolShape::new("read", &[must("path", Text), may("from", Number), may("to", Number)]) =>
        ToolDecl::read("", &["path"]).with_paths(&["path"]);
    ToolShape::new(
        "search",
        &[
            must("query", Text),
            may("literal", Flag),
            may("ignore_case", Flag),
            may("path", Text),
            may("glob", Text),
        ],
    ) => query().with_paths(&["path"]).with_default("path", ROOT);
    ToolShape::new("shell", &[must("command", Text), may("timeout_ms", Number), may("cwd", Text)]) =>
        command("command").with_paths(&["cwd"]).with_default("cwd", ROOT);
    ToolShape::new("write", &[must("path", Text), must("content", Text), DIGEST]) => file();
}

/// The default of a path: the workspace's root.
const ROOT: &str = "\".\"";

fn query() -> ToolDecl {
    ToolDecl { query: Some("query".into()), ..ToolDecl::read("", &["query"]) }
}

fn command(target: &str) -> ToolDecl {
    ToolDecl { effect: ToolEffect::Command, ..ToolDecl::write("", &[target]) }
}

/// Whether a file was changed can be seen in it.
fn file() -> ToolDecl {
    ToolDecl { recovery: Recovery::Probe, ..ToolDecl::write("", &["path"]) }.with_paths(&["path"])
}

const DIGEST: Argument<'static> = may("digest", Text);

const fn must(name: &'static str, kind: ArgumentKind) -> Argument<'static> {
    Argument { name, required: true, kind }
}

const fn may(name: &'static str, kind: ArgumentKind) -> Argument<'static> {
    Argument { name, required: false, kind }
}

/// The tool by which a plan is put to a person. It does nothing but be approved.
pub const PLAN_TOOL: &str = "propose_plan";

/// How the first line of what `shell` answers begins where the command ended by itself.
pub const EXITED: &str = "exit code ";
/// How it begins where a signal ended the command.
pub const SIGNALLED: &str = "stopped by signal ";
/// What is between the status and the address in the first line of a page.
pub const FROM: &str = " from ";

/// The charts that can run as a child: those whose whole run is bounded.
///
/// A test holds these figures to the certificates that `check` computes.
pub const CHILDREN: &[Child<'static>] = &[
    Child { name: "research", certificate: run(69, 126, 21, 315_000) },
    Child {
        name: "form",
        certificate: Certificate {
            tokens: Some(500_000),
            money: Some(2_000_000),
            ..run(16_970, 100, 21, 1_800_000)
        },
    },
    Child { name: "explore", certificate: run(101, 42, 0, 300_000) },
];

const fn run(steps: u64, model_calls: u64, tool_calls: u64, time_ms: u64) -> Certificate {
    Certificate {
        per: CertificateScope::Run,
        steps,
        model_calls,
        tool_calls,
        time_ms,
        tokens: None,
        money: None,
    }
}

/// Returns everything that ships.
pub fn all() -> Agents {
    Agents::new().with(ROWS).with_charts(CHARTS).with_tools(TOOLS).with_children(CHILDREN)
}

/// Returns what a chart may name.
pub const fn registry() -> Registry<'static> {
    Registry { agents: AGENTS, tools: TOOLS, children: CHILDREN }
}

/// Returns a shipped chart, verified; nothing if no chart has that name.
pub fn chart(name: &str) -> Option<Result<Chart, RefusedChart>> {
    let (_, source) = CHARTS.iter().find(|(known, _)| *known == name)?;
    Some(verify(source, &registry()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_of_one_agent_is_for_no_other() {
        let all = all();
        for owner in all.decls() {
            for tool in owner.own_tools {
                let callers = all.decls().iter().filter(|decl| all.may_call(decl, tool));
                let names: Vec<&str> = callers.map(|decl| decl.name).collect();
                assert_eq!(names, [owner.name], "{tool}");
            }
            assert!(all.may_call(owner, "read"));
        }
    }

    #[test]
    fn an_agent_that_is_not_known_declares_nothing() {
        let all = all();
        assert_eq!(all.decl("stranger").name, "");
        assert!(all.conversational().all(|known| all.decl(known.name).converses()));
    }
}

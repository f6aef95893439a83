//! The agents that runs here can be of, and what each declares of itself.

use pointsman_agents::{AGENTS, ROWS};
use pointsman_kernel::{erased::AgentRow, job::AgentDecl};

/// Returns what an agent declares of itself; an agent that is not known declares nothing.
pub fn decl(agent: &str) -> &'static AgentDecl {
    AGENTS.iter().find(|decl| decl.name == agent).unwrap_or(&AgentDecl::NONE)
}

/// Returns the agents that hold conversations, the usual one first.
pub fn conversational() -> impl Iterator<Item = &'static AgentDecl> {
    AGENTS.iter().filter(|decl| decl.converses())
}

/// Returns how runs of an agent are started and loaded.
pub(crate) fn row(agent: &str) -> Option<&'static AgentRow> {
    ROWS.iter().find(|row| row.decl.name == agent)
}

/// Returns whether an agent may call a tool at all: some belong to one agent alone.
pub(crate) fn may_call(agent: &AgentDecl, tool: &str) -> bool {
    let owned = AGENTS.iter().any(|decl| decl.own_tools.contains(&tool));
    !owned || agent.own_tools.contains(&tool)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_of_one_agent_is_for_no_other() {
        for owner in AGENTS {
            for tool in owner.own_tools {
                let callers = AGENTS.iter().filter(|decl| may_call(decl, tool));
                let names: Vec<&str> = callers.map(|decl| decl.name).collect();
                assert_eq!(names, [owner.name], "{tool}");
            }
            assert!(may_call(owner, "read"));
        }
    }

    #[test]
    fn an_agent_that_is_not_known_declares_nothing() {
        assert_eq!(decl("stranger").name, "");
        assert!(conversational().all(|known| decl(known.name).converses()));
    }
}

//! The agents that this program runs: the only list of them.

use std::sync::LazyLock;

use pointsman_kernel::agents::Agents;

/// The agents, with their charts and the tools that charts may name.
pub(crate) static AGENTS: LazyLock<Agents> = LazyLock::new(pointsman_agents::all);

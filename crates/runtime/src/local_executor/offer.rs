//! The tools that an agent is offered, and how its configuration describes them.

use pointsman_kernel::{
    body::Body,
    governor::{Level, Permissions},
    job::AgentDecl,
    tool::ToolOffer,
};
use serde_json::{Value, json};

use super::{ExecutorError, LocalExecutor, instructions};
use crate::tool::ToolSpec;

impl LocalExecutor {
    /// Completes the configuration of an agent with its tools and the workspace's instructions.
    /// Existing values stay; tools given by name get their description.
    pub(crate) fn configure(
        &self,
        agent: &AgentDecl,
        config: &Body,
        permissions: &Permissions,
    ) -> Result<Body, ExecutorError> {
        let mut value: Value = config.read().unwrap_or_default();
        let told = agent.offer != ToolOffer::None;
        let Some(fields) = value.as_object_mut().filter(|_| told) else {
            return Ok(Body::canonical(&value));
        };
        match fields.get_mut("tools") {
            Some(Value::Array(tools)) if describes(agent.offer) => {
                tools.iter_mut().try_for_each(|tool| self.describe_tool(agent, tool))?;
            }
            Some(_) => {}
            None => {
                fields.insert("tools".into(), self.offer(agent, permissions));
            }
        }
        if agent.converses()
            && !fields.contains_key("instructions")
            && self.0.instructions.wanted(agent.name)
        {
            let found = instructions::found(self.0.tools.root());
            if found.as_array().is_some_and(|list| !list.is_empty()) {
                fields.insert("instructions".into(), found);
            }
        }
        Ok(Body::canonical(&value))
    }

    /// Replaces the name of a tool by its description. Anything but a name is left to the agent,
    /// which reports what it accepts.
    fn describe_tool(&self, agent: &AgentDecl, tool: &mut Value) -> Result<(), ExecutorError> {
        let named = if tool.is_object() { tool.get("name") } else { Some(&*tool) };
        let Some(name) = named.and_then(Value::as_str) else { return Ok(()) };
        let callable = |spec: &ToolSpec| self.0.agents.may_call(agent, &spec.name);
        let specs: Vec<ToolSpec> = self.specs().into_iter().filter(callable).collect();
        let Some(spec) = specs.iter().find(|spec| *spec.name == *name) else {
            let known: Vec<&str> = specs.iter().map(|spec| &*spec.name).collect();
            return Err(ExecutorError::NoSuchTool { name: name.into(), known: known.join(", ") });
        };
        if tool.is_string() {
            *tool = told(spec);
        }
        Ok(())
    }

    /// Returns the tools that an agent is offered. If there are too many, the first are kept: the
    /// host's own come before those of servers.
    fn offer(&self, agent: &AgentDecl, permissions: &Permissions) -> Value {
        let described = describes(agent.offer);
        let tools = self.fitting(agent, permissions).into_iter();
        let tools = tools.map(|spec| if described { told(&spec) } else { json!(spec.name) });
        tools.take(most(agent)).collect()
    }

    /// Returns the tools that an agent is offered.
    pub fn offered(&self, agent: &AgentDecl, permissions: &Permissions) -> Vec<ToolSpec> {
        self.fitting(agent, permissions).into_iter().take(most(agent)).collect()
    }

    /// Returns the tools that an agent could call but is not offered, because there are too many.
    pub fn left_out(&self, agent: &AgentDecl, permissions: &Permissions) -> Vec<Box<str>> {
        let tools = self.fitting(agent, permissions).into_iter().skip(most(agent));
        tools.map(|spec| spec.name).collect()
    }

    /// Returns the tools with at least one call that may run. With a person present, tools that
    /// prompt count too, and in a conversation also tools without a rule.
    fn fitting(&self, agent: &AgentDecl, permissions: &Permissions) -> Vec<ToolSpec> {
        let asked = permissions.attended;
        let yes = |level: Level| if asked && level == Level::Ask { Level::Allow } else { level };
        let mut permissions = permissions.clone();
        if !describes(agent.offer) {
            permissions.otherwise = yes(permissions.otherwise);
        }
        for rule in &mut permissions.rules {
            rule.level = yes(rule.level);
        }
        let fits = |spec: &ToolSpec| {
            permissions.allows_some_call(&spec.name) && self.0.agents.may_call(agent, &spec.name)
        };
        self.specs().into_iter().filter(fits).collect()
    }
}

/// Returns a tool's description for a configuration.
fn told(spec: &ToolSpec) -> Value {
    let ToolSpec { name, about, parameters } = spec;
    json!({ "name": name, "about": about, "parameters": parameters })
}

/// Returns whether an agent gets descriptions of its tools.
const fn describes(offer: ToolOffer) -> bool {
    matches!(offer, ToolOffer::Described { .. })
}

/// Returns how many tools an agent takes.
const fn most(agent: &AgentDecl) -> usize {
    match agent.offer {
        ToolOffer::Described { most } => most,
        _ => usize::MAX,
    }
}

//! Which tools an agent is offered, and how its configuration tells of them.

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
    /// Completes the configuration of an agent that is told its tools and what the
    /// workspace says. What the configuration says itself stays as it is; tools that it
    /// only names are told of as the others are.
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
                tools.iter_mut().try_for_each(|tool| self.tell_of(agent, tool))?;
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

    /// Puts what is known of a tool in the place of its name. What is no name is left to
    /// the agent, which says what it takes.
    fn tell_of(&self, agent: &AgentDecl, tool: &mut Value) -> Result<(), ExecutorError> {
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

    /// Returns the tools that an agent is offered. Of more than fit into a prompt the first
    /// are kept: the host's own come before those of servers.
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

    /// Returns the tools that an agent could call and is not told of, because there are
    /// more than it takes.
    pub fn left_out(&self, agent: &AgentDecl, permissions: &Permissions) -> Vec<Box<str>> {
        let tools = self.fitting(agent, permissions).into_iter().skip(most(agent));
        tools.map(|spec| spec.name).collect()
    }

    /// Returns the tools of which some call may run. Where a person is there, those that a
    /// rule has them asked for count too, and in a conversation those that no rule speaks of.
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
            permissions.permits_unasked(&spec.name) && self.0.agents.may_call(agent, &spec.name)
        };
        self.specs().into_iter().filter(fits).collect()
    }
}

/// Returns a tool as a configuration tells of it.
fn told(spec: &ToolSpec) -> Value {
    let ToolSpec { name, about, parameters } = spec;
    json!({ "name": name, "about": about, "parameters": parameters })
}

/// Returns whether an agent is told what each tool does and takes.
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

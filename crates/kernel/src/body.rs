//! JSON that an agent reads and writes itself, as those see it who know no agent's types.
//!
//! Events, answers and orders are typed everywhere; only an agent's own tasks and reports are a
//! [`Body`] to a driver, a store or a front end.

use alloc::{borrow::ToOwned, boxed::Box};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};

use crate::{
    agent::{Answer, Order},
    effect::{Effect, EffectKind},
    event::Event,
    json::canonical,
};

/// JSON that an agent reads and writes itself: a task or a report.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(transparent)]
pub struct Body(Box<RawValue>);

impl Body {
    /// Writes a value in its own order.
    pub fn of<T: Serialize>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::value::to_raw_value(value).map(Self)
    }

    /// Writes JSON in its one canonical spelling: however a build keeps objects, the text is
    /// the same.
    pub fn canonical(value: &Value) -> Self {
        // Canonical text is valid JSON.
        RawValue::from_string(canonical(value)).map(Self).unwrap_or_default()
    }

    /// Reads it as a value.
    pub fn read<'a, T: Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.0.get())
    }

    /// Returns its text.
    pub fn get(&self) -> &str {
        self.0.get()
    }
}

impl Default for Body {
    /// Nothing: `null`.
    fn default() -> Self {
        Self(RawValue::NULL.to_owned())
    }
}

impl PartialEq for Body {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl From<Value> for Body {
    /// JSON in its canonical spelling.
    fn from(value: Value) -> Self {
        Self::canonical(&value)
    }
}

impl From<Box<RawValue>> for Body {
    fn from(raw: Box<RawValue>) -> Self {
        Self(raw)
    }
}

impl From<Body> for Box<RawValue> {
    fn from(Body(raw): Body) -> Self {
        raw
    }
}

impl Event<Body> {
    /// Reads the report of an agent's own, if the event holds one.
    pub fn read<R: DeserializeOwned>(self) -> Result<Event<R>, serde_json::Error> {
        Ok(match self {
            Self::Answered { effect, answer, usage, sent } => {
                Event::Answered { effect, answer: answer.read()?, usage, sent }
            }
            Self::Begun(begun) => Event::Begun(begun),
            Self::Given { event, body } => Event::Given { event, body },
            Self::ApprovalAnswered { effect, call, granted, reason, remember, sent } => {
                Event::ApprovalAnswered { effect, call, granted, reason, remember, sent }
            }
            Self::Woke => Event::Woke,
            Self::Cancelled { scope } => Event::Cancelled { scope },
            Self::Paused { why, by } => Event::Paused { why, by },
            Self::Resumed => Event::Resumed,
            Self::Lifted { by } => Event::Lifted { by },
            Self::Interrupted { under_way, counted } => Event::Interrupted { under_way, counted },
            Self::Forked => Event::Forked,
            Self::Granted { charge, amount } => Event::Granted { charge, amount },
        })
    }
}

impl Answer<Body> {
    /// Reads the report of an agent's own, if this is one.
    pub fn read<R: DeserializeOwned>(self) -> Result<Answer<R>, serde_json::Error> {
        Ok(match self {
            Self::Model(reply) => Answer::Model(reply),
            Self::Tool(result) => Answer::Tool(result),
            Self::Child(end) => Answer::Child(end),
            Self::Own(report) => Answer::Own(report.read()?),
            Self::Fault(fault) => Answer::Fault(fault),
        })
    }
}

impl<T: Serialize> Effect<T> {
    /// Writes the task of an agent's own, if one is ordered.
    pub fn written(&self) -> Result<Effect<Body>, serde_json::Error> {
        let order = match &self.order {
            EffectKind::Start(order) => EffectKind::Start(order.written()?),
            EffectKind::AskPerson(call) => EffectKind::AskPerson(call.clone()),
            EffectKind::Stop(effect) => EffectKind::Stop(*effect),
        };
        Ok(Effect { id: self.id, order })
    }
}

impl<T: Serialize> Order<T> {
    fn written(&self) -> Result<Order<Body>, serde_json::Error> {
        Ok(match self {
            Self::Model(call) => Order::Model(*call),
            Self::Tool(call) => Order::Tool(call.clone()),
            Self::Child(child) => Order::Child(child.clone()),
            Self::Own { task, interactions, actions } => {
                Order::Own { task: Body::of(task)?, interactions: *interactions, actions: *actions }
            }
        })
    }
}

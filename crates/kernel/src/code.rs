//! The stable codes of everything `check` can refuse, with their explanations.

use core::fmt;

use serde::{Serialize, Serializer};

macro_rules! codes {
    ($($variant:ident = $text:literal, $title:literal, $explain:literal;)*) => {
        /// A stable code: once published it never changes its meaning.
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = $title] $variant,)*
        }

        impl Code {
            /// Every code, in order.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Returns the code as users see it.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// Returns the rule in a few words.
            pub const fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)* }
            }

            /// Returns the reason for the rule, with an example of what to write.
            pub const fn explain(self) -> &'static str {
                match self { $(Self::$variant => $explain,)* }
            }
        }
    };
}

codes! {
    Syntax = "PM0101", "the file is not valid TOML",
"The chart could not be read as TOML, so nothing else was checked. The marked place is
where reading stopped; the mistake is there or just before it.";

    UnknownKey = "PM0102", "an unknown key",
"Unknown keys are errors: a misspelt `timout` would otherwise leave a state without its
limit. docs/charts.md lists every key.";

    MissingKey = "PM0103", "a missing key",
"A chart needs `chart`, `version`, `start`, `authority` and `[any] cancel`; a budget needs
`max` and `else`; an edge written as a table needs `to`.";

    WrongType = "PM0104", "a value of the wrong type",
"The key is known, but its value is of another type, such as a number where a name is
expected. Durations are strings with a unit: `\"250ms\"`, `\"15s\"`, `\"5m\"`, `\"24h\"`.";

    BadValue = "PM0105", "an invalid value",
"The value has the right type but is not valid: a duration without a unit, zero attempts
(`attempts` includes the first), a cap below its base, `max_parallel` above `max_items`, a name
that is not lower-case with underscores.";

    TooMany = "PM0106", "the chart is too large",
"A chart has at most 200 states, 60 budgets and 100 outcomes per state. Move a part of a
larger chart into a child chart.";

    UnknownAgent = "PM0201", "`jobs` names no agent",
"`jobs` names the agent whose jobs, events and data the chart uses. Leave it out for the
general jobs (`model.reply`, `tool.call`, `shell`, `match`, …).";

    UnknownJob = "PM0202", "no such job",
"The agent named by `jobs` declares no job of this name. Jobs are written in Rust; a chart
can only use jobs that exist.";

    UnknownState = "PM0203", "no such state",
"An edge, `start`, `else` or `[any]` names a state that the chart does not define.";

    UnknownBudget = "PM0204", "no such budget",
"`spend` and `reset` name a budget of the `[budget]` table; `reset` may also be `\"await\"`.";

    UnknownEvent = "PM0205", "no such event",
"An await state lists an event that the agent never receives, so it would wait forever.";

    UnknownTool = "PM0206", "an unknown tool",
"`tools`, or the `tool` of a job, names a tool that is not built in. Tools of MCP servers are
called `mcp.SERVER.TOOL`; they are checked when a run starts.";

    UnknownList = "PM0207", "no such list",
"`fan_out.over` names a list in the agent's data, with one item per job to run.";

    UnknownChild = "PM0208", "no such child chart, or a recursive one",
"The `agent` job starts another chart as a child run. The child must be known and must not
be the chart itself: recursion has no bound.";

    UnknownSlot = "PM0209", "an unfilled slot",
"`{slot}` in a text, or the `slot` of a job, names a slot that no job fills with `into`. Every
run has `goal`, `input` and `error`. A slot that `--set` fills is declared at the top of the
chart, with its default: `slots = { tone = \"dry\" }`. To write
literal braces, double them: `{{plain}}`.";

    NotOneThing = "PM0301", "a state does exactly one thing",
"A state has exactly one of `run`, `decide`, `await`, `fan_out`, `final`,
`between_attempts_of` and `while_asking`.";

    WrongKind = "PM0302", "the wrong kind of job for this state",
"A job with effects belongs in a `run` state or in the `run` of a fan-out. A pure job belongs in
a `decide` state. A joining job belongs in the `join` of a fan-out.";

    NoTimeout = "PM0303", "a job without a time limit",
"Every attempt of a job with effects must end: give the state a `timeout`, or set one for the
whole chart in `[defaults]`. Without it there is no bound on time. `ask.person` defaults to
24 hours.";

    Misplaced = "PM0304", "a key of another kind of state",
"The key belongs to another kind of state. `attempts`, `backoff` and `tools` are for states that
run a job; `timeout` is for these and for await states; `on` is for states that are not final.";

    LabelTarget = "PM0305", "a route to a label",
"`between_attempts_of` and `while_asking` only label a run that waits inside another state.
No edge can lead to them; route to the state that they describe.";

    LabelOf = "PM0306", "a label that can never appear",
"`between_attempts_of` needs a state with more than one attempt; `while_asking` needs a
state whose tool calls can wait for a person.";

    AnyTarget = "PM0307", "`[any]` must lead to a final or await state",
"`cancel`, `cancel_turn` and `shutdown` apply in every state, so they must lead to a state
where nothing runs: a final or an await state.";

    NoTools = "PM0308", "a state must list the tools it allows",
"A state that calls tools needs `tools = \"all\"`, `\"none\"` or a list. There is no default.";

    Arguments = "PM0309", "arguments that the tool does not take",
"The chart gives a tool an argument that it does not have, leaves out one that it needs, or
gives one of another type. The call would fail in every run.";

    NotAllowed = "PM0310", "a state calls a tool it does not allow",
"`tools` of a state lists the tools that its job may call. The job of this state always calls a
tool that is not on the list, so every call would be denied.";

    Choices = "PM0311", "an invalid list of choices",
"`from` lists the model's choices: at least one string, none empty, none listed twice.";

    Unrouted = "PM0401", "an outcome without a route",
"The chart must route every outcome of a state's job, including those that the kernel adds:
`failed` for a job that can fail, `denied` for a job that calls tools, `stuck` for a job in which
the governor checks model turns or calls for repetition. Without a route, `timeout` follows
`on.failed`.";

    Impossible = "PM0402", "an outcome that the job does not have",
"The route can never be taken: the job has no such outcome. Check the spelling.";

    Unreachable = "PM0403", "an unreachable state",
"No edge, `else` or `[any]` leads here from `start`.";

    DeadEnd = "PM0404", "a state from which no final state is reachable",
"From here only `[any]` leads to a final state. A run could only be cancelled.";

    Unmetered = "PM0501", "an unmetered loop",
"The order of states in the file is their rank. An edge to the same or an earlier state could
be taken forever, so it must `spend` a budget, as in
`on.again = { to = \"think\", spend = \"rounds\" }`, or enter an await state without a timeout,
which waits for an event.";

    ResetOrder = "PM0502", "a budget is reset by a later one",
"A budget may be reset only by spending one that is declared before it, or by an awaited event
(`reset = \"await\"`). Then every transition that spends a budget lowers it and refills only later
ones, so every run halts. Declare the outer loop's budget first.";

    ResetCycle = "PM0503", "budgets reset each other",
"Budgets that refill each other limit nothing.";

    NeverSpent = "PM0504", "an unused budget",
"No edge spends the budget, and it has no `charge`, so it limits nothing.";

    DecideCycle = "PM0505", "a cycle of only `decide` states",
"One step settles all `decide` states in a row. A cycle of them would spin without an event,
even with a budget; put a `run` or `await` state into it.";

    SpentAndCharged = "PM0506", "an edge spends a charged budget",
"The kernel alone spends a budget that has `charge`. An edge may spend only budgets
that have no `charge`.";

    TooLarge = "PM0507", "the bound is too large to certify",
"The product of the budgets exceeds 9·10^15: a bound that large protects nothing. Lower the
inner budgets, or reset fewer of them.";

    Authority = "PM0601", "model output decides more than the chart declares",
"With `authority = \"text\"` no route depends on model output; with `\"choose\"` the model picks
from a list; with `\"propose\"` it proposes calls. The marked route needs more than the chart
declares.";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

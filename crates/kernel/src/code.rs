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
    Syntax = "PM0101", "the file is not TOML",
"The chart could not be read as TOML, so nothing else was checked. The marked place is
where the reader gave up; the mistake is there or just before it.";

    UnknownKey = "PM0102", "a key that charts do not have",
"Unknown keys are refused rather than ignored: a misspelt `timout` would otherwise leave a
state without its limit. docs/charts.md lists every key of every table.";

    MissingKey = "PM0103", "a key is missing",
"A chart needs `chart`, `version`, `start`, `authority` and `[any] cancel`; a budget needs
`max` and `else`; an edge written as a table needs `to`.";

    WrongType = "PM0104", "a value of the wrong type",
"The key is known, but its value is of another type, such as a number where a name is
expected. Durations are strings with a unit: `\"250ms\"`, `\"15s\"`, `\"5m\"`, `\"24h\"`.";

    BadValue = "PM0105", "an invalid value",
"The value has the right type but cannot be used: a duration without a unit, an attempt
count of zero (attempts count the first try), a cap below its base, more parallel places
than items, a name that is not lower-case with underscores.";

    TooMany = "PM0106", "more than a chart can hold",
"A chart holds at most 200 states, 60 budgets and 100 outcomes per state. Beyond that it
is not a small state machine any more; move a part into a child chart.";

    UnknownAgent = "PM0201", "`jobs` names no agent",
"`jobs` names the agent whose jobs, events and data the chart uses. Leave it out for the
general jobs (`model.reply`, `tool.call`, `shell`, `match`, …).";

    UnknownJob = "PM0202", "no such job",
"The agent named by `jobs` declares no job of this name. A job has two halves in code; a
chart can only name jobs that exist.";

    UnknownState = "PM0203", "no such state",
"An edge, `start`, `else` or `[any]` names a state that the chart does not define.";

    UnknownBudget = "PM0204", "no such budget",
"`spend` and `reset` name a budget of the `[budget]` table (`reset` may also be `\"await\"`).";

    UnknownEvent = "PM0205", "no such event",
"An await state lists an event that the agent never receives, so it would wait for ever.";

    UnknownTool = "PM0206", "no registry has this tool",
"`tools`, or the `tool` of a job, names a tool that is not built in. Tools that servers offer
are called `mcp.SERVER.TOOL`; whether one exists is known only when a run starts.";

    UnknownList = "PM0207", "no such list",
"`fan_out.over` names a list in the agent's data, with one item per job to run.";

    UnknownChild = "PM0208", "no such child chart, or a recursive one",
"The `agent` job starts another chart as a child run. The child must be known and must not
be the chart itself: recursion has no bound.";

    UnknownSlot = "PM0209", "a slot that nothing fills",
"`{slot}` in a text, or the `slot` of a job, names a slot that no job fills with `into`. Every
run has `goal`, `input` and `error`. A slot that `--set` fills is declared at the top of the
chart, with its default: `slots = { tone = \"dry\" }`. Plain braces are written twice, as in
`{{plain}}`.";

    NotOneThing = "PM0301", "a state does exactly one thing",
"A state has exactly one of `run`, `decide`, `await`, `fan_out`, `final`,
`between_attempts_of` and `while_asking`.";

    WrongKind = "PM0302", "the job does not fit this kind of state",
"A job with effects stands in a `run` state (or is the `run` of a fan-out), a pure one in a
`decide` state, a joining one is the `join` of a fan-out.";

    NoTimeout = "PM0303", "a job without a time limit",
"Every attempt of a job with effects ends: give the state a `timeout`, or the whole chart
one in `[defaults]`. Without it no bound on time could be certified. `ask.person` has 24 hours
where its state says nothing.";

    Misplaced = "PM0304", "a key that means nothing here",
"The key belongs to another kind of state: `timeout`, `attempts` and `backoff` to states
that run a job, `tools` to states that run one, `on` to states that are not final.";

    LabelTarget = "PM0305", "a label is no place to go",
"`between_attempts_of` and `while_asking` only name what is seen while a run waits inside
another state. Nothing can lead to them; route to the state that they describe.";

    LabelOf = "PM0306", "the label describes a state that cannot look so",
"`between_attempts_of` needs a state with more than one attempt, `while_asking` one whose
calls the governor can hold for a person.";

    AnyTarget = "PM0307", "`[any]` leads to a final or await state",
"`cancel`, `cancel_turn` and `shutdown` apply in every state, so they must lead where
nothing runs: to an end, or to an await.";

    NoTools = "PM0308", "a governed state must say which tools it allows",
"States that start tool calls write `tools = \"all\"`, `\"none\"` or a list, so that nobody has
to know a default.";

    Arguments = "PM0309", "arguments that the tool does not take",
"The chart gives a tool an argument that it does not have, leaves out one that it needs, or
gives one of another type. The call would fail in every run.";

    NotAllowed = "PM0310", "a state calls a tool that it does not allow",
"`tools` of a state lists what its job may call. The job of this state always calls a tool
that is not on the list, so every call would be denied.";

    Choices = "PM0311", "a list from which nothing can be chosen",
"`from` lists what a model may choose: one text at least, none of them empty or listed twice.";

    Unrouted = "PM0401", "an outcome leads nowhere",
"The chart must route every outcome of a state's job. Those the kernel adds count too:
`failed` for a job that can fail, `stuck` (and `denied`) for governed ones. `timeout` falls
to `on.failed` where it is not routed.";

    Impossible = "PM0402", "the state cannot end in this way",
"The route can never be taken: the job has no such outcome. Often a misspelling.";

    Unreachable = "PM0403", "an unreachable state",
"No edge, `else` or `[any]` leads here from `start`.";

    DeadEnd = "PM0404", "a state from which no final state is reachable",
"From here no final state can be reached but by `[any]`. A run could only be cancelled.";

    Unmetered = "PM0501", "a way back that nothing meters",
"File order is rank. An edge to the same or an earlier state could be taken for ever, so it
must `spend` a budget, as in `on.again = { to = \"think\", spend = \"rounds\" }`, or enter an
await state without a timeout, where nothing goes on until an event comes.";

    ResetOrder = "PM0502", "a budget is reset by a later one",
"A budget may be reset only by spending one that is declared before it: then the list of
what is left falls, read from the top, at every step, and every run halts. Move the outer
loop's budget up.";

    ResetCycle = "PM0503", "budgets reset each other",
"Two budgets that refill each other bound nothing.";

    NeverSpent = "PM0504", "a budget that nothing spends",
"No edge spends it and it has no `charge`. A limit that limits nothing misleads the reader.";

    DecideCycle = "PM0505", "a cycle of `decide` states alone",
"Decide states are settled within one step. A cycle of them would spin without an event,
budget or not; put a state that runs or awaits into it.";

    SpentAndCharged = "PM0506", "a charged budget is not for edges",
"A budget with `charge` is counted by the kernel. Edges spend budgets without one.";

    TooLarge = "PM0507", "the bound is too large to certify",
"The product of the budgets passes 9·10^15. A bound that large protects nobody: lower the
inner budgets or let fewer of them be reset.";

    Authority = "PM0601", "model output decides more than the chart declares",
"`authority = \"text\"` lets no route depend on model output, `\"choose\"` lets the model pick
from a list, `\"propose\"` lets it propose calls. The marked route depends on more than that.";
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

//! Goals, and the behaviours of a model that does not find what it searches.

use pointsman_kernel::prompt::{Prompt, PromptMessage};
use serde_json::json;

/// A goal, other words for it, and the words by which its answer is known.
pub(crate) struct Case {
    pub(crate) goal: &'static str,
    pub(crate) other_words: &'static [&'static str],
    pub(crate) key: Option<&'static str>,
}

/// What these documents do not tell.
pub(crate) const MISSING: &[Case] = &[
    missing(
        "Which colour is the company's logo?",
        &["logo colour", "brand palette", "hex code of the logo"],
    ),
    missing(
        "What is the phone number of the support team?",
        &["support hotline", "telephone contact", "call centre number"],
    ),
    missing(
        "Who won the chess tournament in Oslo?",
        &["Oslo chess winner", "tournament final result", "chess champion"],
    ),
    missing(
        "How does the billing module talk to the tax office?",
        &["tax office interface", "billing export", "VAT report upload"],
    ),
    missing(
        "What was the weather at the launch party?",
        &["launch party rain", "weather report", "party photographs"],
    ),
    missing(
        "Which Kubernetes operator deploys the fleet?",
        &["kubernetes operator", "helm chart values", "cluster deployment manifest"],
    ),
    missing(
        "What does the quantum scheduler optimise?",
        &["quantum annealing", "qubit scheduling", "quantum backend"],
    ),
    missing(
        "How many employees work in the Lisbon office?",
        &["Lisbon headcount", "office staff number", "employees Portugal"],
    ),
];

/// What they do tell, in words that the goal does not use.
pub(crate) const ANSWERABLE: &[Case] = &[
    found(
        "What happens to a job that is under way at a power cut?",
        &["interrupted run", "what was under way"],
        "under way",
    ),
    found("Can a loop go on for ever?", &["every run halts", "loop spend budget"], "halt"),
    found(
        "Where does the program keep its records?",
        &["journal file", "XDG state journal"],
        "journal",
    ),
    found(
        "Which number comes back when the chart is bad?",
        &["exit codes", "exit code refused"],
        "8",
    ),
    found(
        "How does it notice that an agent goes round in circles?",
        &["governor repetition", "nothing new score"],
        "governor",
    ),
    found(
        "May a model pick the next state itself?",
        &["authority propose choose", "a model never names a state"],
        "authority",
    ),
    found("How is one entry tied to the one before?", &["digest chain", "prev digest"], "digest"),
    found("What is asked of a person?", &["approval ask permission", "ask_timeout"], "ask"),
];

const fn missing(goal: &'static str, other_words: &'static [&'static str]) -> Case {
    Case { goal, other_words, key: None }
}

const fn found(
    goal: &'static str,
    other_words: &'static [&'static str],
    key: &'static str,
) -> Case {
    Case { goal, other_words, key: Some(key) }
}

/// How a model continues.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Persona {
    /// It asks the same again.
    Stubborn,
    /// It goes through its other words, again and again.
    Circling,
    /// It does so until its prompt says that it is stuck.
    Heeding,
}

impl Persona {
    pub(crate) const ALL: [Self; 3] = [Self::Stubborn, Self::Circling, Self::Heeding];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Stubborn => "stubborn (same query)",
            Self::Circling => "circling (other words)",
            Self::Heeding => "heeding (reads advice)",
        }
    }

    /// Returns whether it ends by itself, and says so, when it finds nothing.
    pub(crate) const fn gives_up(self) -> bool {
        matches!(self, Self::Heeding)
    }

    /// Writes the reply to a prompt.
    pub(crate) fn reply(self, case: &Case, prompt: &Prompt) -> String {
        let found = prompt.messages.iter().find_map(|message| match message {
            PromptMessage::Tool { result, .. } => {
                result.output.lines().find(|line| case.is_answered_by(line))
            }
            _ => None,
        });
        if prompt.schema.is_none() {
            return match found {
                Some(line) => format!("This speaks of it: {line}"),
                None => "Nothing in this answers the question; other words may find more.".into(),
            };
        }
        if let Some(line) = found {
            return json!({ "action": "finish", "final": line }).to_string();
        }
        let last = match prompt.messages.last() {
            Some(PromptMessage::User(text)) => text.as_str(),
            _ => "",
        };
        if self.gives_up() && last.contains("Status: STUCK") {
            return json!({ "action": "finish", "final": "The documents do not tell." })
                .to_string();
        }
        let searched =
            prompt.messages.iter().filter(|it| matches!(it, PromptMessage::Tool { .. })).count();
        let query = match self {
            Self::Stubborn => case.goal,
            Self::Circling | Self::Heeding => {
                let words: Vec<&str> =
                    case.other_words.iter().copied().chain([case.goal]).collect();
                let at = searched.saturating_sub(1) % words.len();
                words.get(at).copied().unwrap_or(case.goal)
            }
        };
        let args = json!({ "query": query });
        json!({ "action": "tool", "tool_name": "context.fts_search", "args": args }).to_string()
    }
}

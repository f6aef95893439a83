//! The workspace and the model of a run, as its first entry records them for resuming.

use std::path::{Path, PathBuf};

use pointsman_kernel::job::AgentDecl;
use serde::{Deserialize, Serialize};

use super::LocalExecutor;
#[cfg(feature = "tools")]
use crate::tool::RepositoryRecord;
use crate::{
    model::{self, Provider, Spec},
    store::RunId,
};

/// Folder, model and output of a run. No key is ever part of it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Workspace {
    /// The folder, as an absolute path; none if it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dir: Option<PathBuf>,
    /// The model, as people write it.
    pub model: Box<str>,
    /// The model server's address, where it is not the provider's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<Box<str>>,
    /// The git repositories that were there when the run began, where commands may run.
    #[cfg(feature = "tools")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<RepositoryRecord>,
}

impl Workspace {
    /// Returns the place of runs in a folder with a model.
    pub(super) fn of(dir: &Path, model: &model::ModelSettings) -> Self {
        let spec = &model.spec;
        let own = spec.provider().own_base();
        // An address that may contain a secret is not stored.
        let named = model.base_url.as_deref().filter(|url| Some(*url) != own);
        let base_url = named.filter(|url| model::is_address(spec.provider(), url));
        Self {
            dir: Some(whole(dir)).filter(|dir| dir.to_str().is_some()),
            model: written(spec).into(),
            base_url: base_url.map(Into::into),
            #[cfg(feature = "tools")]
            git: None,
        }
    }
}

impl LocalExecutor {
    /// Returns where a run works that begins now, with what it finds there. An agent that runs
    /// no commands need not look.
    #[cfg(feature = "tools")]
    pub(crate) fn place_of(&self, run: &RunId, agent: &AgentDecl) -> Workspace {
        let git = agent.commands.then(|| self.0.tools.record());
        self.0.records.is_new(run);
        Workspace { git, ..self.place().clone() }
    }

    /// Returns where a run works that begins now.
    #[cfg(not(feature = "tools"))]
    pub(crate) fn place_of(&self, _: &RunId, _: &AgentDecl) -> Workspace {
        self.place().clone()
    }
}

/// Returns a model as people write it; a script is named so that it is found from anywhere.
fn written(spec: &Spec) -> String {
    match spec.provider() {
        Provider::Script => Spec::script(&whole(Path::new(spec.name()))).to_string(),
        _ => spec.to_string(),
    }
}

/// Returns a path that means the same from everywhere.
fn whole(path: &Path) -> PathBuf {
    let absolute = || std::path::absolute(path).unwrap_or_else(|_| path.into());
    path.canonicalize().unwrap_or_else(|_| absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_of_an_address_is_kept() {
        let kept = |spec: &str, url: Option<&str>| {
            let mut settings =
                model::ModelSettings::new(spec.parse().expect("the text names a model"));
            settings.base_url = url.map(str::to_owned);
            settings.key = Some(model::ApiKey::new("sk-secret"));
            let place = Workspace::of(Path::new("."), &settings);
            let text = serde_json::to_string(&place).expect("the value serialises");
            assert!(!text.contains("secret"), "{text}");
            place.base_url
        };
        let local = "http://127.0.0.1:8080/v1";
        assert_eq!(kept("openai:gpt", Some(local)).as_deref(), Some(local));
        assert_eq!(kept("openai:gpt", Some("https://api.openai.com/v1")), None);
        assert_eq!(kept("openai:gpt", Some("https://me:secret@host/v1")), None);
        assert_eq!(kept("openai:gpt", Some("https://host/v1?key=secret")), None);
        assert_eq!(kept("quote", None), None);
    }
}

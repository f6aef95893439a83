//! Tools: what a run may do to the world, each confined to its workspace.

pub mod fts;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use pointsman_kernel::agent::{FaultClass, ToolCall};
use serde::Deserialize;

use crate::perform::Done;

/// A tool as models are told of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: Box<str>,
    /// What it does, in a sentence or two.
    pub about: Box<str>,
    /// The JSON Schema of its arguments: an object.
    pub parameters: serde_json::Value,
}

/// The tools over one workspace.
#[derive(Clone, Debug)]
pub struct Tools {
    root: PathBuf,
    index: Arc<Mutex<fts::Index>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Query {
    query: String,
}

impl Tools {
    /// Returns the tools over a folder; the index over its files is kept in a file.
    pub fn over(root: &Path, index: &Path) -> Result<Self, fts::IndexError> {
        let root = root
            .canonicalize()
            .map_err(|source| fts::IndexError::Folder { path: root.into(), source })?;
        Ok(Self { index: Arc::new(Mutex::new(fts::Index::open(index)?)), root })
    }

    /// Calls a tool; an unknown one is a result that a model can read.
    pub async fn call(&self, call: &ToolCall) -> Done {
        match call.tool.as_str() {
            "context.fts_search" => self.search(call).await,
            other => Done::tool(false, &format!("there is no tool `{other}` here")),
        }
    }

    async fn search(&self, call: &ToolCall) -> Done {
        let query = match serde_json::from_str::<Query>(call.arguments.get()) {
            Ok(Query { query }) => query,
            Err(error) => return Done::tool(false, &format!("the arguments do not fit: {error}")),
        };
        let (root, index) = (self.root.clone(), Arc::clone(&self.index));
        let found = tokio::task::spawn_blocking(move || {
            // A search that panicked has changed nothing that the next one relies on.
            let mut index = index.lock().unwrap_or_else(PoisonError::into_inner);
            index.refresh(&root)?;
            index.search(&query)
        });
        match found.await {
            Ok(Ok(passages)) if passages.is_empty() => Done::tool(true, "no passage matches"),
            Ok(Ok(passages)) => {
                let lines: Vec<String> = passages.iter().map(ToString::to_string).collect();
                Done::tool(true, &lines.join("\n"))
            }
            Ok(Err(error)) => Done::tool(false, &error.to_string()),
            Err(error) => Done::fault(FaultClass::Other, true, &error.to_string()),
        }
    }
}

//! `git`: the verbs that look at history and add to it, in the sandbox.
//!
//! Operations that could lose work, run a program or reach the network are missing. Git's settings
//! can name programs too: hooks, filters, pagers. Those of the system and of the person are not
//! read, and the rest are disabled. Git itself runs in the sandbox.

mod author;
mod drivers;
mod verb;

use std::{ffi::OsStr, path::Path, time::Duration};

use pointsman_kernel::governor::Grant;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Arguments, Tool, ToolContext, ToolFuture, ToolKind, ToolOutput, ToolSpec, View, WorkspaceTools,
    contract::every,
    done, fitting,
    grant::{is_exact, rules},
    limits::ToolLimits,
    sandbox::{self, Confined},
    schema::spec,
    shared::SharedTools,
    shell::refused,
};
use crate::effect::ProgressSink;
pub use author::Author;
use drivers::Drivers;
pub(crate) use drivers::unfiltered;
use verb::{GitRequest, VERBS, allowed, names_git};

/// Settings for every call, which override the repository's.
const SETTINGS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.attributesFile=/dev/null",
    "core.pager=cat",
    "core.editor=false",
    "core.sshCommand=false",
    "branch.autoSetupMerge=false",
    "color.ui=false",
    "commit.gpgSign=false",
    "credential.helper=",
    "diff.external=",
    "diff.ignoreSubmodules=dirty",
    "gc.auto=0",
    "gpg.openpgp.program=false",
    "gpg.program=false",
    "gpg.ssh.program=false",
    "gpg.x509.program=false",
    "maintenance.auto=false",
    "log.showSignature=false",
    "protocol.allow=never",
    "safe.bareRepository=explicit",
    "status.submoduleSummary=false",
    "submodule.recurse=false",
];

/// How long reading a repository's settings may take, and how many bytes they may have.
const READING: (Duration, usize) = (Duration::from_secs(15), 1 << 20);
/// The paragraph that marks a commit.
pub(crate) const TRAILER: &str = "Assisted-by: Pointsman";

const NAME: &str = "git";

/// Runs git.
pub(super) struct GitTool;

impl Tool for GitTool {
    fn name(&self) -> &str {
        NAME
    }

    fn spec(&self, _: &ToolLimits) -> Option<ToolSpec> {
        let verbs: Vec<&str> = VERBS.iter().map(|verb| verb.name).collect();
        let about = format!(
            "Runs git in the workspace, without network, hooks or editor. Subcommands: {}. \
             `restore` needs `--staged`; `commit` needs `-m`.",
            verbs.join(", ")
        );
        let args = json!({ "args": {
            "type": "array", "minItems": 1, "items": { "type": "string" },
            "description": "The subcommand and its arguments, such as [\"diff\", \"--stat\"].",
        } });
        Some(spec(NAME, &about, args, &["args"]))
    }

    fn call<'a>(&'a self, calling: ToolContext<'a>, arguments: Value) -> ToolFuture<'a> {
        Box::pin(async move {
            let ToolContext { tools, shown, .. } = calling;
            let limit = Duration::from_millis(tools.limits().shell_ms);
            match fitting(arguments) {
                Ok(git) => done(tools.git(git, limit, shown).await),
                Err(done) => done,
            }
        })
    }

    fn refuses(&self, tools: &WorkspaceTools, arguments: &Value) -> Option<String> {
        let git = Git::deserialize(arguments).ok()?;
        git.asked(tools.root()).err().map(|said| said.output)
    }

    fn describe(&self, arguments: &Arguments, view: &View<'_>) -> Option<String> {
        Some(view.block("$ git ", &arguments.texts("args")?.join(" ")))
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Execute
    }

    fn always(&self, arguments: &Arguments) -> Option<Vec<Grant>> {
        // A list of words is read with blanks between them.
        let words = arguments.texts("args").unwrap_or_default();
        let plain = |word: &&str| is_exact(word) && !word.contains(' ');
        let exact = words.iter().all(&plain).then(|| words.join(" "));
        let verb = words.first().filter(|verb| plain(verb)).map(|verb| format!("{verb}*"));
        let patterns = exact.filter(|it| !it.is_empty()).into_iter().chain(verb);
        let mut rules = rules(NAME, "args", patterns);
        rules.push(every(NAME));
        Some(rules)
    }
}

/// The arguments of `git`.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Git {
    args: Vec<String>,
}

impl Git {
    /// Returns a call of git.
    pub(super) fn of(arguments: &[&str]) -> Self {
        Self { args: arguments.iter().map(|it| (*it).to_owned()).collect() }
    }

    fn asked(&self, root: &Path) -> Result<GitRequest<'_>, ToolOutput> {
        let asked = allowed(&self.args).map_err(ToolOutput::no)?;
        match asked.places.iter().find(|path| is_gits(root, path)) {
            Some(path) => Err(ToolOutput::no(format!(
                "`{path}` is one of git's own files, which this tool does not accept"
            ))),
            None => Ok(asked),
        }
    }

    /// Returns the command, ready to run.
    pub(super) fn confined(
        &self,
        on: &SharedTools,
        drivers: &Drivers,
    ) -> Result<Confined, ToolOutput> {
        let asked = self.asked(on.folder.root())?;
        let verb = asked.verb;
        let off = drivers.settings(asked.stages);
        let mut program = vec![verb.name];
        program.extend(verb.first);
        let marked = self.args.iter().any(|argument| argument.contains(TRAILER));
        let (options, files) = self.args.split_at(asked.options.min(self.args.len()));
        program.extend(options.iter().skip(1).map(String::as_str));
        if asked.has_message && !marked {
            program.extend(["-m", TRAILER]);
        }
        program.extend(files.iter().map(String::as_str));
        let git = if verb.looks { sandbox::GitAccess::Looks } else { sandbox::GitAccess::Writes };
        let mut confined = ready(on, git, &off, &program)?;
        for (name, value) in author::variables(&on.settings, drivers) {
            confined.command.env(name, value);
        }
        Ok(confined)
    }
}

/// Returns git with our settings and some more, ready to run.
fn ready(
    on: &SharedTools,
    git: sandbox::GitAccess,
    off: &[String],
    arguments: &[&str],
) -> Result<Confined, ToolOutput> {
    let mut program = vec!["git", "--no-pager"];
    for setting in SETTINGS.iter().copied().chain(off.iter().map(String::as_str)) {
        program.extend(["-c", setting]);
    }
    program.extend(arguments);
    let program: Vec<&OsStr> = program.into_iter().map(OsStr::new).collect();
    let root = on.folder.root();
    let place = (&on.folder, "".as_ref());
    let mut confined = on.sandbox().command(on.policy(), place, git, &program).map_err(refused)?;
    confined
        .command
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_OPTIONAL_LOCKS", "0")
        // A repository may allow a protocol by its name, and this wins over it.
        .env("GIT_ALLOW_PROTOCOL", "none")
        .env("GIT_NO_LAZY_FETCH", "1")
        // Nothing above the workspace is its repository.
        .env("GIT_CEILING_DIRECTORIES", root.parent().unwrap_or(root));
    Ok(confined)
}

impl WorkspaceTools {
    /// Runs a call of git that a model makes.
    async fn git(&self, git: Git, limit: Duration, shown: &ProgressSink) -> ToolOutput {
        if let Err(said) = git.asked(self.0.folder.root()) {
            return said;
        }
        let drivers = match self.may_run(&git).await {
            Ok(drivers) => drivers,
            Err(said) => return said,
        };
        let ready = || {
            let (git, drivers) = (git.clone(), drivers.clone());
            move |on: &SharedTools| git.confined(on, &drivers)
        };
        if git.args.first().is_some_and(|verb| verb == "init") {
            let (said, notes) = self.watched(self.command(limit, shown, ready())).await;
            return said.with(&notes);
        }
        let lacks_filter = |said: &ToolOutput| unfiltered(&said.output).filter(|_| !said.ok);
        let mut said = self.command(limit, shown, ready()).await;
        if lacks_filter(&said).is_some() {
            self.refresh(&drivers).await;
            said = self.command(limit, shown, ready()).await;
        }
        if let Some(why) = lacks_filter(&said) {
            said.output.push_str(&why);
        }
        said
    }

    /// Has git note which files it has to compare again. One that was put into the index just
    /// before the index was written is compared by way of its filter, whichever files a call
    /// names.
    pub(super) async fn refresh(&self, drivers: &Drivers) {
        let (git, drivers) = (Git::of(&["add", "--refresh", "--", "."]), drivers.clone());
        let (limit, bytes) = READING;
        drop(self.own_run(move |on| git.confined(on, &drivers), limit, bytes).await);
    }

    /// Makes sure that no untrusted repository is in the way, and reads which programs to disable.
    pub(super) async fn may_run(&self, git: &Git) -> Result<Drivers, ToolOutput> {
        let git = git.clone();
        let refused = self.look(move |on| {
            let asked = git.asked(on.folder.root()).ok()?;
            on.repositories.refusal(&on.folder, on.limits(), |path| asked.covers(path))
        });
        match refused.await.flatten() {
            Some(why) => Err(ToolOutput::no(why)),
            None => self.drivers().await,
        }
    }

    /// Reads which programs the repository's settings name. This runs none of them.
    async fn drivers(&self) -> Result<Drivers, ToolOutput> {
        let (limit, bytes) = READING;
        let list = |on: &SharedTools| {
            ready(on, sandbox::GitAccess::Looks, &[], &["config", "--list", "-z"])
        };
        let ran = self.own_run(list, limit, bytes).await?;
        let listed = super::own::worked(ran, limit).map_err(|why| {
            ToolOutput::no(format!("the repository's settings cannot be read: {why}"))
        })?;
        let large =
            || ToolOutput::no(format!("the repository's settings have more than {bytes} bytes"));
        Drivers::read(&listed.whole().ok_or_else(large)?).map_err(ToolOutput::no)
    }
}

/// Returns whether an argument names one of git's own files: by its words, or through a
/// link. A hook that is put there would run when a person next uses git.
fn is_gits(root: &Path, argument: &str) -> bool {
    let path = root.join(argument);
    let real = path.ancestors().find_map(|path| path.canonicalize().ok());
    let inside = real.as_deref().and_then(|real| real.strip_prefix(root).ok());
    names_git(argument) || inside.and_then(Path::to_str).is_some_and(names_git)
}

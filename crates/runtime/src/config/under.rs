//! A repository's settings under its reader's: who wins where both speak.

use super::{Config, LimitsConfig, ModelConfig, PermissionsConfig, SandboxConfig, WatchConfig};
use crate::{tool::Limits, watch};

impl Config {
    /// Puts a repository's settings under a user's. What is harmless is the repository's
    /// to set; what protects its reader may only become stricter, and is measured against
    /// the usual value where the user has set none. Prices are the user's if there are any.
    #[must_use]
    pub fn under(self, repository: Self) -> Self {
        let Self {
            model,
            limits,
            permissions,
            sandbox,
            watch,
            hooks,
            chat,
            code,
            form,
            explore,
            budgets,
            ..
        } = repository;
        let own = self.model;
        let strictest = match (self.permissions.otherwise, permissions.otherwise) {
            (Some(one), Some(two)) => Some(one.max(two)),
            (one, two) => one.or(two),
        };
        Self {
            model: ModelConfig {
                spec: own.spec,
                base_url: own.base_url,
                max_tokens: model.max_tokens.or(own.max_tokens),
                temperature: model.temperature.or(own.temperature),
                native_tools: model.native_tools.or(own.native_tools),
                prices: own.prices.or(model.prices),
                connect_ms: model.connect_ms.or(own.connect_ms),
                idle_ms: model.idle_ms.or(own.idle_ms),
                answer_bytes: model.answer_bytes.or(own.answer_bytes),
            },
            limits: lower(self.limits, &limits),
            permissions: PermissionsConfig {
                otherwise: strictest,
                repository: permissions.repository,
                ..self.permissions
            },
            watch: sooner(self.watch, &watch),
            journal: self.journal,
            log: self.log,
            sandbox: SandboxConfig {
                limits: self.sandbox.limits.under(&sandbox.limits),
                ..self.sandbox
            },
            mcp: self.mcp,
            hooks: self.hooks.under(&hooks),
            chat: self.chat.under(chat),
            code: self.code.under(code),
            form: self.form.under(form),
            explore: self.explore.under(explore),
            budgets: self.budgets.under(budgets),
        }
    }
}

/// Returns the lower limits.
fn lower(user: LimitsConfig, repository: &LimitsConfig) -> LimitsConfig {
    let usual = Limits::default();
    let size = |size: usize| u64::try_from(size).unwrap_or(u64::MAX);
    LimitsConfig {
        output_bytes: least(user.output_bytes, repository.output_bytes, size(usual.output_bytes)),
        file_bytes: least(user.file_bytes, repository.file_bytes, usual.file_bytes),
        results: least(user.results, repository.results, size(usual.results)),
        look_ms: least(user.look_ms, repository.look_ms, usual.look_ms),
        shell_ms: least(user.shell_ms, repository.shell_ms, usual.shell_ms),
        shell_max_ms: least(user.shell_max_ms, repository.shell_max_ms, usual.shell_max_ms),
        http_ms: least(user.http_ms, repository.http_ms, usual.http_ms),
        http_bytes: least(user.http_bytes, repository.http_bytes, size(usual.http_bytes)),
        redirects: least(user.redirects, repository.redirects, size(usual.redirects)),
        sandbox_ms: least(user.sandbox_ms, repository.sandbox_ms, usual.sandbox_ms),
        repository_entries: user.repository_entries,
        repository_ms: user.repository_ms,
    }
}

/// Returns the watch that pauses sooner. How often it looks and how long it may pause
/// protect nobody: there the user's word counts first.
fn sooner(user: WatchConfig, repository: &WatchConfig) -> WatchConfig {
    let usual = watch::Limits::default();
    let percent = |usual: Option<u8>| usual.unwrap_or(u8::MAX);
    let free = user.disk_free.or(usual.disk_free).unwrap_or(0);
    WatchConfig {
        cpu: least(user.cpu, repository.cpu, percent(usual.processor)),
        memory: least(user.memory, repository.memory, percent(usual.memory)),
        disk_free: repository.disk_free.map(|wanted| wanted.max(free)).or(user.disk_free),
        every_ms: user.every_ms.or(repository.every_ms),
        longest_ms: user.longest_ms.or(repository.longest_ms),
    }
}

/// Returns a repository's value where it is lower than the user's or the usual one; what
/// nobody has set stays unset.
pub(super) fn least<N: Ord>(user: Option<N>, repository: Option<N>, usual: N) -> Option<N> {
    match (user, repository) {
        (user, None) => user,
        (user, Some(wanted)) => Some(wanted.min(user.unwrap_or(usual))),
    }
}

//! The tables of the file, and what a repository's file may not hold.

use pointsman_kernel::{
    diagnostic::Span,
    governor::{Grant, Level},
};
use toml::de::DeValue;

use super::{
    BudgetsConfig, Config, Dated, JournalConfig, LimitsConfig, LogConfig, McpConfig, ModelConfig,
    Origin, PermissionsConfig, Problem, WatchConfig,
    budgets::budgets,
    explore::explore,
    form::form,
    hooks::{hooks, talk},
    keys::{self, Keys},
    only_looks,
    sandbox::sandbox,
};
use crate::model::Spec;

/// Where to write what a repository's file may not hold.
const ELSEWHERE: &str = "a repository's file may not loosen security: write it in your own file \
    (`pointsman doctor` says where), or use the environment or the command line";

type Found = Vec<Problem>;

pub(super) fn config(text: &str, origin: Origin) -> Result<Config, Found> {
    let document = keys::document(text, "see https://toml.io for the format")?;
    let mut found = Vec::new();
    let mut top = Keys::new(document.get_ref(), "the configuration");
    let config = Config {
        model: section(&mut top, "model", origin, &mut found, model),
        limits: section(&mut top, "limits", origin, &mut found, limits),
        permissions: section(&mut top, "permissions", origin, &mut found, permissions),
        sandbox: section(&mut top, "sandbox", origin, &mut found, sandbox),
        mcp: section(&mut top, "mcp", origin, &mut found, mcp),
        watch: section(&mut top, "watch", origin, &mut found, watch),
        journal: section(&mut top, "journal", origin, &mut found, journal),
        log: section(&mut top, "log", origin, &mut found, log),
        hooks: section(&mut top, "hooks", origin, &mut found, hooks),
        chat: section(&mut top, "chat", origin, &mut found, talk),
        code: section(&mut top, "code", origin, &mut found, talk),
        form: section(&mut top, "form", origin, &mut found, form),
        explore: section(&mut top, "explore", origin, &mut found, explore),
        budgets: match top.value("budget").map(|value| (value.get_ref(), keys::span(value))) {
            Some((DeValue::Table(table), _)) => budgets(table, origin, &mut found),
            Some((_, span)) => {
                let hint = "write `[budget.code]`, and below it `model_calls = 500`".into();
                found.push(Problem { message: "`budget` must be a table".into(), hint, span });
                BudgetsConfig::default()
            }
            None => BudgetsConfig::default(),
        },
    };
    top.finish(&mut found);
    if found.is_empty() {
        return Ok(config);
    }
    found.sort_by_key(|problem| problem.span);
    Err(found)
}

fn section<T: Default>(
    top: &mut Keys<'_, '_>,
    name: &'static str,
    origin: Origin,
    found: &mut Found,
    read: impl FnOnce(&mut Keys<'_, '_>, Origin, &mut Found) -> T,
) -> T {
    let place = top.place(name);
    let Some((mut keys, _)) = top.table(name, found) else { return T::default() };
    if name == "sandbox"
        && origin == Origin::Repository
        && !keys.has_only("limits")
        && let Some(span) = place
    {
        let message = "`[sandbox]` cannot be set here".into();
        found.push(Problem { message, hint: ELSEWHERE.into(), span });
        return T::default();
    }
    let settled = read(&mut keys, origin, found);
    keys.finish(found);
    settled
}

/// Complains where a repository's file holds a key that is its reader's to set.
pub(super) fn own(keys: &Keys<'_, '_>, key: &'static str, origin: Origin, found: &mut Found) {
    if origin == Origin::Repository
        && let Some(span) = keys.place(key)
    {
        let message = format!("`{key}` cannot be set here");
        found.push(Problem { message, hint: ELSEWHERE.into(), span });
    }
}

fn model(keys: &mut Keys<'_, '_>, origin: Origin, found: &mut Found) -> ModelConfig {
    // Who chooses the model chooses who sees the files and whose key pays for it.
    own(keys, "use", origin, found);
    own(keys, "base_url", origin, found);
    ModelConfig {
        spec: keys.read("use", spec, found),
        base_url: keys.read("base_url", keys::text, found),
        max_tokens: keys.read("max_tokens", keys::tokens, found),
        temperature: keys.read("temperature", keys::heat, found),
        native_tools: keys.read("proposals", proposals, found),
        prices: prices(keys, found),
        connect_ms: keys.read("connect_timeout", keys::duration, found),
        idle_ms: keys.read("idle_timeout", keys::duration, found),
        answer_bytes: keys.read("answer", keys::size, found),
    }
}

fn spec(value: &DeValue<'_>) -> Result<String, String> {
    let text = keys::text(value)?;
    match text.parse::<Spec>() {
        Ok(_) => Ok(text),
        Err(error) => Err(format!("{error}: {}", error.hint())),
    }
}

fn proposals(value: &DeValue<'_>) -> Result<bool, String> {
    match value.as_str() {
        Some("schema") => Ok(false),
        Some("tools") => Ok(true),
        _ => Err("write `\"schema\"` or `\"tools\"`".into()),
    }
}

fn prices(keys: &mut Keys<'_, '_>, found: &mut Found) -> Option<(u64, u64)> {
    let (mut prices, span) = keys.table("prices", found)?;
    let input = prices.read("input", keys::money, found);
    let output = prices.read("output", keys::money, found);
    let complete = prices.place("input").is_some() && prices.place("output").is_some();
    prices.finish(found);
    if !complete {
        let message = "`prices` needs both `input` and `output`".into();
        let hint = "per million tokens: `{ input = \"2.50\", output = \"10\" }`".into();
        found.push(Problem { message, hint, span });
    }
    input.zip(output)
}

fn limits(keys: &mut Keys<'_, '_>, origin: Origin, found: &mut Found) -> LimitsConfig {
    // Lower ones would keep repositories from being found.
    own(keys, "repository_entries", origin, found);
    own(keys, "repository_timeout", origin, found);
    LimitsConfig {
        output_bytes: keys.read("output", keys::size, found),
        file_bytes: keys.read("file", keys::size, found),
        results: keys.read("results", keys::count, found),
        look_ms: keys.read("look_timeout", keys::duration, found),
        shell_ms: keys.read("shell_timeout", keys::duration, found),
        shell_max_ms: keys.read("shell_timeout_max", keys::duration, found),
        http_ms: keys.read("http_timeout", keys::duration, found),
        http_bytes: keys.read("http_page", keys::size, found),
        redirects: keys.read("http_redirects", keys::count_or_none, found),
        sandbox_ms: keys.read("sandbox_timeout", keys::duration, found),
        repository_entries: keys.read("repository_entries", keys::count, found),
        repository_ms: keys.read("repository_timeout", keys::duration, found),
    }
}

fn permissions(keys: &mut Keys<'_, '_>, origin: Origin, found: &mut Found) -> PermissionsConfig {
    let otherwise = keys.read("otherwise", level, found);
    if otherwise == Some(Level::Allow) {
        own(keys, "otherwise", origin, found);
    }
    let mut rules = Vec::new();
    if let Some(value) = keys.value("rules") {
        match value.get_ref() {
            DeValue::Array(list) => {
                for item in list {
                    let span = keys::span(item);
                    let Some(rule) = grant(item.get_ref(), span, found) else { continue };
                    if origin == Origin::Repository && !harmless(&rule.grant) {
                        let message = format!("`{}` cannot be allowed here", rule.grant.tool);
                        found.push(Problem { message, hint: ELSEWHERE.into(), span });
                    }
                    rules.push(rule);
                }
            }
            _ => found.push(Problem {
                message: "`rules` must be a list".into(),
                hint: "write `rules = [{ allow = \"read\" }, { ask = \"shell\" }]`".into(),
                span: keys::span(value),
            }),
        }
    }
    match origin {
        Origin::User => PermissionsConfig { otherwise, rules, repository: Vec::new() },
        Origin::Repository => PermissionsConfig { otherwise, rules: Vec::new(), repository: rules },
    }
}

/// Returns whether a repository may have such a rule: it lets through only what looks.
fn harmless(rule: &Grant) -> bool {
    rule.level > Level::Allow || only_looks(&rule.tool)
}

fn level(value: &DeValue<'_>) -> Result<Level, String> {
    match value.as_str() {
        Some("allow") => Ok(Level::Allow),
        Some("ask") => Ok(Level::Ask),
        Some("deny") => Ok(Level::Refuse),
        _ => Err("write `\"allow\"`, `\"ask\"` or `\"deny\"`".into()),
    }
}

/// Reads a rule such as `{ allow = TOOL, with = { command = "cargo *" } }`.
fn grant(value: &DeValue<'_>, span: Span, found: &mut Found) -> Option<Dated> {
    let hint = || "write `{ allow = \"TOOL\" }`, `{ ask = … }` or `{ deny = … }`".to_owned();
    let DeValue::Table(table) = value else {
        let message = "a rule must be a table".into();
        found.push(Problem { message, hint: hint(), span });
        return None;
    };
    let mut keys = Keys::new(table, "a rule");
    let levels = [("allow", Level::Allow), ("ask", Level::Ask), ("deny", Level::Refuse)];
    let mut named: Vec<(String, Level)> = Vec::new();
    for (key, level) in levels {
        named.extend(keys.read(key, keys::text, found).map(|tool| (tool, level)));
    }
    let mut arguments = Vec::new();
    if let Some(with) = keys.value("with") {
        let patterns = with.as_ref().as_table().and_then(|table| {
            let pattern = |(name, value): (&toml::Spanned<_>, &toml::Spanned<DeValue<'_>>)| {
                let name: &std::borrow::Cow<'_, str> = name.get_ref();
                Some((name.clone().into_owned(), value.get_ref().as_str()?.to_owned()))
            };
            table.iter().map(pattern).collect::<Option<Vec<_>>>()
        });
        match patterns {
            Some(patterns) => arguments = patterns,
            None => found.push(Problem {
                message: "`with` must hold a pattern for each argument".into(),
                hint: "write `with = { command = \"cargo *\" }`; `*` stands for anything".into(),
                span: keys::span(with),
            }),
        }
    }
    let until_ms = keys.read("until", keys::moment, found);
    keys.finish(found);
    let mut named = named.into_iter();
    if let (Some((tool, level)), None) = (named.next(), named.next()) {
        let grant = Grant { tool, arguments, level, until: None };
        return Some(Dated { grant, until_ms });
    }
    let message = "a rule has one of `allow`, `ask` and `deny`".into();
    found.push(Problem { message, hint: hint(), span });
    None
}

fn mcp(keys: &mut Keys<'_, '_>, origin: Origin, found: &mut Found) -> McpConfig {
    own(keys, "approve", origin, found);
    own(keys, "believe", origin, found);
    McpConfig {
        approve: keys.read("approve", keys::texts, found).unwrap_or_default(),
        believe: keys.read("believe", keys::texts, found).unwrap_or_default(),
        call_ms: keys.read("call_timeout", keys::duration, found),
        start_ms: keys.read("start_timeout", keys::duration, found),
        connect_ms: keys.read("connect_timeout", keys::duration, found),
        stop_ms: keys.read("stop_timeout", keys::duration, found),
        output_bytes: keys.read("output", keys::size, found),
        tools: keys.read("tools", keys::count, found),
    }
}

fn watch(keys: &mut Keys<'_, '_>, _: Origin, found: &mut Found) -> WatchConfig {
    WatchConfig {
        cpu: keys.read("cpu", keys::percent, found),
        memory: keys.read("memory", keys::percent, found),
        disk_free: keys.read("disk_free", keys::size, found),
        every_ms: keys.read("every", keys::duration, found),
        longest_ms: keys.read("longest", keys::duration, found),
    }
}

fn journal(keys: &mut Keys<'_, '_>, origin: Origin, found: &mut Found) -> JournalConfig {
    own(keys, "path", origin, found);
    own(keys, "keep", origin, found);
    own(keys, "busy", origin, found);
    own(keys, "max_size", origin, found);
    JournalConfig {
        path: keys.read("path", keys::path, found),
        keep: keys.read("keep", keys::count, found),
        busy_ms: keys.read("busy", keys::duration, found),
        max_bytes: keys.read("max_size", keys::size, found),
    }
}

fn log(keys: &mut Keys<'_, '_>, origin: Origin, found: &mut Found) -> LogConfig {
    own(keys, "file", origin, found);
    own(keys, "filter", origin, found);
    LogConfig {
        filter: keys.read("filter", keys::text, found),
        file: keys.read("file", keys::path, found),
    }
}

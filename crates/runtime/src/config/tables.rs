//! The tables of the file that are nothing but keys.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use pointsman_agents::form::OnOptional;
use reqwest::Url;
use toml::de::DeValue;

use super::{
    keys::{
        self, Keys, Value, count, count_or_none, duration, flag, ms, path, paths, percent, size,
        text, texts,
    },
    table::{
        Wins::{Kept, Own, Repository, User},
        least, most, table,
    },
};
use crate::{
    local_executor::{AfterTools, Hooks},
    mcp::McpLimits,
    model::{self, Prices, Proposals, Spec},
    store, tool,
    tool::sandbox::{CommandLimits, SandboxPolicy},
    watch,
};

table! {
    /// `[model]`: which model, and how it is asked. The choice of the model decides who sees the
    /// files and whose key pays.
    ModelConfig for model::ModelSettings as _usual = model::ModelSettings::new(Spec::quote());
    spec: String = read "use" spec, Own;
    base_url: String = read "base_url" text, Own;
    max_tokens: u32 = read "max_tokens" keys::tokens, Repository => max_tokens;
    temperature: f64 = read "temperature" keys::heat, Repository => temperature;
    proposals: Proposals = read "proposals" proposals, Repository => proposals;
    prices: Prices = each "prices" prices, User => prices;
    connect: Duration = read "connect_timeout" duration, Repository => connect_timeout;
    idle: Duration = read "idle_timeout" duration, Repository => idle_timeout;
    answer_bytes: usize = read "answer" size, Repository => max_bytes;
}

table! {
    /// `[limits]`: how much a tool may take and say. Lower ones for the search of repositories
    /// would keep them from being found.
    LimitsConfig for tool::ToolLimits as usual = tool::ToolLimits::default();
    output_bytes: usize = read "output" size, least(usual.output_bytes) => output_bytes;
    file_bytes: u64 = read "file" size, least(usual.file_bytes) => file_bytes;
    results: usize = read "results" count, least(usual.results) => results;
    look_ms: u64 = read "look_timeout" ms, least(usual.look_ms) => look_ms;
    shell_ms: u64 = read "shell_timeout" ms, least(usual.shell_ms) => shell_ms;
    shell_max_ms: u64 = read "shell_timeout_max" ms, least(usual.shell_max_ms) => shell_max_ms;
    http_ms: u64 = read "http_timeout" ms, least(usual.http_ms) => http_ms;
    http_bytes: usize = read "http_page" size, least(usual.http_bytes) => http_bytes;
    redirects: usize = read "http_redirects" count_or_none, least(usual.redirects) => redirects;
    sandbox_ms: u64 = read "sandbox_timeout" ms, least(usual.sandbox_ms) => sandbox_ms;
    repository_entries: usize = read "repository_entries" count, Own => repository_entries;
    repository_ms: u64 = read "repository_timeout" ms, Own => repository_ms;
}

table! {
    /// `[sandbox]`: what commands reach. A repository may lower the limits, and say nothing else.
    SandboxConfig for SandboxPolicy as _usual = SandboxPolicy::default();
    network: bool = read "network" flag, Kept => network;
    read_only: Vec<PathBuf> = read "read_only" paths, Kept => read_only;
    writable: Vec<PathBuf> = read "writable" paths, Kept => writable;
    env: Vec<String> = read "env" texts, Kept;
    bubblewrap: PathBuf = read "bubblewrap" path, Kept => bubblewrap;
    landlock: bool = read "landlock" flag, Kept => landlock;
    private_addresses: bool = read "private_addresses" flag, Kept;
    toolchains: bool = read "toolchains" flag, Kept;
    ["limits"] limits: CommandLimitsConfig;
    only "limits";
}

table! {
    /// `[sandbox.limits]`: how much of the machine commands take.
    CommandLimitsConfig for CommandLimits as usual = CommandLimits::default();
    open_files: u64 = read "open_files" count, least(usual.open_files) => open_files;
    file_bytes: u64 = read "file" size, least(usual.file_bytes) => file_bytes;
    cpu_ms: u64 = read "cpu" ms, least(usual.cpu_ms) => cpu_ms;
    data_bytes: u64 = read "data" size, least(usual.data_bytes) => data_bytes;
    processes: u64 = read "processes" count, least(usual.processes) => processes;
    memory_bytes: u64 = read "memory" size, least(usual.memory()) => memory_bytes;
    temporary_bytes: u64 = read "temporary" size, least(usual.temporary_bytes) => temporary_bytes;
    disk_free_bytes: u64 = read "disk_free" size, most(usual.disk_free_bytes) => disk_free_bytes;
}

table! {
    /// `[mcp]`: servers that offer tools.
    McpConfig for McpLimits as _usual = McpLimits::default();
    approve: Vec<String> = read "approve" texts, Own;
    believe: Vec<String> = read "believe" texts, Own;
    call: Duration = read "call_timeout" duration, Kept => call;
    start: Duration = read "start_timeout" duration, Kept => start;
    connect: Duration = read "connect_timeout" duration, Kept => connect;
    stop: Duration = read "stop_timeout" duration, Kept => stop;
    output_bytes: usize = read "output" size, Kept => output;
    tools: usize = read "tools" count, Kept => tools;
}

table! {
    /// `[watch]`: when runs pause because the machine is short of something. Its interval and its
    /// longest pause protect no one, so a repository may set them.
    WatchConfig for watch::ResourceLimits as usual = watch::ResourceLimits::default();
    cpu: u8 = read "cpu" percent, least(usual.processor.unwrap_or(u8::MAX)) => processor;
    memory: u8 = read "memory" percent, least(usual.memory.unwrap_or(u8::MAX)) => memory;
    disk_free: u64 = read "disk_free" size, most(usual.disk_free.unwrap_or(0)) => disk_free;
    every: Duration = read "every" duration, User => every;
    longest: Duration = read "longest" duration, User => longest;
}

table! {
    /// `[journal]`: where runs are kept.
    JournalConfig for store::SqliteOptions as _usual = store::SqliteOptions::default();
    path: PathBuf = read "path" path, Own;
    store: String = read "store" text, Own;
    keep: u64 = read "keep" count, Own;
    busy: Duration = read "busy" duration, Own => busy;
    max_bytes: u64 = read "max_size" size, Own => max_bytes;
}

table! {
    /// `[log]`: what the program says about itself.
    LogConfig;
    filter: String = read "filter" text, Own;
    file: PathBuf = read "file" path, Own;
    json: bool = read "format" is_json, Own;
}

table! {
    /// `[hooks]`: what runs after a batch of tools that changed something. A repository may turn
    /// commits off.
    HooksConfig for Hooks as usual = Hooks::default();
    commit: bool = read "commit" flag, least(usual.commit).told() => commit;
    diff_bytes: usize = read "diff" size, Own => diff_bytes;
    message_ms: u64 = read "message_timeout" ms, Own => message_ms;
    after_tools: Vec<AfterTools> = each "after_tools" after_tools, Own => after_tools;
}

table! {
    /// `[chat]` or `[code]`. A repository may turn its own instructions off.
    TalkConfig;
    instructions: bool = read "instructions" flag, least(true);
    piped_bytes: u64 = read "piped" size, Own;
    piped_wait: Duration = read "piped_timeout" duration, Own;
}

table! {
    /// `[form]`: how forms are filled, in which browser, and what is stored.
    FormConfig;
    redact: bool = read "redact" flag, most(true).told();
    submit: Submit = read "submit" Submit::of, most(Submit::Ask).told();
    profile: PathBuf = read "profile" path, Own;
    attempts_per_field: u16 = read "attempts_per_field" attempts, User;
    optional: OnOptional = read "optional" optional, User;
    sites: Vec<String> = read "sites" sites, Own;
    driver: PathBuf = read "driver" path, Own;
    browser: PathBuf = read "browser" path, Own;
    attach: String = read "attach" attach, Own;
    visible: bool = read "visible" flag, Own;
    keep: Duration = read "keep" duration, Own;
    start: Duration = read "start_timeout" duration, User;
    load: Duration = read "load_timeout" duration, User;
    settle: Duration = read "settle_timeout" duration, User;
    bare: Duration = read "bare_timeout" duration, User;
    fill_ms: u64 = read "fill_timeout" ms, User;
    verify_ms: u64 = read "verify_timeout" ms, User;
    press: Duration = read "press_timeout" duration, User;
    list: Duration = read "list_timeout" duration, User;
    parts: Duration = read "parts_timeout" duration, User;
    command: Duration = read "command_timeout" duration, User;
    stop: Duration = read "stop_timeout" duration, User;
}

table! {
    /// `[explore]`: which Appium server is used, and how long a device is given.
    ExploreConfig;
    appium: String = read "appium" appium, Own;
    quiet: Duration = read "quiet" duration, User;
    settle: Duration = read "settle_timeout" duration, User;
    poll: Duration = read "poll" duration, User;
    wait: Duration = read "wait" duration, User;
    command: Duration = read "command_timeout" duration, User;
    session: Duration = read "session_timeout" duration, User;
    install: Duration = read "install_timeout" duration, User;
    launch: Duration = read "launch_timeout" duration, User;
    connect: Duration = read "connect_timeout" duration, User;
    close: Duration = read "close_timeout" duration, User;
    hold: Duration = read "hold" duration, User;
    swipe: Duration = read "swipe" duration, User;
    distance: u16 = read "distance" distance, User;
}

table! {
    /// `[serve]`: how runs are served over HTTP, who may send requests, and how much one client
    /// may take.
    ServeConfig;
    listen: String = read "listen" listen, Own;
    jobs: usize = read "jobs" count, Own;
    stream_buffer: usize = read "stream_buffer" places, Own;
    keep_alive: Duration = read "keep_alive" duration, Own;
    drain: Duration = read "drain" duration, Own;
    tls_cert: PathBuf = read "tls_cert" path, Own;
    tls_key: PathBuf = read "tls_key" path, Own;
    tokens: PathBuf = read "tokens" path, Own;
    require_token: bool = read "require_token" flag, Own;
    allow_hosts: Vec<String> = read "allow_hosts" hosts, Own;
    body_bytes: usize = read "body" size, Own;
    header: Duration = read "header_timeout" duration, Own;
    body: Duration = read "body_timeout" duration, Own;
    write: Duration = read "write_timeout" duration, Own;
    connections: usize = read "connections" places, Own;
    streams: usize = read "streams" places, Own;
    rate: u32 = read "rate" count, Own;
}

/// Whether a filled form is sent.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub enum Submit {
    /// Without a question.
    Yes,
    /// After a person said so.
    #[default]
    Ask,
    /// Not at all.
    Never,
}

impl Submit {
    fn of(value: &DeValue<'_>) -> Result<Self, String> {
        let words = [("yes", Self::Yes), ("ask", Self::Ask), ("never", Self::Never)];
        keys::word(value, &words, "write `\"never\"`, `\"ask\"` or `\"yes\"`")
    }
}

impl JournalConfig {
    /// Returns how journals are opened. A command drives one run at a time, so its entries are
    /// written on its own thread.
    pub fn options(&self) -> store::SqliteOptions {
        self.clone()
            .over(store::SqliteOptions { inline_commit: true, ..store::SqliteOptions::default() })
    }
}

impl CommandLimitsConfig {
    /// Returns the limits, with the usual ones where none is set.
    #[must_use]
    pub fn limits(&self) -> CommandLimits {
        self.clone().over(CommandLimits::default())
    }
}

impl HooksConfig {
    /// Returns what a host runs.
    pub fn hooks(&self) -> Hooks {
        self.clone().over(Hooks::default())
    }
}

impl FormConfig {
    /// Returns how often a field is filled: once, and one more time, where nothing is said.
    pub fn attempts(&self) -> u16 {
        self.attempts_per_field.unwrap_or(2)
    }
}

fn spec(value: &DeValue<'_>) -> Result<String, String> {
    let text = text(value)?;
    match text.parse::<Spec>() {
        Ok(_) => Ok(text),
        Err(error) => Err(format!("{error}: {}", error.hint())),
    }
}

/// Reads the format of the log.
fn is_json(value: &DeValue<'_>) -> Result<bool, String> {
    keys::word(value, &[("text", false), ("json", true)], "write `\"text\"` or `\"json\"`")
}

fn proposals(value: &DeValue<'_>) -> Result<Proposals, String> {
    let words = [("schema", Proposals::Schema), ("tools", Proposals::Tools)];
    keys::word(value, &words, "write `\"schema\"` or `\"tools\"`")
}

fn prices(keys: &Keys<'_>, value: Value<'_>) -> Option<Prices> {
    let hint = "per million tokens: `{ input = \"2.50\", output = \"10\" }`";
    let mut prices = keys.inline(value, "`[prices]`", hint)?;
    let input = prices.read("input", keys::money);
    let output = prices.read("output", keys::money);
    if !(prices.has("input") && prices.has("output")) {
        keys.tell("`prices` needs both `input` and `output`", hint, keys::span(value));
    }
    prices.finish();
    Some(Prices { input: input?, output: output? })
}

/// Reads commands such as `{ run = "cargo fmt", when = [TOOL], timeout = "30s" }`.
fn after_tools(keys: &Keys<'_>, value: Value<'_>) -> Option<Vec<AfterTools>> {
    let hint = "write `after_tools = [{ run = \"cargo fmt\", when = [\"edit\", \"write\"] }]`";
    let mut commands = Vec::new();
    for item in keys.list("after_tools", value, hint)? {
        let Some(mut hook) = keys.inline(item, "a hook", hint) else { continue };
        let run = hook.read("run", text);
        let when = hook.read("when", texts).unwrap_or_default();
        let timeout_ms = hook.read("timeout", ms);
        match run {
            Some(run) => commands.push(AfterTools { run, when, timeout_ms }),
            None => keys.tell("a hook needs a command to `run`", hint, keys::span(item)),
        }
        hook.finish();
    }
    Some(commands)
}

fn attempts(value: &DeValue<'_>) -> Result<u16, String> {
    keys::up_to(value, 1, 20, "write a number from 1 to 20, including the first attempt")
}

fn distance(value: &DeValue<'_>) -> Result<u16, String> {
    keys::up_to(value, 1, 65_535, "write a number of device points from 1 to 65535")
}

fn optional(value: &DeValue<'_>) -> Result<OnOptional, String> {
    let words = [("skip", OnOptional::Skip), ("error", OnOptional::Error)];
    keys::word(value, &words, "write `\"skip\"` or `\"error\"`")
}

fn sites(value: &DeValue<'_>) -> Result<Vec<String>, String> {
    let fits = |site: &String| {
        let rest = site.strip_prefix("https://").or_else(|| site.strip_prefix("http://"));
        rest.is_some_and(|host| !host.is_empty() && !host.contains(['/', ' ', '*']))
    };
    let sites = texts(value).ok().filter(|sites| sites.iter().all(fits));
    sites.ok_or_else(|| "write a list of sites: `[\"https://example.org\"]`".into())
}

/// Reads hosts as a request names them: a name or an address, and a port if it is not the usual one.
fn hosts(value: &DeValue<'_>) -> Result<Vec<String>, String> {
    let fits = |host: &String| !host.is_empty() && !host.contains(['/', ' ', '*', '@']);
    let hosts = texts(value).ok().filter(|hosts| hosts.iter().all(fits));
    hosts.ok_or_else(|| "write a list of hosts: `[\"agents.example.org\"]`".into())
}

/// Reads the address of a driver, or that of a browser's debugger.
fn attach(value: &DeValue<'_>) -> Result<String, String> {
    let hint = "write the address of a driver, `\"http://127.0.0.1:9515\"`, or of a browser's debugger, `\"127.0.0.1:9222\"`";
    let port = |text: &str| text.rsplit_once(':').is_some_and(|(_, it)| it.parse::<u16>().is_ok());
    keys::fitting(value, |text| text.starts_with("http://") || port(text), hint)
}

fn listen(value: &DeValue<'_>) -> Result<String, String> {
    let hint = "write an address and a port: `\"127.0.0.1:7100\"`";
    keys::fitting(value, |text| text.parse::<SocketAddr>().is_ok(), hint)
}

/// Reads a number for which memory is set aside.
fn places(value: &DeValue<'_>) -> Result<usize, String> {
    keys::up_to(value, 1, 1_000_000, "write a number from 1 to 1000000")
}

fn appium(value: &DeValue<'_>) -> Result<String, String> {
    let fits = |text: &str| {
        let url = Url::parse(text).ok();
        url.is_some_and(|it| it.has_host() && matches!(it.scheme(), "http" | "https"))
    };
    let hint = "write the address of an Appium server: `\"http://127.0.0.1:4723\"`";
    keys::fitting(value, fits, hint)
}

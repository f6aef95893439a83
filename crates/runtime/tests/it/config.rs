//! `pointsman.toml`: what it may say, who may say it, and where mistakes are.

use std::{fs, path::Path, time::Duration};

use pointsman_kernel::governor::{Grant, Level};
use pointsman_runtime::{
    config::{Config, ConfigError, ConfigOrigin, ResolvedConfig, milliseconds, rule},
    engine::ApprovedServers,
    local_executor::AfterTools,
    mcp,
    model::{Prices, Proposals},
};

const WHOLE: &str = r#"
[model]
max_tokens = 1000
temperature = 0.5
proposals = "tools"
prices = { input = "2.50", output = "10" }
connect_timeout = "5s"
idle_timeout = "2m"
answer = "1MiB"

[limits]
output = "16KiB"
file = "1MB"
results = 50
look_timeout = "10s"
shell_timeout = "1m"
shell_timeout_max = "1h"
http_timeout = "20s"
http_page = "512KiB"
http_redirects = 0

[permissions]
otherwise = "deny"
rules = [
    { allow = "read" },
    { deny = "shell", with = { command = "rm *" } },
    { ask = "shell" },
]

[watch]
cpu = 80
memory = 85
disk_free = "5GB"
every = "5s"
longest = "10m"

[hooks]
commit = false

[chat]
instructions = false

[code]
instructions = true
"#;

fn problems(text: &str, origin: ConfigOrigin) -> Vec<(usize, String, String)> {
    let found = Config::parse(text, origin).expect_err("it has mistakes");
    found.into_iter().map(|it| (it.span.locate(text).0, it.message, it.hint)).collect()
}

#[test]
fn every_key_is_read() {
    let config = Config::parse(WHOLE, ConfigOrigin::Repository).expect("it is harmless");
    assert_eq!(config.model.prices, Some(Prices { input: 2_500_000, output: 10_000_000 }));
    assert_eq!(config.model.answer_bytes, Some(1 << 20));
    assert_eq!(config.model.connect, Some(Duration::from_secs(5)));
    assert_eq!(config.limits.file_bytes, Some(1_000_000));
    assert_eq!(config.limits.redirects, Some(0));
    assert_eq!(config.watch.disk_free, Some(5_000_000_000));
    assert_eq!(config.permissions.repository.len(), 3);
    assert_eq!(config.instructions(&pointsman_agents::all()).off, ["chat".into()]);
    assert!(!config.hooks.hooks().commit);
    let own = "[model]\nbase_url = \"http://box/v1\"\n[sandbox]\nnetwork = true\n\
        read_only = [\"/opt\"]\nwritable = [\"/var/cache/x\"]\nenv = [\"CARGO_HOME\"]\n\
        bubblewrap = \"/usr/bin/bwrap\"\nlandlock = false\nprivate_addresses = true\n\
        [mcp]\napprove = [\"files\"]\nbelieve = [\"files\"]\ncall_timeout = \"1m\"\n\
        start_timeout = \"9s\"\n[journal]\npath = \"/tmp/j.db\"\nkeep = 9\n\
        busy = \"5m\"\nmax_size = \"2GB\"\n[log]\nfile = \"/tmp/log\"\nfilter = \"info\"\n\
        [hooks]\ncommit = true\ndiff = \"1KiB\"\nmessage_timeout = \"2s\"\n\
        after_tools = [{ run = \"make\", when = [\"edit\"], timeout = \"3s\" }, { run = \"x\" }]\n";
    let config = Config::parse(own, ConfigOrigin::User).expect("a user may set this key");
    assert_eq!(config.sandbox.landlock, Some(false));
    assert_eq!(config.mcp.start, Some(Duration::from_secs(9)));
    let options = config.journal.options();
    assert_eq!((options.busy.as_secs(), options.max_bytes), (300, Some(2_000_000_000)));
    let hooks = config.hooks.hooks();
    assert_eq!((hooks.commit, hooks.diff_bytes, hooks.message_ms), (true, 1024, 2000));
    let first =
        AfterTools { run: "make".into(), when: vec!["edit".into()], timeout_ms: Some(3000) };
    assert_eq!((hooks.after_tools.len(), hooks.after_tools.first()), (2, Some(&first)));
}

#[test]
fn repository_only_tightens_limits_of_commands() {
    let all = "[sandbox.limits]\nopen_files = 9\nfile = \"1MiB\"\ncpu = \"5s\"\n\
        data = \"2MiB\"\nprocesses = 7\nmemory = \"3MiB\"\ntemporary = \"4MiB\"\n\
        disk_free = \"5MiB\"\n";
    let strict = Config::parse(all, ConfigOrigin::Repository).expect("it is stricter");
    let limits = strict.sandbox.limits.limits();
    assert_eq!((limits.open_files, limits.processes, limits.cpu_ms), (9, 7, 5_000));
    assert_eq!((limits.file_bytes, limits.data_bytes), (1 << 20, 2 << 20));
    assert_eq!((limits.memory_bytes, limits.temporary_bytes), (Some(3 << 20), 4 << 20));

    let usual = Config::default().under(strict.clone()).sandbox.limits.limits();
    assert_eq!(usual.processes, 7);
    // More may stay free than is usual, and not less.
    assert_eq!(usual.disk_free_bytes, 256 << 20);
    let loose = "[sandbox.limits]\nprocesses = 9999999\nmemory = \"999999GB\"\n\
        file = \"999999GB\"\ndisk_free = \"1GB\"\n";
    let loose = Config::parse(loose, ConfigOrigin::Repository).expect("the settings are valid");
    let settled = strict.under(loose.clone()).sandbox.limits.limits();
    assert_eq!((settled.processes, settled.memory_bytes), (7, Some(3 << 20)));
    assert_eq!((settled.file_bytes, settled.disk_free_bytes), (1 << 20, 1_000_000_000));
    let settled = Config::default().under(loose).sandbox.limits.limits();
    assert!(settled.memory_bytes.is_some_and(|most| most < 999_999_000_000_000));
    assert_eq!(settled.processes, Config::default().sandbox.limits.limits().processes);

    let found = problems("[sandbox]\nlimits = { fiel = \"1B\" }", ConfigOrigin::User);
    assert!(found.iter().any(|it| it.1 == "`[sandbox.limits]` has no key `fiel`"), "{found:?}");
    let both = "[sandbox]\nnetwork = true\nlimits = { processes = 7 }";
    assert!(!problems(both, ConfigOrigin::Repository).is_empty());
}

#[test]
fn a_mistake_has_its_place_and_a_way_out() {
    for (text, line, message, hint) in [
        ("[model]\nmax_token = 1", 2, "no key `max_token`", "did you mean `max_tokens`?"),
        ("[modell]", 1, "no key `modell`", "did you mean `model`?"),
        ("\n[model]\nmax_tokens = \"many\"", 3, "cannot be `\"many\"`", "a whole number"),
        ("[model]\ntemperature = 9", 2, "cannot be `9`", "from 0 to 2"),
        ("[model]\nprices = { input = \"1\" }", 2, "needs both", "per million tokens"),
        ("[model]\nproposals = \"xml\"", 2, "cannot be `\"xml\"`", "`\"schema\"` or `\"tools\"`"),
        ("[limits]\nshell_timeout = \"10\"", 2, "cannot be `\"10\"`", "`\"15s\"`"),
        ("[limits]\nshell_timeout = \"0s\"", 2, "cannot be", "a number and a unit"),
        ("[limits]\nfile = 4", 2, "cannot be `4`", "`\"32KiB\"`"),
        ("[watch]\nmemory = 101", 2, "cannot be `101`", "from 1 to 100"),
        ("[permissions]\nrules = [{ allow = \"a\", deny = \"a\" }]", 2, "has one of", "write"),
        ("[permissions]\nrules = [{ alow = \"a\" }]", 2, "no key `alow`", "`allow`"),
        ("[permissions]\nrules = \"read\"", 2, "must be a list", "write"),
        ("[permissions]\notherwise = \"refuse\"", 2, "cannot be", "`\"deny\"`"),
        ("[sandbox]\nread_only = [\"here\"]", 2, "cannot be a list", "start with `/`"),
        ("[hooks]\nafter_tools = \"make\"", 2, "must be a list", "run ="),
        ("[hooks]\nafter_tools = [{ when = [\"edit\"] }]", 2, "needs a command", "run ="),
        ("[hooks]\nafter_tools = [{ rum = \"x\" }]", 2, "no key `rum`", "`run`"),
        ("[chat]\ninstructions = \"no\"", 2, "cannot be `\"no\"`", "true"),
        ("model = 3", 1, "must be a table", "[model]"),
        ("[model", 1, "invalid TOML", "toml.io"),
    ] {
        let found = problems(text, ConfigOrigin::User);
        let fits = |it: &&(usize, String, String)| {
            it.0 == line && it.1.contains(message) && it.2.contains(hint)
        };
        assert!(found.iter().any(|it| fits(&it)), "{text}: {found:?}");
    }
}

#[test]
fn a_repository_may_not_loosen_security() {
    for text in [
        "[model]\nbase_url = \"http://example.com\"",
        "[model]\nuse = \"quote\"",
        "[model]\nuse = \"openai:gpt-5\"",
        "[model]\nuse = \"script:/etc/passwd\"",
        "[sandbox]\nnetwork = false",
        "[mcp]\napprove = [\"files\"]",
        "[mcp]\nbelieve = [\"files\"]",
        "[journal]\npath = \"/tmp/x.db\"",
        "[log]\nfile = \"/tmp/x\"",
        "[log]\nfilter = \"trace\"",
        "[journal]\nkeep = 1",
        "[journal]\nbusy = \"1s\"",
        "[journal]\nmax_size = \"1MB\"",
        "[hooks]\ncommit = true",
        "[hooks]\nafter_tools = [{ run = \"curl x\" }]",
        "[permissions]\notherwise = \"allow\"",
        "[permissions]\nrules = [{ allow = \"write\" }]",
        "[permissions]\nrules = [{ allow = \"git\", with = { args = \"status\" } }]",
        "[permissions]\nrules = [{ allow = \"http_get\" }]",
        "[permissions]\nrules = [{ allow = \"*\" }]",
        "[permissions]\nrules = [{ allow = \"read*\" }]",
    ] {
        let found = problems(text, ConfigOrigin::Repository);
        assert!(found.iter().any(|it| it.2.contains("cannot loosen")), "{text}: {found:?}");
        assert!(Config::parse(text, ConfigOrigin::User).is_ok(), "a user may: {text}");
    }
}

#[test]
fn a_repository_only_makes_permissions_stricter() {
    let parse = |text: &str, origin| Config::parse(text, origin).expect("the settings are valid");
    let user = parse(
        "[permissions]\notherwise = \"deny\"\nrules = [{ allow = \"shell\" }]",
        ConfigOrigin::User,
    );
    let repository = parse(
        "[permissions]\notherwise = \"ask\"\nrules = [{ ask = \"git\" }, { deny = \"shell\" }]",
        ConfigOrigin::Repository,
    );
    let both = user.under(repository);
    let permissions = both.permissions.permissions(vec![rule("edit", Level::Allow)], true);
    assert_eq!(permissions.otherwise, Level::Refuse);
    let order: Vec<(&str, Level)> =
        permissions.rules.iter().map(|rule| (rule.tool.as_str(), rule.level)).collect();
    assert_eq!(
        order.get(..4).expect("they are there"),
        [
            ("edit", Level::Allow),
            ("shell", Level::Refuse),
            ("shell", Level::Allow),
            // Asking would be milder than what its reader has settled.
            ("git", Level::Refuse),
        ]
    );
}

#[test]
fn default_rules_do_not_override_denials() {
    let send = Grant {
        arguments: vec![("class".into(), "send".into())],
        ..rule("form.submit", Level::Allow)
    };
    let usual = [send, rule("form.submit", Level::Ask)];
    let order = |user: &str, repository: &str| -> Vec<String> {
        let read = |rules: &str, origin| {
            let text = format!("[permissions]\nrules = [{rules}]");
            Config::parse(&text, origin).expect("the settings are valid")
        };
        let both = read(user, ConfigOrigin::User).under(read(repository, ConfigOrigin::Repository));
        let rules = both.permissions.permissions_with(Vec::new(), &usual, true).rules;
        let told = |rule: &Grant| {
            let named = format!("{:?} {}", rule.level, rule.tool);
            rule.arguments.iter().fold(named, |named, (_, it)| named + " " + it)
        };
        rules.iter().map(told).take_while(|it| it != "Allow context.fts_search").collect()
    };
    let usual = ["Allow form.submit send", "Ask form.submit"];
    assert_eq!(order("", ""), usual);
    let refused = [&["Refuse form.submit"][..], &usual].concat();
    assert_eq!(order("{ deny = \"form.submit\" }", ""), refused);
    assert_eq!(order("", "{ deny = \"form.submit\" }"), refused);
    // A user who denies everything else has denied this, and keeps their other rules.
    let all = "{ allow = \"shell\" }, { deny = \"*\" }";
    let wanted = [&refused[..], &["Allow shell", "Refuse *"]].concat();
    assert_eq!(order(all, ""), wanted);
    // Asking is stricter than the setting; allowing is not, and changes nothing.
    let asks = ["Ask form.submit send", "Ask form.submit"];
    assert_eq!(order("{ ask = \"form.submit\" }", "")[..2], asks);
    assert_eq!(order("{ allow = \"*\" }", "")[..2], usual);
    // Who is asked about one control and refuses the others gets just that.
    let some = "{ ask = \"form.submit\", with = { label = \"Apply\" } }, { deny = \"form.*\" }";
    let wanted = ["Ask form.submit Apply send", "Ask form.submit Apply", "Refuse form.submit"];
    assert_eq!(order(some, "")[..3], wanted);
}

#[test]
fn a_repository_turns_hooks_off_and_never_on() {
    let parse = |text: &str, origin| Config::parse(text, origin).expect("the settings are valid");
    let user = "[hooks]\nafter_tools = [{ run = \"make\" }]\n[chat]\ninstructions = false";
    let repository = "[hooks]\ncommit = false\n[chat]\ninstructions = true";
    let both = parse(user, ConfigOrigin::User).under(parse(repository, ConfigOrigin::Repository));
    let hooks = both.hooks.hooks();
    assert_eq!((hooks.commit, hooks.after_tools.len()), (false, 1));
    assert_eq!(both.instructions(&pointsman_agents::all()).off, ["chat".into()]);
}

#[test]
fn a_repository_only_makes_limits_and_the_watch_stricter() {
    let user = "[model]\nprices = { input = \"3\", output = \"15\" }\n\
        [limits]\noutput = \"8KiB\"\nresults = 300\nshell_timeout = \"5m\"\n\
        [watch]\ncpu = 50\ndisk_free = \"10GB\"\nevery = \"7s\"\n";
    let repository = "[model]\nprices = { input = \"0\", output = \"0\" }\n\
        [limits]\noutput = \"1MiB\"\nresults = 100\nshell_timeout = \"10h\"\nfile = \"9GB\"\n\
        look_timeout = \"1s\"\nshell_timeout_max = \"10h\"\n\
        [watch]\ncpu = 90\nmemory = 100\ndisk_free = \"1GB\"\nevery = \"1ms\"\nlongest = \"1m\"\n";
    let parse = |text: &str, origin| Config::parse(text, origin).expect("the settings are valid");
    let user = parse(user, ConfigOrigin::User);
    let both = user.clone().under(parse(repository, ConfigOrigin::Repository));
    assert_eq!(both.model.prices, Some(Prices { input: 3_000_000, output: 15_000_000 }));
    assert_eq!(both.limits.output_bytes, Some(8 << 10));
    assert_eq!(both.limits.results, Some(100));
    assert_eq!(both.limits.shell_ms, Some(300_000));
    // Where the user has set nothing, the usual value is the most.
    assert_eq!(both.limits.file_bytes, Some(4 << 20));
    assert_eq!(both.limits.look_ms, Some(1_000));
    assert_eq!(both.limits.shell_max_ms, Some(600_000));
    assert_eq!((both.watch.cpu, both.watch.memory), (Some(50), Some(85)));
    assert_eq!(both.watch.disk_free, Some(10_000_000_000));
    assert_eq!(
        (both.watch.every, both.watch.longest),
        (Some(Duration::from_secs(7)), Some(Duration::from_mins(1)))
    );
    assert_eq!(user.clone().under(Config::default()), user);
    let priced =
        parse("[model]\nprices = { input = \"1\", output = \"2\" }", ConfigOrigin::Repository);
    assert_eq!(
        Config::default().under(priced).model.prices,
        Some(Prices { input: 1_000_000, output: 2_000_000 })
    );
}

#[test]
fn the_nearest_file_is_found_and_a_missing_one_settles_nothing() {
    let folder = std::env::temp_dir().join(format!("pointsman-config-{}", std::process::id()));
    let deep = folder.join("a/b");
    fs::create_dir_all(&deep).expect("the folder is created");
    fs::write(folder.join("pointsman.toml"), "[watch]\ncpu = 1\n").expect("the file is written");
    let found = Config::find(&deep).expect("it is above");
    assert!(found.ends_with("pointsman.toml"));
    fs::write(deep.join("pointsman.toml"), "[watch]\ncpu = 0\n").expect("the file is written");
    let found = Config::find(&deep).expect("it is here");
    let error = Config::read(&found, ConfigOrigin::Repository).expect_err("it has a mistake");
    assert!(matches!(error, ConfigError::Mistakes { .. }));
    assert!(Config::read(&deep.join("none.toml"), ConfigOrigin::User).expect("no error").is_none());
    fs::remove_dir_all(&folder).expect("the folder is removed");
}

#[test]
fn durations_need_a_unit() {
    assert_eq!(milliseconds("30d"), Some(2_592_000_000));
    assert_eq!(milliseconds("250ms"), Some(250));
    for text in ["", "5", "s", "-1s", "1.5s", "99999999999999999999s", "1w"] {
        assert_eq!(milliseconds(text), None, "{text}");
    }
}

#[test]
fn engine_uses_the_resolved_settings() {
    let own = "[sandbox]\nnetwork = true\nenv = [\"CARGO_HOME\"]\nlandlock = false\n\
        read_only = [\"/opt\"]\nprivate_addresses = true\ntoolchains = false\n";
    let user = Config::parse(&format!("{WHOLE}{own}"), ConfigOrigin::User)
        .expect("a user may set this key");
    let agents = pointsman_agents::all();
    let engine = |config: &Config| {
        config.engine(&agents, Path::new("/work"), Path::new("/cache"), &|_| None).expect("a model")
    };
    let (set, usual) = (engine(&user), engine(&Config::default()));
    assert_eq!((set.model.max_tokens, set.model.temperature), (1000, Some(0.5)));
    assert_eq!(set.model.prices, Some(Prices { input: 2_500_000, output: 10_000_000 }));
    assert_eq!((set.model.proposals, set.model.max_bytes), (Proposals::Tools, 1 << 20));
    assert_eq!(set.model.connect_timeout, Duration::from_secs(5));
    assert_eq!(set.model.idle_timeout, Duration::from_mins(2));
    let limits = &set.tools.limits;
    assert_eq!((limits.output_bytes, limits.file_bytes, limits.results), (16 << 10, 1_000_000, 50));
    assert_eq!((limits.look_ms, limits.shell_ms, limits.shell_max_ms), (10_000, 60_000, 3_600_000));
    assert_eq!((limits.http_ms, limits.http_bytes, limits.redirects), (20_000, 512 << 10, 0));
    assert_eq!(limits.repository_ms, usual.tools.limits.repository_ms);
    let (sandbox, none) = (&set.tools.sandbox, &usual.tools.sandbox);
    assert!(sandbox.network && !sandbox.landlock && set.tools.http_private);
    assert_eq!(sandbox.read_only, [Path::new("/opt")]);
    assert_eq!(sandbox.env, [&none.env[..], &["CARGO_HOME".into()]].concat());
    assert!(sandbox.toolchains.is_none());
    assert!(none.toolchains.as_ref().is_some_and(|it| it.starts_with("/cache")), "{none:?}");
    assert!(usual.tools.index.starts_with("/cache"), "{:?}", usual.tools.index);
    let watch = set.watch.expect("it is watched");
    assert_eq!((watch.processor, watch.memory), (Some(80), Some(85)));
    assert_eq!((watch.every, watch.longest), (Duration::from_secs(5), Duration::from_mins(10)));
    assert_eq!(set.instructions.off, ["chat".into()]);
    assert_eq!(usual.model.spec.to_string(), "quote");
}

#[test]
fn the_environment_is_over_the_files() {
    let text = "[model]\nuse = \"openai:one\"\nbase_url = \"http://file/v1\"\n";
    let file = Config::parse(text, ConfigOrigin::User).expect("a user may set this key");
    let env = |name: &str| {
        let set = [("POINTSMAN_MODEL", "ollama:two"), ("OPENAI_API_KEY", "sk-1")];
        set.iter().find(|(it, _)| *it == name).map(|(_, value)| (*value).to_owned())
    };
    let over = file.clone().with_env(&env).model;
    assert_eq!(over.spec.as_deref(), Some("ollama:two"));
    assert_eq!(over.base_url.as_deref(), Some("http://file/v1"));
    assert_eq!(file.clone().with_env(&|_| None), file);
    // An address from a file gets no key.
    assert!(file.model.settings(&env).expect("a model").key.is_none());
    let own = Config::parse("[model]\nuse = \"openai:one\"\n", ConfigOrigin::User)
        .expect("the settings are valid");
    assert!(own.model.settings(&env).expect("a model").key.is_some());
    assert!(over.writes() && !Config::default().model.writes());
}

#[test]
fn both_files_are_settled_one_over_the_other() {
    let folder = std::env::temp_dir().join(format!("pointsman-settled-{}", std::process::id()));
    let work = folder.join("work");
    fs::create_dir_all(&work).expect("the folder is created");
    let folder = folder.canonicalize().expect("the path exists");
    let (user, repository) = (folder.join("pointsman.toml"), folder.join("work/pointsman.toml"));
    let read = || ResolvedConfig::read(Some(user.clone()), Some(&work)).expect("they are sound");
    let none = read();
    assert_eq!((none.config, none.user, none.repository), (Config::default(), None, None));
    fs::write(&user, "[watch]\ncpu = 50\n").expect("the file is written");
    // A user's own file above the folder does not count as a repository's.
    let own = read();
    assert_eq!((own.config.watch.cpu, own.repository), (Some(50), None));
    fs::write(&repository, "[watch]\ncpu = 90\nmemory = 10\n").expect("the file is written");
    let both = read();
    assert_eq!((both.config.watch.cpu, both.config.watch.memory), (Some(50), Some(10)));
    assert_eq!((both.user, both.repository), (Some(user.clone()), Some(repository)));
    fs::remove_dir_all(&folder).expect("the folder is removed");
}

#[test]
fn servers_are_approved_by_their_keys_or_by_who_names_them() {
    let folder = std::env::temp_dir().join(format!("pointsman-approved-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("the folder is created");
    let list = r#"{ "mcpServers": { "one": { "command": "a" }, "two": { "command": "b" },
        "bad": { "command": 3 } } }"#;
    fs::write(folder.join(".mcp.json"), list).expect("the file is written");
    let servers = mcp::McpServerList::read(&folder.join(".mcp.json")).expect("it is a list");
    let (one, bad) = (servers.key("one").expect("a key"), servers.key("bad").expect("a key"));
    let config = |key: &str| {
        let text = format!("[mcp]\napprove = [{key:?}, \"two\"]\ntools = 3\ncall_timeout = \"7s\"");
        Config::parse(&text, ConfigOrigin::User).expect("a user may set this key").mcp
    };
    let approved = |key: &str, named: &[&str]| {
        let named: Vec<String> = named.iter().map(|name| (*name).to_owned()).collect();
        ApprovedServers::of(servers.clone(), &config(key), &named)
    };
    // A name in a file is not enough; one that is typed is.
    assert_eq!(approved(one, &[]).expect("it is listed").names, ["one"]);
    let both = approved(one, &["two"]).expect("they are listed");
    assert_eq!(both.names, ["one", "two"]);
    assert_eq!((both.limits.tools, both.limits.call), (3, Duration::from_secs(7)));
    for (key, named) in [(one, "three"), (one, "bad"), (bad, "one")] {
        assert!(approved(key, &[named]).is_err(), "{key} {named}");
    }
    fs::remove_dir_all(&folder).expect("the folder is removed");
}

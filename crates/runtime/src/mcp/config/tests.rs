//! Lists of servers, good and bad.

use super::*;

fn parse(text: &str) -> Result<McpServerList, McpError> {
    McpServerList::parse(Path::new(".mcp.json"), text)
}

fn wrong(text: &str) -> String {
    match parse(text) {
        Ok(config) => {
            let first = config.wrong().next().map(|(_, error)| error.to_string());
            first.unwrap_or_else(|| format!("{config:?}"))
        }
        Err(error) => error.to_string(),
    }
}

#[test]
fn both_transports_are_read_with_unknown_keys() {
    let config = parse(
        r#"{"inputs": [], "mcpServers": {
            "files": {"command": "npx", "args": ["-y", "${PKG:-files}"], "env": {"K": "${API_KEY}"},
                      "cwd": "sub", "disabled": false},
            "web": {"type": "http", "url": "https://example.org/mcp",
                    "headers": {"Authorization": "Bearer ${WEB_TOKEN}"}},
            "odd": {"command": "sh", "args": ["-c", "rm x\n` is safe"]},
            "bare": {"url": "http://127.0.0.1:1/mcp"}
        }}"#,
    )
    .unwrap();
    assert_eq!(config.names().collect::<Vec<_>>(), ["bare", "files", "odd", "web"]);
    let summary = |name| config.summary(name).unwrap();
    assert_eq!(summary("files"), "run `npx -y ${PKG:-files}` with the variables API_KEY, PKG");
    assert_eq!(summary("web"), "talk to `https://example.org/mcp` with the variables WEB_TOKEN");
    assert_eq!(summary("bare"), "talk to `http://127.0.0.1:1/mcp`");
    assert_eq!(summary("odd"), "run `sh -c \"rm x\\n` is safe\"`");
    assert_eq!(config.summary("gone"), None);
}

#[test]
fn mistakes_are_reported_with_place_and_key() {
    let cases = [
        ("{", ".mcp.json:1:1: not valid JSON: EOF while parsing an object"),
        ("[]", ".mcp.json:1:1: expected an object, found a list"),
        ("{}", ".mcp.json:1:1: it has no `mcpServers` object"),
        (
            "{\"mcpServers\":\n  {\"é\": {\"command\": 3}}}",
            ".mcp.json:2:21: `mcpServers.é.command`: expected a string, found a number",
        ),
        (
            r#"{"mcpServers": {"a": {"command": "x", "args": ["y", null]}}}"#,
            ".mcp.json:1:53: `mcpServers.a.args[1]`: expected a string, found null",
        ),
        (
            r#"{"mcpServers": {"a": {"command": "x", "env": {"K": "${OPEN"}}}}"#,
            ".mcp.json:1:52: `mcpServers.a.env.K`: a `${` has no `}`",
        ),
        (
            r#"{"mcpServers": {"a": {"type": "sse", "url": "x"}}}"#,
            ".mcp.json:1:31: `mcpServers.a.type`: the transport `sse` is not supported: \
             use `stdio` or `http`",
        ),
        (
            r#"{"mcpServers": {"a\u001b": {}}}"#,
            ".mcp.json:1:28: `mcpServers.a\\u{1b}`: a server's name must be printable",
        ),
        (
            r#"{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}"#,
            ".mcp.json:1:45: `mcpServers`: `a` is listed twice: keep one",
        ),
        (
            r#"{"mcpServers": {"a": {"comand": "x"}}}"#,
            ".mcp.json:1:22: `mcpServers.a`: it needs a `command` to run or a `url` to talk to; \
             it has `comand`",
        ),
        (
            r#"{"mcpServers": {"a": {"command": "x", "url": "y"}}}"#,
            ".mcp.json:1:22: `mcpServers.a`: it has both a `command` and a `url`: keep one",
        ),
        (
            r#"{"mcpServers": {"a": {"type": "stdio", "command": ""}}}"#,
            ".mcp.json:1:22: `mcpServers.a`: a server of type `stdio` needs a `command`",
        ),
    ];
    for (text, said) in cases {
        assert_eq!(wrong(text), said, "{text}");
    }
}

#[test]
fn a_wrong_entry_leaves_the_others_alone() {
    let config = parse(
        r#"{"mcpServers": {
            "old": {"type": "sse", "url": "https://example.org"},
            "socket": {"type": "ws", "url": "wss://example.org"},
            "asks": {"command": "x", "env": {"K": "${input:key}"}},
            "bad": 7,
            "good": {"command": "serve"}
        }}"#,
    )
    .unwrap();
    let wrong: Vec<&str> = config.wrong().map(|(name, _)| name).collect();
    assert_eq!(wrong, ["asks", "bad", "old", "socket"]);
    assert_eq!(config.names().collect::<Vec<_>>(), ["good"]);
    // Each has a key, so that approving one reports its mistake.
    let key = config.key("old").unwrap().to_owned();
    assert_eq!(config.approved(&[key]), ["old"]);
    let config =
        config.with("old", NamedServer::Address { url: "http://x".into(), headers: vec![] });
    assert!(config.wrong().all(|(name, _)| name != "old"));
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = McpServerList::read(Path::new("/nowhere/.mcp.json")).unwrap_err();
    assert_eq!(error.to_string(), "/nowhere/.mcp.json cannot be read");
    assert_eq!(McpServerList::find(Path::new("/nowhere")), None);
}

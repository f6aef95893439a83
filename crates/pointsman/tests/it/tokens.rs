//! `pointsman token`: a token is printed once, listed without its secret, and revoked.

use std::fs;

use serde_json::Value;

use crate::home::Home;

#[test]
fn token_is_printed_once_and_can_be_revoked() {
    let home = Home::new("token-command");
    let (code, token, err) = home.pointsman(&[
        "token",
        "create",
        "--role",
        "operate",
        "--name",
        "ci",
        "--expires",
        "30d",
    ]);
    assert_eq!(code, 0, "{err}");
    let token = token.trim();
    let parts: Vec<&str> = token.split('_').collect();
    let [prefix, id, secret] = parts[..] else { panic!("a token has three parts: {token}") };
    assert!(prefix == "pointsman" && id.len() == 8 && secret.len() == 64, "{token}");
    assert!(!err.contains(secret), "{err}");
    let (_, listed, _) = home.pointsman(&["token", "list"]);
    assert!(listed.contains(id) && listed.contains("operate") && listed.contains("ci"), "{listed}");
    let (_, json, _) = home.pointsman(&["token", "list", "--json"]);
    let object: Value = serde_json::from_str(&json).expect("the text is valid JSON");
    assert_eq!(object["name"], "ci");
    assert_eq!(object["valid"], true);
    assert!(!listed.contains(secret) && !json.contains(secret) && !json.contains("hash"));
    assert_eq!(home.pointsman(&["token", "create", "--role", "read", "--name", "ci"]).0, 2);
    assert_eq!(home.pointsman(&["token", "revoke", id]).0, 0);
    assert_eq!(home.pointsman(&["token", "revoke", id]).0, 2);
    assert_eq!(home.pointsman(&["token", "list", "--json"]).1, "");
}

#[test]
fn token_file_is_where_the_settings_say() {
    let home = Home::new("token-file");
    home.settings("[serve]\ntokens = \"/proc/no/such/tokens\"\n");
    let (code, _, err) = home.pointsman(&["token", "create", "--role", "read"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("/proc/no/such/tokens") && err.contains("hint:"), "{err}");
    // A repository may not say who comes in.
    home.settings("");
    home.write("pointsman.toml", "[serve]\ntokens = \"theirs\"\nrequire_token = false\n");
    let (code, _, err) = home.pointsman(&["run", "research", "x", "--dry-run"]);
    assert!(code == 2 && err.contains("tokens") && err.contains("require_token"), "{err}");
    assert!(fs::metadata("theirs").is_err());
}

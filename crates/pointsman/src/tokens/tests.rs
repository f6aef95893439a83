//! Tokens in a file: made, found, expired, revoked, and never written down.

use std::{fs, os::unix::fs::PermissionsExt as _, sync::Arc, thread};

use pointsman_runtime::clock::now_ms;
use pointsman_testing::folder::TempFolder;

use super::*;

fn file(folder: &TempFolder) -> TokenFile {
    TokenFile::at(folder.0.join("deep/journal.db.tokens"))
}

fn new(role: Role, name: Option<&str>, expires_ms: Option<u64>) -> NewToken {
    NewToken { role, name: name.map(Into::into), expires_ms, page: false }
}

#[test]
fn a_token_is_found_until_it_is_revoked() {
    let folder = TempFolder::new("tokens");
    let tokens = file(&folder);
    assert_eq!(tokens.list().expect("no file is an empty list"), []);
    let (token, record) = tokens.create(new(Role::Operate, Some("ci"), None)).expect("it is made");
    assert_eq!(tokens.find(&token).expect("it reads"), Some(record.clone()));
    // A server holds the file open in another value, and sees every change.
    let server = file(&folder);
    assert_eq!(server.find(&token).expect("it reads"), Some(record.clone()));
    for wrong in ["", &token[..token.len() - 1], &format!("{token}0"), &token.to_uppercase()] {
        assert_eq!(server.find(wrong).expect("it reads"), None, "{wrong}");
    }
    let again = tokens.create(new(Role::Read, Some("ci"), None));
    assert!(matches!(again, Err(TokenError::Exists { .. })));
    assert_eq!(tokens.revoke("ci").expect("it is there"), record);
    assert_eq!(server.find(&token).expect("it reads"), None);
    assert!(matches!(tokens.revoke(&record.id), Err(TokenError::NoSuchToken { .. })));
}

#[test]
fn an_expired_token_counts_for_nothing() {
    let folder = TempFolder::new("expired");
    let tokens = file(&folder);
    let (old, _) = tokens.create(new(Role::Admin, None, Some(now_ms() - 1))).expect("it is made");
    let (new, _) =
        tokens.create(new(Role::Admin, None, Some(now_ms() + 60_000))).expect("it is made");
    assert_eq!(tokens.find(&old).expect("it reads"), None);
    assert!(tokens.find(&new).expect("it reads").is_some());
}

#[test]
fn the_file_is_private_and_holds_no_token() {
    let folder = TempFolder::new("private-tokens");
    let tokens = file(&folder);
    let (token, _) = tokens.create(new(Role::Read, None, None)).expect("it is made");
    let secret = token.rsplit('_').next().expect("a token has parts");
    for entry in fs::read_dir(tokens.path().parent().expect("a folder")).expect("it is there") {
        let path = entry.expect("it is there").path();
        let mode = fs::metadata(&path).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", path.display());
        assert!(!fs::read_to_string(&path).expect("it is text").contains(secret));
    }
    fs::set_permissions(tokens.path(), fs::Permissions::from_mode(0o640)).expect("it is ours");
    assert!(matches!(tokens.find(&token), Err(TokenError::Open { mode: 0o640, .. })));
    assert!(matches!(tokens.create(new(Role::Read, None, None)), Err(TokenError::Open { .. })));
}

#[test]
fn tokens_made_at_the_same_time_are_all_kept() {
    let folder = TempFolder::new("many-tokens");
    let tokens = Arc::new(file(&folder));
    let makers: Vec<_> = (0..8)
        .map(|_| {
            let tokens = Arc::clone(&tokens);
            thread::spawn(move || tokens.create(new(Role::Read, None, None)).expect("it is made").0)
        })
        .collect();
    for maker in makers {
        let token = maker.join().expect("it made one");
        assert!(tokens.find(&token).expect("it reads").is_some());
    }
    assert_eq!(tokens.list().expect("it reads").len(), 8);
}

#[test]
fn names_that_a_list_cannot_show_are_refused() {
    let folder = TempFolder::new("named-tokens");
    let long = "x".repeat(65);
    for name in ["", " ", "a\u{1b}[2J", "two\nlines", &long] {
        let made = file(&folder).create(new(Role::Read, Some(name), None));
        assert!(matches!(made, Err(TokenError::Name { .. })), "{name:?}");
    }
    fs::write(folder.0.join("other"), "[1]").expect("it is written");
    fs::set_permissions(folder.0.join("other"), fs::Permissions::from_mode(0o600)).expect("ours");
    let other = TokenFile::at(folder.0.join("other"));
    assert!(matches!(other.list(), Err(TokenError::Format { .. })));
}

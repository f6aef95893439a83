//! `pointsman token`: make, list and revoke the tokens of the server.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use pointsman_runtime::{
    clock::{now_ms, written},
    config::milliseconds,
};
use serde_json::json;

use super::run::json_line;
use crate::{
    format,
    notify::note,
    paths::{self, Globals},
    report::{self, Error},
    tokens::{NewToken, Role, TokenRecord},
};

/// Create, list and revoke tokens for `pointsman serve`.
#[derive(Args, Debug)]
#[command(after_help = "\
Clients send a token as `Authorization: Bearer TOKEN`.

Examples:
  pointsman token create --role operate --name ci --expires 30d
  pointsman token list
  pointsman token revoke ci")]
pub(crate) struct TokenCommand {
    #[command(subcommand)]
    what: TokenAction,
}

#[derive(Debug, Subcommand)]
enum TokenAction {
    /// Create a token and print it once.
    #[command(after_help = "\
Pointsman keeps a hash of the token, so it cannot print the token again.

Examples:
  pointsman token create --role read --name dashboard
  TOKEN=$(pointsman token create --role operate --expires 12h)
  pointsman token create --role admin --json | jq -r .token")]
    Create {
        /// The token's role.
        #[arg(long, value_enum)]
        role: Role,
        /// A name for the token, shown by `token list`.
        #[arg(long)]
        name: Option<String>,
        /// How long the token is valid: `12h`, `30d` [default: until revoked].
        #[arg(long, value_name = "TIME", value_parser = time)]
        expires: Option<u64>,
        /// Accept the token only from the server's own page, in a browser on this machine.
        #[arg(long)]
        page: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// List tokens by id, name and role.
    #[command(after_help = "\
Examples:
  pointsman token list
  pointsman token list --json")]
    List {
        /// Print JSON Lines, one per token.
        #[arg(long)]
        json: bool,
    },
    /// Revoke a token. A running server rejects it from the next request on.
    #[command(after_help = "\
Examples:
  pointsman token revoke 3f2a9c01
  pointsman token revoke ci")]
    Revoke {
        /// The id or the name.
        #[arg(value_name = "ID|NAME")]
        token: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

fn time(text: &str) -> Result<u64, &'static str> {
    let valid = milliseconds(text).filter(|ms| *ms > 0);
    valid.ok_or("write a number and a unit, such as 12h or 30d")
}

impl TokenCommand {
    pub(crate) fn run(self, globals: &Globals) -> Result<ExitCode, Error> {
        let file = globals.tokens(&paths::user()?)?;
        match self.what {
            TokenAction::Create { role, name, expires, page, json } => {
                let expires_ms = expires.map(|ms| now_ms().saturating_add(ms));
                let new = NewToken { role, name, expires_ms, page };
                let (token, record) = file.create(new).map_err(Error::Token)?;
                if json {
                    let mut made = object(&record);
                    made["token"] = token.into();
                    json_line(&made)?;
                } else {
                    report::data(&format!("{token}\n"))?;
                    note("copy the token now: Pointsman cannot print it again");
                }
            }
            TokenAction::List { json } => list(&file.list().map_err(Error::Token)?, json)?,
            TokenAction::Revoke { token, json } => {
                let record = file.revoke(&token).map_err(Error::Token)?;
                if json {
                    json_line(&object(&record))?;
                } else {
                    let name = record.name.map(|name| format!(" ({name})")).unwrap_or_default();
                    note(&format!("revoked token {}{name}", record.id));
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn list(tokens: &[TokenRecord], json: bool) -> Result<(), Error> {
    if json {
        return tokens.iter().try_for_each(|token| json_line(&object(token)));
    }
    if tokens.is_empty() {
        note("there are no tokens; `pointsman token create --role read` creates one");
        return Ok(());
    }
    let rows = tokens.iter().map(|token| {
        let expires = match token.expires_ms {
            None => "never".into(),
            Some(_) if !token.is_valid(now_ms()) => "expired".into(),
            Some(at) => written(at),
        };
        let cells = [token.id.clone(), token.role.to_string(), written(token.created_ms), expires];
        (cells, token.name.as_deref().unwrap_or_default())
    });
    report::data(&format::table(["ID", "ROLE", "CREATED", "EXPIRES"], "NAME", rows))
}

/// Returns everything known about a token but its hash.
fn object(token: &TokenRecord) -> serde_json::Value {
    json!({
        "id": token.id,
        "name": token.name,
        "role": token.role,
        "created": written(token.created_ms),
        "expires": token.expires_ms.map(written),
        "page": token.page,
        "valid": token.is_valid(now_ms()),
    })
}

//! Opening an address in the person's browser.

use std::{
    process::{Command, Stdio},
    thread,
};

use crate::{notify::note, paths::variable};

/// The program that opens addresses.
const OPENER: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };

/// Opens an address, without waiting. A browser that cannot be started is only reported.
pub(crate) fn open(url: String) {
    let chosen = variable("BROWSER");
    // The browser belongs to the person, not to the run: nothing waits for it.
    drop(thread::spawn(move || {
        let words = words(chosen.as_deref(), &url);
        let Some((program, arguments)) = words.split_first() else { return };
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let why = match command.status() {
            Ok(status) if status.success() => return,
            Ok(status) => format!("`{program}` ended with {status}"),
            Err(error) => format!("`{program}` cannot be started: {error}"),
        };
        note(&format!("the browser was not opened ({why}): open {url} yourself, or set BROWSER"));
    }));
}

/// Returns the command: the first one of `BROWSER`, in which `%s` stands for the address, or the
/// system's.
fn words(browser: Option<&str>, url: &str) -> Vec<String> {
    let first = browser.and_then(|list| list.split(':').map(str::trim).find(|it| !it.is_empty()));
    let mut words: Vec<String> =
        first.unwrap_or(OPENER).split_whitespace().map(str::to_owned).collect();
    let mut placed = false;
    for word in &mut words {
        if word.contains("%s") {
            *word = word.replace("%s", url);
            placed = true;
        }
    }
    if !placed {
        words.push(url.to_owned());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::{OPENER, words};

    #[test]
    fn browser_variable_names_the_command() {
        let url = "http://127.0.0.1:7/runs/x";
        assert_eq!(words(None, url), [OPENER, url]);
        assert_eq!(words(Some(""), url), [OPENER, url]);
        assert_eq!(words(Some("firefox"), url), ["firefox", url]);
        assert_eq!(words(Some("w3m:lynx"), url), ["w3m", url]);
        assert_eq!(words(Some("chromium --app=%s"), url), ["chromium", &format!("--app={url}")]);
    }
}

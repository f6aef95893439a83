//! What a WebDriver error means for the explorer.
//!
//! The protocol's code decides where it says enough. Drivers for phones put most of their
//! trouble into `unknown error`, so there the words of the message decide.

use super::client::{ErrorBody, WireError};
use crate::device::{DeviceClass, DeviceError};

/// Characters of a driver's message that are kept.
const MOST: usize = 400;

/// Messages of drivers and of adb, in lower case, by their meaning. The first match counts: a
/// message often repeats its cause.
const WORDS: [(DeviceClass, &[&str]); 7] = [
    (
        DeviceClass::Offline,
        &[
            "device offline",
            "device unauthorized",
            "device not found",
            "no devices/emulators found",
            "could not find a connected android device",
            "was not in the list of connected devices",
            "unknown device or simulator",
            "adb: error: closed",
            "error: closed",
            "' not found\n",
        ],
    ),
    (
        DeviceClass::NotInstalled,
        &["are you sure it is installed", "is not installed", "isn't installed", "unknown package"],
    ),
    (
        DeviceClass::InvalidArgument,
        &[
            "install_failed_version_downgrade",
            "install_failed_update_incompatible",
            "install_failed_no_matching_abis",
            "install_failed_older_sdk",
            "install_failed_invalid_apk",
            "install_parse_failed",
            "does not exist or is not accessible",
            "could not find a driver for",
            "is required to be present",
            "no such file or directory",
            "invalid argument",
        ],
    ),
    (
        DeviceClass::Timeout,
        &["timed out", "timeout", "took too long", "etimedout", "deadline exceeded"],
    ),
    (
        DeviceClass::SessionLost,
        &[
            "instrumentation process is not running",
            "cannot be proxied to",
            "could not proxy command",
            "socket hang up",
            "econnrefused",
            "econnreset",
            "tab crashed",
            "page crash",
            "not reachable",
            "not connected to devtools",
            "disconnected",
            "target window already closed",
            "session deleted",
            "session is either terminated",
        ],
    ),
    (
        DeviceClass::NotInFront,
        &["never started", "cannot activate", "not in foreground", "not in the foreground"],
    ),
    (
        DeviceClass::InputFailed,
        &[
            "cannot set the element",
            "cannot type",
            "did not complete",
            "failed to perform",
            "unable to perform",
            "coordinate",
            "injectevent",
            "inject_events",
            "inject motion",
            "inject input",
        ],
    ),
];

/// Returns what kind of trouble an error of the protocol is.
pub(super) fn class(said: &ErrorBody) -> DeviceClass {
    match said.error.as_str() {
        "invalid session id" | "no such window" => DeviceClass::SessionLost,
        "no such element" | "stale element reference" | "no such shadow root" => DeviceClass::Stale,
        "element not interactable"
        | "element click intercepted"
        | "element not visible"
        | "element not selectable"
        | "invalid element state"
        | "move target out of bounds"
        | "unexpected alert open" => DeviceClass::InputFailed,
        "timeout" | "script timeout" => DeviceClass::Timeout,
        "invalid argument"
        | "invalid selector"
        | "unknown command"
        | "unknown method"
        | "unsupported operation"
        | "insecure certificate" => DeviceClass::InvalidArgument,
        _ => by_words(&said.message),
    }
}

fn by_words(message: &str) -> DeviceClass {
    // A device is named at the end of a line: `device 'emulator-5554' not found`.
    let message = format!("{}\n", message.to_lowercase());
    let found = WORDS.iter().find(|(_, words)| words.iter().any(|word| message.contains(word)));
    found.map_or(DeviceClass::Internal, |(class, _)| *class)
}

/// Explains why a call failed, and what to do.
pub(super) fn told(trouble: WireError, what: &str, address: &str) -> DeviceError {
    match trouble {
        WireError::Unreachable(why) => DeviceError::new(
            DeviceClass::Unreachable,
            format!(
                "the Appium server at {address} cannot be reached: {why}; start it with `appium \
                 --address 127.0.0.1 --port 4723`, or give its address with `--appium`"
            ),
        ),
        WireError::Late(limit) => DeviceError::new(
            DeviceClass::Timeout,
            format!(
                "{what} took longer than {} s; raise the limit in `[explore]` if the device is \
                 slow",
                limit.as_secs_f32()
            ),
        ),
        WireError::Foreign(why) => DeviceError::new(
            DeviceClass::Internal,
            format!(
                "{what}: {address} does not answer like an Appium server ({why}); check the \
                 address, with its base path if the server has one"
            ),
        ),
        WireError::Said(said) => {
            let class = class(&said);
            DeviceError::new(class, format!("{what}: {}{}", words(&said), next(class)))
        }
    }
}

/// Says why no session was opened. None can have been lost then: what a driver says of one
/// that does not answer is a start that failed, and worth another try.
pub(super) fn unopened(trouble: WireError, what: &str, address: &str) -> DeviceError {
    match trouble {
        WireError::Said(said) if class(&said) == DeviceClass::SessionLost => {
            DeviceError::new(DeviceClass::Internal, format!("{what}: {}", words(&said)))
        }
        trouble => told(trouble, what, address),
    }
}

/// Returns an error's own words on one line, without the notes that follow them.
fn words(said: &ErrorBody) -> String {
    let first = said.message.lines().map(str::trim).find(|line| !line.is_empty());
    let text = first.unwrap_or(&said.error);
    let mut text: String = text.chars().take(MOST).collect();
    if !text.starts_with(&said.error) && said.error != "unknown error" {
        text = format!("{} ({text})", said.error);
    }
    text
}

/// Says what to do next, where there is something.
const fn next(class: DeviceClass) -> &'static str {
    match class {
        DeviceClass::Offline => "; check that `adb devices` lists the device as `device`",
        DeviceClass::SessionLost => "; the session must be opened again",
        DeviceClass::NotInstalled => "; give the app's file with `--app`, or install it",
        DeviceClass::InvalidArgument => "; check the capabilities and the app's file",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class_of(error: &str, message: &str) -> DeviceClass {
        class(&ErrorBody { error: error.into(), message: message.into() })
    }

    #[test]
    fn codes_of_the_protocol_decide_where_they_say_enough() {
        for (error, class) in [
            ("invalid session id", DeviceClass::SessionLost),
            ("no such element", DeviceClass::Stale),
            ("stale element reference", DeviceClass::Stale),
            ("element not interactable", DeviceClass::InputFailed),
            ("move target out of bounds", DeviceClass::InputFailed),
            ("timeout", DeviceClass::Timeout),
            ("script timeout", DeviceClass::Timeout),
            ("unknown method", DeviceClass::InvalidArgument),
            ("unknown command", DeviceClass::InvalidArgument),
            ("unable to capture screen", DeviceClass::Internal),
            ("of another day", DeviceClass::Internal),
        ] {
            assert_eq!(
                class_of(error, "a device offline"),
                match class {
                    // What the code leaves open, the words decide.
                    DeviceClass::Internal => DeviceClass::Offline,
                    known => known,
                }
            );
            assert_eq!(class_of(error, ""), class, "{error}");
        }
    }

    /// Messages of Appium's drivers and of adb.
    #[test]
    fn words_decide_where_the_code_does_not() {
        for (message, class) in [
            ("Error executing adbExec. stderr: 'adb: device offline'", DeviceClass::Offline),
            ("stderr: 'error: device 'emulator-5554' not found", DeviceClass::Offline),
            ("Could not find a connected Android device in 20000ms", DeviceClass::Offline),
            ("Cannot activate 'org.x'. Are you sure it is installed?", DeviceClass::NotInstalled),
            (
                "adb: failed to install a.apk: Failure [INSTALL_FAILED_VERSION_DOWNGRADE]",
                DeviceClass::InvalidArgument,
            ),
            (
                "The application at '/x.apk' does not exist or is not accessible",
                DeviceClass::InvalidArgument,
            ),
            (
                "Could not find a driver for automationName 'UiAutomator2' and platformName \
                 'Android'",
                DeviceClass::InvalidArgument,
            ),
            (
                "'GET /source' cannot be proxied to UiAutomator2 server because the \
                 instrumentation process is not running (probably crashed)",
                DeviceClass::SessionLost,
            ),
            (
                "Could not proxy command to the remote server. Original error: socket hang up",
                DeviceClass::SessionLost,
            ),
            (
                "Could not proxy command to the remote server. Original error: timeout of \
                 240000ms exceeded",
                DeviceClass::Timeout,
            ),
            ("tab crashed\n  (Session info: chrome=156.0)", DeviceClass::SessionLost),
            ("'org.x' is still running after 500ms timeout", DeviceClass::Timeout),
            ("org.x.Main never started. Consider checking", DeviceClass::NotInFront),
            ("Cannot set the element to 'a'. Did you interact", DeviceClass::InputFailed),
            ("something else", DeviceClass::Internal),
        ] {
            assert_eq!(class_of("unknown error", message), class, "{message}");
            assert_eq!(class_of("session not created", message), class, "{message}");
        }
    }

    #[test]
    fn errors_say_what_where_and_what_to_do() {
        let said = |error: &str, message: &str| {
            WireError::Said(ErrorBody { error: error.into(), message: message.into() })
        };
        let shown = |trouble| told(trouble, "reading the screen", "http://x:1/").message;
        assert_eq!(
            shown(said("unknown error", "adb: device offline\nat line 3")),
            "reading the screen: adb: device offline; check that `adb devices` lists the device as `device`"
        );
        assert_eq!(
            shown(said("timeout", "waited in vain")),
            "reading the screen: timeout (waited in vain)"
        );
        let hung = said("unknown error", "Could not proxy command: socket hang up");
        let unopened = unopened(hung, "opening a session", "http://x:1/");
        assert!(unopened.class.repeatable() && !unopened.message.contains("opened again"));
        assert!(shown(WireError::Unreachable("refused".into())).contains("start it with `appium"));
        assert!(shown(WireError::Foreign("<html>".into())).contains("http://x:1/"));
    }
}

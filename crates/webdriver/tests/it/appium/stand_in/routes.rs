//! Which calls there are, and what each of them takes: as the real server and the driver for
//! Android have it. The tier `appium` compares this list with the server's own.

use serde_json::{Map, Value};

use super::http::{Answer, Request};

/// A call of the protocol.
pub(crate) struct Route {
    pub(crate) method: &'static str,
    /// The path, with `:name` for a part that varies.
    pub(crate) path: &'static str,
    /// What the server calls it.
    pub(crate) command: &'static str,
    /// What its body must hold.
    pub(crate) required: &'static [&'static str],
    /// What its body may hold.
    pub(crate) optional: &'static [&'static str],
}

const fn route(
    method: &'static str,
    path: &'static str,
    command: &'static str,
    required: &'static [&'static str],
    optional: &'static [&'static str],
) -> Route {
    Route { method, path, command, required, optional }
}

/// The calls that the stand-in answers. Of `appId` and `bundleId` the server wants one, and
/// so neither is required in its list; the stand-in wants the first.
pub(crate) const ROUTES: [Route; 20] = [
    route("GET", "/status", "getStatus", &[], &[]),
    route("POST", "/session", "createSession", &[], &["capabilities"]),
    route("DELETE", "/session/:sessionId", "deleteSession", &[], &[]),
    route("GET", "/session/:sessionId/window/rect", "getWindowRect", &[], &[]),
    route("GET", "/session/:sessionId/source", "getPageSource", &[], &[]),
    route("GET", "/session/:sessionId/screenshot", "getScreenshot", &[], &[]),
    route("POST", "/session/:sessionId/back", "back", &[], &[]),
    route("POST", "/session/:sessionId/actions", "performActions", &["actions"], &[]),
    route("GET", "/session/:sessionId/element/active", "active", &[], &[]),
    route("POST", "/session/:sessionId/element", "findElement", &["using", "value"], &[]),
    route("POST", "/session/:sessionId/elements", "findElements", &["using", "value"], &[]),
    route("POST", "/session/:sessionId/element/:elementId/click", "click", &[], &[]),
    route("POST", "/session/:sessionId/element/:elementId/clear", "clear", &[], &[]),
    route("POST", "/session/:sessionId/element/:elementId/value", "setValue", &["text"], &[]),
    route("POST", "/session/:sessionId/execute/sync", "execute", &["script", "args"], &[]),
    route(
        "POST",
        "/session/:sessionId/appium/device/install_app",
        "installApp",
        &["appPath"],
        &["options"],
    ),
    route(
        "POST",
        "/session/:sessionId/appium/device/app_installed",
        "isAppInstalled",
        &[],
        &["appId", "bundleId"],
    ),
    route(
        "POST",
        "/session/:sessionId/appium/device/activate_app",
        "activateApp",
        &[],
        &["appId", "bundleId", "options"],
    ),
    route(
        "POST",
        "/session/:sessionId/appium/device/terminate_app",
        "terminateApp",
        &[],
        &["appId", "bundleId", "options"],
    ),
    route(
        "POST",
        "/session/:sessionId/appium/device/app_state",
        "queryAppState",
        &[],
        &["appId", "bundleId"],
    ),
];

/// The methods of the driver for Android that the stand-in answers, with what each must be
/// given and may be: from the method maps of appium-android-driver 14.2.2 and
/// appium-uiautomator2-driver 8.7.0.
const METHODS: [(&str, &[&str], &[&str]); 4] = [
    ("mobile: getCurrentPackage", &[], &[]),
    ("mobile: getCurrentActivity", &[], &[]),
    ("mobile: listApps", &[], &["user"]),
    ("mobile: type", &["text"], &[]),
];

/// A call whose shape is right.
pub(super) struct Call {
    /// The command, or the driver's own method.
    pub(super) name: String,
    pub(super) session: Option<String>,
    pub(super) element: Option<String>,
    pub(super) body: Map<String, Value>,
}

/// Finds the call that a request makes, and checks its body.
pub(super) fn find(request: &Request) -> Result<Call, Answer> {
    let known: Vec<_> =
        ROUTES.iter().filter_map(|it| Some((it, parts(it.path, &request.path)?))).collect();
    let exact = known.iter().filter(|(it, _)| it.method == request.method);
    // A path without parts that vary comes before one with.
    let Some((route, (session, element))) = exact.min_by_key(|(_, (_, it))| it.is_some()) else {
        let missing = "The requested resource could not be found, or a request was received using \
                       an HTTP method that is not supported by the mapped resource.";
        return Err(Answer::error("unknown command", missing));
    };
    let mut call = Call {
        name: route.command.to_owned(),
        session: session.clone(),
        element: element.clone(),
        body: Map::new(),
    };
    if request.method == "POST" {
        call.body = body(request)?;
        let given: Vec<&str> = call.body.keys().map(String::as_str).collect();
        check(&given, route.required, route.optional)?;
        let of_app = route.optional.contains(&"appId");
        if of_app && !call.body.get("appId").is_some_and(Value::is_string) {
            return Err(wrong("The following required parameter is missing: [\"appId\"]"));
        }
    } else if !request.body.is_empty() {
        return Err(wrong("a call by this method has no body"));
    }
    if route.command == "execute" {
        method(&mut call)?;
    }
    Ok(call)
}

/// Takes a call of one of the driver's own methods apart.
fn method(call: &mut Call) -> Result<(), Answer> {
    let script = call.body.get("script").and_then(Value::as_str).unwrap_or_default().to_owned();
    let Some((_, required, optional)) = METHODS.iter().find(|(name, ..)| *name == script) else {
        let message = format!("Unsupported execute method '{script}'");
        return Err(Answer::error("unsupported operation", &message));
    };
    let args = call.body.get("args").and_then(Value::as_array);
    let Some([Value::Object(given)]) = args.map(Vec::as_slice) else {
        return Err(wrong("Did not get correct format of arguments for execute method"));
    };
    let names: Vec<&str> = given.keys().map(String::as_str).collect();
    check(&names, required, optional)?;
    let given = given.clone();
    call.body = given;
    call.name = script;
    Ok(())
}

fn body(request: &Request) -> Result<Map<String, Value>, Answer> {
    if !request.json {
        return Err(wrong("the content type is not application/json"));
    }
    match serde_json::from_slice(&request.body) {
        Ok(Value::Object(body)) => Ok(body),
        _ => Err(wrong("the body is not a JSON object")),
    }
}

/// Checks names. Unknown ones are rejected as well: the real server ignores some of them, and
/// would hide our mistakes.
fn check(given: &[&str], required: &[&str], optional: &[&str]) -> Result<(), Answer> {
    if let Some(missing) = required.iter().find(|name| !given.contains(name)) {
        return Err(wrong(&format!("The following required parameter is missing: [{missing:?}]")));
    }
    let known = |name: &&&str| !required.contains(name) && !optional.contains(name);
    match given.iter().find(known) {
        Some(extra) => Err(wrong(&format!("the parameter {extra:?} is not known"))),
        None => Ok(()),
    }
}

fn wrong(message: &str) -> Answer {
    Answer::error("invalid argument", message)
}

/// Returns session and element of a path that fits a pattern.
fn parts(pattern: &str, path: &str) -> Option<(Option<String>, Option<String>)> {
    let (mut session, mut element) = (None, None);
    let mut given = path.split('/');
    for part in pattern.split('/') {
        let given = given.next()?;
        match part {
            ":sessionId" => session = Some(given.to_owned()),
            ":elementId" => element = Some(given.to_owned()),
            _ if part == given => {}
            _ => return None,
        }
    }
    given.next().is_none().then_some((session, element))
}

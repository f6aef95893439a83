//! Whether a server of Appium can be used: `run explore` on a device needs one, and nothing
//! else does.

use pointsman_runtime::config::ExploreConfig;
use pointsman_webdriver::device::{DeviceClass, DeviceError, ServerStatus, appium_status};

use super::{Check, LIMIT, reach};

/// How to get a server, with the driver for Android.
const INSTALL: &str = "install it with `npm install --global appium`, then `appium driver install \
    uiautomator2`";
/// How to start one.
const START: &str = "start it with `appium --address 127.0.0.1 --port 4723`";

/// Looks at the server that is set, and at what it needs where it runs on this machine.
pub(super) fn checks(config: &ExploreConfig, checks: &mut Vec<Check>) {
    let Some(url) = &config.appium else {
        let detail = "not set: use `--appium`, or `appium` of `[explore]`, to name a server";
        return checks.push(Check::ok("appium", detail));
    };
    // The server is slow to answer while it loads its drivers.
    let asked = appium_status(url, LIMIT * 5);
    let missing = reach::version("appium", LIMIT * 5).is_err();
    checks.push(server(url, asked, missing));
    let here = ["://127.0.0.1", "://localhost", "://[::1]"].iter().any(|it| url.contains(it));
    if here {
        checks.push(adb(reach::version("adb", LIMIT)));
    }
}

fn server(url: &str, asked: Result<ServerStatus, DeviceError>, missing: bool) -> Check {
    match asked {
        Ok(ServerStatus { version, ready: true }) => {
            let version = version.unwrap_or_else(|| "unknown version".into());
            Check::ok("appium", format!("{version} at {url}"))
        }
        Ok(ServerStatus { .. }) => Check::warn(
            "appium",
            format!("{url} accepts no new sessions"),
            "wait until it is ready, or restart it",
        ),
        Err(error) if error.class == DeviceClass::Unreachable => {
            let hint = if missing { format!("{INSTALL}; {START}") } else { START.into() };
            Check::warn("appium", format!("no server answers at {url}"), hint)
        }
        Err(error) => {
            let hint =
                "check `appium` of `[explore]`: some servers have a base path, such as `/wd/hub`";
            Check::warn("appium", error.message, hint)
        }
    }
}

/// Looks for what the driver for Android speaks to devices with.
fn adb(found: Result<String, String>) -> Check {
    match found {
        Ok(version) => Check::ok("adb", version),
        Err(why) => {
            let hint = "Android needs it (browsers do not): `sudo apt-get install adb`, then `adb devices` lists connected devices";
            Check::warn("adb", why, hint)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::Status, *};

    fn unreachable() -> Result<ServerStatus, DeviceError> {
        Err(DeviceError::new(DeviceClass::Unreachable, "refused"))
    }

    #[test]
    fn unset_server_is_not_contacted() {
        let mut all = Vec::new();
        checks(&ExploreConfig::default(), &mut all);
        assert_eq!(all.len(), 1);
        assert!(all[0].status == Status::Ok && all[0].detail.starts_with("not set"));
    }

    #[test]
    fn missing_appium_is_reported_with_commands() {
        let url = "http://127.0.0.1:4723";
        let there = ServerStatus { version: Some("3.8.0".into()), ready: true };
        assert_eq!(server(url, Ok(there), false).detail, "3.8.0 at http://127.0.0.1:4723");
        let check = server(url, unreachable(), true);
        let hint = check.hint.unwrap_or_default();
        assert!(check.status == Status::Warn, "nothing else needs it");
        assert!(hint.contains("npm install --global appium") && hint.contains("--port 4723"));
        let hint = server(url, unreachable(), false).hint.unwrap_or_default();
        assert!(hint.starts_with("start it") && !hint.contains("npm"));
        let foreign = Err(DeviceError::new(DeviceClass::Internal, "not Appium"));
        assert!(server(url, foreign, false).hint.unwrap_or_default().contains("base path"));
        let busy = ServerStatus { version: None, ready: false };
        assert!(server(url, Ok(busy), false).status == Status::Warn);
        let hint = adb(Err("`adb` is not installed".into())).hint.unwrap_or_default();
        assert!(hint.contains("apt-get install adb"));
    }
}

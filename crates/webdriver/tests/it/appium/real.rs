//! The real server that the tier starts, and how its list of calls compares with ours.

use std::{fs, path::Path, time::Duration};

use pointsman_webdriver::device::{Appium, Device as _, appium_server};
use serde_json::{Value, json};

use super::{
    fake, folder, settings,
    stand_in::{ROUTES, Route},
};

/// Returns the server's address.
pub(super) fn url() -> String {
    let name = "POINTSMAN_APPIUM_URL";
    let set = std::env::var(name);
    set.unwrap_or_else(|_| panic!("{name} is not set: run `cargo xtask test --only appium`"))
}

/// Returns the session that a record names.
pub(super) fn session(record: &Path) -> String {
    let kept = fs::read_to_string(record).expect("file is readable");
    let kept: Value = serde_json::from_str(&kept).expect("text is valid JSON");
    kept["session"].as_str().expect("JSON has the expected type").to_owned()
}

/// Makes a call without the driver, and returns status and value.
pub(super) async fn call(method: &str, path: &str, body: Option<Value>) -> (u16, Value) {
    let client =
        reqwest::Client::builder().no_proxy().tls_certs_only([]).build().expect("runtime is built");
    let method = method.parse().expect("text is well-formed");
    let mut request = client.request(method, format!("{}{path}", url()));
    if let Some(body) = body {
        request = request.header("content-type", "application/json").body(body.to_string());
    }
    let response = request.send().await.expect("server answers");
    let status = response.status().as_u16();
    let text = response.text().await.expect("field has a text");
    let answer: Value = serde_json::from_str(&text).expect("text is valid JSON");
    (status, answer["value"].clone())
}

#[tokio::test]
#[ignore = "needs Appium: cargo xtask test --only appium"]
async fn the_server_tells_the_version_that_is_pinned() {
    let server = appium_server(&url(), Duration::from_mins(3)).await.expect("server answers");
    assert_eq!((server.version.as_deref(), server.ready), (Some("3.8.0"), true));
}

/// The stand-in must not invent calls: the server lists its own, with what each takes.
#[tokio::test]
#[ignore = "needs Appium: cargo xtask test --only appium"]
async fn the_stand_in_has_the_calls_of_the_real_server() {
    let record = folder("routes").join("RUN.json");
    let app = fake::app("routes", fake::PLAIN);
    let mut settings = settings(&url(), &fake::capabilities(&app));
    settings.record = Some(record.clone());
    let device = Appium::new(settings).expect("server address is valid");
    device.open().await.expect("session opens");
    let session = session(&record);
    let (status, listed) = call("GET", &format!("/session/{session}/appium/commands"), None).await;
    assert_eq!(status, 200);
    for Route { method, path, command, required, optional } in &ROUTES {
        let real = &listed["rest"]["base"][*path][*method];
        assert_eq!(real["command"], json!(command), "{method} {path}");
        let names = |needed: bool| -> Vec<&str> {
            let all = real["params"].as_array().map(Vec::as_slice).unwrap_or_default();
            let mut names: Vec<&str> = all
                .iter()
                .filter(|it| it["required"] == json!(needed))
                .filter_map(|it| it["name"].as_str())
                .collect();
            names.dedup();
            names
        };
        assert_eq!((names(true), names(false)), (required.to_vec(), optional.to_vec()), "{path}");
    }
    device.close().await.expect("session closes");
    let (status, said) = call("GET", &format!("/session/{session}/source"), None).await;
    assert_eq!((status, &said["error"]), (404, &json!("invalid session id")));
}

//! Errors for an editor: what is wrong, and what to do.

use agent_client_protocol::{Error, ErrorCode, v1::schema};
use pointsman_kernel::chart::Disposition;
use pointsman_runtime::{
    driver::DriveError, local_executor::ExecutorError, session::SessionError, store::StoreError,
};
use serde_json::json;

/// What was asked for makes no sense.
pub(super) fn bad_params(why: &str) -> Error {
    Error::new(ErrorCode::INVALID_PARAMS, why)
}

/// It cannot be done now, though it could be at another time.
pub(super) fn not_now(why: &str) -> Error {
    Error::new(ErrorCode::INVALID_REQUEST, why)
}

/// It cannot be done here.
pub(super) fn failed(why: &str) -> Error {
    Error::new(ErrorCode::INTERNAL_ERROR, why)
}

/// The session does not exist.
pub(super) fn no_session(id: &str) -> Error {
    let mut error: Error = schema::Error::session_not_found(id.to_owned()).into();
    error.message = format!("there is no session `{id}`: start a new one");
    error
}

/// Says why a session cannot be started, loaded or resumed.
pub(super) fn session(error: &SessionError) -> Error {
    if let SessionError::Store(StoreError::NoSuchRun { run }) = error {
        return no_session(run.as_str());
    }
    let hint = match error {
        SessionError::Executor(ExecutorError::Model(model)) => Some(model.hint()),
        SessionError::Store(store) | SessionError::Drive(DriveError::Store(store)) => store.hint(),
        SessionError::Chart { .. } => Some("use the build that started it".into()),
        SessionError::Held { .. } => {
            Some("close it there, or wait until that process releases it".into())
        }
        _ => None,
    };
    hinted(&error.to_string(), hint.as_deref())
}

/// Says what is wrong and what to do next, in one message, because that is what editors show.
pub(super) fn hinted(why: &str, hint: Option<&str>) -> Error {
    match hint {
        Some(hint) => failed(&format!("{why}; {hint}")).data(json!({ "hint": hint })),
        None => failed(why),
    }
}

/// Returns how a run ended, in a few words.
pub(super) const fn how(ended: Disposition) -> &'static str {
    match ended {
        Disposition::Budget => "a budget is used up",
        ended => ended.name(),
    }
}

//! A commit as an editor shows it, when it is made and when the session is loaded again.

use std::process::Command;

use agent_client_protocol::v1::schema::{LoadSessionRequest, StopReason};
use pointsman_agents::chat;

use crate::acp::editor::Desk;

const WRITES: &str = "[[turn]]\ntext = 'I write it.'\n[[turn.calls]]\ntool = 'write'\n\
                      arguments = { path = 'a.txt', content = 'x' }\n\
                      [[turn]]\ntext = 'Write a file'\n[[turn]]\ntext = 'All done.'\n";

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn a_commit_is_shown_in_the_editor() {
    let desk = Desk::new("commit", WRITES);
    let made = Command::new("git").args(["init", "--quiet"]).arg(desk.work()).status();
    assert!(made.expect("git runs").success());
    let wanted = "committed 1 file as ";
    let mut session = None;
    desk.edit(chat::CHART, &["allow_once"], async |editor| {
        let id = editor.begin(&desk.work()).await.expect("it begins");
        session = Some(id.clone());
        assert_eq!(editor.prompt(&id, "write").await.expect("an end"), StopReason::EndTurn);
        let shown = editor.shown();
        assert!(shown.contains(wanted), "{shown}");
        assert!(shown.contains("Write a file"), "{shown}");
    });
    let id = session.expect("it began");
    desk.edit(chat::CHART, &[], async |editor| {
        let load = LoadSessionRequest::new(id, desk.work());
        editor.connection.send_request(load).block_task().await.expect("it is loaded");
        let shown = editor.shown();
        assert!(shown.contains(wanted), "{shown}");
    });
}

//! A question that is put in an editor and answered in another program.

use std::path::Path;

use agent_client_protocol::v1::schema::StopReason;
use pointsman_agents::chat;
use pointsman_runtime::{
    session::{ApprovalDecision, Session},
    store::RunId,
};

use super::{WRITES, editor::Desk};

/// Answers what a run asks, as `pointsman approve` and `deny` do.
fn answer(journal: &Path, run: &RunId, granted: bool) {
    let cache = journal.with_extension("cache");
    let session = Session::open(pointsman_agents::all(), journal, &cache)
        .unwrap_or_else(|error| panic!("{error}"));
    let recalled = session.recall(run, None).unwrap_or_else(|error| panic!("{error}"));
    let questions = recalled.loaded.questions();
    let decision = ApprovalDecision { granted, reason: "elsewhere".into(), remember: None };
    let delivery = session.decide(run, &questions[0], &decision);
    delivery.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_question_that_is_answered_elsewhere_is_taken_back() {
    for granted in [true, false] {
        let desk = Desk::new(&format!("elsewhere-{granted}"), WRITES);
        desk.edit(chat::CHART, &[], async |editor| {
            let id = editor.begin(&desk.work()).await.expect("the run begins");
            let run: RunId = id.0.parse().expect("the text is a run id");
            let journal = desk.folder.journal();
            let (stopped, ()) = tokio::join!(editor.prompt(&id, "write"), async {
                editor.until("? call-").await;
                let answered = tokio::task::spawn_blocking(move || answer(&journal, &run, granted));
                answered.await.expect("the thread did not panic");
                editor.until("taken back call-").await;
            });
            assert_eq!(stopped.expect("the turn ends"), StopReason::EndTurn);
            let shown = editor.shown();
            assert!(shown.contains("\"done.\""), "{shown}");
        });
        assert_eq!(desk.work().join("a.txt").exists(), granted);
    }
}

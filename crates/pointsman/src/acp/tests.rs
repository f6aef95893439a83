//! Agents in an editor: conversations, permissions, cancelling, coming back, bad input.

mod editor;
mod elsewhere;

use agent_client_protocol::{
    ErrorCode,
    v1::schema::{
        CloseSessionRequest, ContentBlock, ImageContent, ListSessionsRequest, LoadSessionRequest,
        McpServer, McpServerSse, McpServerStdio, NewSessionRequest, PromptRequest,
        ResumeSessionRequest, StopReason,
    },
};
use insta::assert_snapshot;
use pointsman_agents::{chat, code};
use pointsman_kernel::id::Seq;
use pointsman_runtime::store::RunId;
use serde_json::json;

use editor::Desk;

const WRITES: &str = "[[turn]]\ntext = 'I write it.'\n[[turn.calls]]\ntool = 'write'\n\
                      arguments = { path = 'a.txt', content = 'x' }\n[[turn]]\ntext = 'All done.'\n";

#[test]
fn a_conversation_is_streamed_and_answered() {
    let desk = Desk::new("talk", "[[turn]]\ntext = 'one by one'\n[[turn]]\ntext = 'two'\n");
    desk.edit(chat::CHART, &[], async |editor| {
        let id = editor.begin(&desk.work()).await.expect("the run begins");
        assert_eq!(editor.prompt(&id, "first").await.expect("the turn ends"), StopReason::EndTurn);
        assert_snapshot!(editor.shown(), @r#"
        agent "one "
        agent "by "
        agent "one"
        
"#);
        assert_eq!(editor.prompt(&id, "second").await.expect("the turn ends"), StopReason::EndTurn);
        assert_eq!(editor.shown(), "agent \"two\"\n");
    });
}

#[test]
fn a_call_is_asked_for_and_runs_when_it_is_allowed() {
    let desk = Desk::new("allow", WRITES);
    desk.edit(chat::CHART, &["allow_once"], async |editor| {
        let id = editor.begin(&desk.work()).await.expect("the run begins");
        assert_eq!(editor.prompt(&id, "write").await.expect("the turn ends"), StopReason::EndTurn);
        assert_snapshot!(editor.shown(), @r#"
        agent "I "
        agent "write "
        agent "it."
        + call-3.0 write a.txt (Edit, Pending) | None -> "x"
        ? call-3.0 write a.txt
        = call-3.0 InProgress
        = call-3.0 Completed
        agent "All "
        agent "done."
        
"#);
    });
    assert!(desk.work().join("a.txt").exists());
}

#[test]
fn a_call_that_is_denied_does_not_run() {
    for answer in ["reject_once", "dismiss"] {
        let desk = Desk::new(&format!("deny-{answer}"), WRITES);
        desk.edit(chat::CHART, &[answer], async |editor| {
            let id = editor.begin(&desk.work()).await.expect("the run begins");
            assert_eq!(
                editor.prompt(&id, "write").await.expect("the turn ends"),
                StopReason::EndTurn
            );
            let shown = editor.shown();
            assert!(shown.contains("Failed") && shown.contains("\"done.\""), "{shown}");
        });
        assert!(!desk.work().join("a.txt").exists());
    }
}

#[test]
fn always_and_never_hold_for_the_session() {
    let twice = "[[turn]]\n[[turn.calls]]\ntool = 'write'\narguments = { path = 'a', content = 'x' }\n\
                 [[turn]]\n[[turn.calls]]\ntool = 'write'\narguments = { path = 'b', content = 'x' }\n\
                 [[turn]]\ntext = 'done'\n";
    for (answer, runs) in [("allow_always_1", true), ("reject_always", false)] {
        let desk = Desk::new(answer, twice);
        desk.edit(chat::CHART, &[answer], async |editor| {
            let id = editor.begin(&desk.work()).await.expect("the run begins");
            assert_eq!(
                editor.prompt(&id, "write").await.expect("the turn ends"),
                StopReason::EndTurn
            );
            let shown = editor.shown();
            assert_eq!(shown.lines().filter(|line| line.starts_with('?')).count(), 1, "{shown}");
        });
        assert_eq!(desk.work().join("a").exists(), runs);
        assert_eq!(desk.work().join("b").exists(), runs);
    }
}

#[test]
fn a_turn_is_cancelled_in_the_middle_and_the_next_goes_well() {
    // It may be cancelled before the model is asked at all.
    let slow = "[[turn]]\nwhen = 'first'\ntext = 'slow'\ndelay_ms = 600000\n\
                [[turn]]\nwhen = 'second'\ntext = 'two'\n";
    let desk = Desk::new("cancel", slow);
    desk.edit(chat::CHART, &[], async |editor| {
        let id = editor.begin(&desk.work()).await.expect("the run begins");
        let (stopped, ()) = tokio::join!(editor.prompt(&id, "first"), async {
            let busy = editor.prompt(&id, "at the same time").await.expect_err("it is busy");
            assert_eq!(busy.code, ErrorCode::INVALID_REQUEST);
            assert!(busy.message.contains("busy"), "{}", busy.message);
            editor.cancel(&id);
        });
        assert_eq!(stopped.expect("the turn ends"), StopReason::Cancelled);
        assert_eq!(editor.shown(), "", "an editor shows by itself that it was cancelled");
        assert_eq!(editor.prompt(&id, "second").await.expect("the turn ends"), StopReason::EndTurn);
        assert_eq!(editor.shown(), "agent \"two\"\n");
    });
}

#[test]
fn a_question_does_not_outlive_its_turn() {
    let desk = Desk::new("dismissed", WRITES);
    desk.edit(chat::CHART, &[], async |editor| {
        let id = editor.begin(&desk.work()).await.expect("the run begins");
        let (stopped, ()) = tokio::join!(editor.prompt(&id, "write"), async {
            editor.until("? call-").await;
            editor.cancel(&id);
        });
        assert_eq!(stopped.expect("the turn ends"), StopReason::Cancelled);
        let shown = editor.shown();
        assert!(shown.contains("Failed | \"not answered\""), "{shown}");
    });
    assert!(!desk.work().join("a.txt").exists());
}

#[test]
fn session_is_loaded_after_its_process_has_exited() {
    let desk = Desk::new("load", WRITES);
    let mut begun = None;
    // The editor goes away while it is asked.
    desk.edit(chat::CHART, &[], async |editor| {
        let id = editor.begin(&desk.work()).await.expect("the run begins");
        editor.say(&id, "write it");
        editor.until("? call-").await;
        begun = Some(id);
    });
    let id = begun.expect("the run was begun");
    desk.script("[[turn]]\ntext = 'All done.'\n[[turn]]\ntext = 'Yes.'\n");
    desk.edit(chat::CHART, &["allow_once"], async |editor| {
        let listed = editor.connection.send_request(ListSessionsRequest::new()).block_task().await;
        let listed = listed.expect("they are listed").sessions;
        let [one] = listed.as_slice() else { panic!("there is one") };
        assert_eq!((&one.session_id, one.title.as_deref()), (&id, Some("write it")));
        assert_eq!(one.cwd, desk.work());

        let load = LoadSessionRequest::new(id.clone(), desk.work());
        editor.connection.send_request(load).block_task().await.expect("the session is loaded");
        // The turn that was broken off ends, and then the next one begins.
        assert_eq!(editor.prompt(&id, "well?").await.expect("the turn ends"), StopReason::EndTurn);
        assert_snapshot!(editor.shown(), @r#"
        user "write it"
        agent "I write it."
        + call-3.0 write a.txt (Edit, Pending)
        ? call-3.0 write a.txt
        = call-3.0 InProgress
        = call-3.0 Completed
        agent "All "
        agent "done."
        agent "Yes."
        "#);
        assert!(desk.work().join("a.txt").exists());

        // Loading an open session starts over; resuming it sends nothing.
        let resume = ResumeSessionRequest::new(id.clone(), desk.work());
        editor.connection.send_request(resume).block_task().await.expect("it goes on");
        assert_eq!(editor.shown(), "");
        let load = LoadSessionRequest::new(id.clone(), desk.work());
        editor.connection.send_request(load).block_task().await.expect("the session is loaded");
        assert_snapshot!(editor.shown(), @r#"
        user "write it"
        agent "I write it."
        + call-3.0 write a.txt (Edit, Pending)
        = call-3.0 InProgress
        = call-3.0 Completed
        agent "All done."
        user "well?"
        agent "Yes."
        "#);
        let close = CloseSessionRequest::new(id.clone());
        editor.connection.send_request(close).block_task().await.expect("it is closed");
        let gone = editor.prompt(&id, "hello?").await.expect_err("it is closed");
        assert_eq!(gone.code, ErrorCode::RESOURCE_NOT_FOUND);
    });
}

#[test]
fn a_summary_of_old_turns_is_not_shown_as_a_reply() {
    let summary = "[[turn]]\nwhen = 'write the summary'\ntext = 'They talked.'\n".repeat(3);
    let reply = format!("[[turn]]\ntext = 'reply {}'\n", "word ".repeat(400)).repeat(8);
    let mut desk = Desk::new("summary", &format!("{summary}{reply}"));
    desk.config = json!({ "limits": { "context_tokens": 5_000, "keep_turns": 4 } });
    let mut begun = None;
    desk.edit(chat::CHART, &[], async |editor| {
        let id = editor.begin(&desk.work()).await.expect("the run begins");
        for turn in 0..8 {
            let said = format!("question {turn}");
            assert_eq!(
                editor.prompt(&id, &said).await.expect("the turn ends"),
                StopReason::EndTurn
            );
            let shown = editor.shown();
            assert!(shown.contains("reply") && !shown.contains("talked"), "{shown}");
        }
        begun = Some(id);
    });
    let id = begun.expect("the run was begun");
    let run: RunId = id.0.parse().expect("the text is a run id");
    let lines = desk
        .session()
        .block_on(desk.session().store().lines(&run, Seq(0)))
        .expect("the store is readable");
    assert!(lines.iter().any(|line| line.contains("They talked.")), "there was one");
    desk.edit(chat::CHART, &[], async |editor| {
        let load = LoadSessionRequest::new(id.clone(), desk.work());
        editor.connection.send_request(load).block_task().await.expect("the session is loaded");
        let shown = editor.shown();
        assert!(shown.contains("question 7") && !shown.contains("They talked"), "{shown}");
    });
}

#[test]
fn closing_a_session_cancels_its_prompt() {
    let desk = Desk::new("close", "[[turn]]\ntext = 'slow'\ndelay_ms = 600000\n");
    desk.edit(chat::CHART, &[], async |editor| {
        let id = editor.begin(&desk.work()).await.expect("the run begins");
        let (stopped, closed) = tokio::join!(editor.prompt(&id, "first"), async {
            let busy = editor.prompt(&id, "at the same time").await.expect_err("it is busy");
            assert!(busy.message.contains("busy"), "{}", busy.message);
            let close = CloseSessionRequest::new(id.clone());
            editor.connection.send_request(close).block_task().await
        });
        closed.expect("it is closed");
        assert_eq!(stopped.expect("the turn ends"), StopReason::Cancelled);
    });
}

#[test]
fn a_word_that_waited_and_is_refused_is_not_waited_for() {
    let desk = Desk::new("refused", "[[turn]]\ntext = 'one'\n[[turn]]\ntext = 'two'\n");
    let mut begun = None;
    desk.edit(chat::CHART, &[], async |editor| {
        let id = editor.begin(&desk.work()).await.expect("the run begins");
        assert_eq!(editor.prompt(&id, "first").await.expect("the turn ends"), StopReason::EndTurn);
        begun = Some(id);
    });
    let id = begun.expect("the run was begun");
    // The sender is another process, and another build.
    let run: RunId = id.0.parse().expect("the text is a run id");
    let odd = json!({ "given": { "event": 0, "body": { "nothing": "that is known" } } });
    let odd = serde_json::from_value(odd).expect("the value is an event");
    desk.session().send(&run, &odd).expect("the message is sent");
    desk.edit(chat::CHART, &[], async |editor| {
        let load = LoadSessionRequest::new(id.clone(), desk.work());
        editor.connection.send_request(load).block_task().await.expect("the session is loaded");
        assert_eq!(editor.prompt(&id, "second").await.expect("the turn ends"), StopReason::EndTurn);
        assert!(editor.shown().contains("agent \"one\""), "it is answered");
    });
}

#[test]
fn why_a_turn_has_no_answer_is_shown() {
    let fault = "[[turn]]\nfault = { class = 'gone', message = 'the model is away' }\n";
    let desk = Desk::new("fault", fault);
    desk.edit(chat::CHART, &[], async |editor| {
        let id = editor.begin(&desk.work()).await.expect("the run begins");
        assert_eq!(editor.prompt(&id, "first").await.expect("the turn ends"), StopReason::EndTurn);
        let shown = editor.shown();
        assert!(shown.contains("**No answer:**") && shown.contains("the model is away"), "{shown}");
    });
}

#[test]
fn several_sessions_are_open_side_by_side() {
    let slow = "[[turn]]\ntext = 'slow'\ndelay_ms = 600000\n";
    let desk = Desk::new("several", slow);
    desk.edit(chat::CHART, &[], async |editor| {
        let first = editor.begin(&desk.work()).await.expect("the run begins");
        desk.script("[[turn]]\ntext = 'quick'\n");
        let second = editor.begin(&desk.work()).await.expect("the run begins");
        let (stopped, quick) = tokio::join!(editor.prompt(&first, "first"), async {
            let quick = editor.prompt(&second, "second").await;
            editor.cancel(&first);
            quick
        });
        assert_eq!(stopped.expect("the turn ends"), StopReason::Cancelled);
        assert_eq!(quick.expect("the turn ends"), StopReason::EndTurn);
    });
}

#[test]
fn bad_input_is_rejected_with_the_reason() {
    let desk = Desk::new("bad", "[[turn]]\ntext = 'one'\n");
    let locked = desk.folder.0.join("locked-up");
    std::fs::create_dir_all(locked.join("locked")).expect("the folder is created");
    desk.edit(chat::CHART, &[], async |editor| {
        let mut said = Vec::new();
        let relative = editor.begin("work".as_ref()).await.expect_err("it is relative");
        let missing = editor.begin("/no/such/folder".as_ref()).await.expect_err("it is missing");
        let locked = editor.begin(&locked).await.expect_err("it is locked");
        let sse = McpServer::Sse(McpServerSse::new("old", "http://127.0.0.1:1/sse"));
        let request = NewSessionRequest::new(desk.work()).mcp_servers(vec![sse]);
        let sse = editor.connection.send_request(request).block_task().await.expect_err("refused");
        let unknown = editor.prompt(&"nobody".into(), "hi").await.expect_err("it is unknown");
        let load = LoadSessionRequest::new("0nobody", desk.work());
        let load = editor.connection.send_request(load).block_task().await.expect_err("unknown");
        let id = editor.begin(&desk.work()).await.expect("the run begins");
        let empty = editor.prompt(&id, " ").await.expect_err("it is empty");
        let image = ContentBlock::Image(ImageContent::new("aGk=", "image/png"));
        let image = PromptRequest::new(id.clone(), vec![image]);
        let image = editor.connection.send_request(image).block_task().await.expect_err("refused");
        for error in [relative, missing, locked, sse, unknown, load, empty, image] {
            said.push(format!("{} {}", i32::from(error.code), error.message));
        }
        assert_snapshot!(said.join("\n"), @r#"
        -32602 `cwd` must be an absolute path, not `work`
        -32602 `cwd` must be a folder, and /no/such/folder is not
        -32603 the folder is locked; unlock it
        -32602 the MCP server `old` uses `sse`, which is not supported: use `http` or `stdio`
        -32002 there is no session `nobody`: start a new one
        -32002 there is no session `0nobody`: start a new one
        -32602 the prompt is empty
        -32602 an image is not supported: send text, links or text files
        
"#);
        assert_eq!(editor.prompt(&id, "first").await.expect("the turn ends"), StopReason::EndTurn);
    });
}

#[test]
fn failing_server_of_the_editor_is_reported() {
    let desk = Desk::new("servers", "[[turn]]\ntext = 'one'\n");
    desk.edit(chat::CHART, &[], async |editor| {
        let server = McpServer::Stdio(McpServerStdio::new("mine", "/no/such/${PROGRAM}"));
        let request = NewSessionRequest::new(desk.work()).mcp_servers(vec![server]);
        let begun = editor.connection.send_request(request).block_task().await;
        let id = begun.expect("it begins all the same").session_id;
        editor.prompt(&id, "hi").await.expect("the turn ends");
        let shown = editor.shown();
        assert!(shown.starts_with("thought \"MCP server mine: "), "{shown}");
        assert!(shown.contains("/no/such/${PROGRAM}"), "it is taken as it stands: {shown}");
    });
}

#[test]
fn plan_phases_are_shown_and_an_ended_run_takes_no_prompt() {
    let complete = |success| {
        let tool = code::PHASE_COMPLETE;
        format!(
            "[[turn]]\ntext = 'so'\n[[turn.calls]]\ntool = '{tool}'\narguments = {{ success = {success} }}\n"
        )
    };
    let mut desk = Desk::new("plan", &[complete(true), complete(true)].concat());
    desk.config = json!({ "phases": [{ "description": "look" }, { "description": "do" }] });
    let mut begun = None;
    desk.edit(code::CHART, &[], async |editor| {
        let id = editor.begin(&desk.work()).await.expect("the run begins");
        assert_eq!(editor.prompt(&id, "first").await.expect("the turn ends"), StopReason::EndTurn);
        let shown = editor.shown();
        let plans: Vec<&str> = shown.lines().filter(|line| line.starts_with("plan")).collect();
        assert_eq!(
            plans,
            [
                "plan look InProgress, do Pending",
                "plan look Completed, do InProgress",
                "plan look Completed, do Completed"
            ],
            "{shown}"
        );
        let over = editor.prompt(&id, "more").await.expect_err("it is over");
        assert!(over.message.starts_with("this session has ended (succeeded)"), "{}", over.message);
        begun = Some(id);
    });
    let id = begun.expect("the run was begun");
    desk.edit(code::CHART, &[], async |editor| {
        let load = LoadSessionRequest::new(id.clone(), desk.work());
        editor.connection.send_request(load).block_task().await.expect("the session is loaded");
        let shown = editor.shown();
        assert!(shown.starts_with("user \"first\"\n"), "{shown}");
        assert!(shown.contains("plan look Completed, do Completed\n"), "{shown}");
        let over = editor.prompt(&id, "more").await.expect_err("it is over");
        assert!(over.message.starts_with("this session has ended"), "{}", over.message);
    });
}

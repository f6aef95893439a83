//! What keys do to the model.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use pointsman_kernel::{event::Event, id::Seq};
use pointsman_runtime::store::Change;
use ratatui::{Terminal, backend::TestBackend, style::Color};

use super::{Desk, asking, hostile, kept};
use crate::watch::{
    model::{WatchDialog, WatchMessage, WatchRequest},
    open_run::StepPane,
    view,
};

const SIZE: (u16, u16) = (80, 24);

#[test]
fn steps_go_back_and_forth_and_the_moment_goes_with_them() {
    let run = kept("research-01");
    let mut desk = Desk::of(&run, SIZE);
    let last = run.lines.len() as u64;
    assert!(desk.open().follows);
    for seq in (1..last).rev() {
        desk.press(KeyCode::Left);
        assert_eq!(desk.open().selected.0, Seq(seq));
        let moment = desk.open().moment.as_ref().expect("the step is read");
        assert_eq!((moment.seq, moment.view.entries), (Seq(seq), seq));
    }
    desk.press(KeyCode::Left);
    assert_eq!(desk.open().selected.0, Seq(1), "there is nothing before the first");
    desk.press(KeyCode::Right);
    assert_eq!((desk.open().selected.0, desk.open().follows), (Seq(2), false));
    desk.press(KeyCode::End);
    assert_eq!((desk.open().selected.0, desk.open().follows), (Seq(last), true));
    desk.keys("g");
    assert_eq!(desk.open().selected.0, Seq(1));
    let mut items = 0;
    while !desk.open().follows {
        desk.press(KeyCode::Down);
        items += 1;
    }
    assert_eq!(items, desk.open().items().count() - 1, "one item at a time");
}

#[test]
fn matches_are_counted_and_visited() {
    let run = kept("research-01");
    let mut desk = Desk::of(&run, SIZE);
    desk.keys("/MAIN");
    assert!(matches!(&desk.model.over, Some(WatchDialog::Find(text)) if text == "MAIN"));
    desk.keys("\n");
    let found = desk.open().finding.clone().expect("there is a search");
    assert!(found.hits.len() > 1, "{found:?}");
    let count = found.hits.len();
    let place = |desk: &Desk| {
        let finding = desk.open().finding.as_ref().expect("there is a search");
        (finding.place(desk.open().head), desk.open().selected)
    };
    assert_eq!(place(&desk), (format!("1 of {count}"), found.hits[0]), "round the end");
    desk.keys("n");
    assert_eq!(place(&desk), (format!("2 of {count}"), found.hits[1]));
    desk.keys("NN");
    assert_eq!(place(&desk), (format!("{count} of {count}"), found.hits[count - 1]));
    desk.keys("/never said\n");
    assert_eq!(place(&desk).0, "not found");
    desk.press(KeyCode::Esc);
    assert!(desk.open().finding.is_none(), "Esc ends the search first");
    desk.press(KeyCode::Esc);
    assert!(desk.model.open.is_none(), "then it goes back");
}

#[test]
fn text_that_is_not_shown_whole_is_found_all_the_same() {
    let mut run = super::listening();
    let text = format!("{}needle", "hay ".repeat(100_000));
    run.write(Event::Given { event: 0, body: super::body(&text) });
    let mut desk = Desk::of(&run.exported, SIZE);
    desk.keys("/needle\n");
    let finding = desk.open().finding.as_ref().expect("there is a search");
    assert_eq!(finding.place(desk.open().head), "1 of 1");
    assert!(!desk.screen().contains("needle\n"), "it is beyond what is shown");
}

#[test]
fn approval_counts_after_the_whole_question_was_shown() {
    let run = asking();
    let mut desk = Desk::of(&run, SIZE);
    desk.keys("a");
    let Some(WatchDialog::Answer(answer)) = &desk.model.over else { panic!("it is asked") };
    assert!(answer.granted && answer.read, "it fits");
    desk.keys("because");
    let sent = desk.model.update(WatchMessage::Key(KeyCode::Enter.into()));
    let [WatchRequest::Answer { run: to, granted: true, reason, .. }] = &sent[..] else {
        panic!("it is sent: {sent:?}");
    };
    assert_eq!((to, reason.as_deref()), (&run.run, Some("because")));
    // On a screen that is too small, Enter scrolls first.
    desk.tell(WatchMessage::Resized(24, 5));
    desk.keys("a");
    let mut presses = 0;
    loop {
        let sent = desk.model.update(WatchMessage::Key(KeyCode::Enter.into()));
        presses += 1;
        if matches!(sent[..], [WatchRequest::Answer { .. }]) {
            break;
        }
        assert!(presses < 50, "it comes to the end");
    }
    assert!(presses > 1, "not before all of it was there");
    // A no counts at once, Esc sends nothing, and a pasted line break is no Enter.
    desk.keys("d");
    desk.tell(WatchMessage::Pasted("no\n\rno".into()));
    assert!(matches!(&desk.model.over, Some(WatchDialog::Answer(it)) if it.reason == "no  no"));
    desk.press(KeyCode::Esc);
    assert!(desk.model.over.is_none());
}

#[test]
fn a_run_without_a_question_takes_no_answer() {
    let mut desk = Desk::of(&kept("research-01"), SIZE);
    desk.keys("a");
    assert!(desk.model.over.is_none());
    assert!(desk.screen().contains("this run has no open question"), "{}", desk.screen());
}

#[test]
fn runs_that_wait_come_first_and_filters_choose() {
    let runs = [asking(), kept("research-01"), kept("chat-01"), kept("research-02")];
    let mut desk = Desk::new(&runs, SIZE, None);
    let ids = |desk: &Desk| -> Vec<String> {
        desk.model.runs.rows.iter().map(|run| run.row.id.to_string()).collect()
    };
    assert_eq!(ids(&desk).len(), 4);
    assert_eq!(ids(&desk)[0], runs[0].run.as_str(), "it waits for a yes");
    desk.keys("/agent:research\n");
    assert_eq!(ids(&desk).len(), 2);
    desk.keys("/ is:failed\n");
    assert!(desk.screen().contains("no run matches the filter"), "{}", desk.screen());
    desk.press(KeyCode::Esc);
    desk.keys("/is:waiting\n");
    assert_eq!(ids(&desk), [runs[0].run.as_str()]);
    desk.press(KeyCode::Esc);
    desk.keys("/is:nonsense\n");
    assert!(desk.screen().contains("is:waiting"), "{}", desk.screen());
    desk.press(KeyCode::Esc);
    assert_eq!(ids(&desk).len(), 4);
    desk.press(KeyCode::End);
    let last = desk.model.runs.current().cloned().expect("one is selected");
    desk.keys("\n");
    assert_eq!(desk.open().id, last);
}

#[test]
fn panes_change_scroll_and_fill_the_screen() {
    let mut desk = Desk::of(&kept("research-01"), SIZE);
    for (key, pane) in [('w', StepPane::Why), ('c', StepPane::Chart), ('4', StepPane::Budgets)] {
        desk.keys(&key.to_string());
        assert_eq!(desk.open().pane, pane);
    }
    desk.press(KeyCode::Tab);
    assert_eq!(desk.open().pane, StepPane::Data);
    desk.press(KeyCode::BackTab);
    desk.keys("5");
    let before = desk.screen();
    desk.keys("J");
    assert_ne!(desk.screen(), before);
    desk.keys("K");
    assert_eq!(desk.screen(), before);
    desk.keys(&"J".repeat(5_000));
    let end = desk.screen();
    desk.keys("J");
    assert_eq!(desk.screen(), end, "it stops at the end");
    desk.keys("\n");
    assert!(desk.open().zoomed && !desk.screen().contains("timeline"), "{}", desk.screen());
    desk.press(KeyCode::Esc);
    assert!(!desk.open().zoomed);
}

#[test]
fn new_entries_are_followed_unless_the_person_looks_back() {
    let run = kept("research-01");
    let half = super::Exported { lines: run.lines[..3].to_vec(), ..run.clone() };
    let mut desk = Desk::of(&half, SIZE);
    assert_eq!(desk.open().head, Seq(3));
    let go_on = |desk: &Desk, seq: u64| {
        let store = desk.session.store();
        let line = run.lines[usize::try_from(seq).expect("it is small") - 1].clone();
        let append = pointsman_runtime::store::Append {
            run: run.run.clone(),
            seq: Seq(seq),
            line: line.into(),
            state: "somewhere".into(),
            ended: None,
            wake: None,
            snapshot: None,
            prompts: Vec::new(),
            message: None,
        };
        let written = pointsman_testing::script::write(&**store, append);
        desk.session.block_on(written).expect("it is written");
    };
    let entry = |seq| WatchMessage::Changed(Change::Entry { run: run.run.clone(), seq: Seq(seq) });
    go_on(&desk, 4);
    desk.tell(entry(4));
    assert_eq!(desk.open().moment.as_ref().map(|it| it.seq), Some(Seq(4)));
    desk.press(KeyCode::Left);
    go_on(&desk, 5);
    desk.tell(entry(5));
    assert_eq!((desk.open().selected.0, desk.open().head), (Seq(3), Seq(5)));
    assert!(desk.screen().contains("entry 3 of 5"), "{}", desk.screen());
    desk.press(KeyCode::End);
    assert_eq!(desk.open().moment.as_ref().map(|it| it.seq), Some(Seq(5)));
}

#[test]
fn control_c_leaves_from_everywhere() {
    for keys in ["", "?", "/x", "\n", "\n/x", "\na"] {
        let mut desk = Desk::new(&[asking()], SIZE, None);
        desk.keys(keys);
        desk.tell(WatchMessage::Key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)));
        assert!(desk.model.is_over, "after {keys:?}");
    }
}

#[test]
fn without_colours_nothing_is_coloured() {
    let desk = Desk::of(&asking(), SIZE);
    for coloured in [false, true] {
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).expect("it opens");
        terminal.draw(|frame| view::draw(&desk.model, coloured, frame)).expect("it is drawn");
        let cells = terminal.backend().buffer().content();
        let found = cells.iter().any(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset);
        assert_eq!(found, coloured);
    }
}

#[test]
fn nothing_that_a_run_says_steers_the_terminal() {
    let run = hostile();
    for size in [(80, 24), (40, 10), (200, 60), (20, 5), (1, 1), (300, 2)] {
        let mut desk = Desk::of(&run, size);
        for key in ["", "w", "c", "b", "5", "6", "\n", "?"] {
            desk.keys(key);
            let screen = desk.screen();
            let steers = |c: char| {
                (c.is_control() && c != '\n') || matches!(c, '\u{202a}'..='\u{202e}' | '\u{200b}')
            };
            assert!(!screen.contains(steers), "{size:?} after {key:?}:\n{screen}");
        }
        desk.keys("q");
        desk.press(KeyCode::Esc);
        desk.press(KeyCode::Esc);
        assert!(!desk.screen().contains('\u{1b}'));
    }
}

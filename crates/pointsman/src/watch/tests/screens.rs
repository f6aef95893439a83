//! Each view on terminals of several sizes, as snapshots.

use crossterm::event::KeyCode;
use insta::assert_snapshot;
use pointsman_kernel::agents::Agents;

use super::{Desk, asking, hostile, kept};

const USUAL: (u16, u16) = (80, 24);
const SMALL: (u16, u16) = (40, 10);
const LARGE: (u16, u16) = (200, 60);

#[test]
fn the_list() {
    let runs =
        [asking(), kept("research-01"), kept("chat-01"), kept("code-01"), kept("explore-01")];
    let mut desk = Desk::new(&runs, USUAL, None);
    assert_snapshot!("list_80x24", desk.screen());
    assert_snapshot!("list_40x10", desk.screen_of(SMALL));
    assert_snapshot!("list_200x60", desk.screen_of(LARGE));
    desk.keys("/is:open");
    assert_snapshot!("list_filter", desk.screen());
    assert_snapshot!("list_empty", Desk::new(&[], USUAL, None).screen());
}

#[test]
fn a_run_at_its_end_and_stepped_back() {
    let mut desk = Desk::of(&kept("research-01"), USUAL);
    assert_snapshot!("run_80x24", desk.screen());
    desk.press(KeyCode::Left);
    desk.press(KeyCode::Left);
    assert_snapshot!("run_stepped_back", desk.screen());
    desk.keys("/main\n");
    assert_snapshot!("run_find", desk.screen());
}

#[test]
fn a_run_on_other_sizes() {
    for (name, size) in [("run_40x10", SMALL), ("run_200x60", LARGE)] {
        let mut desk = Desk::of(&kept("research-01"), size);
        desk.press(KeyCode::Left);
        assert_snapshot!(name, desk.screen());
    }
    let mut desk = Desk::of(&kept("research-01"), SMALL);
    desk.keys("w\n");
    assert_snapshot!("why_40x10", desk.screen());
}

#[test]
fn each_pane() {
    let mut desk = Desk::of(&kept("research-01"), USUAL);
    desk.keys("g");
    desk.press(KeyCode::Right);
    for (key, name) in
        [("w", "why"), ("c", "chart"), ("b", "budgets"), ("5", "data"), ("6", "prompt")]
    {
        desk.keys(key);
        assert_snapshot!(format!("pane_{name}"), desk.screen());
    }
}

#[test]
fn a_question_and_its_answer() {
    let mut desk = Desk::of(&asking(), USUAL);
    assert_snapshot!("asking", desk.screen());
    desk.keys("alooks fine");
    assert_snapshot!("approving", desk.screen());
    desk.press(KeyCode::Esc);
    desk.keys("d");
    assert_snapshot!("denying_40x10", {
        desk.model.size = SMALL;
        desk.screen()
    });
}

#[test]
fn the_help() {
    let mut desk = Desk::of(&kept("research-01"), USUAL);
    desk.keys("?");
    assert_snapshot!("help", desk.screen());
    assert_snapshot!("help_40x10", desk.screen_of(SMALL));
}

#[test]
fn a_hostile_run() {
    let mut desk = Desk::of(&hostile(), USUAL);
    assert_snapshot!("hostile", desk.screen());
    desk.press(KeyCode::Esc);
    assert_snapshot!("hostile_list", desk.screen());
}

#[test]
fn a_run_of_an_agent_that_is_not_known_is_listed() {
    let run = kept("builtin-one-01");
    let mut desk = Desk::knowing(Agents::new(), std::slice::from_ref(&run), USUAL, Some(&run.run));
    desk.press(KeyCode::Left);
    assert_snapshot!("unknown_agent", desk.screen());
}

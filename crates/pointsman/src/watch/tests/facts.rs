//! The same facts: the model has the items of `show --json`, in order and with their kinds.

use std::collections::BTreeSet;

use crossterm::event::KeyCode;
use pointsman_kernel::{
    event::{Event, Pauser},
    id::Seq,
};
use pointsman_testing::kept::corpus;
use serde_json::Value;

use super::{Desk, listening};
use crate::command::show;

/// Returns seq, index and kind of each item that `show --json` has.
fn shown(desk: &Desk) -> Vec<(u64, u64, String)> {
    let run = &desk.open().id;
    let row = desk.session.block_on(desk.session.store().run(run)).expect("the run is there");
    let json = show::as_json(&desk.session, &row).expect("it can be shown");
    let items = json["timeline"]["items"].as_array().cloned().expect("it has items");
    let item = |item: &Value| {
        let number = |key: &str| item[key].as_u64().expect("it is a number");
        (number("seq"), number("index"), item["kind"].as_str().expect("it is a name").to_owned())
    };
    items.iter().map(item).collect()
}

/// Returns the same of the model's items.
fn modelled(desk: &Desk) -> Vec<(u64, u64, String)> {
    let items = desk.open().items();
    items.map(|row| (row.id.0.0, row.id.1.into(), row.kind.to_string())).collect()
}

#[test]
fn every_kept_run_has_the_items_of_show() {
    let runs = corpus("");
    assert!(runs.len() > 70, "{} runs", runs.len());
    let mut desk = Desk::new(&runs, (80, 24), None);
    for exported in &runs {
        let requests = desk.model.open(exported.run.clone());
        desk.settle(requests);
        assert_eq!(modelled(&desk), shown(&desk), "run {}", exported.run);
        let moment = desk.open().moment.as_ref().expect("its last step is read");
        assert_eq!(moment.seq.0, exported.lines.len() as u64, "run {}", exported.run);
    }
}

#[test]
fn a_long_run_is_loaded_in_parts_and_none_is_left_out() {
    let mut run = listening();
    while run.exported.lines.len() < 2_000 {
        run.write(Event::Paused { why: "a test".into(), by: Some(Pauser::Person) });
        run.write(Event::Resumed);
    }
    let mut desk = Desk::of(&run.exported, (80, 24));
    let all = shown(&desk);
    assert!(modelled(&desk).len() < all.len(), "not all of it is loaded at once");
    // From its end to its start: what is loaded is never more than a part.
    let mut seen = BTreeSet::new();
    loop {
        let items = modelled(&desk);
        assert!(items.len() < all.len(), "the window is bounded");
        seen.extend(items);
        let open = desk.open();
        let moment = open.moment.as_ref().expect("the step is read");
        let selected = open.items().take_while(|row| row.id <= open.selected).last();
        let row = selected.expect("the item is loaded");
        assert_eq!((moment.seq, row.id.0), (open.selected.0, open.selected.0));
        if open.selected == (Seq(1), 0) {
            break;
        }
        desk.press(KeyCode::PageUp);
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), all);
}

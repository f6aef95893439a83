//! What holds whatever becomes of the program or of its journal while a run is under way.

use std::fs;

use crate::{home::Home, served::Served};

/// A chart that asks a model twice, one question after the other.
pub(crate) const TWICE: &str = r#"
chart   = "twice"
version = 1
start   = "first"
authority = "text"

[any]
cancel = "cancelled"

[state.first]
run     = "model.reply"
timeout = "10m"
with    = { prompt = "Say yes to {goal}." }
on.completed = "second"
on.failed = "failed"
on.timeout = "failed"

[state.second]
run     = "model.reply"
timeout = "10m"
with    = { prompt = "Say it again." }
on.completed = "done"
on.failed = "failed"
on.timeout = "failed"

[state.done]
final = "succeeded"
[state.failed]
final = "failed"
[state.cancelled]
final = "cancelled"
"#;

#[test]
fn a_run_whose_journal_is_taken_away_stops_before_its_next_effect() {
    for (way, ending) in [("delete", ""), ("rename over", ""), ("delete", "-wal")] {
        let home = Home::new("taken-away");
        home.write("twice.toml", TWICE);
        let journal = home.path("state/pointsman/journal.db");
        let target = home.path(&format!("state/pointsman/journal.db{ending}"));
        let served = Served::new(move |asked| {
            if asked > 1 {
                return;
            }
            assert!(journal.exists(), "there is a journal while it runs");
            let aside = journal.with_extension("aside");
            if way == "delete" {
                fs::remove_file(&target).expect("it is removed");
            } else {
                fs::copy(&journal, &aside).expect("it is copied");
                fs::rename(&aside, &target).expect("it is moved");
            }
        });
        let model = ["--model", "openai-compatible:any"];
        let run = ["run", "twice.toml", "it", model[0], model[1]];
        let shown = home.with(&[("OPENAI_BASE_URL", &served.url)], &run);
        assert_eq!(shown.code, Some(10), "{way}{ending}: {}{}", shown.out, shown.err);
        assert!(shown.err.contains("was deleted or replaced while it was in use"), "{}", shown.err);
        assert_eq!(served.asked(), 1, "{way}{ending}: the second question was asked");
    }
}

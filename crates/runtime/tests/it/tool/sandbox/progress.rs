//! The output of a tool while it runs, as observers see it.

use pointsman_runtime::effect::ProgressSink;
use serde_json::json;
use tokio::sync::mpsc;

use super::super::{call, permit, result, wait};

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn a_command_shows_its_output_before_it_ends() {
    let desk = super::desk("bubblewrap", "progress");
    let (sender, mut pieces) = mpsc::unbounded_channel();
    // It continues only once its output was seen.
    let command = "echo first; echo wrong >&2; while [ ! -e seen ]; do sleep 0.05; done; echo last";
    let (said, shown) = wait(async {
        let shell = call("shell", json!({ "command": command, "timeout_ms": 20_000 }));
        let shown = ProgressSink::to(sender);
        let running = async {
            let done = desk.tools.call(&shell, &permit(), &shown).await;
            drop(shown);
            done
        };
        let root = desk.root.clone();
        let watching = async move {
            let mut all = String::new();
            while let Some(piece) = pieces.recv().await {
                all.push_str(&piece);
                if all.contains("first") && all.contains("wrong") {
                    std::fs::write(root.join("seen"), "").expect("the file is written");
                }
            }
            all
        };
        tokio::join!(running, watching)
    });
    let said = result(said);
    assert!(said.ok && said.output.contains("last"), "{}", said.output);
    assert!(shown.contains("first\n") && shown.contains("wrong\n") && shown.ends_with("last\n"));
}

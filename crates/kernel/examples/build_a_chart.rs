//! Builds a chart in Rust instead of TOML. It meets the same checks, and what it
//! yields is the same kind of value.
//!
//! ```sh
//! cargo run -p pointsman-kernel --example build_a_chart
//! ```

#![expect(clippy::print_stdout, reason = "an example shows something")]

use std::error::Error;

use pointsman_kernel::{
    chart::{Authority, ChartBuilder, Disposition, StateBuilder},
    graph::mermaid,
    job::{AgentDecl, Influence, JobDecl, Registry},
    simulate::simulate,
};

const FETCH: JobDecl =
    JobDecl { name: "page.fetch", outcomes: &[("fetched", Influence::None)], ..JobDecl::RUN };
const COMPARE: JobDecl = JobDecl {
    name: "page.compare",
    outcomes: &[("changed", Influence::None), ("same", Influence::None)],
    ..JobDecl::DECIDE
};
const WATCHER: AgentDecl =
    AgentDecl { name: "watcher", jobs: &[FETCH, COMPARE], ..AgentDecl::NONE };

fn main() -> Result<(), Box<dyn Error>> {
    let registry = Registry { agents: &[WATCHER], tools: &[], children: &[] };
    let chart = ChartBuilder::new("watch", "watcher", "fetching", Authority::Text)
        .budget("looks", 10, "unchanged")
        .cancel("cancelled")
        .state(
            StateBuilder::run("fetching", "page.fetch", 5_000)
                .attempts(3, 500, 4_000)
                .on("fetched", "comparing")
                .on("failed", "unreachable"),
        )
        .state(
            StateBuilder::decide("comparing", "page.compare")
                .on("changed", "changed")
                .on_spending("same", "fetching", "looks"),
        )
        .state(StateBuilder::ends("changed", Disposition::Succeeded))
        .state(StateBuilder::ends("unchanged", Disposition::Budget))
        .state(StateBuilder::ends("unreachable", Disposition::Failed))
        .state(StateBuilder::ends("cancelled", Disposition::Cancelled))
        .verify(&registry)
        .map_err(|refused| format!("{:#?}", refused.diagnostics))?;

    println!("{:?}\n", chart.certificate());
    println!("{}", mermaid(&chart));
    let walk = simulate(&chart, ["fetched", "same", "fetched", "changed"]);
    println!("{}: {:?}", walk.visited.join(" → "), walk.ended);
    Ok(())
}

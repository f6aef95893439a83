//! The pages that the form agent is tested with, on a site of their own.

use std::io;

use pointsman_testing::site::{Reply, Request, Site};
use xtask_set_up::place;

/// Serves them for as long as the site is held.
pub fn serve() -> io::Result<Site> {
    Site::start(answer)
}

fn answer(request: &Request) -> Reply {
    if request.method == "POST" {
        return Reply::html("");
    }
    let folder = place::root().join("crates/pointsman/tests/it/form/pages");
    let name = request.path.as_str();
    let page = if name.contains('.') { name.into() } else { format!("{name}.html") };
    Reply::file(&folder, &page)
}

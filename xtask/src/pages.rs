//! The pages that the form agent is tested with, on a site of their own.

use std::io;

use pointsman_testing::site::{HttpReply, Request, Site};
use xtask_set_up::place;

/// Serves them for as long as the site is held.
pub fn serve() -> io::Result<Site> {
    Site::start(answer)
}

fn answer(request: &Request) -> HttpReply {
    if request.method == "POST" {
        return HttpReply::html("");
    }
    let folder = place::root().join("crates/pointsman/tests/it/form/pages");
    let name = request.path.as_str();
    let page = if name.contains('.') { name.into() } else { format!("{name}.html") };
    HttpReply::file(&folder, &page)
}

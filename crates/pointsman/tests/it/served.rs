//! A model server on this machine whose every answer is the same, and what it is asked.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use pointsman_testing::site::{HttpReply, Site};

const ANSWER: &str = concat!(
    r#"data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"yes"},"#,
    r#""finish_reason":"stop"}]}"#,
    "\n\ndata: [DONE]\n\n"
);

/// A server that counts its requests.
pub(crate) struct Served {
    pub(crate) url: String,
    asked: Arc<AtomicUsize>,
    _site: Site,
}

impl Served {
    /// Starts one. `before` is called with the number of each request before it is answered.
    pub(crate) fn new(before: impl Fn(usize) + Send + Sync + 'static) -> Self {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        let site = Site::start(move |_| {
            before(count.fetch_add(1, Ordering::SeqCst) + 1);
            HttpReply::events(ANSWER)
        });
        let site = site.expect("a port is free");
        Self { url: site.url("v1"), asked, _site: site }
    }

    /// Returns how many requests have come.
    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

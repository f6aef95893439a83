//! What was looked for on the pages, and what of it was there.

use std::collections::BTreeMap;

/// How often something was looked for, and how often it was there.
#[derive(Default)]
pub(super) struct Checks {
    by_name: BTreeMap<&'static str, (usize, usize)>,
    misses: Vec<String>,
    /// The counts when the current page began: misses, checks.
    page: (usize, usize),
}

impl Checks {
    /// Notes whether something holds.
    pub(super) fn see(&mut self, what: &'static str, holds: bool, detail: impl FnOnce() -> String) {
        let (right, total) = self.by_name.entry(what).or_default();
        *total += 1;
        if holds {
            *right += 1;
        } else {
            self.misses.push(format!("{what}: {}", detail()));
        }
    }

    /// Begins a page.
    pub(super) fn open(&mut self) {
        self.page = (self.misses.len(), self.total());
    }

    /// Ends a page and returns its misses. A page that nothing was looked for on has
    /// shown nothing: that is one too.
    pub(super) fn close(&mut self) -> &[String] {
        let (misses, total) = self.page;
        if self.total() == total {
            self.misses.push("nothing was looked for".into());
        }
        self.misses.get(misses..).unwrap_or_default()
    }

    /// Returns whether nothing was missed.
    pub(super) const fn all_hold(&self) -> bool {
        self.misses.is_empty()
    }

    /// Prints how often each thing was there.
    pub(super) fn print(&self) {
        for (what, (right, total)) in &self.by_name {
            println!("  {what:16} {right:>4} of {total:>4}");
        }
        let right: usize = self.by_name.values().map(|(right, _)| right).sum();
        println!("  {:16} {right:>4} of {:>4}", "in all", self.total());
    }

    fn total(&self) -> usize {
        self.by_name.values().map(|(_, total)| total).sum()
    }

    /// Returns how often something was there, and how often it was looked for.
    #[cfg(test)]
    pub(super) fn of(&self, what: &str) -> (usize, usize) {
        self.by_name.get(what).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_miss_is_counted_as_one() {
        let mut checks = Checks::default();
        checks.open();
        checks.see("label", true, String::new);
        checks.see("label", false, || "another".into());
        assert_eq!(checks.close(), ["label: another"]);
        assert_eq!(checks.of("label"), (1, 2));
        assert!(!checks.all_hold());
    }

    #[test]
    fn a_page_without_a_check_fails() {
        let mut checks = Checks::default();
        checks.see("label", true, String::new);
        checks.open();
        assert_eq!(checks.close(), ["nothing was looked for"]);
        assert!(!checks.all_hold());
    }
}

//! Programs that a repository's settings name, and how git is kept from running them.
//!
//! Git has no switch that turns all drivers off, so the settings are read first and each
//! driver that they name is overridden on the command line, which wins over every file.

use std::collections::BTreeSet;

/// Drivers that are overridden; a repository with more is refused.
const MOST: usize = 200;

/// What a repository's settings say that matters to a call.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(in crate::tool) struct Drivers {
    filters: BTreeSet<String>,
    /// Settings that hold for every call.
    off: Vec<String>,
    /// The name and the e-mail address that the repository sets for commits.
    pub(super) author: (Option<String>, Option<String>),
}

impl Drivers {
    /// Reads the output of `git config --list -z`: each setting is `KEY`, a line feed and the
    /// value, or `KEY` alone.
    pub(super) fn read(listed: &[u8]) -> Result<Self, String> {
        let mut drivers = Self::default();
        let mut named = BTreeSet::new();
        for setting in listed.split(|byte| *byte == 0).filter(|setting| !setting.is_empty()) {
            let text = String::from_utf8_lossy(setting);
            let (key, value) = text.split_once('\n').unwrap_or((&text, ""));
            match key {
                "user.name" => drivers.author.0 = filled(value),
                "user.email" => drivers.author.1 = filled(value),
                _ => {}
            }
            let Some((section, driver, variable)) = parts(key) else { continue };
            let runs = match section {
                "filter" | "hook" => true,
                "diff" => matches!(variable, "command" | "textconv"),
                "merge" => variable == "driver",
                "gpg" => variable == "program",
                _ => false,
            };
            if !runs {
                continue;
            }
            if driver.contains(['=', '\u{fffd}']) {
                return Err(format!(
                    "the repository's settings name the {section} driver `{driver}`, which cannot be disabled: rename it in `.git/config`"
                ));
            }
            if section == "filter" {
                drivers.filters.insert(driver.to_owned());
            } else {
                named.insert((section.to_owned(), driver.to_owned()));
            }
        }
        let count = named.len().saturating_add(drivers.filters.len());
        if count > MOST {
            return Err(format!(
                "the repository's settings name {count} drivers, but at most {MOST} can be disabled: remove some from `.git/config`"
            ));
        }
        for (section, driver) in named {
            let settings: &[&str] = match section.as_str() {
                // An empty text conversion is a fault, and this one changes nothing.
                "diff" => &["command=false", "textconv=cat", "cachetextconv=false"],
                "merge" => &["driver=false"],
                "gpg" => &["program=false"],
                _ => &["enabled=false", "command=true"],
            };
            drivers.off.extend(settings.iter().map(|it| format!("{section}.{driver}.{it}")));
        }
        Ok(drivers)
    }

    /// Returns the settings that keep git from running any of them. Where a file would be put
    /// into the index without its filter, git is to stop: what the filter keeps out, such as
    /// a large file, would be committed.
    pub(super) fn settings(&self, stages: bool) -> Vec<String> {
        let filters = self.filters.iter().flat_map(|driver| {
            [
                "clean=",
                "smudge=",
                "process=",
                if stages { "required=true" } else { "required=false" },
            ]
            .map(|setting| format!("filter.{driver}.{setting}"))
        });
        self.off.iter().cloned().chain(filters).collect()
    }
}

/// Says what to do where git stopped because a filter is turned off.
pub(crate) fn unfiltered(said: &str) -> Option<String> {
    let (file, filter) = said.lines().find_map(|line| {
        let (file, rest) = line.split_once(": clean filter '")?;
        let file = file.rsplit_once("fatal: ").map_or(file, |(_, file)| file);
        Some((file, rest.strip_suffix("' failed")?))
    })?;
    Some(format!(
        "{file} uses the repository's filter `{filter}`, and Pointsman does not run programs that a repository names: add and commit it yourself"
    ))
}

fn filled(value: &str) -> Option<String> {
    Some(value.trim().to_owned()).filter(|value| !value.is_empty())
}

/// Returns section, driver and variable of a key that has all three; a driver may hold dots.
fn parts(key: &str) -> Option<(&str, &str, &str)> {
    let (section, rest) = key.split_once('.')?;
    let (driver, variable) = rest.rsplit_once('.')?;
    Some((section, driver, variable))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_git_driver_is_disabled() {
        let listed = b"core.bare\nfalse\0filter.a.b.clean\ntouch x\0filter..process\nx\0\
            diff.d.textconv\nx\0diff.d.xfuncname\nx\0diff.e.binary\ntrue\0merge.m.driver\nx\0\
            gpg.ssh.program\nx\0hook.h.command\nx\0user.name\n  A B \0user.email\n\0flag\0";
        let drivers = Drivers::read(listed).expect("they are read");
        let settings = drivers.settings(false);
        for wanted in [
            "filter.a.b.clean=",
            "filter.a.b.process=",
            "filter..process=",
            "filter..required=false",
            "diff.d.textconv=cat",
            "merge.m.driver=false",
            "gpg.ssh.program=false",
            "hook.h.enabled=false",
        ] {
            assert!(settings.iter().any(|it| it == wanted), "{wanted}: {settings:?}");
        }
        assert!(!settings.iter().any(|it| it.starts_with("diff.e.")), "{settings:?}");
        assert!(drivers.settings(true).contains(&"filter.a.b.required=true".to_owned()));
        assert_eq!(drivers.author, (Some("A B".into()), None));
    }

    #[test]
    fn a_driver_that_cannot_be_named_on_the_command_line_is_refused() {
        for listed in [&b"filter.a=b.clean\nx\0"[..], b"filter.\xff.clean\nx\0"] {
            let why = Drivers::read(listed).expect_err("it is refused");
            assert!(why.contains("cannot be disabled"), "{why}");
        }
        let many: Vec<String> = (0..=MOST).map(|it| format!("filter.x{it}.clean\nx\0")).collect();
        assert!(
            Drivers::read(many.concat().as_bytes()).expect_err("too many").contains("201 drivers")
        );
    }

    #[test]
    fn a_file_that_needs_its_filter_is_named() {
        let said = unfiltered("[stderr]\nfatal: a b.bin: clean filter 'lfs' failed\n");
        assert!(
            said.is_some_and(|it| it.starts_with("a b.bin uses the repository's filter `lfs`"))
        );
        assert_eq!(unfiltered("fatal: bad"), None);
    }
}

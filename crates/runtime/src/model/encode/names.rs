//! Tool names as providers take them, and back.

use std::collections::BTreeMap;

/// The longest name that every provider takes.
const LONGEST: usize = 64;

/// The names of tools in a request. Providers accept only letters, digits, `_` and `-`; other
/// names are translated, and translated back in the reply.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ToolNames {
    sent: BTreeMap<String, String>,
    known: BTreeMap<String, String>,
}

impl ToolNames {
    /// Finds a name for each tool. The same tools always get the same names.
    pub fn of<'a>(tools: impl Iterator<Item = &'a str>) -> Self {
        let tools: Vec<&str> = tools.collect();
        let mut names = Self::default();
        // Names that fit stay as they are, so they are taken before any is made up.
        for tool in tools.iter().filter(|tool| fits(tool)) {
            names.add(tool, (*tool).to_owned());
        }
        for tool in tools.iter().filter(|tool| !fits(tool)) {
            if names.sent.contains_key(*tool) {
                continue;
            }
            let plain = plain(tool);
            let mut name = plain.clone();
            for number in 2_u32.. {
                if !names.known.contains_key(&name) {
                    break;
                }
                let end = format!("_{number}");
                let start: String = plain.chars().take(LONGEST - end.len()).collect();
                name = start + &end;
            }
            names.add(tool, name);
        }
        names
    }

    /// Returns what a tool is called in the request.
    pub fn sent<'a>(&'a self, tool: &'a str) -> &'a str {
        self.sent.get(tool).map_or(tool, String::as_str)
    }

    /// Returns the tool that a reply means. A name that was never sent is unchanged, and the call
    /// fails as unknown.
    pub fn meant<'a>(&'a self, name: &'a str) -> &'a str {
        self.known.get(name).map_or(name, String::as_str)
    }

    fn add(&mut self, tool: &str, name: String) {
        self.known.insert(name.clone(), tool.to_owned());
        self.sent.insert(tool.to_owned(), name);
    }
}

fn fits(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    name.len() <= LONGEST
        && name.bytes().all(allowed)
        && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
}

fn plain(name: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let name: String = name.chars().map(allowed).take(LONGEST).collect();
    if fits(&name) { name } else { format!("t_{name}").chars().take(LONGEST).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_fits_and_comes_back() {
        let long = "é".repeat(80);
        let longer = "é".repeat(90);
        let tools =
            ["a.b", "a_b", "a:b", "", "9", "-x", "read", "a.b", long.as_str(), longer.as_str()];
        let names = ToolNames::of(tools.into_iter());
        for tool in tools {
            let sent = names.sent(tool);
            assert!(fits(sent), "{sent:?}");
            assert_eq!(names.meant(sent), tool);
        }
        assert_eq!(names.sent("a_b"), "a_b");
        assert_eq!(names.sent("read"), "read");
        assert_eq!(names.meant("unheard.of"), "unheard.of");
    }
}

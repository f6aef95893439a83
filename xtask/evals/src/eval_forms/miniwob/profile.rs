//! From an instruction to a profile: what a person would have written down before they let
//! the agent loose. This is the harness's work and no part of the agent.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::episode::Episode;

/// How an instruction is read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Task {
    /// One thing from a list.
    Choose,
    /// These boxes and no others.
    Boxes,
    /// The boxes that mean the same as these words.
    Synonyms,
    /// A name and a password.
    Login,
    /// Three things about a film.
    Search,
    /// A number.
    Spin,
    /// A number on a slider.
    Slide,
    /// Numbers on three sliders.
    Slides,
    /// A digit, drawn with boxes.
    Draw,
}

impl Task {
    /// Returns whether the page gives its fields no name, so that the agent must say how
    /// it knows them.
    pub(super) const fn asks_for_fields(self) -> bool {
        matches!(self, Self::Choose | Self::Spin | Self::Draw)
    }

    /// Returns whether the instruction alone does not say what goes into which field.
    pub(super) const fn asks_the_source(self) -> bool {
        matches!(self, Self::Synonyms | Self::Draw)
    }
}

/// Writes the profile for a problem, as TOML.
pub(super) fn write(task: Task, episode: &Episode, fields: &[Value]) -> Result<String> {
    let said = episode.instruction.as_str();
    let mut answers = BTreeMap::new();
    match task {
        Task::Choose => {
            let wanted = between(said, "Select ", " from the list")?;
            answers.insert(only(fields)?, wanted.to_owned());
        }
        Task::Spin => {
            let wanted = between(said, "Select ", " with the spinner")?;
            answers.insert(only(fields)?, wanted.to_owned());
        }
        Task::Slide => {
            let wanted = between(said, "Select ", " with the slider")?;
            answers.insert("slider".into(), wanted.to_owned());
        }
        Task::Slides => {
            let list = between(said, "combination ", " and submit")?;
            let wanted: Vec<i64> =
                serde_json::from_str(list).with_context(|| format!("not a list: {list}"))?;
            for (at, wanted) in (1..).zip(wanted) {
                answers.insert(format!("slider-{at}"), wanted.to_string());
            }
        }
        Task::Draw => {
            let digit = between(said, "Draw the number \"", "\"")?;
            let boxes = pattern(&episode.source, digit)?;
            let selectors = selectors(fields)?;
            ensure!(
                boxes.len() == selectors.len(),
                "the picture has {} boxes, the page {}",
                boxes.len(),
                selectors.len()
            );
            for (selector, on) in selectors.into_iter().zip(boxes) {
                answers.insert(selector, yes_or_no(on));
            }
        }
        Task::Boxes => {
            let wanted: Vec<&str> =
                between(said, "Select ", " and click Submit")?.split(", ").collect();
            for label in &episode.labels {
                answers.insert(label.clone(), yes_or_no(wanted.contains(&label.as_str())));
            }
        }
        Task::Synonyms => {
            let wanted = between(said, "Select words similar to ", " and click Submit")?;
            let wanted: Vec<&str> = wanted.split(", ").collect();
            let groups = groups(&episode.source)?;
            for label in &episode.labels {
                let own = groups.iter().find(|group| group.contains(label));
                let own = own.with_context(|| format!("`{label}` has no group"))?;
                let is = wanted.iter().any(|word| own.iter().any(|it| it == word));
                answers.insert(label.clone(), yes_or_no(is));
            }
        }
        Task::Login => {
            let user = between(said, "username \"", "\"")?;
            let password = between(said, "password \"", "\"")?;
            return Ok(format!(
                "allow = [\"password\"]\nusername = {}\ncurrent-password = {}\n",
                Value::from(user),
                Value::from(password)
            ));
        }
        Task::Search => {
            let genre = between(said, "Search for ", " movies")?;
            let director = between(said, "directed by ", " from year")?;
            let year = between(said, "from year ", ".")?;
            for (label, value) in [
                ("Genre", genre),
                ("Movie Genre", genre),
                ("Director", director),
                ("Director Name", director),
                ("Year", year),
                ("Released Date", year),
            ] {
                answers.insert(label.into(), value.into());
            }
        }
    }
    let lines = answers.into_iter().map(|(label, value)| {
        // JSON's strings are strings of TOML too.
        format!("{} = {}\n", Value::from(label), Value::from(value))
    });
    Ok(format!("[answers]\n{}", lines.collect::<Vec<_>>().concat()))
}

fn yes_or_no(is: bool) -> String {
    if is { "yes".into() } else { "no".into() }
}

/// Returns the label of the only field.
fn only(fields: &[Value]) -> Result<String> {
    let [field] = fields else { bail!("the page has {} fields", fields.len()) };
    Ok(field["label"].as_str().context("a field has a label")?.to_owned())
}

/// Returns where the boxes of a page are, in its order.
fn selectors(fields: &[Value]) -> Result<Vec<String>> {
    let boxes = fields.iter().filter(|field| field["type"] == "checkbox");
    let selectors = boxes.map(|field| field["selector"].as_str().map(ToOwned::to_owned));
    selectors.collect::<Option<_>>().context("a field has a selector")
}

/// Reads from the page's own source which boxes make a digit, row by row.
fn pattern(source: &str, digit: &str) -> Result<Vec<bool>> {
    let list = between(source, "var PATTERNS =", "];")?;
    let bare: String = list.lines().map(|line| line.split("//").next().unwrap_or(line)).collect();
    let bare: String = bare.chars().filter(|each| !each.is_whitespace()).collect();
    let json = format!("{bare}]").replace(",]", "]");
    let digits: Vec<Vec<Vec<u8>>> =
        serde_json::from_str(&json).with_context(|| format!("not a list of digits: {json}"))?;
    let rows = digits.get(digit.parse::<usize>()?).with_context(|| format!("no digit {digit}"))?;
    Ok(rows.iter().flatten().map(|on| *on == 1).collect())
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> Result<&'a str> {
    let rest = text.split_once(before).map(|(_, rest)| rest);
    let found = rest.and_then(|rest| rest.split_once(after)).map(|(found, _)| found);
    found.with_context(|| format!("no {before:?} and {after:?} in: {text}"))
}

/// Reads the page's own list of words that mean the same.
fn groups(source: &str) -> Result<Vec<Vec<String>>> {
    let list = between(source, "var SYNONYMS = [", "];")?;
    let lines = list.lines().map(str::trim).filter(|line| !line.is_empty());
    let groups = lines.map(|line| {
        let json = line.trim_end_matches(',').replace('\'', "\"");
        serde_json::from_str(&json).with_context(|| format!("not a list: {line}"))
    });
    groups.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_between_two_words_is_found() -> Result<()> {
        assert_eq!(between("Select -3 with the spinner", "Select ", " with")?, "-3");
        assert!(between("Select", "Select ", " with").is_err());
        Ok(())
    }

    #[test]
    fn the_boxes_of_a_digit_are_read_from_the_page() -> Result<()> {
        let source = "x\nvar PATTERNS =  [\n  [\n    // 0\n    [0, 1],\n    [1, 0],\n  ],\n  \
                      [\n    // 1\n    [1, 1],\n    [0, 1],\n  ]\n];\ny";
        assert_eq!(pattern(source, "0")?, [false, true, true, false]);
        assert_eq!(pattern(source, "1")?, [true, true, false, true]);
        assert!(pattern(source, "2").is_err());
        Ok(())
    }

    #[test]
    fn words_that_mean_the_same_are_read_from_the_page() -> Result<()> {
        let source = "x\nvar SYNONYMS = [\n  ['big', 'huge'],\n  ['water'],\n];\ny";
        assert_eq!(groups(source)?, [vec!["big", "huge"], vec!["water"]]);
        Ok(())
    }
}

//! Other maxima for a chart's budgets, written into its text.
//!
//! A run is bound to the chart that it was started with. A changed maximum is part of that chart:
//! verified, certified and replayed like any other.

use alloc::{borrow::ToOwned, collections::BTreeMap, format, string::String, vec::Vec};
use core::ops::Range;

use thiserror::Error;
use toml::de::{DeTable, DeValue};

use crate::diagnostic::did_you_mean;

/// A maximum to write into a chart.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Maximum<'a> {
    /// The budget's name.
    pub budget: &'a str,
    /// How much it permits: a number, a duration such as `2h`, or an amount such as `2.50`.
    pub amount: &'a str,
    /// Whether it counts only if it is lower than the chart's own maximum.
    pub lowers: bool,
}

/// Why a maximum cannot be written into a chart.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[non_exhaustive]
pub enum BadMaximum {
    /// The chart has no such budget.
    #[error("the chart has no budget `{budget}`")]
    Unknown {
        /// The name.
        budget: String,
        /// What to do next.
        hint: String,
    },
    /// The amount is not one for this budget.
    #[error("budget `{budget}` cannot be `{amount}`")]
    Amount {
        /// The name.
        budget: String,
        /// The given amount.
        amount: String,
        /// What to do next.
        hint: String,
    },
}

impl BadMaximum {
    /// Returns what to do next.
    pub fn hint(&self) -> &str {
        match self {
            Self::Unknown { hint, .. } | Self::Amount { hint, .. } => hint,
        }
    }
}

/// A budget as the text has it.
struct WrittenBudget {
    charge: Option<String>,
    max: u64,
    /// Where its maximum is written.
    place: Range<usize>,
    text: Option<String>,
}

/// Returns the chart's text with these maxima, the last one for a budget counting. A text
/// that cannot be read is left to `verify`.
pub fn with_budgets<'a>(
    source: &str,
    maxima: impl IntoIterator<Item = Maximum<'a>>,
) -> Result<String, BadMaximum> {
    let (document, errors) = DeTable::parse_recoverable(source);
    if !errors.is_empty() {
        return Ok(source.to_owned());
    }
    let mut budgets = budgets(document.get_ref());
    for Maximum { budget: name, amount, lowers } in maxima {
        let Some(budget) = budgets.get_mut(name) else {
            let hint = did_you_mean(name, budgets.keys().map(String::as_str), "budget");
            return Err(BadMaximum::Unknown { budget: name.to_owned(), hint });
        };
        let charge = budget.charge.as_deref();
        let Some(max) = amount_of(charge, amount).filter(|max| *max > 0) else {
            let hint = match charge {
                Some("time") => format!("write a duration: `{name}=30m` or `{name}=2h`"),
                Some("money") => format!("write an amount, such as `{name}=2.50`"),
                _ => format!("write a whole number of at least 1: `{name}=100`"),
            };
            let (budget, amount) = (name.to_owned(), amount.to_owned());
            return Err(BadMaximum::Amount { budget, amount, hint });
        };
        if lowers && max >= budget.max {
            continue;
        }
        budget.max = max;
        budget.text = Some(match charge {
            Some("time" | "money") => format!("\"{amount}\""),
            _ => format!("{max}"),
        });
    }
    let mut changed: Vec<WrittenBudget> =
        budgets.into_values().filter(|it| it.text.is_some()).collect();
    changed.sort_by_key(|it| it.place.start);
    let mut text = source.to_owned();
    for WrittenBudget { place, text: max, .. } in changed.into_iter().rev() {
        text.replace_range(place, &max.unwrap_or_default());
    }
    Ok(text)
}

fn budgets(document: &DeTable<'_>) -> BTreeMap<String, WrittenBudget> {
    let table = document.iter().find(|(name, _)| name.get_ref() == "budget");
    let table = table.and_then(|(_, value)| value.get_ref().as_table());
    let budgets = table.into_iter().flat_map(DeTable::iter).filter_map(|(name, budget)| {
        let budget = budget.get_ref().as_table()?;
        let get = |key: &str| budget.iter().find(|(name, _)| name.get_ref() == key);
        let charge = get("charge").and_then(|(_, charge)| charge.get_ref().as_str());
        let (_, max) = get("max")?;
        let amount = match max.get_ref() {
            DeValue::String(text) => text.clone().into_owned(),
            DeValue::Integer(number) => number.as_str().to_owned(),
            DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Array(_)
            | DeValue::Table(_) => return None,
        };
        let written = WrittenBudget {
            charge: charge.map(ToOwned::to_owned),
            max: amount_of(charge, &amount).unwrap_or(u64::MAX),
            place: max.span(),
            text: None,
        };
        Some((name.get_ref().clone().into_owned(), written))
    });
    budgets.collect()
}

/// Reads an amount as a budget of that charge counts it.
fn amount_of(charge: Option<&str>, amount: &str) -> Option<u64> {
    match charge {
        Some("time") => milliseconds(amount),
        Some("money") => micros(amount),
        _ if amount.starts_with(['+', '-']) => None,
        _ => amount.replace('_', "").parse().ok(),
    }
}

/// Reads a duration such as `15s`.
pub(super) fn milliseconds(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(digits)?;
    let unit: u64 = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(unit)
}

/// Reads an amount of money such as `2.50`, in millionths.
pub(super) fn micros(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || part.len() > 6 || !digits(whole) || !digits(part) {
        return None;
    }
    format!("{whole}{part:0<6}").parse().ok()
}

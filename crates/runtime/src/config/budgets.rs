//! `[budget.CHART]`: other maxima for the budgets of a chart.

use pointsman_kernel::chart::Maximum;
use toml::de::{DeTable, DeValue};

use super::{Origin, Problem, keys};

/// `[budget]`: maxima by chart and budget.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct BudgetsConfig {
    /// The user's.
    pub user: Vec<BudgetConfig>,
    /// A repository's, which may only lower a maximum.
    pub repository: Vec<BudgetConfig>,
}

/// One maximum.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct BudgetConfig {
    /// The chart's name.
    pub chart: String,
    /// The budget's name.
    pub budget: String,
    /// How much it permits.
    pub amount: String,
}

impl BudgetsConfig {
    /// Returns the maxima for a chart, in the order in which they count.
    pub fn of<'a>(&'a self, chart: &'a str) -> impl Iterator<Item = Maximum<'a>> {
        let user = self.user.iter().map(|it| (it, false));
        let all = user.chain(self.repository.iter().map(|it| (it, true)));
        all.filter(move |(it, _)| it.chart == chart).map(|(it, lowers)| Maximum {
            budget: &it.budget,
            amount: &it.amount,
            lowers,
        })
    }

    /// Puts a repository's maxima under a user's.
    pub(super) fn under(self, repository: Self) -> Self {
        Self { repository: repository.repository, ..self }
    }
}

/// Reads the table of charts.
pub(super) fn budgets(
    table: &DeTable<'_>,
    origin: Origin,
    found: &mut Vec<Problem>,
) -> BudgetsConfig {
    let mut all = Vec::new();
    for (chart, maxima) in table {
        let DeValue::Table(maxima) = maxima.get_ref() else {
            found.push(Problem {
                message: format!("`{}` of `[budget]` must be a table", chart.get_ref()),
                hint: "write `[budget.code]`, and below it `model_calls = 500`".into(),
                span: keys::span(maxima),
            });
            continue;
        };
        for (budget, max) in maxima {
            let amount = match max.get_ref() {
                DeValue::String(text) => text.clone().into_owned(),
                DeValue::Integer(number) => number.as_str().to_owned(),
                _ => {
                    found.push(Problem {
                        message: format!("budget `{}` needs an amount", budget.get_ref()),
                        hint: "write a number, `\"2h\"` for time, or `\"2.50\"` for money".into(),
                        span: keys::span(max),
                    });
                    continue;
                }
            };
            let (chart, budget) = (chart.get_ref().to_string(), budget.get_ref().to_string());
            all.push(BudgetConfig { chart, budget, amount });
        }
    }
    match origin {
        Origin::User => BudgetsConfig { user: all, repository: Vec::new() },
        Origin::Repository => BudgetsConfig { user: Vec::new(), repository: all },
    }
}

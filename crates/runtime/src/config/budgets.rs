//! `[budget.CHART]`: other maxima for the budgets of a chart.

use pointsman_kernel::chart::Maximum;
use toml::de::DeValue;

use super::{
    ConfigOrigin,
    keys::{self, Keys},
    table::Table,
};

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
    /// Returns the maxima for a chart, in the order of priority.
    pub fn of<'a>(&'a self, chart: &'a str) -> impl Iterator<Item = Maximum<'a>> {
        let user = self.user.iter().map(|it| (it, false));
        let all = user.chain(self.repository.iter().map(|it| (it, true)));
        all.filter(move |(it, _)| it.chart == chart).map(|(it, lowers)| Maximum {
            budget: &it.budget,
            amount: &it.amount,
            lowers,
        })
    }
}

impl Table for BudgetsConfig {
    const HINT: &'static str = "write `[budget.code]`, and below it `model_calls = 500`";

    fn read(keys: &mut Keys<'_>) -> Self {
        let mut all = Vec::new();
        for (chart, maxima) in keys.all() {
            let title = format!("`{chart}` of `[budget]`");
            let Some(mut maxima) = keys.inline(maxima, &title, Self::HINT) else { continue };
            for (budget, max) in maxima.all() {
                let amount = match max.get_ref() {
                    DeValue::String(text) => text.clone().into_owned(),
                    DeValue::Integer(number) => number.as_str().to_owned(),
                    _ => {
                        let hint = "write a number, `\"2h\"` for time, or `\"2.50\"` for money";
                        let message = format!("budget `{budget}` needs an amount");
                        keys.tell(message, hint, keys::span(max));
                        continue;
                    }
                };
                all.push(BudgetConfig { chart: chart.into(), budget: budget.into(), amount });
            }
        }
        match keys.origin() {
            ConfigOrigin::User => Self { user: all, repository: Vec::new() },
            ConfigOrigin::Repository => Self { user: Vec::new(), repository: all },
        }
    }

    fn under(self, repository: Self) -> Self {
        Self { repository: repository.repository, ..self }
    }
}

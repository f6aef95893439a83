//! `--budget`: other maxima for the budgets of a chart, over what the settings say.

use clap::Args;
use pointsman_kernel::chart::{Budget, Charge, Chart, Maximum, with_budgets};
use pointsman_runtime::config::Config;

use crate::{chart::Source, report::Error};

/// The time that many actions get.
const HOUR_MS: u64 = 3_600_000;

/// Limits that are typed.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Budgets {
    /// Set a limit of the chart: `model_calls=200`, `tokens=1000000`, `time=2h`, `money=5`.
    /// `pointsman check` lists them; `[budget.CHART]` of the settings sets them for good.
    /// `actions=N` raises the limits that are not named to what N actions need.
    #[arg(long = "budget", value_name = "NAME=AMOUNT", value_delimiter = ',', value_parser = pair)]
    budgets: Vec<(String, String)>,
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, amount)) if !name.is_empty() && !amount.is_empty() => {
            Ok((name.trim().into(), amount.trim().into()))
        }
        _ => Err("write NAME=AMOUNT, such as model_calls=200".into()),
    }
}

impl Budgets {
    /// Writes the limits of the settings and of the command line into a chart.
    pub(crate) fn over(&self, source: &mut Source, config: &Config) -> Result<(), Error> {
        // A chart that is refused is reported where it is verified.
        let Ok(chart) = source.verify() else { return Ok(()) };
        let raised = self.raised(&chart);
        let maximum = |(budget, amount)| Maximum { budget, amount, lowers: false };
        let pairs = raised.iter().chain(&self.budgets).map(|(name, amount)| (&**name, &**amount));
        let maxima = config.budgets.of(chart.name()).chain(pairs.map(maximum));
        source.text = with_budgets(&source.text, maxima).map_err(Error::Budget)?;
        Ok(())
    }

    /// Returns limits for the budgets that are not named, where the number of actions is: so
    /// many actions must not end for want of something else.
    fn raised(&self, chart: &Chart) -> Vec<(String, String)> {
        let named = |name: &str| self.budgets.iter().find(|(budget, _)| budget == name);
        let metered = chart.budgets().iter().find(|it| it.charge() == Some(Charge::Action));
        let typed = metered.and_then(|it| named(it.name())?.1.parse::<u64>().ok());
        let Some(actions) = typed else { return Vec::new() };
        let need = |budget: &Budget| {
            let (unit, need) = match budget.charge() {
                // A round visits a dozen states at the most.
                Some(Charge::Step) => ("", actions.saturating_mul(12)),
                // Typing taps the field first.
                Some(Charge::Interaction) => ("", actions.saturating_mul(2)),
                Some(Charge::OutsideApp) | None => ("", actions),
                Some(Charge::Time) => ("ms", HOUR_MS),
                Some(_) => return None,
            };
            (need > budget.max()).then(|| (budget.name().to_owned(), format!("{need}{unit}")))
        };
        chart.budgets().iter().filter(|it| named(it.name()).is_none()).filter_map(need).collect()
    }
}

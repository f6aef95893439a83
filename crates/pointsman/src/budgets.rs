//! `--budget`: other maxima for the budgets of a chart, over what the settings say.

use clap::Args;
use pointsman_agents::explore;
use pointsman_kernel::chart::{Charge, Chart, Maximum, with_budgets};
use pointsman_runtime::config::Config;

use crate::{chart::Source, report::Error};

/// Limits from the command line.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Budgets {
    /// Set one of the chart's limits: `model_calls=200`, `tokens=1000000`, `time=2h`, `money=5`.
    /// `pointsman check` lists them; `[budget.CHART]` in the settings sets them permanently.
    /// For `explore`, `actions=N` also raises the other limits to what N actions need, unless you
    /// set them too.
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
        let set: Vec<&str> = config.budgets.of(chart.name()).map(|it| it.budget).collect();
        let raised = self.raised(&chart, &set);
        let maximum = |(budget, amount)| Maximum { budget, amount, lowers: false };
        let pairs = raised.iter().chain(&self.budgets).map(|(name, amount)| (&**name, &**amount));
        let maxima = config.budgets.of(chart.name()).chain(pairs.map(maximum));
        source.text = with_budgets(&source.text, maxima).map_err(Error::Budget)?;
        Ok(())
    }

    /// Returns limits for the budgets that neither the command line nor the settings name, if the command line names
    /// the number of actions.
    fn raised(&self, chart: &Chart, set: &[&str]) -> Vec<(String, String)> {
        let metered = chart.budgets().iter().find(|it| it.charge() == Some(Charge::Action));
        let of = |name: &str| self.budgets.iter().find(|(budget, _)| budget == name);
        let typed = metered.and_then(|it| of(it.name())?.1.parse::<u64>().ok());
        let typed_names = self.budgets.iter().map(|(name, _)| name.as_str());
        let named: Vec<&str> = typed_names.chain(set.iter().copied()).collect();
        typed.map_or_else(Vec::new, |actions| explore::raised(chart, actions, &named))
    }
}

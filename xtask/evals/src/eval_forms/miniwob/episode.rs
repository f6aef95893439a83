//! One problem of a task: a page that starts by itself with a seed, what it asks, and the
//! reward that it gave.

use std::path::Path;

use anyhow::{Context, Result};
use pointsman_testing::site::{HttpReply, Request, Site};

use crate::webdriver::Browser;

/// Starts the problem as soon as the page has loaded, and reports its reward. The page's time
/// limit is for people and small programs that share one browser; it is raised so that it never
/// expires.
const START: &str = "<script>
addEventListener('load', () => {
  Math.seedrandom(new URLSearchParams(location.search).get('seed'));
  core.EPISODE_MAX_TIME = 600000;
  const end = core.endEpisode;
  core.endEpisode = function (...given) {
    const running = core.EP_TIMER !== null;
    end.apply(this, given);
    if (running) navigator.sendBeacon('/reward' + location.pathname + location.search, JSON.stringify({ done: WOB_DONE_GLOBAL, reward: WOB_RAW_REWARD_GLOBAL }));
  };
  core.startEpisodeReal();
});
</script>";

/// Where the tasks are served.
pub(super) struct TaskServer(Site);

/// One problem.
pub(super) struct Episode {
    task: String,
    pub(super) seed: u64,
    /// Another kind of problem than the usual one.
    mode: Option<&'static str>,
    pub(super) url: String,
    /// What the page asks for.
    pub(super) instruction: String,
    /// The labels that the page shows.
    pub(super) labels: Vec<String>,
    /// The page's own source.
    pub(super) source: String,
    rewarded: String,
}

impl Episode {
    /// Returns what the task is called, with its kind of problem.
    pub(super) fn name(&self) -> String {
        let mode = self.mode.map(|mode| format!(", {mode}")).unwrap_or_default();
        format!("{}{mode}", self.task)
    }
}

impl TaskServer {
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let folder = folder.to_owned();
        let site = Site::start(move |request: &Request| {
            if request.method == "POST" {
                return HttpReply::html("");
            }
            // Only pages have a body that ends.
            let file = HttpReply::file(&folder, &request.path);
            file.map(|text| text.replace("</body>", &format!("{START}</body>")))
        });
        Ok(Self(site.context("serving the tasks")?))
    }

    /// Looks at a problem before the agent does.
    pub(super) fn episode(
        &self,
        browser: &mut Browser,
        task: &str,
        mode: Option<&'static str>,
        seed: u64,
    ) -> Result<Episode> {
        // The pages read their mode from the address themselves.
        let kind = mode.map(|mode| format!("&mode={mode}")).unwrap_or_default();
        let page = format!("miniwob/{task}.html?seed={seed}{kind}");
        let url = self.0.url(&page);
        browser.open(&url)?;
        let looked = browser.script(
            "return { instruction: core.getUtterance(), source: document.head.innerHTML, \
             labels: [...document.querySelectorAll('#area label')].map(it => it.textContent) }",
        )?;
        let text = |name: &str| {
            let text = looked[name].as_str().map(ToOwned::to_owned);
            text.with_context(|| format!("{task} has no {name}"))
        };
        let labels = looked["labels"].as_array().context("labels are a list")?;
        Ok(Episode {
            task: task.into(),
            seed,
            mode,
            instruction: text("instruction")?,
            source: text("source")?,
            labels: labels.iter().filter_map(|it| it.as_str().map(ToOwned::to_owned)).collect(),
            rewarded: format!("/reward/miniwob/{task}.html"),
            url,
        })
    }

    /// Returns the rewards of a task so far: one for each problem that was finished.
    pub(super) fn rewards(&self, episode: &Episode) -> Vec<f64> {
        let told = self.0.delivery(&episode.rewarded);
        let done = told.iter().filter(|it| it["done"] == true);
        done.filter_map(|it| it["reward"].as_f64()).collect()
    }
}

//! `cargo xtask bench page`: a run with a long journal on the page, beside the same journal in a page
//! that loads it whole and in the page of `inspect_ai`; and the statistics of many runs.
//!
//! Each page is opened in a browser of its own, over a server that has just started. A page measures
//! the time itself, from its own start.

mod figures;
mod inspect;
mod statistics;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use pointsman_kernel::{
    event::{Event, Pauser},
    id::Seq,
};
use pointsman_runtime::{
    driver::Driver,
    store::{SqliteStore, Store, import::Exported},
};
use pointsman_testing::{
    kept::{keep, long},
    site::{HttpReply, Site},
};
use serde_json::{Value, json};
use xtask::server::{Ready, Server, free_port};

use crate::{
    components,
    durable::counter,
    place::{self, Scratch},
    program::{self, Home},
    webdriver::Browser,
};
use figures::{PageFigures, Sizes};
use inspect::InspectView;

/// Times that each page is opened.
const TIMES: usize = 3;
const WINDOW: (u32, u32) = (1400, 900);
const LISTENS: Duration = Duration::from_secs(30);
/// How long a page may take over anything.
const LIMIT: Duration = Duration::from_mins(3);
const BETWEEN_LOOKS: Duration = Duration::from_millis(4);
const WHOLE: &str = include_str!("page/whole.html");
/// Counts what keeps a page from answering for more than 50 ms, from its start on.
const LONG_TASKS: &str = "window.tasks = []; new PerformanceObserver((list) => \
    window.tasks.push(...list.getEntries().map((it) => it.duration)))\
    .observe({ type: 'longtask', buffered: true })";

/// What is measured.
#[derive(Args)]
pub(crate) struct Options {
    /// Measure the development build, which needs no building for release.
    #[arg(long)]
    dev: bool,
    /// Measure this program instead, and build none.
    #[arg(long, value_name = "FILE", conflicts_with = "dev")]
    program: Option<PathBuf>,
    /// Entries of each run.
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [30_000, 100_000])]
    entries: Vec<usize>,
    /// Write the figures to this file as well.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Opens runs in both pages, and returns whether all limits were met.
pub(crate) fn bench(options: &Options) -> Result<bool> {
    let program = match &options.program {
        Some(program) => program.clone(),
        None => program::build(!options.dev)?,
    };
    let python = components::python_of_pages()?;
    let statistics = statistics::measure(&program)?;
    statistics.print();
    let mut all = Vec::new();
    for entries in &options.entries {
        eprintln!("writing a run of {entries} entries");
        let mut exported = long(&pointsman_agents::all(), *entries);
        let scratch = Scratch::new()?;
        let home = Home::of(&program, &scratch.file(""), &place::cache()?)?;
        write(&home, &mut exported)?;
        let site = whole(&exported)?;
        let inspect = InspectView::new(&python, &scratch, &exported)?;
        let mut sizes = Sizes::new(exported.lines.len());
        for _ in 0..TIMES {
            sizes.whole.push(loaded_whole(&site, exported.lines.len())?);
            sizes.ours.push(ours(&home, &exported)?);
            sizes.inspect.push(inspect.visit()?);
        }
        sizes.print();
        all.push(sizes);
    }
    if let Some(file) = &options.json {
        let sizes: Value = all.iter().map(Sizes::json).collect();
        let figures = json!({ "runs": sizes, "statistics": statistics.json() });
        fs::write(file, figures.to_string()).context("writing the figures")?;
    }
    Ok(figures::print_limits(&all, &statistics))
}

/// Writes a run into the journal of a home. A driver writes its last two entries, so that it has a
/// snapshot as every driven run has: it is paused and resumed once more.
fn write(home: &Home, exported: &mut Exported) -> Result<()> {
    let store = Arc::new(SqliteStore::open(&home.file("journal.db"))?);
    let runtime = tokio::runtime::Runtime::new().context("starting a runtime")?;
    runtime.block_on(async {
        let agents = pointsman_agents::all();
        keep(&*store, &agents, exported).await;
        let refused = |refused| anyhow!("the chart is refused: {refused:?}");
        let program = Arc::new(agents.verify(&exported.source).map_err(refused)?);
        let lease = store.claim(&exported.run).await?.context("the run has no owner")?;
        let mut driver = Driver::resume(counter::context(&store), program, lease).await?;
        let paused = Event::Paused { why: "the last pause".into(), by: Some(Pauser::Person) };
        driver.give(paused).await?;
        driver.give(Event::Resumed).await?;
        let written = Seq(exported.lines.len().try_into()?);
        exported.lines.extend(store.page(&exported.run, written, usize::MAX).await?);
        exported.link = store.run(&exported.run).await?.link;
        Ok(())
    })
}

/// Serves the page that loads the journal whole.
fn whole(exported: &Exported) -> Result<Site> {
    let entries: Result<Value, _> =
        exported.lines.iter().map(|line| serde_json::from_str::<Value>(line)).collect();
    let entries = HttpReply::json(&entries.context("a line is JSON")?);
    Site::start(move |request| match &*request.path {
        "/entries" => entries.clone(),
        "/" => HttpReply::html(WHOLE),
        _ => HttpReply::nothing(),
    })
    .context("serving the page")
}

fn loaded_whole(site: &Site, head: usize) -> Result<PageFigures> {
    let mut page = OpenPage::open(&site.url(""))?;
    let mut figures = PageFigures { first: page.until(&seen(head))?, ..PageFigures::default() };
    let middle = head / 2;
    figures.step = Some(page.timed(
        &format!("document.querySelector('[data-seq=\"{middle}\"]').scrollIntoView()"),
        "true",
    )?);
    let find = "window.hits = window.entries.filter((it) => \
        JSON.stringify(it).toLowerCase().includes('pause 777')).length";
    figures.find = Some(page.timed(find, "window.hits > 0")?);
    page.rest(&mut figures)?;
    Ok(figures)
}

fn ours(home: &Home, exported: &Exported) -> Result<PageFigures> {
    let server = serve(home)?;
    let head = exported.lines.len();
    let mut page = OpenPage::open(&format!("{}/runs/{}", server.url(), exported.run))?;
    let drawn = format!("{} && document.querySelector('.state.now')", seen(head));
    let mut figures = PageFigures { first: page.until(&drawn)?, ..PageFigures::default() };
    let middle = head / 2;
    let step = format!(
        "const it = document.querySelector('.stepper input'); it.value = '{middle}'; \
         it.dispatchEvent(new Event('change'))"
    );
    let stepped = format!(
        "document.querySelector('.entry.selected')?.dataset.seq === '{middle}' && document\
         .querySelector('.now-line').textContent.replaceAll(',', '').startsWith('Entry {middle}')"
    );
    figures.step = Some(page.timed(&step, &stepped)?);
    let find = "const it = document.querySelector('.find input'); it.value = 'pause 777'; \
                it.form.requestSubmit()";
    let found = "/ of [\\d,]+$/.test(document.querySelector('.place').textContent)";
    figures.find = Some(page.timed(find, found)?);
    page.rest(&mut figures)?;
    Ok(figures)
}

fn serve(home: &Home) -> Result<Server> {
    let port = free_port()?;
    let mut command = home.child(["serve", "--listen", &format!("127.0.0.1:{port}")]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    Server::start(command, port, Ready::Answers("/"), LISTENS)
}

fn seen(seq: usize) -> String {
    format!("document.querySelector('[data-seq=\"{seq}\"]')")
}

/// A page in a browser of its own.
struct OpenPage {
    browser: Browser,
}

impl OpenPage {
    fn open(url: &str) -> Result<Self> {
        let mut browser = Browser::start(WINDOW.0, WINDOW.1)?;
        browser.open(url)?;
        browser.script(LONG_TASKS)?;
        Ok(Self { browser })
    }

    /// Waits until something is so, and returns when that was, in milliseconds from the page's start.
    fn until(&mut self, expression: &str) -> Result<f64> {
        let since = Instant::now();
        let look = format!("return ({expression}) ? performance.now() : null");
        while since.elapsed() < LIMIT {
            if let Some(now) = self.browser.script(&look)?.as_f64() {
                return Ok(now);
            }
            thread::sleep(BETWEEN_LOOKS);
        }
        bail!("the page did not come to `{expression}`")
    }

    /// Does something, and returns how many milliseconds passed until its result was there.
    fn timed(&mut self, action: &str, result: &str) -> Result<f64> {
        let from = self
            .browser
            .script(&format!("const from = performance.now(); {action}; return from"))?;
        Ok(self.until(result)? - from.as_f64().context("a page knows its time")?)
    }

    /// Reads what counts for the whole visit.
    fn rest(&mut self, figures: &mut PageFigures) -> Result<()> {
        let tasks = self.browser.script("return window.tasks")?;
        let tasks = tasks.as_array().context("a list of tasks")?.iter().filter_map(Value::as_f64);
        figures.tasks = tasks.collect();
        figures.memory = renderer_memory(self.browser.process())?;
        Ok(())
    }
}

/// Returns the memory of the process that shows the page, in bytes: a browser has one such process with a page
/// in it, the largest of those that descend from its driver.
fn renderer_memory(driver: u32) -> Result<u64> {
    let of = |folder: &Path| -> Option<u64> {
        let process = folder.file_name()?.to_str()?.parse().ok()?;
        if !descends(process, driver) {
            return None;
        }
        let words = fs::read(folder.join("cmdline")).ok()?;
        let words = String::from_utf8_lossy(&words);
        if !words.contains("--type=renderer") {
            return None;
        }
        let rollup = fs::read_to_string(folder.join("smaps_rollup")).ok()?;
        let line = rollup.lines().find(|line| line.starts_with("Pss:"))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    };
    let folders = fs::read_dir("/proc")?.filter_map(Result::ok);
    let most = folders.filter_map(|folder| of(&folder.path())).max();
    Ok(most.context("no renderer is running")? * 1_024)
}

/// Returns whether a process was started by another one, or by one that it started.
fn descends(process: u32, from: u32) -> bool {
    let parent = |process: &u32| -> Option<u32> {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // The name of the program, in brackets, may contain anything.
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
    };
    std::iter::successors(Some(process), parent).any(|it| it == from)
}

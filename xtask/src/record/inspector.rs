//! Pictures of the inspector: its page in a browser, and the full-screen view on a terminal. Both show one run of
//! the real program, with a scripted model.

use std::{
    fs,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use pointsman_webdriver::browser::{Browser, BrowserSettings};
use serde_json::json;

use super::{
    Beat::{self, Presses, Rests, Sees},
    picture,
    terminal::{Frame, Place, TerminalRecorder},
};
use crate::{
    components,
    place::{self, Scratch},
    program::{self, Home},
};

/// Bytes that a picture may have.
const LARGEST: usize = 200_000;
const LIMIT: Duration = Duration::from_mins(2);
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
const GOAL: &str = "Why does a train run past a red signal? Mend it.";
/// The entry that the page shows.
const ENTRY: u64 = 8;
/// Lines and columns of the terminal.
const SIZE: (u16, u16) = (30, 112);

/// The end of the run, which the view shows first.
const SHOWN: &str = "ended: succeeded";
const LEFT: &str = "\x1b[D";
const TAB: &str = "\t";

/// The view follows a run, steps back, and says why it went that way.
const SCENE: &[Beat] = &[
    Sees(SHOWN),
    Rests(2_000),
    Presses(LEFT),
    Rests(700),
    Presses(LEFT),
    Rests(700),
    Presses(LEFT),
    Rests(700),
    Presses(LEFT),
    Sees("entry 8 of"),
    Rests(2_000),
    Presses(TAB),
    Sees("not taken"),
    Rests(3_500),
    Presses(TAB),
    Sees("processing_llm_response"),
    Rests(3_000),
    Presses(TAB),
    Rests(2_500),
    Presses("q"),
];

/// A home with a run in its journal.
struct Stage {
    home: Home,
    run: String,
    _scratch: Scratch,
}

impl Stage {
    fn set() -> Result<Self> {
        program::build(false)?;
        let scratch = Scratch::new()?;
        let home = Home::sharing(&scratch.file(""), &place::cache()?)?;
        fs::create_dir_all(home.file("signals/src"))?;
        for name in ["signal.rs", "train.rs"] {
            let from = place::script(&format!("record/{name}"));
            fs::copy(from, home.file("signals/src").join(name)).context(name)?;
        }
        fs::copy(place::script("record/script.toml"), home.file("script.toml"))?;
        let run = ["run", "chat", GOAL, "--dir", "signals", "--model", "script:script.toml"];
        let ruled = ["--allow", "edit", "--deny", "shell", "--json"];
        let told = home.run([&run[..], &ruled].concat(), LIMIT)?;
        ensure!(told.code() == Some(0), "the run failed: {}", told.words());
        let run = told.last()?["run"].as_str().context("it names the run")?.to_owned();
        Ok(Self { home, run, _scratch: scratch })
    }
}

/// Takes a picture of the page.
pub(super) fn page() -> Result<bool> {
    components::browser()?;
    let stage = Stage::set()?;
    let serve = stage.home.child(["serve", "--listen", "127.0.0.1:0", "--jobs", "1"]);
    let server = stage.home.start(serve)?;
    let url = listening(&stage.home)?;
    let runtime = tokio::runtime::Runtime::new()?;
    let taken = runtime.block_on(async {
        let mut settings = BrowserSettings::default();
        settings.flags.push("--window-size=1240,880".into());
        let browser = Browser::open(&settings).await?;
        let taken = taken(&browser, &format!("{url}/runs/{}/entries/{ENTRY}", stage.run)).await;
        browser.close().await;
        taken
    })?;
    drop(server);
    write("page.png", &taken)
}

async fn taken(browser: &Browser, url: &str) -> Result<Vec<u8>> {
    browser.goto(url).await?;
    let drawn = "return Boolean(document.querySelector('.entry.selected') && \
                 document.querySelector('.state.now'))";
    let since = Instant::now();
    while browser.script(drawn, Vec::new()).await? != json!(true) {
        ensure!(since.elapsed() < LIMIT, "the page does not show the entry");
        tokio::time::sleep(BETWEEN_LOOKS).await;
    }
    // Pictures and fonts come after the elements.
    tokio::time::sleep(Duration::from_secs(1)).await;
    Ok(browser.screenshot().await?)
}

/// Waits until the server says where it listens.
fn listening(home: &Home) -> Result<String> {
    let since = Instant::now();
    while since.elapsed() < LIMIT {
        let said = fs::read_to_string(home.file("stdout")).unwrap_or_default();
        if let Some(url) = said.lines().find_map(|line| line.strip_prefix("listening on ")) {
            return Ok(url.trim_end_matches('/').to_owned());
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
    bail!("the server does not listen");
}

/// Plays the scene on a terminal.
pub(super) fn watch() -> Result<bool> {
    let stage = Stage::set()?;
    let journal = stage.home.file("journal.db").display().to_string();
    let arguments = ["watch", &stage.run, "--journal", &journal];
    let place = Place { home: stage.home.file(""), folder: stage.home.file("signals"), size: SIZE };
    let mut recorder = TerminalRecorder::open(&place, &arguments)?;
    super::play(&mut recorder, SCENE)?;
    // A viewer without animation shows the first frame, so it must be one that shows something.
    let mut frames = recorder.end()?;
    let shows = |frame: &Frame| {
        let text = frame.screen.contents();
        text.contains(SHOWN) && !text.contains("reading…")
    };
    let first = frames.iter().position(shows).context("the run is never shown")?;
    frames.drain(..first);
    let title = "The full-screen view, recorded by `cargo xtask record watch`";
    write("watch.svg", picture::draw(&frames, SIZE, title).as_bytes())
}

fn write(name: &str, picture: &[u8]) -> Result<bool> {
    let bytes = picture.len();
    ensure!(bytes <= LARGEST, "the picture has {bytes} bytes, over {LARGEST}");
    let file = place::root().join("docs/pictures").join(name);
    fs::write(&file, picture)?;
    println!("{}: {bytes} bytes", file.display());
    Ok(true)
}

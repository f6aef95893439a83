//! A recording of `pointsman chat` for the README: a scene that is played on a terminal
//! of its own, with a scripted model, and drawn as one moving picture. And pictures of a
//! form that was filled, and of the inspector.

mod form;
mod inspector;
mod picture;
mod terminal;

use std::{fs, time::Duration};

use anyhow::{Context, Result, ensure};

use crate::{
    place::{self, Scratch},
    program,
};
use terminal::{Place, TerminalRecorder};

/// Bytes that the picture may have.
const LARGEST: usize = 300_000;
/// Lines and columns of the terminal.
const SIZE: (u16, u16) = (26, 88);
/// How long something may take to appear.
const SOON: Duration = Duration::from_mins(1);

/// One thing that happens in the scene.
enum Beat {
    /// A person types, key by key.
    Types(&'static str),
    /// A key is pressed.
    Presses(&'static str),
    /// Waits until this is shown.
    Sees(&'static str),
    /// Nothing happens, so that people can read.
    Rests(u64),
}

use Beat::{Presses, Rests, Sees, Types};

/// The scene: a question, a look at files, an edit that is allowed, a command that is not.
const SCENE: &[Beat] = &[
    Sees("answers."),
    Rests(800),
    Types("Why does a train run past a red signal? Mend it."),
    Rests(400),
    Presses("\r"),
    Sees("type y or yes, and press Enter"),
    Rests(2_600),
    Types("yes"),
    Rests(400),
    Presses("\r"),
    Sees("rm -r notes"),
    Sees("type y or yes, and press Enter"),
    Rests(1_800),
    Types("no"),
    Rests(400),
    Presses("\r"),
    Sees("Reason"),
    Types("keep my notes"),
    Rests(500),
    Presses("\r"),
    Sees("Anything else?"),
    Rests(1_800),
    Presses("\x04"),
    Sees("left; next:"),
    Rests(3_000),
];

/// What can be recorded.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
pub(crate) enum RecordingSubject {
    /// A conversation on a terminal: `docs/pictures/chat.svg`.
    Chat,
    /// A form in a browser: `docs/pictures/form.png`.
    Form,
    /// The inspector's page: `docs/pictures/page.png`.
    Page,
    /// The full-screen view: `docs/pictures/watch.svg`.
    Watch,
}

/// Records the requested subject.
pub(crate) fn record(what: RecordingSubject) -> Result<bool> {
    match what {
        RecordingSubject::Chat => chat(),
        RecordingSubject::Form => form::record(),
        RecordingSubject::Page => inspector::page(),
        RecordingSubject::Watch => inspector::watch(),
    }
}

/// Plays the scene and writes the picture.
fn chat() -> Result<bool> {
    program::build(false)?;
    let scratch = Scratch::new()?;
    let folder = scratch.file("signals");
    fs::create_dir_all(folder.join("src"))?;
    for name in ["src/signal.rs", "src/train.rs"] {
        let from = name.replace("src/", "record/");
        fs::copy(place::script(&from), folder.join(name)).with_context(|| from)?;
    }
    fs::copy(place::script("record/script.toml"), scratch.file("script.toml"))?;
    let place = Place { home: scratch.file(""), folder, size: SIZE };
    let mut stage = TerminalRecorder::open(&place, &["chat", "--model", "script:../script.toml"])?;
    play(&mut stage, SCENE)?;
    let frames = stage.end()?;
    let title = "A conversation with pointsman chat, recorded by `cargo xtask record`";
    let drawn = picture::draw(&frames, SIZE, title);
    ensure!(drawn.len() <= LARGEST, "the picture has {} bytes, over {LARGEST}", drawn.len());
    let file = place::root().join("docs/pictures/chat.svg");
    fs::create_dir_all(file.parent().context("it has a folder")?)?;
    fs::write(&file, &drawn)?;
    println!("{}: {} frames, {} bytes", file.display(), frames.len(), drawn.len());
    Ok(true)
}

/// Plays a scene.
fn play(stage: &mut TerminalRecorder, scene: &[Beat]) -> Result<()> {
    for beat in scene {
        match beat {
            Types(text) => stage.types(text)?,
            Presses(key) => stage.presses(key)?,
            Sees(text) => stage.sees(text, SOON)?,
            Rests(ms) => stage.rests(Duration::from_millis(*ms)),
        }
    }
    Ok(())
}

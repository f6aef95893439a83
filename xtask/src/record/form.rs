//! A picture of a form that the real agent filled, taken by the agent itself.

use std::{fs, path::Path, time::Duration};

use anyhow::{Context, Result, ensure};

use crate::{
    pages,
    place::{self, Scratch},
    program::{self, Home},
};

/// Bytes that the picture may have.
const LARGEST: u64 = 200_000;
const LIMIT: Duration = Duration::from_mins(2);

/// The picture is to show what was filled in, so nothing is hidden in it.
const SETTINGS: &str = "[form]\nredact = false\n";

const PROFILE: &str = r#"
given-name = "Ada"
family-name = "Lovelace"
email = "ada@example.org"
tel = "+44 20 7946 0958"
country = "GB"

[answers]
"How would you like to travel?" = "By train"
"Why do you want to come?" = "To see how the points are set, and by whom."
"#;

/// Lets the agent fill a form and keeps the last picture that it took.
pub(super) fn record() -> Result<bool> {
    program::build(false)?;
    let scratch = Scratch::new()?;
    let home = Home::sharing(&scratch.file(""), &place::cache()?)?;
    home.configure(SETTINGS)?;
    fs::write(home.file("profile.toml"), PROFILE)?;
    let site = pages::serve().context("serving the form")?;
    let url = site.url("plain");
    let run = ["run", "form", "--url", &url, "--profile", "profile.toml", "--submit", "never"];
    let told = home.run(run, LIMIT)?;
    ensure!(told.code() == Some(0), "the form was not filled: {}", told.words());
    let is_picture = |line: &&str| Path::new(line).extension().is_some_and(|it| it == "png");
    let taken = told.stdout.lines().map(str::trim).rfind(is_picture);
    let taken = taken.context("no picture was taken")?;
    let bytes = fs::metadata(taken).with_context(|| format!("no picture in {taken}"))?.len();
    ensure!(bytes <= LARGEST, "the picture has {bytes} bytes, over {LARGEST}");
    let file = place::root().join("docs/pictures/form.png");
    fs::create_dir_all(file.parent().context("it has a folder")?)?;
    fs::copy(Path::new(taken), &file)?;
    println!("{}: {bytes} bytes", file.display());
    Ok(true)
}

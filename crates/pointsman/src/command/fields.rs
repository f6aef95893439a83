//! `pointsman fields`: what the form agent sees on a page.

use std::{env, fmt::Write as _, process::ExitCode, time::Duration};

use clap::Args;
use pointsman_agents::form::{
    Choice, Field, FieldKind, FieldLimits, Fill, NavigationControl, PageReading,
    learnt::{KindCandidate, KindDecision},
};
use pointsman_webdriver::{
    browser::{self, BrowserSettings, StablePage},
    settings,
};
use serde_json::{Value, json};

use crate::{
    format::{self, counted, visible},
    paths,
    report::{self, Error},
};

/// Characters of a label that the table shows.
const SHOWN: usize = 40;
/// Options that the table shows.
const OPTIONS: usize = 3;

/// List the fields of a web form and what each asks for.
#[derive(Args, Debug)]
#[command(after_help = "\
The command opens the page in a new browser and reads it when it stops changing. It does not fill,
press or send anything. The kind of a field is a value of HTML's `autocomplete` attribute, or
`none`. `fill` says whether the form agent would fill it: `yes`; `never` for passwords, one-time
codes, card data, files and captchas; `hidden` for invisible fields and honeypots. `confidence` is
from 0 to 1. `best` lists the three most likely kinds with the words that support each; an uncertain
kind is `none`. Fields outside the form are listed last, as `outside`.

Examples:
  pointsman fields https://example.org/contact
  pointsman fields saved-page.html --json
  pointsman fields saved-page.html --explain '#city'
  pointsman fields file:///tmp/page.html --json | jq '.fields[] | select(.required) | .label'

Exit codes: 0 success, even without fields, 1 the page cannot be opened or keeps changing,
2 usage error, missing file or no browser, 6 interrupted.")]
pub(crate) struct Fields {
    /// The page: an address, or a file.
    page: String,
    /// Show the browser's window.
    #[arg(long)]
    visible: bool,
    /// Seconds to wait until the page stops changing.
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u16).range(1..=600))]
    settle: Option<u16>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Explain why the field at this selector has its kind. `--json` prints selectors.
    #[arg(long, value_name = "SELECTOR", conflicts_with = "json")]
    explain: Option<String>,
}

impl Fields {
    pub(crate) fn run(self) -> Result<ExitCode, Error> {
        let url = browser::address(&self.page).map_err(Error::Page)?;
        let stand = browser::visit(&self.settings()?, &url).map_err(Error::Browser)?;
        let text = match &self.explain {
            Some(selector) => explained(&stand.reading, selector)?,
            None if self.json => format!("{}\n", object(&stand)),
            None => table(&stand),
        };
        report::data(&text)?;
        Ok(ExitCode::SUCCESS)
    }

    fn settings(&self) -> Result<BrowserSettings, Error> {
        let folder = env::current_dir().unwrap_or_default();
        let mut settings = settings::browser(&paths::settled(&folder)?.config.form);
        settings.visible |= self.visible;
        if let Some(seconds) = self.settle {
            settings.settle = Duration::from_secs(seconds.into());
        }
        Ok(settings)
    }
}

/// The page as JSON: every key is always there.
fn object(stand: &StablePage) -> Value {
    let reading = &stand.reading;
    let inside = reading.fields.iter().map(|it| field(reading, it, false));
    let outside = reading.outside.iter().map(|it| field(reading, it, true));
    json!({
        "url": stand.url,
        "title": stand.title,
        "purpose": reading.purpose,
        "fields": inside.chain(outside).collect::<Vec<_>>(),
        "submit": reading.submit.as_ref().map(control),
        "complaints": reading.complaints,
    })
}

fn field(reading: &PageReading, field: &Field, outside: bool) -> Value {
    let typing = typing(reading, field);
    json!({
        "id": field.id,
        "selector": field.selector,
        "type": field.shape,
        "kind": field.kind,
        "confidence": f64::from(typing.confidence) / 100.0,
        "by": if typing.by_rule { "rule" } else { "model" },
        "best": typing.best.iter().map(candidate).collect::<Vec<_>>(),
        "label": field.label,
        "context": field.context,
        "placeholder": field.placeholder,
        "required": field.required,
        "options": field.options.iter().map(choice).collect::<Vec<_>>(),
        "limits": limits(&field.limits),
        "fill": field.fill,
        "disabled": field.disabled,
        "holds_value": field.holds_value,
        "outside": outside,
        "attributes": field.attributes,
    })
}

/// How the kind of a field was decided. A captcha has none.
fn typing(reading: &PageReading, field: &Field) -> KindDecision {
    let known = reading.typings.get(&field.id).cloned();
    let typing = known.unwrap_or_else(|| KindDecision::by_rule(field.kind));
    if !typing.best.is_empty() {
        return typing;
    }
    let best =
        KindCandidate { kind: typing.kind, confidence: typing.confidence, words: Vec::new() };
    KindDecision { best: vec![best], ..typing }
}

fn candidate(candidate: &KindCandidate) -> Value {
    json!({
        "kind": candidate.kind,
        "confidence": f64::from(candidate.confidence) / 100.0,
        "words": candidate.words,
    })
}

/// Why the field at a selector has its kind.
fn explained(reading: &PageReading, selector: &str) -> Result<String, Error> {
    let Some(field) = reading.all().find(|field| field.selector == selector) else {
        return Err(Error::NoField(selector.into()));
    };
    let typing = typing(reading, field);
    let mut lines = vec![format!("{}  {}", cut(&field.label), visible(&field.selector))];
    if typing.by_rule {
        lines.push(format!("kind: {}, set by a rule", field.kind));
    } else {
        let sure = typing.confidence;
        let unsure = typing.best.first().is_some_and(|best| best.kind != FieldKind::None)
            && field.kind == FieldKind::None;
        let why = if unsure { "; too uncertain, so `none`" } else { "" };
        lines.push(format!("kind: {}, by the built-in classifier ({sure} %){why}", field.kind));
        lines.push(format!("the rules alone: {}", typing.rule));
        for best in &typing.best {
            let words = visible(&best.words.join(", "));
            lines.push(
                format!("  {:>3} %  {:18} {words}", best.confidence, best.kind).trim_end().into(),
            );
        }
    }
    Ok(format!("{}\n", lines.join("\n")))
}

fn choice(choice: &Choice) -> Value {
    json!({ "value": choice.value, "label": choice.label, "disabled": choice.disabled })
}

fn limits(limits: &FieldLimits) -> Value {
    json!({
        "words": limits.words,
        "chars": limits.chars,
        "min_chars": limits.min_chars,
        "min": limits.min,
        "max": limits.max,
        "step": limits.step,
        "pattern": limits.pattern,
        "multiple": limits.multiple,
    })
}

fn control(control: &NavigationControl) -> Value {
    json!({
        "selector": control.selector,
        "label": control.label,
        "disabled": control.disabled,
        "attributes": control.attributes,
    })
}

/// The page as a table for people.
fn table(stand: &StablePage) -> String {
    let reading = &stand.reading;
    let mut text = String::new();
    // Writing to a string cannot fail.
    let mut line = |words: String| {
        let _: std::fmt::Result = writeln!(text, "{}", words.trim_end());
    };
    line(format!("{}  {}", visible(&stand.title), visible(&stand.url)).trim().to_owned());
    line(summary(reading));
    for (title, fields) in [("", &reading.fields), ("outside the form:", &reading.outside)] {
        if fields.is_empty() {
            continue;
        }
        if !title.is_empty() {
            line(String::new());
            line(title.to_owned());
        }
        for field in fields {
            line(row(field));
        }
    }
    match &reading.submit {
        Some(control) => line(format!("submit control: {}", cut(&control.label))),
        None if reading.fields.is_empty() => {}
        None => line("submit control: none found".into()),
    }
    for complaint in &reading.complaints {
        line(format!("the page says: {}", visible(&complaint.text)));
    }
    text
}

fn summary(reading: &PageReading) -> String {
    let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    let all = number(reading.fields.len());
    let open = number(reading.fields.iter().filter(|field| field.fill == Fill::Yes).count());
    if all == 0 {
        return "the page has no form with fields".into();
    }
    format!("{}, {open} to fill; purpose: {}", counted(all, "field"), reading.purpose)
}

fn row(field: &Field) -> String {
    let star = if field.required { "*" } else { " " };
    let fill = match field.fill {
        Fill::Yes => "yes",
        Fill::Never => "never",
        Fill::Hidden => "hidden",
    };
    let mut notes: Vec<String> = Vec::new();
    if !field.options.is_empty() {
        let names = field.options.iter().take(OPTIONS).map(|it| cut(&it.label));
        let more = if field.options.len() > OPTIONS { " …" } else { "" };
        notes.push(format!("{}{more}", names.collect::<Vec<_>>().join(" | ")));
    }
    notes
        .extend(field.limits.words.map(|most| format!("at most {}", counted(most.into(), "word"))));
    notes.extend(
        field.limits.chars.map(|most| format!("at most {}", counted(most.into(), "character"))),
    );
    if field.disabled {
        notes.push("disabled".into());
    }
    let label = cut(&field.label);
    let notes = visible(&notes.join("; "));
    format!("{star} {label:SHOWN$}  {:14} {:18} {fill:6} {notes}", field.shape, field.kind)
}

fn cut(text: &str) -> String {
    format::line(text, SHOWN)
}

//! The loop of one run on this machine: its events, letters from other processes, the
//! watch over the machine, Ctrl-C, and whoever is there to be asked.

use std::{cell::Cell, sync::Arc, time::Duration};

use pointsman_kernel::{
    body::Body,
    erased::AnyRun,
    event::{Event, Scope},
};
use tokio::{
    runtime::Handle,
    sync::{mpsc, oneshot},
    time::{Interval, MissedTickBehavior, interval},
};

use super::{
    Asking, Attend, Decision, Outcome, Reply, SessionError,
    answers::about,
    converse::Word,
    end::{end_children, idle},
    signals::Signals,
    spoken::is_word,
};
use crate::{
    clock::Stopwatch,
    driver::{DriveError, Driver, Sent, Standing, answered, written},
    observe::{Asked, Question},
    store::{RunId, Store},
    watch::Watch,
};

/// Time between two looks for what may close a question, while a person is asked.
const LOOK: Duration = Duration::from_millis(200);

/// Who is there while a run is driven.
pub(super) enum Company<'a> {
    /// Somebody who is asked when nothing else is under way, or nobody. The run is let go
    /// of when it waits for anything else.
    Attendant(&'a mut dyn Attend),
    /// Somebody who talks with it, and goes on doing so until it ends or they leave.
    Talking {
        /// What they say.
        words: mpsc::UnboundedReceiver<Word>,
        /// Whether they answer questions.
        answers: bool,
    },
}

impl Company<'_> {
    /// Waits for the next word; whoever is only asked says none.
    async fn word(&mut self) -> Word {
        match self {
            Self::Attendant(_) => std::future::pending().await,
            // Whoever is gone has left.
            Self::Talking { words, .. } => words.recv().await.unwrap_or(Word::Leave),
        }
    }

    /// Writes down what was said and not heard yet, for whoever goes on with the run.
    async fn keep(&mut self, run: &RunId, store: &dyn Store) -> Result<(), SessionError> {
        let Self::Talking { words, .. } = self else { return Ok(()) };
        while let Ok(word) = words.try_recv() {
            if let Word::Post(event, kept) = word {
                store.post(run, &written(&event)).await?;
                tell(kept);
            }
        }
        Ok(())
    }
}

/// Drives a run until it ends or waits for somebody who is not there. Ctrl-C cancels it
/// in good order, or the turn of a conversation; a second one, or the system's request to
/// end, lets go of it as it is.
pub(super) async fn drive(
    driver: &mut Driver,
    store: &Arc<dyn Store>,
    watch: Option<Watch>,
    mut company: Company<'_>,
    signals: Signals,
) -> Result<Outcome, SessionError> {
    let mut changes = store.changes().await?;
    let mut looks = every(watch.as_ref().map_or(Duration::from_hours(1), Watch::every));
    let Signals { mut interrupts, mut terminations } = signals;
    let (mut cancelled, id) = (false, driver.id().clone());
    // Whoever goes on with a paused run lets it go on; the watch, if there is one, with its
    // first look, so that nothing is started while the machine is short of something.
    if driver.run().core().paused && watch.is_none() {
        driver.give(Event::Resumed).await?;
    }
    let mut watch = watch.map(|watch| watch.taking_over(driver.run().core().paused));
    deliver(&**store, driver).await?;
    loop {
        if driver.listens() && hear(&**store, driver).await? {
            continue;
        }
        match (driver.standing(), &mut company) {
            (Standing::Ended(_), _) => break,
            (Standing::Asking, Company::Attendant(attendant)) if driver.is_idle() => {
                if !ask(driver, &**store, &mut **attendant).await? {
                    break;
                }
                continue;
            }
            (Standing::Asking, Company::Talking { answers: false, .. }) if driver.is_idle() => {
                break;
            }
            // What the watch has paused goes on here; for a person's pause somebody must come.
            (Standing::Waiting, Company::Attendant(_)) if driver.is_idle() => {
                let core = driver.run().core();
                if !core.paused || driver.is_held() || watch.is_none() {
                    break;
                }
            }
            _ => {}
        }
        let event = tokio::select! {
            sent = driver.next() => match sent {
                Sent::Event(event) => event,
                Sent::Letter | Sent::Question => continue,
            },
            word = company.word() => match heard(word, driver, &**store).await? {
                Heard::Event(event) => event,
                Heard::Nothing => continue,
                Heard::Unattended => {
                    if let Company::Talking { answers, .. } = &mut company {
                        *answers = false;
                    }
                    continue;
                }
                Heard::Farewell => break,
            },
            Some(()) = interrupts.recv() => match &company {
                Company::Talking { .. } if driver.is_under_way() => cancel(Scope::Turn),
                Company::Attendant(_) if !cancelled => {
                    cancelled = true;
                    cancel(Scope::Run)
                }
                _ => break,
            },
            Some(()) = terminations.recv() => break,
            () = changes.letter_for(&id) => {
                deliver(&**store, driver).await?;
                continue;
            }
            _ = looks.tick() => {
                if let Some(call) = watch.as_mut().and_then(Watch::look) {
                    driver.heed(call).await?;
                }
                continue;
            }
        };
        driver.give(event).await?;
    }
    let outcome = outcome(driver);
    if matches!(outcome.standing, Standing::Ended(_)) {
        end_children(&idle(driver.agents(), store), &outcome.run).await;
    } else {
        company.keep(&outcome.run, &**store).await?;
    }
    Ok(outcome)
}

const fn cancel(scope: Scope) -> Event<Body> {
    Event::Cancelled { scope }
}

/// What a word comes to.
enum Heard {
    Event(Event<Body>),
    Nothing,
    Unattended,
    Farewell,
}

async fn heard(word: Word, driver: &mut Driver, store: &dyn Store) -> Result<Heard, SessionError> {
    Ok(match word {
        Word::Post(event, kept) => {
            store.post(driver.id(), &written(&event)).await?;
            tell(kept);
            Heard::Nothing
        }
        // Whoever listens already has nothing to stop.
        Word::CancelTurn if driver.listens() => Heard::Nothing,
        Word::CancelTurn => Heard::Event(cancel(Scope::Turn)),
        Word::Decide(effect, decision) => {
            // A person may answer from the journal while the call is still looked at.
            let mut asked = driver.left_questions().into_iter();
            // One that is answered or too late is no question any more.
            asked.find(|question| question.effect == effect).map_or(Heard::Nothing, |question| {
                Heard::Event(approval(driver.run(), &question, &decision))
            })
        }
        Word::Unattended => Heard::Unattended,
        Word::Leave => Heard::Farewell,
    })
}

/// Tells whoever said a word that it is on disk.
fn tell(kept: oneshot::Sender<()>) {
    // Not everybody waits for that.
    let _: Result<(), ()> = kept.send(());
}

fn every(period: Duration) -> Interval {
    let mut ticks = interval(period);
    // What was missed while a step was written need not be made up for.
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

/// Delivers the letters that do not wait for the run to listen: approvals, cancels. Of
/// several answers to one question the last counts. What ends the run is the last of all.
pub(crate) async fn deliver(store: &dyn Store, driver: &mut Driver) -> Result<(), DriveError> {
    let mut letters = store.letters(driver.id()).await?;
    letters.retain(|it| !is_word(it));
    for (at, letter) in letters.iter().enumerate() {
        if matches!(driver.standing(), Standing::Ended(_)) {
            break;
        }
        let question = about(letter);
        let mut later = letters.iter().skip(at + 1);
        // The time of a question goes on while nobody drives the run.
        let due = question.and_then(|question| driver.due(question));
        let late = due.is_some_and(|due| due <= letter.at_ms);
        if late || question.is_some() && later.any(|it| about(it) == question) {
            driver.pass_over(letter).await?;
        } else {
            driver.take(letter).await?;
        }
    }
    Ok(())
}

/// Delivers the oldest word to a run that listens; returns whether there was one.
pub(crate) async fn hear(store: &dyn Store, driver: &mut Driver) -> Result<bool, DriveError> {
    let letters = store.letters(driver.id()).await?;
    let Some(word) = letters.iter().find(|it| is_word(it)) else { return Ok(false) };
    driver.take(word).await?;
    Ok(true)
}

/// Puts the open questions to who is there. Returns whether one was answered.
async fn ask(
    driver: &mut Driver,
    store: &dyn Store,
    attendant: &mut dyn Attend,
) -> Result<bool, SessionError> {
    let mut answered = false;
    for question in driver.questions() {
        let (reply, disturbed) = put(driver, store, &question, attendant);
        // Somebody else may have spoken meanwhile, and who speaks first is heard first.
        deliver(store, driver).await?;
        let open = driver.questions().iter().any(|it| it.effect == question.effect);
        // What was taken back and is still open after all is put again.
        answered |= !open || disturbed;
        match reply {
            Reply::Decided(decision) if open => {
                answered = true;
                let event = approval(driver.run(), &question, &decision);
                driver.give(event).await?;
            }
            Reply::Cancel => {
                driver.give(cancel(Scope::Run)).await?;
                return Ok(true);
            }
            _ => {}
        }
    }
    Ok(answered)
}

/// Puts a question. Returns what was said, and whether something came that may close it.
fn put(
    driver: &Driver,
    store: &dyn Store,
    question: &Question,
    attendant: &mut dyn Attend,
) -> (Reply, bool) {
    let threads = Handle::current();
    let (disturbed, looked) = (Cell::new(false), Cell::new(Stopwatch::start()));
    let is_open = || {
        if !disturbed.get() && looked.get().elapsed() >= LOOK {
            let settled = || threads.block_on(is_settled(store, driver.id(), question));
            disturbed.set(!driver.is_idle() || settled());
            looked.set(Stopwatch::start());
        }
        !disturbed.get()
    };
    let (due, report) = (driver.due(question.effect), driver.run().report());
    let asking = Asking { question, due, report, open: &is_open };
    // Whoever is asked may take their time; nothing else is under way meanwhile.
    let reply = tokio::task::block_in_place(|| attendant.decide(&asking));
    (reply, disturbed.get())
}

/// Returns whether a letter waits that answers a question, or cancels what it is about. A
/// journal that cannot be read now has nothing to say; it is read again before the answer
/// counts.
async fn is_settled(store: &dyn Store, run: &RunId, question: &Question) -> bool {
    store.letters(run).await.unwrap_or_default().iter().any(|letter| {
        let cancels = matches!(letter.event(), Ok(Event::Cancelled { .. }));
        cancels || about(letter) == Some(question.effect)
    })
}

/// Returns the event by which a decision reaches the run.
pub fn approval(run: &dyn AnyRun, question: &Question, decision: &Decision) -> Event<Body> {
    let Decision { granted, reason, remember } = decision;
    let Question { effect, asks, .. } = question;
    match asks {
        Asked::Call { identity, .. } => Event::ApprovalAnswered {
            effect: *effect,
            call: *identity,
            granted: *granted,
            reason: reason.clone(),
            remember: remember.clone(),
        },
        Asked::Plain(_) => answered(run, *effect, *granted, reason),
    }
}

fn outcome(driver: &Driver) -> Outcome {
    let core = driver.run().core();
    Outcome {
        run: driver.id().clone(),
        state: driver.program().state_name(core.state).into(),
        steps: core.next.0.saturating_sub(1),
        standing: driver.left_standing(),
        paused: core.paused,
        questions: driver.left_questions(),
        elapsed_ms: core.now.0,
        result: driver.run().result(),
        report: driver.run().report(),
        error: driver.run().turn_error().cloned(),
    }
}

//! What each job writes. Two statements for a plain entry: the line is added, and the
//! run's row moves on.

use rusqlite::{Connection, ErrorCode, OptionalExtension, params};

use pointsman_kernel::id::Digest;

use super::{
    super::{
        MessageId, RunId, StoreError, artifact, blob,
        book::OpenBook,
        list, made, queue,
        ready::{Opened, Ready, forked},
        seal::{self, entry, signed},
    },
    Answer, Refusal, Work,
};

/// A refusal before anything was changed.
pub(super) const fn refused(error: StoreError) -> Refusal {
    Refusal { error, spoilt: false }
}

/// A refusal after something was changed, or one that may have ended the transaction.
pub(super) const fn spoilt(error: StoreError) -> Refusal {
    Refusal { error, spoilt: true }
}

/// Does one job within a transaction.
pub(super) fn apply(
    connection: &Connection,
    book: &mut OpenBook,
    work: &Work,
) -> Result<Answer, Refusal> {
    match work {
        Work::Append(ready) => append(connection, book, ready, work).map(|()| Answer::Appended),
        Work::Post { run, body, at_ms } => {
            send(connection, book, run, body, signed(*at_ms)).map(Answer::Posted)
        }
        Work::Discard(message) => take(connection, book, *message).map(|()| Answer::Done),
        Work::Fork(forking) => forking.write(connection, book).map(|()| Answer::Done),
        Work::Park { run, term, read } => {
            let parked = queue::park(connection, run, term, *read);
            parked.map(|()| Answer::Done).map_err(|source| spoilt(work.failed(source)))
        }
        Work::Keep { run, packed } => {
            there(connection, run)?;
            packed
                .keep(connection)
                .and_then(|()| blob::refer(connection, run, &packed.digest))
                .map_err(|source| spoilt(work.failed(source)))?;
            Ok(Answer::Done)
        }
        Work::PruneOptions { holds, whatever } => {
            for (run, _) in holds {
                if *whatever {
                    remove_whatever(connection, book, run)?;
                } else {
                    remove(connection, book, run)?;
                }
            }
            // Found by their names, they are looked at once for all that went.
            connection
                .execute("DELETE FROM request WHERE run NOT IN (SELECT id FROM run)", [])
                .map_err(|source| spoilt(work.failed(source)))?;
            Ok(Answer::Done)
        }
        Work::Sweep => {
            let swept = artifact::sweep(connection);
            swept.map(Answer::Swept).map_err(|source| spoilt(work.failed(source)))
        }
    }
}

fn append(
    connection: &Connection,
    book: &mut OpenBook,
    ready: &Ready,
    work: &Work,
) -> Result<(), Refusal> {
    let fail = |source| spoilt(work.failed(source));
    let append = &ready.append;
    if let Some(opened) = &ready.opened {
        open(connection, book, ready, opened)?;
    }
    let place = add(connection, ready).map_err(fail)?;
    if !advance(connection, ready, place).map_err(fail)? {
        connection.execute("DELETE FROM entry WHERE place = ?1", params![place]).map_err(fail)?;
        let refusal = conflict(connection, ready, work);
        return Err(Refusal { spoilt: refusal.spoilt || ready.opened.is_some(), ..refusal });
    }
    if let Some(message) = append.message {
        take(connection, book, message).map_err(|refusal| spoilt(refusal.error))?;
    }
    if ready.ended.is_some() {
        // Nobody will take what still waits for it.
        forget_messages(connection, book, &append.run)?;
        delete(connection, &append.run, "DELETE FROM queue WHERE run = ?1")?;
    }
    ready.term.enter(connection, &append.run).map_err(fail)?;
    if let Some((opening, queue)) = ready.queued() {
        queue::enter(connection, &append.run, queue, opening.created_ms).map_err(fail)?;
    }
    beside(connection, ready).map_err(fail)?;
    Ok(())
}

/// Adds an entry's row, and returns its place. One that does not fit is taken away again: SQLite
/// writes a row of plain values at half the cost of one that depends on others.
fn add(connection: &Connection, ready: &Ready) -> rusqlite::Result<i64> {
    let line = (!ready.packed).then_some(&*ready.append.line);
    connection
        .prepare_cached(
            "INSERT INTO entry (follows, run, seq, state, ended, wake, prompts, tip, line, artifact)
             VALUES ((SELECT place FROM run WHERE id = ?1),?1,?2,?3,?4,?5,?6,?7,?8,?9)",
        )?
        .insert(params![
            ready.append.run.as_str(),
            signed(ready.append.seq.0),
            &*ready.append.state,
            ready.ended,
            ready.wake,
            ready.prompt_count(),
            ready.tip.0,
            line,
            ready.packed.then_some(ready.link.0),
        ])
}

/// Moves a run's row on to the entry that was just added, and returns whether it did. It moves only
/// from the entry before, only along the chain, and under no lease that a later one has ended: no
/// gap, and no second writer.
fn advance(connection: &Connection, ready: &Ready, place: i64) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(
            "UPDATE run SET seq = ?2, state = ?3, ended = ?4, wake = ?5, prompts = ?6,
             link = ?7, tip = ?8, place = ?9
             WHERE id = ?1 AND seq = ?2 - 1 AND link = ?10
             AND NOT EXISTS (SELECT 1 FROM lease WHERE run = ?1
                 AND (epoch > ?11 OR epoch = ?11 AND owner <> ?12))",
        )?
        .execute(params![
            ready.append.run.as_str(),
            signed(ready.append.seq.0),
            &*ready.append.state,
            ready.ended,
            ready.wake,
            ready.prompt_count(),
            ready.link.0,
            ready.tip.0,
            place,
            ready.prev.0,
            ready.term.epoch(),
            ready.term.owner(),
        ])
        .map(|moved| moved == 1)
}

/// Writes what only some entries have.
fn beside(connection: &Connection, ready: &Ready) -> rusqlite::Result<()> {
    let (run, seq) = (ready.append.run.as_str(), signed(ready.append.seq.0));
    for packed in &ready.artifacts {
        packed.keep(connection)?;
    }
    for prompt in &ready.prompts {
        connection
            .prepare_cached(
                "INSERT INTO prompt (run, seq, idx, effect_seq, effect_index, parts, seal)
                 VALUES (?1,?2,?3,?4,?5,?6,?7)",
            )?
            .execute(params![
                run,
                seq,
                prompt.idx,
                prompt.effect_seq,
                prompt.effect_index,
                prompt.parts,
                prompt.seal(seq).0,
            ])?;
    }
    if let Some(body) = &ready.append.snapshot {
        let seal = seal::snapshot(run, seq, &ready.link, body);
        connection
            .prepare_cached(
                "INSERT OR REPLACE INTO snapshot (run, seq, link, body, seal)
                 VALUES (?1,?2,?3,?4,?5)",
            )?
            .execute(params![run, seq, ready.link.0, &**body, seal.0])?;
    }
    Ok(())
}

/// Writes the row of a run that begins, with no entry as yet.
fn open(
    connection: &Connection,
    book: &mut OpenBook,
    ready: &Ready,
    Opened { opening, source, fixed }: &Opened,
) -> Result<(), Refusal> {
    let run = &ready.append.run;
    if let Some(request) = &opening.request
        && let Some(run) = queue::made_by(connection, request).map_err(refused)?
    {
        return Err(refused(StoreError::Repeated { run }));
    }
    let (parent, parent_seq) = forked(opening);
    connection
        .prepare_cached(
            "INSERT INTO run (id, agent, chart, source, goal, created_ms, parent, parent_seq, fixed,
             seq, state, ended, wake, prompts, link, tip)
             VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,0,'',NULL,NULL,0,?10,x'')",
        )
        .and_then(|mut insert| {
            insert.execute(params![
                run.as_str(),
                &*opening.agent,
                &*opening.chart,
                source.0,
                &*opening.goal,
                signed(opening.created_ms),
                parent,
                parent_seq,
                fixed.0,
                ready.prev.0,
            ])
        })
        .map_err(|source| exists(run, source))?;
    book.book(connection).map_err(spoilt)?.add(run);
    let made_ms = made(run, parent.is_some(), opening.created_ms);
    list::enter(connection, run, made_ms)
        .map_err(|source| spoilt(StoreError::reading(Some(run), source)))?;
    if let Some(request) = &opening.request {
        queue::note(connection, request, run)
            .map_err(|source| spoilt(StoreError::reading(Some(run), source)))?;
    }
    for message in &opening.messages {
        send(connection, book, run, message, signed(opening.created_ms))
            .map_err(|refusal| spoilt(refusal.error))?;
    }
    Ok(())
}

/// Sorts the refusal of a new run's row.
pub(super) fn exists(run: &RunId, source: rusqlite::Error) -> Refusal {
    match source.sqlite_error_code() {
        Some(ErrorCode::ConstraintViolation) => refused(StoreError::RunExists { run: run.clone() }),
        _ => spoilt(StoreError::reading(Some(run), source)),
    }
}

/// Finds out why an entry was not added.
fn conflict(connection: &Connection, ready: &Ready, work: &Work) -> Refusal {
    let (run, wanted) = (ready.append.run.clone(), ready.append.seq);
    match ready.term.is_over(connection, &run) {
        Ok(false) => {}
        Ok(true) => return refused(StoreError::Fenced { run }),
        Err(source) => return spoilt(work.failed(source)),
    }
    let found = connection
        .query_row("SELECT seq, link FROM run WHERE id = ?1", params![run.as_str()], |row| {
            Ok((entry(row.get(0)?), Digest(row.get(1)?)))
        })
        .optional();
    match found {
        Ok(Some((at, link))) if at.next() == wanted && link != ready.prev => {
            let why = "it does not follow the run's last line".into();
            refused(StoreError::Unfit { run, seq: wanted, why })
        }
        Ok(Some((at, _))) => refused(StoreError::Conflict { run, at, wanted }),
        Ok(None) => refused(StoreError::NoSuchRun { run }),
        // SQLite may have rolled the whole transaction back.
        Err(source) => spoilt(work.failed(source)),
    }
}

fn send(
    connection: &Connection,
    book: &mut OpenBook,
    run: &RunId,
    body: &str,
    at_ms: i64,
) -> Result<MessageId, Refusal> {
    let fail = |source| spoilt(StoreError::reading(Some(run), source));
    there(connection, run)?;
    let book = book.book(connection).map_err(refused)?;
    let id = book.messages.saturating_add(1);
    let seal = seal::message(id, run.as_str(), body, at_ms);
    connection
        .prepare_cached("INSERT INTO letter (id, run, body, at_ms, seal) VALUES (?1,?2,?3,?4,?5)")
        .and_then(|mut insert| insert.execute(params![id, run.as_str(), body, at_ms, seal.0]))
        .map_err(fail)?;
    queue::wake(connection, run).map_err(fail)?;
    book.messages = id;
    book.waiting = book.waiting.saturating_add(1);
    Ok(MessageId(id))
}

/// Refuses what is for a run that is not there.
fn there(connection: &Connection, run: &RunId) -> Result<(), Refusal> {
    let there = connection
        .prepare_cached("SELECT 1 FROM run WHERE id = ?1")
        .and_then(|mut query| query.exists(params![run.as_str()]))
        .map_err(|source| spoilt(StoreError::reading(Some(run), source)))?;
    if there { Ok(()) } else { Err(refused(StoreError::NoSuchRun { run: run.clone() })) }
}

/// Takes a message out of the box.
fn take(connection: &Connection, book: &mut OpenBook, message: MessageId) -> Result<(), Refusal> {
    let taken = connection
        .prepare_cached("DELETE FROM letter WHERE id = ?1")
        .and_then(|mut delete| delete.execute(params![message.0]))
        .map_err(|source| spoilt(StoreError::reading(None, source)))?;
    if taken == 0 {
        return Err(refused(StoreError::NoSuchMessage { message }));
    }
    let book = book.book(connection).map_err(spoilt)?;
    book.waiting = book.waiting.saturating_sub(1);
    Ok(())
}

/// Removes a run that has ended, with all that is its own.
fn remove(connection: &Connection, book: &mut OpenBook, run: &RunId) -> Result<(), Refusal> {
    // Found from the run's row, so they go first. A place that was damaged leads nowhere.
    delete(
        connection,
        run,
        "DELETE FROM entry WHERE run = ?1 AND place IN (
             WITH RECURSIVE chain (place) AS (
                 SELECT place FROM run WHERE id = ?1 AND ended IS NOT NULL
                 UNION SELECT follows FROM entry JOIN chain USING (place) WHERE run = ?1
             ) SELECT place FROM chain)",
    )?;
    let place = place(connection, run)?;
    // Another process may have pruned it first.
    if delete(connection, run, "DELETE FROM run WHERE id = ?1 AND ended IS NOT NULL")? == 0 {
        return Ok(());
    }
    remove_rest(connection, book, run, place)
}

/// Removes a run whatever its state, with all that bears its name: nothing that it says of
/// itself is relied upon.
fn remove_whatever(
    connection: &Connection,
    book: &mut OpenBook,
    run: &RunId,
) -> Result<(), Refusal> {
    // What is damaged may be anywhere.
    let place = place(connection, run).unwrap_or_default();
    if delete(connection, run, "DELETE FROM run WHERE id = ?1")? == 0 {
        return Ok(());
    }
    delete(connection, run, "DELETE FROM entry WHERE run = ?1")?;
    remove_rest(connection, book, run, place)
}

/// Returns the place of a run in the list.
fn place(connection: &Connection, run: &RunId) -> Result<u64, Refusal> {
    let place = list::place(connection, run);
    let place = place.map_err(|source| spoilt(StoreError::reading(Some(run), source)))?;
    Ok(place.unwrap_or_default())
}

/// Removes what is kept beside the row and the entries of a run that is gone.
fn remove_rest(
    connection: &Connection,
    book: &mut OpenBook,
    run: &RunId,
    place: u64,
) -> Result<(), Refusal> {
    list::strike(connection, run, place)
        .map_err(|source| spoilt(StoreError::reading(Some(run), source)))?;
    delete(connection, run, "DELETE FROM prompt WHERE run = ?1")?;
    delete(connection, run, "DELETE FROM snapshot WHERE run = ?1")?;
    delete(connection, run, "DELETE FROM lease WHERE run = ?1")?;
    delete(connection, run, "DELETE FROM blob WHERE run = ?1")?;
    delete(connection, run, "DELETE FROM queue WHERE run = ?1")?;
    forget_messages(connection, book, run)?;
    book.book(connection).map_err(spoilt)?.remove(run);
    Ok(())
}

fn delete(connection: &Connection, run: &RunId, statement: &str) -> Result<usize, Refusal> {
    connection
        .prepare_cached(statement)
        .and_then(|mut delete| delete.execute(params![run.as_str()]))
        .map_err(|source| spoilt(StoreError::reading(Some(run), source)))
}

/// Removes the messages of a run that will take no more.
fn forget_messages(
    connection: &Connection,
    book: &mut OpenBook,
    run: &RunId,
) -> Result<(), Refusal> {
    let messages = delete(connection, run, "DELETE FROM letter WHERE run = ?1")?;
    if messages > 0 {
        let book = book.book(connection).map_err(spoilt)?;
        book.waiting = book.waiting.saturating_sub(i64::try_from(messages).unwrap_or(i64::MAX));
    }
    Ok(())
}

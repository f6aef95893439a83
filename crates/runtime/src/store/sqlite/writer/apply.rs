//! What each job writes. Two statements for a plain entry: the line is added, and the
//! run's row moves on.

use rusqlite::{Connection, ErrorCode, OptionalExtension, params};

use pointsman_kernel::id::Digest;

use super::{
    super::{
        MessageId, RunId, StoreError, artifact, blob,
        checksum::{self, entry, signed},
        list, made,
        manifest::OpenManifest,
        queue,
        ready::{Ready, ReadyRun, forked},
    },
    Refusal, WriteReply, WriteRequest,
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
    manifest: &mut OpenManifest,
    work: &WriteRequest,
) -> Result<WriteReply, Refusal> {
    match work {
        WriteRequest::Append(ready) => {
            append(connection, manifest, ready, work).map(|()| WriteReply::Appended)
        }
        WriteRequest::Send { run, body, at_ms } => {
            send(connection, manifest, run, body, signed(*at_ms)).map(WriteReply::Sent)
        }
        WriteRequest::Discard { run, term, message } => {
            match term.is_over(connection, run) {
                Ok(false) => {}
                Ok(true) => return Err(refused(StoreError::Fenced { run: run.clone() })),
                Err(source) => return Err(spoilt(work.failed(source))),
            }
            take(connection, manifest, run, *message).map(|()| WriteReply::Done)
        }
        WriteRequest::Fork(forking) => {
            forking.write(connection, manifest).map(|()| WriteReply::Done)
        }
        WriteRequest::Park { run, term, parking } => {
            let parked = queue::park(connection, run, term, *parking);
            parked.map(|()| WriteReply::Done).map_err(|source| spoilt(work.failed(source)))
        }
        WriteRequest::Enqueue(runs, now_ms) => {
            let queued = queue::put(connection, runs, *now_ms);
            queued.map(WriteReply::Queued).map_err(|source| spoilt(work.failed(source)))
        }
        WriteRequest::Keep { run, packed } => {
            there(connection, run)?;
            packed
                .keep(connection)
                .and_then(|()| blob::refer(connection, run, &packed.digest))
                .map_err(|source| spoilt(work.failed(source)))?;
            Ok(WriteReply::Done)
        }
        WriteRequest::Prune { locks, whatever } => {
            for (run, _) in locks {
                if *whatever {
                    remove_whatever(connection, manifest, run)?;
                } else {
                    remove(connection, manifest, run)?;
                }
            }
            // Found by their names, they are looked at once for all that went.
            connection
                .execute("DELETE FROM request WHERE run NOT IN (SELECT id FROM run)", [])
                .map_err(|source| spoilt(work.failed(source)))?;
            Ok(WriteReply::Done)
        }
        WriteRequest::Sweep => {
            let swept = artifact::sweep(connection);
            swept.map(WriteReply::Swept).map_err(|source| spoilt(work.failed(source)))
        }
    }
}

fn append(
    connection: &Connection,
    manifest: &mut OpenManifest,
    ready: &Ready,
    work: &WriteRequest,
) -> Result<(), Refusal> {
    let fail = |source| spoilt(work.failed(source));
    let append = &ready.append;
    if let Some(opened) = &ready.opened {
        open(connection, manifest, ready, opened)?;
    }
    let place = add(connection, ready).map_err(fail)?;
    if !advance(connection, ready, place).map_err(fail)? {
        connection.execute("DELETE FROM entry WHERE place = ?1", params![place]).map_err(fail)?;
        let refusal = conflict(connection, ready, work);
        return Err(Refusal { spoilt: refusal.spoilt || ready.opened.is_some(), ..refusal });
    }
    if let Some(message) = append.message {
        take(connection, manifest, &append.run, message)
            .map_err(|refusal| spoilt(refusal.error))?;
    }
    if ready.ended.is_some() {
        // A run that has ended takes no more messages.
        forget_messages(connection, manifest, &append.run)?;
        delete(connection, &append.run, "DELETE FROM queue WHERE run = ?1")?;
    }
    ready.term.enter(connection, &append.run).map_err(fail)?;
    if let Some((new_run, queue)) = ready.queued() {
        queue::enter(connection, &append.run, queue, new_run.created_ms).map_err(fail)?;
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
                prompt.checksum(seq).0,
            ])?;
    }
    if let Some(body) = &ready.append.snapshot {
        let checksum = checksum::snapshot(run, seq, &ready.link, body);
        connection
            .prepare_cached(
                "INSERT OR REPLACE INTO snapshot (run, seq, link, body, seal)
                 VALUES (?1,?2,?3,?4,?5)",
            )?
            .execute(params![run, seq, ready.link.0, &**body, checksum.0])?;
    }
    Ok(())
}

/// Writes the row of a run that begins, with no entry as yet.
fn open(
    connection: &Connection,
    manifest: &mut OpenManifest,
    ready: &Ready,
    ReadyRun { new_run, source, fixed }: &ReadyRun,
) -> Result<(), Refusal> {
    let run = &ready.append.run;
    if let Some(request) = &new_run.request
        && let Some(run) = queue::made_by(connection, request).map_err(refused)?
    {
        return Err(refused(StoreError::Repeated { run }));
    }
    let (parent, parent_seq) = forked(new_run);
    connection
        .prepare_cached(
            "INSERT INTO run (id, agent, chart, source, goal, created_ms, parent, parent_seq, fixed,
             seq, state, ended, wake, prompts, link, tip)
             VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,0,'',NULL,NULL,0,?10,x'')",
        )
        .and_then(|mut insert| {
            insert.execute(params![
                run.as_str(),
                &*new_run.agent,
                &*new_run.chart,
                source.0,
                &*new_run.goal,
                signed(new_run.created_ms),
                parent,
                parent_seq,
                fixed.0,
                ready.prev.0,
            ])
        })
        .map_err(|source| exists(run, source))?;
    manifest.manifest(connection).map_err(spoilt)?.add(run);
    let made_ms = made(run, parent.is_some(), new_run.created_ms);
    list::enter(connection, run, made_ms)
        .map_err(|source| spoilt(StoreError::reading(Some(run), source)))?;
    if let Some(request) = &new_run.request {
        queue::note(connection, request, run)
            .map_err(|source| spoilt(StoreError::reading(Some(run), source)))?;
    }
    for message in &new_run.messages {
        send(connection, manifest, run, message, signed(new_run.created_ms))
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
fn conflict(connection: &Connection, ready: &Ready, work: &WriteRequest) -> Refusal {
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
            let why = "it does not follow the run's last entry".into();
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
    manifest: &mut OpenManifest,
    run: &RunId,
    body: &str,
    at_ms: i64,
) -> Result<MessageId, Refusal> {
    let fail = |source| spoilt(StoreError::reading(Some(run), source));
    there(connection, run)?;
    let manifest = manifest.manifest(connection).map_err(refused)?;
    let id = manifest.messages.saturating_add(1);
    let checksum = checksum::message(id, run.as_str(), body, at_ms);
    connection
        .prepare_cached("INSERT INTO letter (id, run, body, at_ms, seal) VALUES (?1,?2,?3,?4,?5)")
        .and_then(|mut insert| insert.execute(params![id, run.as_str(), body, at_ms, checksum.0]))
        .map_err(fail)?;
    queue::wake(connection, run).map_err(fail)?;
    manifest.messages = id;
    manifest.waiting = manifest.waiting.saturating_add(1);
    Ok(MessageId(id))
}

/// Rejects an operation on a run that does not exist.
fn there(connection: &Connection, run: &RunId) -> Result<(), Refusal> {
    let there = connection
        .prepare_cached("SELECT 1 FROM run WHERE id = ?1")
        .and_then(|mut query| query.exists(params![run.as_str()]))
        .map_err(|source| spoilt(StoreError::reading(Some(run), source)))?;
    if there { Ok(()) } else { Err(refused(StoreError::NoSuchRun { run: run.clone() })) }
}

/// Takes a message out of a run's mailbox.
fn take(
    connection: &Connection,
    manifest: &mut OpenManifest,
    run: &RunId,
    message: MessageId,
) -> Result<(), Refusal> {
    let taken = connection
        .prepare_cached("DELETE FROM letter WHERE id = ?1 AND run = ?2")
        .and_then(|mut delete| delete.execute(params![message.0, run.as_str()]))
        .map_err(|source| spoilt(StoreError::reading(None, source)))?;
    if taken == 0 {
        return Err(refused(StoreError::NoSuchMessage { message }));
    }
    let manifest = manifest.manifest(connection).map_err(spoilt)?;
    manifest.waiting = manifest.waiting.saturating_sub(1);
    Ok(())
}

/// Removes a run that has ended, with all that is its own.
fn remove(
    connection: &Connection,
    manifest: &mut OpenManifest,
    run: &RunId,
) -> Result<(), Refusal> {
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
    remove_rest(connection, manifest, run, place)
}

/// Removes a run in any state, with everything under its id: it relies on nothing that the run
/// says about itself.
fn remove_whatever(
    connection: &Connection,
    manifest: &mut OpenManifest,
    run: &RunId,
) -> Result<(), Refusal> {
    // The damage may be anywhere.
    let place = place(connection, run).unwrap_or_default();
    if delete(connection, run, "DELETE FROM run WHERE id = ?1")? == 0 {
        return Ok(());
    }
    delete(connection, run, "DELETE FROM entry WHERE run = ?1")?;
    remove_rest(connection, manifest, run, place)
}

/// Returns the place of a run in the list.
fn place(connection: &Connection, run: &RunId) -> Result<u64, Refusal> {
    let place = list::place(connection, run);
    let place = place.map_err(|source| spoilt(StoreError::reading(Some(run), source)))?;
    Ok(place.unwrap_or_default())
}

/// Removes the data beside the row and the entries of a removed run.
fn remove_rest(
    connection: &Connection,
    manifest: &mut OpenManifest,
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
    forget_messages(connection, manifest, run)?;
    manifest.manifest(connection).map_err(spoilt)?.remove(run);
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
    manifest: &mut OpenManifest,
    run: &RunId,
) -> Result<(), Refusal> {
    let messages = delete(connection, run, "DELETE FROM letter WHERE run = ?1")?;
    if messages > 0 {
        let manifest = manifest.manifest(connection).map_err(spoilt)?;
        manifest.waiting =
            manifest.waiting.saturating_sub(i64::try_from(messages).unwrap_or(i64::MAX));
    }
    Ok(())
}

-- Format 2. Entries are written by a function, because the server keeps the plan of its statement:
-- planning takes longer than writing an entry. The plan is made once, possibly while the tables are
-- empty, so it must not read whole tables.

-- Entries, at most one for each run, with their snapshots and prompts and the parts of those. $26 is
-- the length of a lease in milliseconds. A message is locked before its run, and taken only if its
-- entry is written. A lease lasts as long again with every entry, so that a renewal can pass over runs
-- that are being written to. A run of the queue that was given up, or whose lease was seen to expire,
-- takes no entry: the next owner may have it already, or a waiting run would have work to do without
-- being ready.
CREATE FUNCTION pointsman.append(
    text[], bigint[], bigint[], text[], bytea[], bytea[], text[], text[], bigint[], bigint[], bytea[],
    bigint[], boolean[], text[], bytea[], text[], bigint[], bigint[], bigint[], bigint[], bytea[],
    bytea[], text[], bytea[], text[], bigint
) RETURNS TABLE (written_run text, written_expires bigint) LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan
AS $append$
BEGIN
RETURN QUERY
WITH i AS (
    SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
    AS t (run, epoch, seq, line, prev, link, state, ended, wake, prompts, checksum, message,
        progress, snapshot, snapshot_checksum)
), now AS MATERIALIZED (
    SELECT pointsman.now_ms() AS ms
), m AS (
    SELECT message.id FROM pointsman.message JOIN i ON message.id = i.message AND message.run = i.run
    FOR UPDATE OF message
), ok AS (
    UPDATE pointsman.run r SET
        seq = i.seq, link = i.link, state = i.state, ended = i.ended, wake = i.wake,
        prompts = i.prompts, checksum = i.checksum, wrote = i.epoch,
        expires_ms = (SELECT ms FROM now) + $26,
        claims = CASE WHEN i.progress THEN 0 ELSE r.claims END,
        fault = CASE WHEN i.progress THEN NULL ELSE r.fault END,
        status = CASE WHEN i.ended IS NULL THEN r.status ELSE 'ended' END
    FROM i
    WHERE r.id = i.run AND r.seq = i.seq - 1 AND r.link = i.prev
        AND r.epoch = i.epoch AND NOT (r.key IS NOT NULL AND r.status NOT IN ('leased', 'ended'))
        AND (i.message IS NULL OR i.message IN (SELECT id FROM m))
    RETURNING r.expires_ms, i.*
), taken AS (
    DELETE FROM pointsman.message USING ok
    WHERE message.run = ok.run AND (message.id = ok.message OR ok.ended IS NOT NULL)
), new_entry AS (
    INSERT INTO pointsman.entry
        (run, seq, epoch, line, link, state, ended, wake, prompts, checksum)
    SELECT run, seq, epoch, line, link, state, ended, wake, prompts, checksum FROM ok
), new_snapshot AS (
    INSERT INTO pointsman.snapshot (run, seq, link, body, checksum)
    SELECT run, seq, link, snapshot, snapshot_checksum FROM ok WHERE snapshot IS NOT NULL
    ON CONFLICT (run) DO UPDATE SET seq = excluded.seq, link = excluded.link,
        body = excluded.body, checksum = excluded.checksum
), new_prompt AS (
    INSERT INTO pointsman.prompt (run, seq, idx, effect_seq, effect_index, parts, checksum)
    SELECT p.* FROM unnest($16, $17, $18, $19, $20, $21, $22)
    AS p (run, seq, idx, effect_seq, effect_index, parts, checksum)
    WHERE p.run IN (SELECT run FROM ok)
), new_part AS (
    INSERT INTO pointsman.part (run, digest, body)
    SELECT b.* FROM unnest($23, $24, $25) AS b (run, digest, body)
    WHERE b.run IN (SELECT run FROM ok)
    ON CONFLICT DO NOTHING
)
SELECT run, expires_ms FROM ok;
END
$append$;

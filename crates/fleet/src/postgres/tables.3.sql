-- Format 3. A batch of entries is one parameter for each table, and not one for each column, and what a
-- batch lacks takes no statement: reading parameters and starting statements took the server longer
-- than writing an entry. Workers of the previous format use the function of format 2.

CREATE TYPE pointsman.new_entry AS (
    run text, epoch bigint, seq bigint, line text, prev bytea, link bytea, state text, ended text,
    wake bigint, prompts bigint, checksum bytea, message bigint, progress boolean, snapshot text,
    snapshot_checksum bytea
);
CREATE TYPE pointsman.new_prompt AS (
    run text, seq bigint, idx bigint, effect_seq bigint, effect_index bigint, parts bytea,
    checksum bytea
);
CREATE TYPE pointsman.new_part AS (run text, digest bytea, body text);

-- Entries, at most one for each run, with their prompts and the parts of those. $4 is the length of a
-- lease in milliseconds, and $5 says whether an entry takes a message. A message is locked before its
-- run, and taken only if its entry is written. A lease lasts as long again with every entry, so that a
-- renewal can pass over runs that are being written to. A run of the queue that was given up, or whose
-- lease was seen to expire, takes no entry: the next owner may have it already, or a waiting run would
-- have work to do without being ready.
CREATE FUNCTION pointsman.append(
    pointsman.new_entry[], pointsman.new_prompt[], pointsman.new_part[], bigint, boolean
) RETURNS TABLE (written_run text, written_expires bigint) LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan
AS $append$
DECLARE
    -- The messages that are locked, and the runs whose entry is written.
    locked bigint[];
    written text[];
    -- What the written entries have besides.
    taken boolean;
    kept boolean;
BEGIN
IF $5 THEN
    WITH m AS (
        SELECT message.id FROM pointsman.message JOIN unnest($1) AS i
            ON message.id = i.message AND message.run = i.run
        FOR UPDATE OF message
    )
    SELECT array_agg(m.id) INTO locked FROM m;
END IF;
written_expires := pointsman.now_ms() + $4;
WITH ok AS (
    UPDATE pointsman.run r SET
        seq = i.seq, link = i.link, state = i.state, ended = i.ended, wake = i.wake,
        prompts = i.prompts, checksum = i.checksum, wrote = i.epoch, expires_ms = written_expires,
        claims = CASE WHEN i.progress THEN 0 ELSE r.claims END,
        fault = CASE WHEN i.progress THEN NULL ELSE r.fault END,
        status = CASE WHEN i.ended IS NULL THEN r.status ELSE 'ended' END
    FROM unnest($1) AS i
    WHERE r.id = i.run AND r.seq = i.seq - 1 AND r.link = i.prev
        AND r.epoch = i.epoch AND NOT (r.key IS NOT NULL AND r.status NOT IN ('leased', 'ended'))
        AND (i.message IS NULL OR i.message = ANY (locked))
    RETURNING i.*
), new_entry AS (
    INSERT INTO pointsman.entry
        (run, seq, epoch, line, link, state, ended, wake, prompts, checksum)
    SELECT run, seq, epoch, line, link, state, ended, wake, prompts, checksum FROM ok
)
SELECT array_agg(ok.run), bool_or(ok.message IS NOT NULL OR ok.ended IS NOT NULL),
    bool_or(ok.snapshot IS NOT NULL)
INTO written, taken, kept FROM ok;
IF written IS NULL THEN
    RETURN;
END IF;
IF taken THEN
    DELETE FROM pointsman.message USING unnest($1) AS i
    WHERE message.run = i.run AND i.run = ANY (written)
        AND (message.id = i.message OR i.ended IS NOT NULL);
END IF;
IF kept THEN
    INSERT INTO pointsman.snapshot (run, seq, link, body, checksum)
    SELECT i.run, i.seq, i.link, i.snapshot, i.snapshot_checksum FROM unnest($1) AS i
    WHERE i.snapshot IS NOT NULL AND i.run = ANY (written)
    ON CONFLICT (run) DO UPDATE SET seq = excluded.seq, link = excluded.link,
        body = excluded.body, checksum = excluded.checksum;
END IF;
IF cardinality($2) > 0 THEN
    INSERT INTO pointsman.prompt (run, seq, idx, effect_seq, effect_index, parts, checksum)
    SELECT p.* FROM unnest($2) AS p WHERE p.run = ANY (written);
    INSERT INTO pointsman.part (run, digest, body)
    SELECT b.* FROM unnest($3) AS b WHERE b.run = ANY (written)
    ON CONFLICT DO NOTHING;
END IF;
FOREACH written_run IN ARRAY written LOOP
    RETURN NEXT;
END LOOP;
END
$append$;

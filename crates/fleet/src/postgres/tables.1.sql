-- Format 1. Later formats are added beside it: a released file is never edited.
-- Identifiers of runs sort by their bytes, as they do in the program.

-- The time of leases and wake-ups is the server's alone. Use it as (SELECT pointsman.now_ms()):
-- it is then read once, and an index can be searched with it.
CREATE FUNCTION pointsman.now_ms() RETURNS bigint LANGUAGE sql VOLATILE
AS 'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

CREATE SEQUENCE pointsman.message_id;

-- Appends and renewals touch no column that an index or its predicate names, and pages have room:
-- the new version of a row stays in its page, and no index grows.
CREATE TABLE pointsman.run (
    id text COLLATE "C" PRIMARY KEY,
    -- What never changes, and its checksum.
    agent text NOT NULL,
    chart text NOT NULL,
    source bytea NOT NULL,
    goal text NOT NULL,
    created_ms bigint NOT NULL,
    made_ms bigint NOT NULL,
    parent text COLLATE "C",
    parent_seq bigint,
    request text COLLATE "C",
    fixed_checksum bytea NOT NULL,
    -- How it stands after its last entry, and the checksum of that entry.
    seq bigint NOT NULL,
    link bytea NOT NULL,
    state text NOT NULL,
    ended text,
    wake bigint,
    prompts bigint NOT NULL,
    checksum bytea NOT NULL,
    -- Its last lease: in force until it expires. `wrote` is the epoch of the last entry but the first.
    epoch bigint NOT NULL,
    owner text NOT NULL,
    expires_ms bigint NOT NULL,
    wrote bigint NOT NULL,
    -- Its place in the queue, if it has a key. `back` is the status that a run returns to when its
    -- owner is lost without having written anything. `claims` counts those since it last went on.
    key text COLLATE "C",
    rank bigint NOT NULL,
    needs text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL CHECK
        (status IN ('waiting', 'timed', 'ready', 'leased', 'ended', 'quarantined')),
    back text COLLATE "C" NOT NULL CHECK (back IN ('waiting', 'timed', 'ready', 'quarantined')),
    wake_at bigint,
    claims integer NOT NULL,
    -- Why its last worker could not drive it.
    fault text,
    -- The last message that was sent to it: numbers of one run's messages are given in the order in
    -- which they are committed, because this row is locked meanwhile.
    mail bigint NOT NULL
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);

CREATE UNIQUE INDEX run_request ON pointsman.run (request) WHERE request IS NOT NULL;
CREATE INDEX run_made ON pointsman.run (made_ms DESC, id DESC);
CREATE INDEX run_timed ON pointsman.run (wake_at) WHERE status = 'timed';
CREATE INDEX run_ready ON pointsman.run (key, needs, rank, id) WHERE status = 'ready';
CREATE INDEX run_leased ON pointsman.run (key) WHERE status = 'leased';

-- How much of the fleet each key has had: the one with the least is next.
CREATE TABLE pointsman.key (
    key text COLLATE "C" PRIMARY KEY,
    turns bigint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.01);
CREATE INDEX key_turns ON pointsman.key (turns);

-- How many runs are driven now. These see what was committed while the caller waited for a lock, as
-- the statement that calls them does not.
CREATE FUNCTION pointsman.leased(name text) RETURNS bigint LANGUAGE sql VOLATILE
AS 'SELECT count(*) FROM pointsman.run WHERE status = ''leased'' AND key = name';
CREATE FUNCTION pointsman.leased_agents(locks bigint) RETURNS TABLE (agent text, running bigint)
LANGUAGE sql VOLATILE
AS 'SELECT agent, count(*) FROM pointsman.run WHERE status = ''leased'' GROUP BY agent';

-- Providers of models that accept no requests until a time: after 429, for all workers.
CREATE TABLE pointsman.gate (
    name text COLLATE "C" PRIMARY KEY,
    until_ms bigint NOT NULL
);

-- Readers of changes go by the transaction's number: the order of commits is no order of numbers
-- that a sequence gives.
CREATE TABLE pointsman.entry (
    run text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    epoch bigint NOT NULL,
    line text NOT NULL,
    link bytea NOT NULL,
    state text NOT NULL,
    ended text,
    wake bigint,
    prompts bigint NOT NULL,
    checksum bytea NOT NULL,
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    PRIMARY KEY (run, seq)
);
CREATE INDEX entry_xid ON pointsman.entry (xid);

CREATE TABLE pointsman.message (
    id bigint PRIMARY KEY,
    run text COLLATE "C" NOT NULL,
    body text NOT NULL,
    at_ms bigint NOT NULL,
    checksum bytea NOT NULL,
    xid xid8 NOT NULL DEFAULT pg_current_xact_id()
) WITH (autovacuum_vacuum_scale_factor = 0.01);
CREATE INDEX message_run ON pointsman.message (run, id);
CREATE INDEX message_xid ON pointsman.message (xid);

CREATE TABLE pointsman.removal (
    xid xid8 PRIMARY KEY DEFAULT pg_current_xact_id(),
    at_ms bigint NOT NULL
);

CREATE TABLE pointsman.chart (
    digest bytea PRIMARY KEY,
    body text NOT NULL
);

CREATE TABLE pointsman.snapshot (
    run text COLLATE "C" PRIMARY KEY,
    seq bigint NOT NULL,
    link bytea NOT NULL,
    body text NOT NULL,
    checksum bytea NOT NULL
);

-- A prompt is a list of parts, by their digests; a run has each part once.
CREATE TABLE pointsman.part (
    run text COLLATE "C" NOT NULL,
    digest bytea NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (run, digest)
);
CREATE TABLE pointsman.prompt (
    run text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    idx bigint NOT NULL,
    effect_seq bigint NOT NULL,
    effect_index bigint NOT NULL,
    parts bytea NOT NULL,
    checksum bytea NOT NULL,
    PRIMARY KEY (run, seq, idx)
);

-- Pictures are compressed already.
CREATE TABLE pointsman.blob (
    run text COLLATE "C" NOT NULL,
    digest bytea NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (run, digest)
);
ALTER TABLE pointsman.blob ALTER COLUMN bytes SET STORAGE EXTERNAL;

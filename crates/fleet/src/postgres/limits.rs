//! Claims under limits: how many runs of one agent or of one key the whole fleet drives at a time.
//!
//! A key's runs are counted under the lock of its row. Agents have no row: workers that limit them
//! claim one after the other. What is counted after a lock is counted by functions of the database,
//! because the statement itself sees the moment at which it began.

use pointsman_runtime::store::ClaimLimits;
use tokio_postgres::types::{ToSql, Type};

/// The choice of runs under limits, in place of the one without: see `queue`. The limits of keys are
/// $6 to $8, of agents $9 to $11, and $12 says whether there are any of agents.
pub(super) const CHOOSE_LIMITED: &str = "
WITH lock AS MATERIALIZED (
    SELECT pg_advisory_xact_lock(hashtextextended('pointsman agents', 0))::text AS lock WHERE $12
), busy AS MATERIALIZED (
    SELECT a.agent, a.running FROM (SELECT count(*) AS locks FROM lock) AS held
    CROSS JOIN LATERAL pointsman.leased_agents(held.locks) AS a WHERE $12
), full_agent AS MATERIALIZED (
    SELECT busy.agent FROM busy LEFT JOIN unnest($9, $10) AS l (agent, most) USING (agent)
    WHERE busy.running >= coalesce(l.most, $11)
), found AS MATERIALIZED (
    SELECT key.key, coalesce(l.most, $8) AS most
    FROM pointsman.key LEFT JOIN unnest($6, $7) AS l (key, most) ON l.key = key.key
    CROSS JOIN LATERAL (SELECT FROM pointsman.run r
        WHERE r.status = 'ready' AND r.key = key.key AND r.needs = ANY ($2)
            AND NOT EXISTS (SELECT FROM full_agent f WHERE f.agent = r.agent) LIMIT 1) AS first
    WHERE (coalesce(l.most, $8) IS NULL OR coalesce(l.most, $8) > (
            SELECT count(*) FROM pointsman.run r WHERE r.status = 'leased' AND r.key = key.key))
    ORDER BY key.turns, key.key LIMIT 2 * $1 + 16
), k AS (
    SELECT key.key, greatest(key.turns, (SELECT max(turns) FROM pointsman.key) - $1) AS turns,
        found.most
    FROM found JOIN pointsman.key ON key.key = found.key
    ORDER BY key.turns, key.key LIMIT $1 FOR UPDATE OF key SKIP LOCKED
), room AS MATERIALIZED (
    SELECT k.*, coalesce(k.most - pointsman.leased(k.key), $1) AS room FROM k
), next AS (
    SELECT r.id, r.agent, k.key, r.rank, k.room,
        row_number() OVER (PARTITION BY k.key ORDER BY r.rank, r.id) AS of_key,
        k.turns + row_number() OVER (PARTITION BY k.key ORDER BY r.rank, r.id) AS turn
    FROM room AS k CROSS JOIN LATERAL unnest($2) AS label CROSS JOIN LATERAL (
        SELECT run.id, run.rank, run.agent FROM pointsman.run
        WHERE run.status = 'ready' AND run.key = k.key AND run.needs = label
            AND NOT EXISTS (SELECT FROM full_agent f WHERE f.agent = run.agent)
        ORDER BY run.rank, run.id LIMIT $1
    ) AS r
), fit AS (
    SELECT *, row_number() OVER (PARTITION BY agent ORDER BY turn, rank, id) AS of_agent
    FROM next WHERE of_key <= room
), chosen AS (
    SELECT fit.* FROM fit LEFT JOIN unnest($9, $10) AS l (agent, most) USING (agent)
        LEFT JOIN busy USING (agent)
    WHERE coalesce(of_agent <= coalesce(l.most, $11) - coalesce(busy.running, 0), true)
    ORDER BY turn, rank, id LIMIT $1";

/// Limits as the statement takes them.
pub(super) struct LimitColumns<'a> {
    keys: Vec<&'a str>,
    key_limits: Vec<i64>,
    each_key: Option<i64>,
    agents: Vec<&'a str>,
    agent_limits: Vec<i64>,
    each_agent: Option<i64>,
    of_agents: bool,
}

impl<'a> LimitColumns<'a> {
    pub(super) fn of(limits: &'a ClaimLimits) -> Self {
        let (keys, key_limits) =
            limits.keys.iter().map(|(key, most)| (&**key, i64::from(*most))).unzip();
        let named = limits.agents.iter().map(|(agent, most)| (&**agent, i64::from(*most)));
        let (agents, agent_limits): (Vec<_>, Vec<_>) = named.unzip();
        let of_agents = !agents.is_empty() || limits.each_agent.is_some();
        Self {
            keys,
            key_limits,
            each_key: limits.each_key.map(Into::into),
            agents,
            agent_limits,
            each_agent: limits.each_agent.map(Into::into),
            of_agents,
        }
    }

    pub(super) fn params(&self) -> [(&(dyn ToSql + Sync), Type); 7] {
        [
            (&self.keys, Type::TEXT_ARRAY),
            (&self.key_limits, Type::INT8_ARRAY),
            (&self.each_key, Type::INT8),
            (&self.agents, Type::TEXT_ARRAY),
            (&self.agent_limits, Type::INT8_ARRAY),
            (&self.each_agent, Type::INT8),
            (&self.of_agents, Type::BOOL),
        ]
    }
}

// Figures over all runs: where they go, how long they stay, what they cost, where they get stuck.

import { get, getText, path } from "./api.js";
import { ChartPane } from "./chart.js";
import { failure, loading } from "./dialog.js";
import { counted, duration, grouped, h, money, show } from "./dom.js";

/** Reasons that say that something went wrong. */
const WRONG = /fail|timeout|stuck|denied|budget|beyond|cancel|fault|error/;

function table(heads, rows, props) {
  return h("div", { class: "wide", tabindex: "0" }, h("table", { class: "plain", ...props },
    h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col" }, head)))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell, at) => (at === 0 ? h("th", { scope: "row" }, cell) : h("td", {}, cell))))))));
}

function tile(name, figure, note) {
  return h("div", { class: "tile" }, h("p", { class: "label" }, name), h("p", { class: "figure" }, figure), note ? h("p", { class: "dim" }, note) : null);
}

export class StatsPage {
  constructor(main) {
    this.main = main;
    this.chart = new URLSearchParams(location.search).get("chart");
  }

  async open() {
    document.title = "Statistics · Pointsman";
    loading(this.main, "Reading all runs…");
    try {
      this.stats = await get(path(["stats"]));
    } catch (error) {
      show(this.main, failure(error, () => this.open()));
      return;
    }
    this.build();
  }

  build() {
    const { stats } = this;
    const charts = [...new Set(stats.edges.map((edge) => edge.chart))].sort();
    if (stats.runs === 0) {
      show(this.main, h("div", { class: "nothing" }, h("p", {}, "There are no runs to count yet.")));
      return;
    }
    this.pick = h("select", { "aria-label": "Chart", onchange: () => this.select(this.pick.value) }, charts.map((name) => h("option", { value: name, selected: name === this.chart }, name)));
    this.body = h("div", { class: "stats-body" });
    const each = (number) => `${grouped(Math.round((number / stats.runs) * 10) / 10)} per run`;
    const ends = Object.entries(stats.dispositions).sort((one, two) => two[1] - one[1]);
    show(this.main, h("div", { class: "stats-page" },
      h("h1", {}, "Statistics"),
      h("div", { class: "tiles" },
        tile("Runs", grouped(stats.runs)),
        tile("Model calls", grouped(stats.model_calls), each(stats.model_calls)),
        tile("Tool calls", grouped(stats.tool_calls), each(stats.tool_calls)),
        tile("Tokens", grouped(stats.tokens), each(stats.tokens)),
        tile("Cost", money(stats.money), `${money(Math.round(stats.money / stats.runs))} per run`),
        tile("Stuck", `${(stats.stuck_per_mille / 10).toFixed(1)} %`, "of the runs that ended"),
        tile("Tokens saved", stats.tokens_saved.runs > 0 ? `≈ ${grouped(stats.tokens_saved.tokens)}` : "–", this.saved())),
      h("h2", {}, "How runs stand"), this.ends(ends, stats.runs),
      h("div", { class: "row-head" }, h("h2", {}, "Where they go"), this.pick),
      this.body,
      h("h2", {}, "What runs use"), this.costs(),
      stats.unreadable.length > 0 ? h("p", { class: "failure small" }, `${counted(stats.unreadable.length, "run")} cannot be read`) : null));
    this.select(charts.includes(this.chart) ? this.chart : charts[0]);
  }

  /** What the governor has saved, by what the certificates of stuck runs still allowed. */
  saved() {
    const { runs, model_calls } = this.stats.tokens_saved;
    if (runs === 0) return "the governor stopped no run";
    return `at most ${counted(model_calls, "model call")} that ${counted(runs, "stuck run")} did not make`;
  }

  /** By agent, version of the chart and model: half of the runs, 95 of 100, and the proved worst case. */
  costs() {
    const cell = (spread, bound) => `${grouped(spread.median)} / ${grouped(spread.p95)}${bound === undefined || bound === null ? "" : ` of ${grouped(bound)}`}`;
    const rows = this.stats.costs.map((it) => {
      const whole = it.certificate.per === "run";
      return [`${it.agent === it.chart ? it.agent : `${it.agent} · ${it.chart}`} v${it.version}`, it.model ?? "–", grouped(it.runs), `${Math.round((it.stuck / it.runs) * 100)} %`, grouped(it.retries),
        cell(it.visits, whole ? it.certificate.steps : null), cell(it.model_calls, whole ? it.certificate.model_calls : null), cell(it.tool_calls, whole ? it.certificate.tool_calls : null), cell(it.tokens, it.certificate.tokens),
        `${money(it.money.median)} / ${money(it.money.p95)}`];
    });
    return [h("p", { class: "dim" }, "Median and 95th percentile of a run, compared with the certificate if that is per run."),
      table(["Agent", "Model", "Runs", "Stuck", "Retries", "Visits", "Model calls", "Tool calls", "Tokens", "Cost"], rows)];
  }

  ends(ends, all) {
    const bar = h("div", { class: "stack", role: "img", "aria-label": ends.map(([name, count]) => `${name}: ${count}`).join(", ") });
    for (const [name, count] of ends) {
      const part = h("span", { class: `part ${name}`, title: `${name}: ${count}` });
      part.style.flexGrow = String(count);
      bar.append(part);
    }
    return [bar, h("p", { class: "legend" }, ends.map(([name, count]) => h("a", { href: `/?status=${name}` }, h("span", { class: `dot ${name}` }), `${name} ${grouped(count)} (${Math.round((count / all) * 100)} %)`)))];
  }

  async select(chart) {
    this.chart = chart;
    history.replaceState(null, "", `/stats?chart=${encodeURIComponent(chart)}`);
    const { stats } = this;
    const pane = new ChartPane();
    const edges = stats.edges.filter((edge) => edge.chart === chart);
    const states = stats.states.filter((state) => state.chart === chart);
    const findings = stats.findings.filter((found) => found.chart === chart);
    const left = new Map();
    for (const edge of edges) left.set(edge.from, (left.get(edge.from) ?? 0) + edge.count);
    show(this.body, pane.element,
      h("h3", {}, "Time in each state"), table(["State", "Visits", "Median", "95 %", "Together"], states.map((it) => [it.state, grouped(it.visits), duration(it.median_ms), duration(it.p95_ms), duration(it.total_ms)])),
      h("h3", {}, "Transitions"), table(["From", "Outcome", "To", "Count", "Share"], edges.map((it) => [it.from ?? "start", it.reason, it.to ?? "the end", grouped(it.count), `${Math.round((it.count / left.get(it.from)) * 100)} %`])),
      findings.length > 0 ? [h("h3", {}, "What the governor found"), table(["State", "Rule", "Warned", "Stopped", "Runs"], findings.map((it) => [it.state, it.rule.replaceAll("_", " "), grouped(it.warned), grouped(it.stopped), grouped(it.runs)]))] : null);
    try {
      pane.put(await this.picture(chart));
      this.weigh(pane, edges, states);
    } catch (error) {
      show(pane.element, h("p", { class: "dim" }, error.message));
    }
  }

  async picture(chart) {
    const { runs } = await get(path(["runs"], { chart, limit: 1 }));
    // Runs may have been removed since the figures were read.
    if (runs.length === 0) throw new Error("No run of this chart is left, so its picture cannot be drawn.");
    return getText(path(["runs", runs[0].run, "chart", "picture"], { format: "figure" }));
  }

  /** Arrows as wide as they are frequent, and in another colour where they say that something failed. */
  weigh(pane, edges, states) {
    const most = Math.max(...edges.map((edge) => edge.count));
    const counts = new Map();
    for (const it of edges) {
      const edge = it.from && pane.edge(it.from, it.reason);
      if (edge) counts.set(edge, { count: (counts.get(edge)?.count ?? 0) + it.count, wrong: counts.get(edge)?.wrong || WRONG.test(it.reason) });
    }
    // The narrow ones last: they are drawn above the wide ones.
    for (const [edge, { count, wrong }] of [...counts].sort((one, two) => two[1].count - one[1].count)) {
      for (const part of [edge.tag, edge.line]) {
        part?.classList.add("taken");
        part?.classList.toggle("wrong", wrong);
      }
      const way = edge.line?.querySelector(".way");
      if (way) way.style.strokeWidth = String(1.5 + 3.5 * Math.sqrt(count / most));
      pane.raise(edge);
      pane.count(edge, count, wrong ? "wrong" : "");
    }
    const been = new Set([...states.map((it) => it.state), ...edges.map((it) => it.to)]);
    for (const [name, element] of pane.states) element.classList.toggle("been", been.has(name));
  }

  key() {
    return false;
  }
}

export const KEYS = [];

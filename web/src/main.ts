// The page's wiring: address ⇄ store ⇄ canvas, panel and timeline.

import * as api from "./api";
import { Canvas } from "./canvas";
import { checksPanel } from "./checks";
import { byId, h } from "./dom";
import { Drawer } from "./drawer";
import { columnKey, worst } from "./elements";
import { count, distinct, shortened, spelling, title, visible } from "./format";
import { keys } from "./keys";
import { isDark, setTheme, theme, type Theme } from "./palette";
import { datasetPanel, flowPanel, type Asked } from "./panel";
import { combobox } from "./search";
import { showWho } from "./session";
import { Store, type Selection } from "./store";
import type { Asset, Flow, Graph } from "./types";
import { read, written } from "./zoom";

const store = new Store();
const canvas = new Canvas(byId("canvas"), store, { select, expand: (key, side) => void expand(key, side), open: go });

function go(asset: string): void {
  location.hash = new URLSearchParams({ asset, ...(store.showColumns ? { columns: "1" } : {}) }).toString();
}

const drawer = new Drawer(byId("drawer"), {
  busy,
  resized: () => canvas.resize(),
  shows: (what) => {
    const address = new URLSearchParams(location.hash.slice(1));
    for (const name of ["timeline", "from", "to"]) address.delete(name);
    for (const [name, value] of Object.entries(what ? { timeline: what.job, ...(what.span && written(what.span)) } : {})) address.set(name, value);
    // Not another place to arrive at: what is drawn stays.
    history.replaceState(null, "", `#${address.toString()}`);
  },
  say,
});

let arrivals = 0;

function clear(): void {
  store.clear();
  select(null);
  canvas.cy.elements().remove();
  canvas.forget();
  document.title = "Headwater";
}

async function arrive(): Promise<void> {
  const mine = ++arrivals;
  const address = new URLSearchParams(location.hash.slice(1));
  const asset = address.get("asset");
  byId("welcome").hidden = asset !== null;
  byId("legend").hidden = asset === null;
  drawer.hide();
  if (asset === null) {
    clear();
    await welcome();
    if (mine === arrivals && address.has("timeline")) await busy(() => openTimeline(address));
    return;
  }
  setColumns(address.get("columns") === "1" || address.has("column"));
  await busy(async () => {
    const answer = await api.graph(asset, { columns: store.showColumns }).catch((error: unknown) => {
      // What is drawn isn't what the address names.
      if (mine === arrivals) {
        clear();
        byId("legend").hidden = true;
      }
      throw error;
    });
    if (mine !== arrivals) return;
    store.clear();
    store.merge(answer);
    document.title = `${title(answer.start)} · Headwater`;
    const column = address.get("column");
    // First, as the panel takes a part of the page.
    select(column ? { kind: "column", key: columnKey(answer.start.key, column) } : { kind: "dataset", key: answer.start.key });
    await canvas.draw();
    // By now another address may be shown, and have the focus.
    if (mine !== arrivals) return;
    reportOmitted(answer);
    byId("canvas").focus();
    await openTimeline(address);
  });
}

/** The timeline that the address names, if it does. */
async function openTimeline(address: URLSearchParams): Promise<void> {
  const job = address.get("timeline");
  if (job === null) return;
  const span = read(address);
  await drawer.open(job, null, span);
  if (span === undefined) throw new api.Problem("The address has no span of time.", "from is a time before to: the latest micro-batches are shown.");
}

async function busy(work: () => Promise<void>): Promise<void> {
  const shown = window.setTimeout(() => (byId("busy").hidden = false), 150);
  byId("alert").hidden = true;
  try {
    await work();
  } catch (error) {
    report(error);
  } finally {
    clearTimeout(shown);
    byId("busy").hidden = true;
  }
}

function report(error: unknown): void {
  const problem = error instanceof api.Problem ? error : new api.Problem("The page failed.", String(error));
  const alert = byId("alert");
  alert.replaceChildren(
    h("strong", {}, problem.title),
    h("p", {}, problem.detail),
    problem.nearest.length
      ? h("p", {}, "Nearest: ", problem.nearest.map((name) => h("button", { class: "link", onclick: () => go(name) }, name)))
      : h("span"),
    problem.login !== null ? h("p", {}, h("a", { href: problem.login }, "Log in")) : h("span"),
    h("button", { class: "icon", "aria-label": "Close", onclick: () => (alert.hidden = true) }, "✕"),
  );
  alert.hidden = false;
}

async function welcome(): Promise<void> {
  await busy(async () => {
    const found = await api.datasets();
    const under = distinct(found.items.map(({ asset }) => asset), 34);
    byId("welcome").replaceChildren(
      h("h1", {}, "Where does this data come from, and what comes of it?"),
      h("p", {}, found.total ? `${count(found.total, "dataset")} known. Search, or begin with one of these.` : "No dataset is known yet. Run a job with capture attached, and the materializer."),
      h("div", { class: "cards" }, found.items.map(({ asset, owners = [], sensitivity }, index) =>
        h("button", { class: "card", title: visible(spelling(asset)), onclick: () => go(asset.key) },
          h("span", { class: `chip ${(asset.type ?? "other").toLowerCase()}` }, (asset.type ?? "dataset").toLowerCase()),
          h("b", {}, shortened(title(asset), 30)),
          h("span", {}, asset.table ? shortened(asset.table, 34) : (under[index] ?? "")),
          (owners.length > 0 || sensitivity) &&
            h("small", {}, shortened([sensitivity, ...owners].filter(Boolean).join(", "), 48))))),
    );
  });
}

/** One answer has the nearest 1,000 datasets at most. */
function reportOmitted({ nodes, metadata }: Graph): void {
  const missing = metadata.nodes_total - nodes.length;
  if (missing > 0) report(new api.Problem("Not all of it is drawn.", `${count(missing, "dataset")} more: too many for one answer.`));
}

async function expand(key: string, side: "up" | "down"): Promise<void> {
  await busy(async () => {
    const answer = await api.graph(key, { direction: side === "up" ? "UPSTREAM" : "DOWNSTREAM", columns: store.showColumns });
    const added = store.merge(answer);
    await canvas.draw(key);
    say(added ? `${count(added, "dataset")} more` : "nothing more");
    reportOmitted(answer);
    render();
  });
}

function setColumns(shown: boolean): void {
  store.showColumns = shown;
  byId("columns").setAttribute("aria-pressed", String(shown));
}

async function toggleColumns(): Promise<void> {
  setColumns(!store.showColumns);
  if (store.start === null) return;
  await busy(async () => {
    if (store.showColumns) await loadColumns();
    await canvas.draw();
    render();
    say(store.showColumns ? "columns shown" : "columns hidden");
  });
}

/** Columns of datasets that are drawn: a question for each that none has been asked of, a few at a time. */
async function loadColumns(of: Iterable<string> = store.datasets.keys()): Promise<void> {
  const waiting = [...of].filter((key) => store.datasets.get(key)?.columns_total === null);
  const known = new Set(store.datasets.keys());
  const ask = async (): Promise<void> => {
    for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) {
      if (store.datasets.get(key)?.columns_total !== null) continue;
      const answer = await api.graph(key, { columns: true });
      answer.nodes = answer.nodes.filter((node) => known.has(node.asset.key));
      answer.edges = answer.edges.filter((edge) => known.has(edge.source) && known.has(edge.target));
      store.merge(answer);
    }
  };
  await Promise.all([ask(), ask(), ask()]);
}

function select(selection: Selection): void {
  store.selection = selection;
  canvas.light();
  render();
  if (!selection) return;
  const dataset = store.datasets.get(selection.key);
  // What may change in it is a column, mostly: the panel asks which.
  if (dataset?.columns_total === null) {
    void loadColumns([selection.key]).then(() => store.selection?.key === selection.key && render(), report);
  }
  if (dataset) say(`${title(dataset.asset)}, ${dataset.asset.type ?? "dataset"}, ${count(store.upstream(selection.key).length, "input")}, ${count(store.downstream(selection.key).length, "output")}`);
  const flow = store.flows.get(selection.key);
  if (flow) void flowColumns(flow);
  canvas.reveal(selection.key);
}

/** What an arrow does to columns, asked for when it is clicked. */
async function flowColumns(flow: Flow): Promise<void> {
  say(`arrow by ${flow.via.map((via) => via.job.name).join(", ")}`);
  if (flow.columns_total !== null) return;
  try {
    const answer = await api.graph(flow.source, { direction: "DOWNSTREAM", columns: true });
    const found = answer.edges.find((edge) => edge.key === flow.key || (edge.source === flow.source && edge.target === flow.target));
    flow.columns = found?.columns ?? [];
    flow.columns_total = found?.columns_total ?? 0;
    if (store.selection?.key === flow.key) render();
  } catch (error) {
    report(error);
  }
}

const asked: Asked = {
  close: () => select(null),
  expand: (key, side) => void expand(key, side),
  center: go,
  impact: (dataset, change, column) => void analyze(dataset, change, column),
  clearImpact: () => {
    store.forgetImpact();
    void canvas.draw(store.start);
    render();
  },
  timeline: (job, name) => void busy(() => drawer.open(job, name)),
  lastOf: (job) => api.timeline(job, 200),
  known: api.known,
  run: api.run,
  job: api.job,
  select: (kind, key) => select({ kind, key }),
};

function render(): void {
  const panel = byId("panel");
  const { selection } = store;
  const flow = selection?.kind === "flow" ? store.flows.get(selection.key) : undefined;
  const [, owner, ...column] = selection?.kind === "column" ? selection.key.split(":") : [];
  const dataset = selection?.kind === "dataset" ? store.datasets.get(selection.key) : owner ? store.datasets.get(owner) : undefined;
  const shown = panel.hidden;
  panel.hidden = !flow && !dataset;
  if (flow) panel.replaceChildren(...flowPanel(store, flow, asked));
  else if (dataset) panel.replaceChildren(...datasetPanel(store, dataset, column.length ? column.join(":") : null, asked));
  if (shown !== panel.hidden) canvas.resize();
}

/** The rules of `headwater check`, in the panel's place. */
async function showChecks(): Promise<void> {
  await busy(async () => {
    const found = await api.checks();
    select(null);
    const panel = byId("panel");
    panel.hidden = false;
    panel.replaceChildren(...checksPanel(found, { close: () => select(null), go, timeline: (job, name) => void busy(() => drawer.open(job, name)) }));
    canvas.resize();
    say(`${count(found.total, "finding")} of ${count(found.rules.length, "rule")}`);
  });
}

async function analyze(dataset: string, change: string, column: string | null): Promise<void> {
  const schema = ["REMOVED", "RETYPED", "RENAMED"].includes(change);
  await busy(async () => {
    const found = await api.impact({
      dataset,
      ...(column ? { column } : {}),
      ...(schema ? { schema: change } : { type: change }),
      ...(change === "RENAMED" ? { new_name: `${column}_renamed` } : {}),
      ...(change === "RETYPED" ? { new_type: "string" } : {}),
    });
    const byName = new Map([...store.datasets.values()].map(({ asset }) => [`${asset.namespace}\n${asset.name}`, asset.key]));
    const hits = found.items.flatMap(({ asset, severity }) => {
      const key = byName.get(`${asset.namespace}\n${asset.name}`);
      if (!key) return [];
      return [{ key, severity }, ...(asset.column ? [{ key: columnKey(key, asset.column), severity }] : [])];
    });
    store.impact = found;
    store.supposed = { dataset, change, column };
    store.severities = worst(hits);
    await canvas.draw(dataset);
    render();
    byId("impact").scrollIntoView({ block: "nearest" });
  });
}

function closeDrawer(): void {
  drawer.close();
  byId("canvas").focus();
}

function say(text: string): void {
  byId("live").textContent = visible(text);
}

const NEXT: Record<Theme, Theme> = { auto: "light", light: "dark", dark: "auto" };

function nextTheme(): void {
  setTheme(NEXT[theme()]);
  themed();
}

function themed(): void {
  byId("theme").textContent = { auto: "◐ Auto", light: "☀ Light", dark: "☾ Dark" }[theme()];
  document.documentElement.classList.toggle("dark", isDark());
  canvas.recolor();
}

/** Open what a search found: a job is shown by the first dataset that it has to do with. */
async function chosen(asset: Asset): Promise<void> {
  if (asset.kind === "JOB") {
    const answer = await api.timeline(asset.key, 1).catch(() => null);
    const dataset = answer?.intervals[0]?.produced[0]?.dataset ?? answer?.intervals[0]?.consumed[0]?.dataset;
    if (dataset) location.hash = new URLSearchParams({ asset: dataset.key, ...(store.showColumns ? { columns: "1" } : {}), timeline: asset.key }).toString();
    else await busy(() => drawer.open(asset.key, asset.name));
    return;
  }
  const dataset = asset.kind === "COLUMN" ? spelling(asset) : asset.key;
  location.hash = new URLSearchParams({ asset: dataset, ...(asset.column ? { column: asset.column } : store.showColumns ? { columns: "1" } : {}) }).toString();
}

byId("legend").append(
  ...[["topic", "topic"], ["table", "table"], ["file", "file"], ["other", "other"]].map(([kind, label]) =>
    h("span", {}, h("i", { class: `swatch ${kind}` }), label ?? "")),
);
combobox(byId<HTMLInputElement>("query"), byId("hits"), (asset) => void chosen(asset));
keys({
  store,
  canvas,
  select,
  expand: (key, side) => void expand(key, side),
  go,
  columns: () => void toggleColumns(),
  theme: nextTheme,
  timeline: (job, name) => void busy(() => drawer.open(job, name)),
  closeDrawer,
});
byId("columns").addEventListener("click", () => void toggleColumns());
byId("fit").addEventListener("click", () => canvas.fit());
byId("checks").addEventListener("click", () => void showChecks());
byId("theme").addEventListener("click", nextTheme);
byId("help").addEventListener("click", () => byId<HTMLDialogElement>("keys").showModal());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", themed);
window.addEventListener("hashchange", () => void arrive());
window.addEventListener("resize", () => canvas.resize());
setTheme(theme());
themed();
void arrive();
void showWho(byId("who"), report).catch(report);

declare global {
  interface Window {
    /** For tests and for a developer's console. */
    headwater: { store: Store; canvas: Canvas };
  }
}
window.headwater = { store, canvas };

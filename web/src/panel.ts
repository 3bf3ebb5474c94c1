// The side panel: what is selected, and what can be asked of it.

import { h } from "./dom";
import { count, headline, number, offsets, shortened, time, title, visible } from "./format";
import { tone } from "./palette";
import { facts, spoken } from "./timeline";
import type { Store } from "./store";
import type { Asset, Dataset, Facet, Flow, JobDetails, Known, Mapping, RunDetails, Timeline, Via, Written } from "./types";

export interface Asked {
  close(): void;
  expand(dataset: string, side: "up" | "down"): void;
  center(dataset: string): void;
  impact(dataset: string, change: string, column: string | null): void;
  clearImpact(): void;
  timeline(job: string, name: string): void;
  lastOf(job: string): Promise<Timeline>;
  run(id: string): Promise<RunDetails>;
  job(key: string): Promise<JobDetails>;
  known(dataset: string): Promise<Known>;
  select(kind: "dataset" | "column", key: string): void;
}

/** Columns of the latest schema's changes that are named. */
const CHANGES_SHOWN = 5;
const CONSUMERS_SHOWN = 20;
/** Of a facet's content. */
const FACET_LENGTH = 400;
const MOST_NOTES = 20;
const MOST_PARTITIONS = 5;
const CHANGES: [string, string][] = [
  ["REMOVED", "is removed"],
  ["RETYPED", "gets another type"],
  ["RENAMED", "is renamed"],
  ["DATA_INCORRECT", "has wrong data"],
  ["FRESHNESS_BREACH", "is late"],
  ["PRIVACY_RECLASSIFICATION", "becomes more private"],
  ["ASSET_DEPRECATED", "is deprecated"],
  ["BACKFILL_RESTATEMENT", "is restated"],
];
const NEEDS_COLUMN = new Set(["REMOVED", "RETYPED", "RENAMED"]);

function head(asked: Asked, kind: string, name: string, under: string): HTMLElement {
  return h(
    "header",
    {},
    h("div", {}, h("span", { class: `chip ${kind.toLowerCase()}` }, kind.toLowerCase()), h("h2", {}, name), h("p", { class: "under" }, under)),
    h("button", { class: "icon", "aria-label": "Close", title: "Close (Esc)", onclick: asked.close }, "✕"),
  );
}

export function datasetPanel(store: Store, dataset: Dataset, column: string | null, asked: Asked): (HTMLElement | string)[] {
  const key = dataset.asset.key;
  const makers = [...store.flows.values()].filter((flow) => flow.target === key).flatMap((flow) => flow.via);
  const readers = [...store.flows.values()].filter((flow) => flow.source === key).flatMap((flow) => flow.via);
  return [
    head(asked, dataset.asset.type ?? "dataset", title(dataset.asset), dataset.asset.namespace),
    h(
      "section",
      {},
      h("p", { class: "path" }, dataset.asset.table ? `${dataset.asset.name} (${dataset.asset.table})` : dataset.asset.name),
      h("div", { class: "buttons" },
        h("button", { onclick: () => asked.expand(key, "up"), disabled: !dataset.more_upstream }, `← Upstream${more(dataset.more_upstream)}`),
        h("button", { onclick: () => asked.expand(key, "down"), disabled: !dataset.more_downstream }, `Downstream${more(dataset.more_downstream)} →`),
        store.start !== key && h("button", { onclick: () => asked.center(key) }, "Start here"),
      ),
      facts("", [
        ["owners", owners(dataset)],
        ["tags", dataset.tags.join(", ")],
        ["classification", dataset.classification],
        ["sensitivity", dataset.sensitivity ?? null],
        ["criticality", dataset.criticality],
        ["status", dataset.gone ? "dropped" : null],
      ]),
    ),
    known(key, asked),
    jobs("Written by", makers, asked),
    jobs("Read by", readers, asked),
    impactForm(store, dataset, column, asked),
    columns(store, dataset, column, asked),
  ];
}

/** What the graph knows besides, asked for when the panel is shown. */
function known(key: string, asked: Asked): HTMLElement {
  const section = h("section", { class: "known", hidden: true });
  void asked.known(key).then((found) => {
    const [rows, consumers, facets] = [knownRows(found), consumerRows(found), facetRows(found)];
    section.hidden = !consumers.length && !facets.length && !rows.some(([, value]) => value);
    section.replaceChildren(facts("Known", rows),
      ...(consumers.length ? [facts("Whom to notify", consumers)] : []),
      ...(facets.length ? [facts("Facets", facets)] : []));
  }, () => {
    section.hidden = false;
    section.replaceChildren(h("p", { class: "hint" }, "What else is known can't be had now."));
  });
  return section;
}

export function knownRows(found: Omit<Known, "declared_consumers">): [string, string | null][] {
  const [run, version] = [found.runs[0], found.versions[0]];
  const bad = found.quality.map((turn) => turn.first_bad).find((batch) => batch !== null);
  const good = found.quality.map((turn) => turn.last_good).find((batch) => batch !== null);
  const failed = found.checks.flatMap((check) => check.failed);
  const passed = found.checks.reduce((sum, check) => sum + check.passed, 0);
  return [
    ["description", found.description],
    ["known as", found.known_as.join(", ")],
    ["storage", found.storage_format],
    ["source", found.source_uri],
    ["lifecycle", found.lifecycle],
    ["last run", run ? `${run.state ?? "unknown"}, ${time(run.began)}` : null],
    ["schema", schemaChange(found)],
    ["version", version ? `${version.format} ${version.version.slice(0, 24)}, of ${number(found.versions_total)}` : null],
    ["quality", bad ? `failed in batch ${bad.batch_id}` : good ? `passed in batch ${good.batch_id}` : null],
    ["checks", failed.length ? `failed: ${failed.map(assertion).join(", ")}` : passed ? `${number(passed)} passed` : null],
  ];
}

/** Declared consumers, each with what it is, how long before a change its people have to know of it, and how they are reached. */
export function consumerRows({ declared_consumers: found }: Pick<Known, "declared_consumers">): [string, string][] {
  const shown = found.slice(0, CONSUMERS_SHOWN).map((one): [string, string] => {
    const notice = one.notice_days === null ? null : `${count(one.notice_days, "day")} before a change`;
    const about = [one.type?.toLowerCase(), one.criticality, notice, ...one.owners.map(({ name }) => name), one.on_call, one.contact];
    return [visible(one.name), visible(about.filter(Boolean).join(", ")) || "nobody is named"];
  });
  return found.length > shown.length ? [...shown, ["", `and ${number(found.length - shown.length)} more`]] : shown;
}

/** What clients sent besides, as JSON: each facet without what every facet has. One that was cleared is empty. */
export function facetRows({ facets }: { facets: Facet[] }): [string, string][] {
  return facets.filter(({ json }) => json).map(({ name, json }) => [visible(name), shortened(content(json), FACET_LENGTH)]);
}

/** Those of a run, and those of what it read and wrote. */
export function runFacetRows({ facets, inputs, outputs }: Pick<RunDetails, "facets" | "inputs" | "outputs">): [string, string][] {
  const used = (word: string, uses: { dataset: Asset; facets: Facet[] }[]): [string, string][] => uses.flatMap((use) =>
    facetRows(use).map(([name, text]): [string, string] => [`${name}, ${word} ${shortened(title(use.dataset), 60)}`, text]));
  return [...facetRows({ facets }), ...used("read from", inputs), ...used("wrote", outputs)];
}

function content(json: string): string {
  try {
    const { _producer, _schemaURL, ...members } = JSON.parse(json);
    return JSON.stringify(members);
  } catch {
    return json;
  }
}

/** What the latest schema changed: `since …: + tax, ~ id int → bigint`. */
function schemaChange({ schemas: [schema] }: Pick<Known, "schemas">): string | null {
  if (!schema?.changes?.length) return null;
  const shown = schema.changes.slice(0, CHANGES_SHOWN).map(({ change, column, before, after }) =>
    change === "ADDED" ? `+ ${column}` : change === "REMOVED" ? `- ${column}` : `~ ${column} ${before?.type ?? "?"} → ${after?.type ?? "?"}`);
  return `since ${time(schema.first_seen)}: ${shown.join(", ")}${more(schema.changes_total - shown.length)}`;
}

/** `not_null of id (error)`. */
function assertion({ assertion: name, column, severity }: Known["checks"][number]["failed"][number]): string {
  return name + (column ? ` of ${column}` : "") + (severity ? ` (${severity})` : "");
}

/** Whom `impact` would name: its own owners, else those of the jobs that write it. */
function owners({ owners: own, owners_of_jobs: ofJobs = [] }: Dataset): string {
  if (own.length) return own.join(", ");
  return ofJobs.length ? `${ofJobs.join(", ")}, by the jobs that write it` : "nobody is named";
}

const more = (many: number): string => (many > 0 ? ` +${many}` : "");

function jobs(label: string, found: Via[], asked: Asked): HTMLElement | string {
  const unique = [...new Map(found.map((via) => [via.job.key, via.job])).values()];
  if (!unique.length) return "";
  return h(
    "section",
    {},
    h("h3", {}, label),
    h("ul", { class: "jobs" }, unique.map((job) =>
      h("li", {}, h("span", {}, job.name), h("button", { class: "link", onclick: () => asked.timeline(job.key, job.name) }, "Timeline")))),
  );
}

function impactForm(store: Store, dataset: Dataset, column: string | null, asked: Asked): HTMLElement {
  const change = h("select", { "aria-label": "Change", id: "change" }, CHANGES.map(([value, label]) => h("option", { value }, label)));
  const of = h("select", { "aria-label": "Column", id: "of" },
    h("option", { value: "" }, "the dataset"),
    dataset.columns.map((one) => h("option", { value: one.name, selected: one.name === column }, one.name)));
  const run = h("button", { class: "primary", id: "analyze" }, "Show impact");
  const check = (): void => {
    run.toggleAttribute("disabled", NEEDS_COLUMN.has(change.value) && !of.value);
  };
  const supposed = store.supposed?.dataset === dataset.asset.key ? store.supposed : null;
  if (supposed && (!column || column === supposed.column)) {
    change.value = supposed.change;
    of.value = supposed.column ?? "";
  } else if (!column) change.value = "DATA_INCORRECT";
  change.addEventListener("change", check);
  of.addEventListener("change", check);
  check();
  run.addEventListener("click", () => asked.impact(dataset.asset.key, change.value, of.value || null));
  return h("section", {}, h("h3", {}, "What if …"),
    h("div", { class: "form" }, of, change, run),
    store.impact && answer(store, asked));
}

function answer(store: Store, asked: Asked): HTMLElement | null {
  const found = store.impact;
  if (!found) return null;
  const copy = h("button", { class: "link", onclick: () => {
    void navigator.clipboard.writeText(found.summary).then(() => (copy.textContent = "Copied"));
  } }, "Copy for a ticket");
  return h("div", { class: "impact", id: "impact", role: "status" },
    h("p", { class: "under" }, supposed(store)),
    h("p", {}, h("strong", {}, headline(found)), ` · ${count(found.jobs.length, "job")}`),
    h("div", { class: "totals" }, found.totals.filter((one) => one.total).map((one) =>
      h("span", { class: `tone ${tone(one.severity)}` }, `${one.severity.toLowerCase()} ${number(one.total)}`))),
    ...[...found.unknown, ...found.notes].map((note) => h("p", { class: "note" }, note)),
    h("ul", { class: "hits" }, found.hit_consumers.map((one) =>
      h("li", { class: tone(one.severity), title: one.reason },
        h("b", {}, shortened(one.name, 34)), h("span", {}, one.type?.toLowerCase() ?? "consumer"))), found.items.slice(0, 12).map((item) =>
      h("li", { class: tone(item.severity), title: item.reason },
        h("b", {}, shortened(item.asset.column ?? title(item.asset), 34)), h("span", {}, item.asset.column ? title(item.asset) : ""))),
      found.total > 12 && h("li", { class: "note" }, `and ${number(found.total - 12)} more`)),
    h("p", {}, copy, " ", h("button", { class: "link", onclick: asked.clearImpact }, "Clear colours")));
}

/** What the colours are of, in words. */
function supposed(store: Store): string {
  if (!store.supposed) return "";
  const { dataset, change, column } = store.supposed;
  const of = store.datasets.get(dataset);
  const name = of ? title(of.asset) : "the dataset";
  return `If ${column ? `${column} of ${name}` : name} ${CHANGES.find(([value]) => value === change)?.[1] ?? "changes"}:`;
}

function columns(store: Store, dataset: Dataset, chosen: string | null, asked: Asked): HTMLElement | string {
  if (!dataset.columns.length) return "";
  return h("section", {}, h("h3", {}, count(dataset.columns_total ?? dataset.columns.length, "column")),
    h("ul", { class: "columns" }, dataset.columns.map((column) => {
      const severity = store.severities.get(`column:${dataset.asset.key}:${column.name}`);
      return h("li", { class: `${column.name === chosen ? "chosen" : ""} ${severity ? tone(severity) : ""}` },
        h("button", { class: "plain", onclick: () => asked.select("column", `column:${dataset.asset.key}:${column.name}`) }, column.name),
        h("span", {}, column.type ?? ""));
    })));
}

export function flowPanel(store: Store, flow: Flow, asked: Asked): (HTMLElement | string)[] {
  const [from, to] = [store.datasets.get(flow.source), store.datasets.get(flow.target)];
  const name = `${from ? title(from.asset) : "?"} → ${to ? title(to.asset) : "?"}`;
  return [
    head(asked, "flow", name, count(flow.via_total, "job")),
    ...flow.via.map((via) => job(flow, via, asked)),
    flow.via_total > flow.via.length ? h("p", { class: "note" }, `${number(flow.via_total - flow.via.length)} more jobs are not listed.`) : h("span"),
  ];
}

function job(flow: Flow, via: Via, asked: Asked): HTMLElement {
  const last = h("div", { class: "last" }, h("p", { class: "hint" }, "Looking for the last interval …"));
  void asked.lastOf(via.job.key).then((found) => last.replaceChildren(latest(found), ofRun(found, asked)), () => last.replaceChildren(h("p", { class: "hint" }, "The last interval can't be had now.")));
  const mappings = flow.columns.filter((mapping) => mapping.job === via.job.key);
  return h("section", { class: "job" },
    h("h3", {}, via.job.name, h("small", {}, (via.job.type ?? "job").toLowerCase())),
    facts("", [
      ["seen", via.observed || via.possible ? `${time(via.first_seen)} to ${time(via.last_seen)}` : "declared, never observed"],
      ["only possible", via.possible ? "its producer doesn't record which inputs went into which output" : null],
      ["declared", via.declared && (via.observed || via.possible) ? "yes" : null],
      ["incomplete", via.incomplete],
    ]),
    last,
    facetsOf(via, asked),
    h("button", { onclick: () => asked.timeline(via.job.key, via.job.name) }, "Timeline of this job"),
    transformations(mappings, flow.columns_total));
}

/** What clients sent of a job besides; hidden where they sent nothing. */
function facetsOf(via: Via, asked: Asked): HTMLElement {
  const section = h("div", { class: "of-job", hidden: true });
  void asked.job(via.job.key).then((details) => {
    const rows = facetRows(details);
    section.hidden = !rows.length;
    section.replaceChildren(facts("Facets", rows));
  }, () => {
    section.hidden = false;
    section.replaceChildren(h("p", { class: "hint" }, "Its facets can't be had now."));
  });
  return section;
}

/** Notes of the last run, which part of each dataset it wrote, and its facets; hidden where there is nothing of it. */
function ofRun(found: Timeline, asked: Asked): HTMLElement {
  const id = found.intervals[found.intervals.length - 1]?.run_id ?? found.runs[found.runs.length - 1]?.run_id;
  const section = h("div", { class: "run", hidden: true });
  if (!id) return section;
  void asked.run(id).then((details) => {
    const [rows, facets] = [runRows(details), runFacetRows(details)];
    section.hidden = !rows.length && !facets.length;
    section.replaceChildren(
      ...(rows.length ? [facts(`Run ${id.slice(0, 8)}`, rows)] : []),
      ...(facets.length ? [facts(`Facets of run ${id.slice(0, 8)}`, facets)] : []));
  }, () => {
    section.hidden = false;
    section.replaceChildren(h("p", { class: "hint" }, "What else is known of its last run can't be had now."));
  });
  return section;
}

export function runRows({ notes, outputs }: Pick<RunDetails, "notes" | "outputs">): [string, string][] {
  const parts = outputs.map((each): [string, string] => [`wrote ${shortened(title(each.dataset), 60)}`, part(each)]);
  return [...notes.slice(0, MOST_NOTES).map((note): [string, string] => ["note", shortened(note, FACET_LENGTH)]),
    ...(notes.length > MOST_NOTES ? [["note", `and ${number(notes.length - MOST_NOTES)} more`] as [string, string]] : []),
    ...parts.filter(([, text]) => text)];
}

/** Branch and partitions of what was written, as the command line has them. */
function part({ branch, partition_columns: by, partitions, partition_count: all, uncommitted }: Written): string {
  const left = partitions.length - MOST_PARTITIONS;
  const named = shortened(partitions.slice(0, MOST_PARTITIONS).join(", "), FACET_LENGTH) + (left > 0 ? ` and ${number(left)} more` : "");
  return [
    uncommitted ? "not committed" : "",
    branch === null ? "" : `branch ${branch}`,
    by.length ? `by ${by.join(", ")}` : "",
    partitions.length ? named : all === null ? "" : `${number(all)} partitions`,
  ].filter(Boolean).map(visible).join(", ");
}

function latest(found: Timeline): HTMLElement {
  const interval = found.intervals[found.intervals.length - 1];
  if (interval) {
    const read = interval.consumed.filter((use) => use.ranges.length);
    return facts(`Last interval: batch ${interval.batch_id}`, [
      ["at", time(interval.processing_time)],
      ["rows", `${number(interval.rows_in)} in, ${number(interval.rows_out)} out`],
      ...read.map((use): [string, string] => [title(use.dataset), offsets(use.ranges)]),
      ["code", interval.code_version?.slice(0, 12)],
      ["chain", spoken(found)],
    ]);
  }
  const run = found.runs[found.runs.length - 1];
  if (!run) return h("p", { class: "hint" }, "No interval or run of it is known.");
  return facts(`Last run: ${run.run_id.slice(0, 8)}`, [
    ["state", run.state],
    ["ended", time(run.ended_at)],
    ["code", run.code_version?.slice(0, 12)],
    ["error", run.error_message],
  ]);
}

function transformations(mappings: Mapping[], total: number | null): HTMLElement {
  if (total === null) return h("p", { class: "hint" }, "Looking for its columns …");
  if (!mappings.length) return h("p", { class: "hint" }, "Nothing is known of its columns.");
  return h("table", { class: "mappings" },
    h("thead", {}, h("tr", {}, h("th", {}, "from"), h("th", {}, "to"), h("th", {}, "how"))),
    h("tbody", {}, mappings.map(({ source, target, transformation }) =>
      h("tr", { class: transformation.type.toLowerCase() },
        h("td", {}, source ?? "all rows"),
        h("td", {}, target ?? "every column"),
        h("td", { title: transformation.expression ?? "" },
          h("span", { class: "kind" }, transformation.kind.replace("_DEPENDENCY", "").toLowerCase()),
          transformation.masking && h("span", { class: "kind masked" }, "masked"),
          transformation.expression && h("code", {}, transformation.expression))))));
}

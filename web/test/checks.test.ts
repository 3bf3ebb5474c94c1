// @vitest-environment happy-dom
import { expect, test, vi } from "vitest";

import { checksPanel } from "../src/checks";
import { consumerRows, facetRows, flowPanel, knownRows, runFacetRows, runRows } from "../src/panel";
import { Store } from "../src/store";
import type { CheckedRule, Checks, Finding, JobDetails, RunDetails, Written } from "../src/types";
import { asset, flow, interval, run } from "./made";

const finding = (kind: string, name: string, since: string | null = null): Finding => ({
  id: name,
  subject: { kind, key: `key of ${name}`, name, owners: since ? ["team:x"] : [] },
  message: `${name} is <b>broken</b>`,
  since,
});
const rule = (name: string, total: number, findings: Finding[]): CheckedRule => ({ rule: name, title: `${name} holds`, fix: "Mend it.", total, exempted: 0, findings, unknown: null });
const opened = () => ({ close: vi.fn(), go: vi.fn(), timeline: vi.fn() });
const shown = (rules: CheckedRule[], by = opened(), unchecked: Checks["unchecked"] = []): HTMLElement => {
  const panel = document.createElement("div");
  panel.append(...checksPanel({ rules, total: rules.reduce((sum, one) => sum + one.total, 0), exempted: 2, unchecked }, by));
  return panel;
};

test("broken rules are listed, those with the most findings first, and the others counted", () => {
  const panel = shown([rule("some", 1, [finding("DATASET", "orders")]), rule("none", 0, []), rule("most", 9, [finding("JOB", "load")])]);
  expect([...panel.querySelectorAll("h3")].map((one) => one.firstChild?.textContent)).toEqual(["most", "some"]);
  expect(panel.querySelector("h2")?.textContent).toBe("10 findings");
  expect(panel.querySelector("header .under")?.textContent).toBe("1 rule of 3 hold, 2 exempted");
  expect(panel.textContent).toContain("and 8 more");
});

test("where a rule took too long nothing is not the answer", () => {
  const panel = shown([rule("none", 0, [])], opened(), [{ rule: "slow", title: "All is well", reason: "No answer within the time limit of 30 s." }]);
  expect(panel.querySelector("h2")?.textContent).toBe("Not all is checked");
  expect(panel.querySelector("header .under")?.textContent).toBe("1 rule of 2 hold, 2 exempted");
  expect(panel.querySelector("section")?.textContent).toBe("slownot checkedAll is wellNo answer within the time limit of 30 s.");
});

test("where a job may break a rule unseen nothing is not the answer", () => {
  const panel = shown([rule("none", 0, []), { ...rule("safe", 0, []), unknown: "what load may make of it" }]);
  expect(panel.querySelector("h2")?.textContent).toBe("Not all is known");
  expect(panel.querySelector("header .under")?.textContent).toBe("1 rule of 2 hold, 2 exempted");
  expect(panel.querySelector("section")?.textContent).toBe("safeUNKNOWNsafe holdsNot known is what load may make of it.");
});

test("a dataset is opened, a job's timeline, and a consumer has neither", () => {
  const by = opened();
  const panel = shown([rule("r", 3, [finding("DATASET", "orders"), finding("JOB", "load"), finding("CONSUMER", "board")])], by);
  for (const button of panel.querySelectorAll<HTMLButtonElement>(".findings button")) button.click();
  expect(by.go).toHaveBeenCalledExactlyOnceWith("key of orders");
  expect(by.timeline).toHaveBeenCalledExactlyOnceWith("key of load", "load");
});

test("names and messages are text, with since when and whom to ask", () => {
  const panel = shown([rule("r", 1, [finding("DATASET", "orders", "2025-01-31T12:00:00Z")])]);
  expect(panel.querySelector(".findings b")).toBeNull();
  expect(panel.querySelector(".findings small")?.textContent).toMatch(/^since .*, team:x$/);
});

test("a dataset has beside it what a catalog calls it", () => {
  const found = finding("DATASET", "s3://lake/orders");
  found.subject.table = "shop.orders";
  expect(shown([rule("r", 1, [found])]).querySelector(".findings button")?.textContent).toBe("s3://lake/orders (shop.orders)");
});

test("quality is the first failed batch, else the last that passed", () => {
  const none = { description: null, known_as: [], storage_format: null, source_uri: null, lifecycle: null, facets: [], runs: [], versions: [], versions_total: 0, schemas: [], checks: [] };
  const of = (quality: Parameters<typeof knownRows>[0]["quality"]): string | null | undefined =>
    knownRows({ ...none, quality }).find(([name]) => name === "quality")?.[1];
  expect(of([])).toBeNull();
  expect(of([{ last_good: { batch_id: 3 }, first_bad: null }])).toBe("passed in batch 3");
  expect(of([{ last_good: { batch_id: 3 }, first_bad: { batch_id: 4, processing_time: null } }])).toBe("failed in batch 4");
});

test("checks are the failed assertions, else how many passed", () => {
  const none = { description: null, known_as: [], storage_format: null, source_uri: null, lifecycle: null, facets: [], runs: [], versions: [], versions_total: 0, schemas: [], quality: [] };
  const of = (checks: Parameters<typeof knownRows>[0]["checks"]): string | null | undefined =>
    knownRows({ ...none, checks }).find(([name]) => name === "checks")?.[1];
  expect(of([])).toBeNull();
  expect(of([{ job: null, passed: 3, failed: [] }, { job: null, passed: 1, failed: [] }])).toBe("4 passed");
  const failed = [{ assertion: "not_null", column: "id", severity: "error" }, { assertion: "many", column: null, severity: null }];
  expect(of([{ job: null, passed: 3, failed }])).toBe("failed: not_null of id (error), many");
});

test("a consumer is what it is and how its people are reached; what they are called is text", () => {
  const nobody = { name: "board", type: null, owners: [], on_call: null, contact: null, criticality: null, notice_days: null };
  expect(consumerRows({ declared_consumers: [nobody] })).toEqual([["board", "nobody is named"]]);
  const board = { ...nobody, name: "delay\u202e board", type: "DASHBOARD", owners: [{ name: "team:x" }], on_call: "#x", criticality: "tier-1", notice_days: 1 };
  expect(consumerRows({ declared_consumers: [board] })).toEqual([["delay\\u202e board", "dashboard, tier-1, 1 day before a change, team:x, #x"]]);
  const many = consumerRows({ declared_consumers: Array.from({ length: 22 }, (_, number) => ({ ...nobody, name: `c${number}` })) });
  expect(many.length).toBe(21);
  expect(many.at(-1)).toEqual(["", "and 2 more"]);
});

test("the latest schema is what it changed", () => {
  const none = { description: null, known_as: [], storage_format: null, source_uri: null, lifecycle: null, facets: [], runs: [], versions: [], versions_total: 0, quality: [], checks: [] };
  const of = (...schemas: Parameters<typeof knownRows>[0]["schemas"]): string | null | undefined =>
    knownRows({ ...none, schemas }).find(([name]) => name === "schema")?.[1];
  expect(of()).toBeNull();
  expect(of({ first_seen: null, changes: null, changes_total: 0 })).toBeNull();
  const typed = (type: string | null): { type: string | null; nullable: null } => ({ type, nullable: null });
  const changes = [
    { change: "REMOVED" as const, column: "note", before: typed("string"), after: null },
    { change: "CHANGED" as const, column: "id", before: typed("int"), after: typed("bigint") },
    { change: "ADDED" as const, column: "<b>", before: null, after: typed(null) },
  ];
  expect(of({ first_seen: "2025-01-03T00:00:00Z", changes, changes_total: 9 })).toMatch(/^since .*: - note, ~ id int → bigint, \+ <b> \+6$/);
});

test("facets are their content, without what every facet has; those that were cleared aren't there", () => {
  const facets = [
    { name: "hierarchy", json: '{"_producer":"p","_schemaURL":"s","hierarchy":[{"type":"DATABASE","name":"shop"}]}' },
    { name: "x\u202e", json: "no JSON" },
    { name: "gone", json: "" },
    { name: "long", json: JSON.stringify({ text: "y".repeat(1_000) }) },
  ];
  const found = facetRows({ facets });
  expect(found.slice(0, 2)).toEqual([["hierarchy", '{"hierarchy":[{"type":"DATABASE","name":"shop"}]}'], ["x\\u202e", "no JSON"]]);
  expect(found.map(([name]) => name)).toEqual(["hierarchy", "x\\u202e", "long"]);
  expect(found[2]?.[1].length).toBe(400);
});

const wrote = (name: string, more: Partial<Written> = {}): Written => ({
  dataset: asset(name), branch: null, partition_columns: [], partitions: [], partition_count: null, uncommitted: false, facets: [], ...more,
});

test("of a run its notes, and which part of each dataset it wrote", () => {
  expect(runRows({ notes: [], outputs: [wrote("whole")] })).toEqual([]);
  const partitions = ["day=1", "day=2", "day=3", "day=4", "day=5", "day=6", "day=7"];
  expect(runRows({
    notes: ["micro-batch 3 was not reported: x\u202e"],
    outputs: [
      wrote("audited", { branch: "audit", partition_columns: ["day"], partitions }),
      wrote("counted", { partition_count: 1_200 }),
      wrote("failed", { uncommitted: true }),
    ],
  })).toEqual([
    ["note", "micro-batch 3 was not reported: x\\u202e"],
    ["wrote audited", "branch audit, by day, day=1, day=2, day=3, day=4, day=5 and 2 more"],
    ["wrote counted", "1,200 partitions"],
    ["wrote failed", "not committed"],
  ]);
  const many = runRows({ notes: Array.from({ length: 23 }, (_, index) => `note ${index}`), outputs: [] });
  expect(many.length).toBe(21);
  expect(many[20]).toEqual(["note", "and 3 more"]);
});

test("facets of a run are its own, then those of what it read and wrote", () => {
  const facets = (name: string) => [{ name, json: `{"_producer":"p","of":"${name}"}` }, { name: "gone", json: "" }];
  expect(runFacetRows({
    facets: facets("environment"),
    inputs: [{ dataset: asset("orders"), facets: facets("inputStatistics") }, { dataset: asset("rates"), facets: [] }],
    outputs: [wrote("totals", { facets: facets("outputStatistics") })],
  })).toEqual([
    ["environment", '{"of":"environment"}'],
    ["inputStatistics, read from orders", '{"of":"inputStatistics"}'],
    ["outputStatistics, wrote totals", '{"of":"outputStatistics"}'],
  ]);
});

test("an arrow's panel asks for each job and its last run, by its last micro-batch", async () => {
  const asked = { ...opened(), expand: vi.fn(), center: vi.fn(), impact: vi.fn(), clearImpact: vi.fn(), known: vi.fn(), select: vi.fn() };
  const job = (name: string) => ({ ...asset(name), kind: "JOB" as const });
  const timeline = (name: string) => name === "stream"
    ? { asset: job(name), queries: [], intervals: [interval(1, { run_id: "old" }), interval(2, { run_id: "new" })], runs: [run({ run_id: "other" })], total: 2 }
    : { asset: job(name), queries: [], intervals: [], runs: [run({ run_id: "first" }), run({ run_id: "last" })], total: 2 };
  const details = vi.fn((id: string): Promise<RunDetails> => id === "last" ? Promise.reject(new Error()) : Promise.resolve({
    notes: ["operator dedupe keeps state"], inputs: [], outputs: [], facets: [{ name: "environment", json: '{"_producer":"p","region":"eu"}' }],
  }));
  const ofJob = vi.fn((key: string): Promise<JobDetails> => key.includes("batch") ? Promise.reject(new Error()) : Promise.resolve({
    facets: [{ name: "dbt_exposures", json: '{"_schemaURL":"s","exposures":["board"]}' }, { name: "gone", json: "" }],
  }));
  const via = (name: string) => ({ job: job(name), observed: true, declared: false, possible: false, first_seen: null, last_seen: null, incomplete: null });
  const panel = document.createElement("div");
  panel.append(...flowPanel(new Store(), flow("a", "b", { via: [via("stream"), via("batch")], via_total: 2 }),
    { ...asked, lastOf: (name) => Promise.resolve(timeline(name)), run: details, job: ofJob }));
  await vi.waitFor(() => expect(panel.querySelectorAll(".run:not([hidden])").length).toBe(2));
  expect(details.mock.calls).toEqual([["new"], ["last"]]);
  expect([...panel.querySelectorAll(".run")].map((one) => one.textContent)).toEqual([
    expect.stringMatching(/operator dedupe keeps state.*Facets of run newenvironment\{"region":"eu"\}/),
    "What else is known of its last run can't be had now.",
  ]);
  expect([...panel.querySelectorAll(".of-job")].map((one) => one.textContent)).toEqual([
    'Facetsdbt_exposures{"exposures":["board"]}',
    "Its facets can't be had now.",
  ]);
  expect(ofJob.mock.calls.length).toBe(2);
});

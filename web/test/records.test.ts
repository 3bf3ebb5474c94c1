// @vitest-environment happy-dom
import { h, render, type ComponentChild } from "preact";
import { expect, test } from "vitest";

import type { DatasetDetails, IntervalItem, OwnerName } from "../src/app/answers";
import { changeText, rowsOf } from "../src/dataset/columns";
import { sensitivityOf } from "../src/dataset/about";
import { columnsOf, content, FacetPart, isWeb } from "../src/parts/facet";
import { Time } from "../src/parts/basics";
import { beginning } from "../src/parts/fold";
import { split } from "../src/parts/head";
import { ownersOf, tagsOf } from "../src/parts/people";
import { assertion, took } from "../src/parts/runs";
import { size } from "../src/parts/uses";
import { breaks } from "../src/views/batches";
import { ordered, verdict } from "../src/views/checks";
import { Facets } from "../src/views/facets";
import { late } from "../src/views/home";
import { stale } from "../src/views/consumer";
import { place } from "../src/app/address";
import { spelled } from "../src/app/api";
import { time } from "../src/app/format";

const shown = (vnode: ComponentChild): HTMLElement => {
  const root = document.createElement("div");
  render(vnode, root);
  return root;
};

test("facets of more hits than are counted are marked as such", () => {
  const totals = { types: [], namespaces: [{ value: "k", total: 3 }], owners: [], tags: [], sensitivities: [], kinds: [] };
  const facets = (truncated: boolean): string | null => shown(h(Facets, { at: place("search", {}), totals, truncated })).textContent;
  expect(facets(true)).toContain("Counted among the best 1,000 hits of each kind");
  expect(facets(false)).not.toContain("Counted");
});

test("a time is written once for a reader in UTC", () => {
  const at = "2024-05-01T10:00:07Z";
  const same = new Date(at).getTimezoneOffset() === 0;
  const date = time(at).startsWith("2024-05-01") ? "" : "2024-05-01 ";
  expect(shown(h(Time, { at })).textContent).toBe(same ? "2024-05-01 10:00:07 UTC" : `${time(at)} ${date}10:00:07 UTC`);
});

test("declared owners come before those that events report", () => {
  const owners: OwnerName[] = [{ name: "team:events", type: null }];
  const declared = { sets: ["x"], values: { owners: ["team:declared"] }, columns: {}, contradictions: [] };
  expect(ownersOf({ declared, owners })).toEqual(["team:declared"]);
  expect(ownersOf({ declared: null, owners })).toEqual(["team:events"]);
});

test("declared tags stand beside those of events, each once", () => {
  const declared = { sets: [], values: { tags: ["mask", "pii"], tag_values: ["hash", "true"] }, columns: {}, contradictions: [] };
  expect(tagsOf({ declared, tags: [{ key: "pii", value: "true", column: null, source: null }] }).map(({ key, value }) => `${key}=${value}`)).toEqual(["pii=true", "mask=hash"]);
});

test("a facet's JSON is read without what every facet has", () => {
  expect(content('{"_producer":"p","_schemaURL":"u","rows":1}')).toEqual({ value: { rows: 1 } });
  expect(content("no json")).toBeNull();
  expect(content("[1]")).toEqual({ value: [1] });
});

test("a list of alike things is a table, others are not", () => {
  expect(columnsOf([{ a: 1 }, { a: 2, b: "x" }])).toEqual(["a", "b"]);
  expect(columnsOf([{ a: 1 }])).toBeNull();
  expect(columnsOf([{ a: 1 }, { a: { b: 2 } }])).toBeNull();
  expect(columnsOf([1, 2])).toBeNull();
});

test("a facet shows SQL as SQL, and nothing of it as markup", () => {
  const root = shown(FacetPart({ facet: { name: "sql", json: JSON.stringify({ query: "select '<img src=x onerror=1>' from t" }) } }));
  expect(root.querySelector(".sql-keyword")?.textContent).toBe("SELECT");
  expect(root.querySelector("img")).toBeNull();
  expect(root.querySelector(".sql-string")?.textContent).toBe("'<img src=x onerror=1>'");
});

test("only addresses of the web are links", () => {
  expect(isWeb("https://example.com/a?b")).toBe(true);
  for (const text of ["javascript:alert(1)", "data:text/html,x", " https://example.com", "file:///etc", "https://a b"]) expect(isWeb(text)).toBe(false);
});

test("a long text is cut within no character", () => {
  expect(beginning("ab😀cd", 3)).toBe("ab …");
});

test("a name is split so that it is spelled the same", () => {
  for (const word of ["s3://bucket/warehouse/a", "airflow-prod/silver.x", "file:/tmp/a b/c", "kafka://h:9092/topic", "hdfs://nn:8020//odd", "snowflake://x/DB.S.T"]) expect(spelled(split(word))).toBe(word);
});

test("how long a run took isn't known of two machines' clocks", () => {
  expect(took({ began: "2026-01-01T00:00:01Z", ended_at: "2026-01-01T00:00:03Z" })).toBe(2_000);
  expect(took({ began: "2026-01-01T00:00:03Z", ended_at: "2026-01-01T00:00:01Z" })).toBeNull();
  expect(took({ began: null, ended_at: null })).toBeNull();
});

test("a failed assertion names column and severity", () => {
  expect(assertion({ assertion: "not_null", passed: false, column: "id", value: null, dataset_namespace: null, dataset_name: null, rule: null, severity: "ERROR", suite: null, suite_version: null })).toBe("not_null of id (error)");
});

test("bytes are in a unit of people", () => {
  expect([size(0), size(999), size(11_495), size(1_234_567), size(null)]).toEqual(["0 B", "999 B", "11 kB", "1.2 MB", null]);
});

test("breaks of the chain are words, and none is none", () => {
  const whole: Pick<IntervalItem, "missing" | "gaps" | "overlaps" | "rewinds" | "anew" | "conflicts"> = { missing: 0, gaps: [], overlaps: [], rewinds: false, anew: false, conflicts: 0 };
  expect(breaks(whole)).toEqual([]);
  expect(breaks({ ...whole, missing: 2, gaps: [{ dataset: "d", partition: 0, start: 5, end: 9 }], conflicts: 1 })).toEqual(["2 batches missing before", "skipped 0:5..9", "1 other report of this batch"]);
});

test("nothing is found only where all was checked and nothing is unknown", () => {
  const rule = (name: string, total: number, unknown: string | null = null) => ({ rule: name, title: "", fix: "", total, exempted: 0, findings: [], next_cursor: null, unknown });
  expect(verdict({ rules: [rule("a", 0)], unchecked: [], total: 0 })).toBe("Nothing is found");
  expect(verdict({ rules: [rule("a", 0, "what x does")], unchecked: [], total: 0 })).toBe("Not all is known");
  expect(verdict({ rules: [rule("a", 0)], unchecked: [{ rule: "b", title: "", reason: "slow" }], total: 0 })).toBe("Not all is checked");
  expect(verdict({ rules: [rule("a", 2)], unchecked: [], total: 2 })).toBe("2 findings");
  expect(ordered([rule("holds", 0), rule("few", 1), rule("unknown", 0, "x"), rule("many", 9)]).map((one) => one.rule)).toEqual(["many", "few", "unknown", "holds"]);
});

test("a run without heartbeats isn't late", () => {
  const now = Date.parse("2026-01-01T01:00:00Z");
  expect(late({ last_seen: "2026-01-01T00:00:00Z", heartbeat_seconds: null }, now)).toBe(false);
  expect(late({ last_seen: "2026-01-01T00:00:00Z", heartbeat_seconds: 60 }, now)).toBe(true);
  expect(late({ last_seen: "2026-01-01T00:59:00Z", heartbeat_seconds: 60 }, now)).toBe(false);
});

test("data is too old only where both times are known", () => {
  const now = Date.parse("2026-01-02T00:00:00Z");
  expect(stale("2026-01-01T00:00:00Z", 3_600, now)).toBe(true);
  expect(stale("2026-01-01T23:30:00Z", 3_600, now)).toBe(false);
  expect(stale(null, 3_600, now)).toBeNull();
});

test("changes of a schema are one sign each", () => {
  expect(changeText({ change: "ADDED", column: "tax", before: null, after: { type: "int", nullable: null } })).toBe("+ tax int");
  expect(changeText({ change: "REMOVED", column: "id", before: { type: "int", nullable: null }, after: null })).toBe("- id");
  expect(changeText({ change: "CHANGED", column: "id", before: { type: "int", nullable: false }, after: { type: "bigint", nullable: true } })).toBe("~ id int → bigint not null → nullable");
});

test("declared properties of a column stand beside those of events", () => {
  const details = {
    columns: [{ key: "k", name: "value.tailnum", type: "string", nullable: null, description: null, current: true, tags: [], first_seen: null, last_seen: null }],
    declared: { sets: [], values: {}, columns: { "value.tailnum": { description: "Registration", sensitivity: "PII", tags: ["mask"], tag_values: ["hash"] } }, contradictions: [] },
  } as unknown as DatasetDetails;
  expect(rowsOf(details)[0]).toMatchObject({ description: "Registration", sensitivity: "PII", tags: [{ key: "mask", value: "hash" }] });
  expect(sensitivityOf(details)).toBe("PII");
});

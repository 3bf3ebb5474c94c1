// @vitest-environment happy-dom
import { expect, test, vi } from "vitest";

import { checksPanel } from "../src/checks";
import { knownRows } from "../src/panel";
import type { CheckedRule, Checks, Finding } from "../src/types";

const finding = (kind: string, name: string, since: string | null = null): Finding => ({
  id: name,
  subject: { kind, key: `key of ${name}`, name, owners: since ? ["team:x"] : [] },
  message: `${name} is <b>broken</b>`,
  since,
});
const rule = (name: string, total: number, findings: Finding[]): CheckedRule => ({ rule: name, title: `${name} holds`, fix: "Mend it.", total, exempted: 0, findings });
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

test("quality is the first failed batch, else the last that passed", () => {
  const none = { description: null, known_as: [], storage_format: null, source_uri: null, lifecycle: null, runs: [], versions: [], versions_total: 0, schemas: [], checks: [] };
  const of = (quality: Parameters<typeof knownRows>[0]["quality"]): string | null | undefined =>
    knownRows({ ...none, quality }).find(([name]) => name === "quality")?.[1];
  expect(of([])).toBeNull();
  expect(of([{ last_good: { batch_id: 3 }, first_bad: null }])).toBe("passed in batch 3");
  expect(of([{ last_good: { batch_id: 3 }, first_bad: { batch_id: 4, processing_time: null } }])).toBe("failed in batch 4");
});

test("checks are the failed assertions, else how many passed", () => {
  const none = { description: null, known_as: [], storage_format: null, source_uri: null, lifecycle: null, runs: [], versions: [], versions_total: 0, schemas: [], quality: [] };
  const of = (checks: Parameters<typeof knownRows>[0]["checks"]): string | null | undefined =>
    knownRows({ ...none, checks }).find(([name]) => name === "checks")?.[1];
  expect(of([])).toBeNull();
  expect(of([{ job: null, passed: 3, failed: [] }, { job: null, passed: 1, failed: [] }])).toBe("4 passed");
  const failed = [{ assertion: "not_null", column: "id", severity: "error" }, { assertion: "many", column: null, severity: null }];
  expect(of([{ job: null, passed: 3, failed }])).toBe("failed: not_null of id (error), many");
});

test("the latest schema is what it changed", () => {
  const none = { description: null, known_as: [], storage_format: null, source_uri: null, lifecycle: null, runs: [], versions: [], versions_total: 0, quality: [], checks: [] };
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

// @vitest-environment happy-dom
import { expect, test } from "vitest";

import type { ReadingConsumer } from "../src/app/answers";
import { sorted } from "../src/parts/table";
import { consumerColumns } from "../src/views/blast";
import { ownersColumn } from "../src/views/fault";
import { asset } from "./recorded";

test("each owner of a row's datasets is named once", () => {
  const [orders, report, gone] = [asset("orders"), asset("report"), asset("gone")];
  const column = ownersColumn<{ of: (typeof orders)[] }>(
    [
      { dataset: orders, owners: [{ name: "team:lake", type: null }, { name: "ann", type: null }] },
      { dataset: report, owners: [{ name: "ann", type: "STEWARD" }] },
      { dataset: gone, owners: [] },
    ],
    ({ of }) => of,
  );
  expect(column.value?.({ of: [orders, report] })).toBe("team:lake, ann");
  expect(column.value?.({ of: [gone] })).toBe("");
});

test("criticalities of consumers sort the worst first, as answers list them, and none last", () => {
  const consumer = (key: string, criticality: string | null): ReadingConsumer => ({
    key, name: key, type: null, owners: [], on_call: null, contact: null, criticality, notice_days: null, freshness_seconds: null, deadline: null, url: null, reads: [], reads_total: 0, sets: [],
  });
  const rows = [consumer("billing", "tier-0"), consumer("board", "high"), consumer("mails", "low"), consumer("odd", null)];
  const columns = consumerColumns(rows);
  const names = (sort: string): string[] => sorted([...rows].reverse(), columns, sort).map(({ key }) => key);
  expect(columns.map(({ name }) => name)).toContain("criticality");
  expect(names("criticality")).toEqual(["billing", "board", "mails", "odd"]);
  expect(names("-criticality")).toEqual(["mails", "board", "billing", "odd"]);
});

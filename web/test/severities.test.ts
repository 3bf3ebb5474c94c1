// @vitest-environment happy-dom
import { expect, test } from "vitest";

import { addressOf } from "../src/dataset/picture";
import { columnsOf } from "../src/dataset/lineage-table";
import { datasetsOf, listsAllHits, severitiesOf } from "../src/dataset/severities";
import { column, impact, node } from "./drawn";
import { asset } from "./recorded";

const found = impact([[asset("b"), "WARNING"], [column("b", "x"), "BREAKING"], [column("b", "y"), "COSMETIC"], [column("c", "z"), "UNKNOWN"]]);

test("a dataset has the worst severity of itself and its columns, a column its own", () => {
  expect([...severitiesOf(found)]).toEqual([
    [addressOf(asset("b")), "BREAKING"], [addressOf(column("b", "x")), "BREAKING"], [addressOf(column("b", "y")), "COSMETIC"],
    [addressOf(asset("c")), "UNKNOWN"], [addressOf(column("c", "z")), "UNKNOWN"],
  ]);
});

test("only wanted severities are counted", () => {
  expect([...severitiesOf(found, ["UNKNOWN"]).values()]).toEqual(["UNKNOWN", "UNKNOWN"]);
  expect(severitiesOf(null).size).toBe(0);
});

test("datasets that are hit are told from their columns", () => {
  expect(datasetsOf(severitiesOf(found))).toEqual([addressOf(asset("b")), addressOf(asset("c"))]);
});

test("a dataset is called not hit only if all hits are listed and nothing is unknown", () => {
  const text = (of: typeof found): unknown => columnsOf(of).find(({ name }) => name === "severity")?.value?.(node("d", 1));
  expect([listsAllHits(found), text(found)]).toEqual([true, "not hit"]);
  for (const more of [{ total: 5 }, { truncated: true }, { unknown: ["etl reports no columns"] }]) {
    const some = impact([[asset("b"), "WARNING"]], more);
    expect([listsAllHits(some), text(some)]).toEqual([false, "not among the listed hits"]);
  }
  expect(columnsOf(null).some(({ name }) => name === "severity")).toBe(false);
});

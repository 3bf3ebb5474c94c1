import { expect, test } from "vitest";

import { addressOf } from "../src/dataset/picture";
import { datasetsOf, severitiesOf } from "../src/dataset/severities";
import { column, impact } from "./drawn";
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

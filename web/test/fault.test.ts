// @vitest-environment happy-dom
import { expect, test } from "vitest";

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

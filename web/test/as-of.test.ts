// @vitest-environment happy-dom
import { describe, expect, it } from "vitest";

import { place } from "../src/app/address";
import { canBeAsOf, field, instant, presets } from "../src/app/as-of";

describe("the instant that the page shows", () => {
  it("goes from a field to the API and back", () => {
    expect(instant(field("2026-11-23T08:15:00Z"))).toBe("2026-11-23T08:15:00Z");
    expect([instant(""), instant("soon"), field("")]).toEqual(["", "", ""]);
  });

  it("has presets: on a Monday, the last Monday was a week ago", () => {
    const wednesday = new Date(2026, 10, 25, 9, 30);
    expect(new Date(presets(wednesday).monday)).toEqual(new Date(2026, 10, 23));
    expect(new Date(presets(new Date(2026, 10, 23, 9)).monday)).toEqual(new Date(2026, 10, 16));
    expect(new Date(presets(new Date(2026, 10, 29, 9)).monday)).toEqual(new Date(2026, 10, 23));
    expect(new Date(presets(wednesday).yesterday)).toEqual(new Date(2026, 10, 24, 9, 30));
  });

  it("is of lineage and of paths of columns", () => {
    const dataset = { namespace: "n", name: "orders" };
    expect(canBeAsOf(place("dataset", dataset))).toBe(true);
    expect(canBeAsOf(place("dataset", dataset, { tab: "columns" }))).toBe(true);
    expect(canBeAsOf(place("dataset", dataset, { tab: "runs" }))).toBe(false);
    expect(canBeAsOf(place("column", { ...dataset, column: "id" }))).toBe(true);
    expect([canBeAsOf(place("checks", {})), canBeAsOf(null)]).toEqual([false, false]);
  });
});

import { describe, expect, it } from "vitest";

import { estimated, extent, into, moved, scaled, within, written } from "../src/timeline/zoom";
import { bar, overview } from "./recorded";

const HOUR = 3_600_000;
const MAY = Date.parse("2024-05-01T00:00:00Z");
const hours = (from: number, to: number) => ({ from: MAY + from * HOUR, to: MAY + to * HOUR });

describe("a span", () => {
  it("is scaled around what is pointed at", () => {
    expect(scaled(hours(1, 3), MAY + 2 * HOUR, 2)).toEqual(hours(0, 4));
    expect(scaled(hours(0, 4), MAY + 4 * HOUR, 0.25)).toEqual(hours(3, 4));
    expect(scaled(hours(0, 4), MAY, 0.25)).toEqual(hours(0, 1));
  });

  it("isn't scaled below a second", () => {
    expect(scaled({ from: 0, to: 2_000 }, 1_000, 0.25)).toEqual({ from: 500, to: 1_500 });
  });

  it("moves, and stays within another", () => {
    expect(moved(hours(2, 4), -0.5)).toEqual(hours(1, 3));
    expect(within(hours(-3, 5), hours(0, 9))).toEqual(hours(0, 5));
    expect(within(hours(10, 12), hours(0, 9))).toEqual(hours(0, 9));
  });

  it("has whole milliseconds in an address", () => {
    expect(written(scaled({ from: 0, to: 3_001 }, 1_000, 0.5))).toEqual({ from: "1970-01-01T00:00:00.500Z", to: "1970-01-01T00:00:02.001Z" });
  });

  it("has the first and the last micro-batch of bars", () => {
    expect(extent([bar(1), bar(3), bar(2, { first_time: null, last_time: null })])).toEqual(hours(1, 4));
    expect(extent([bar(1, { first_time: null, last_time: null })])).toBeNull();
  });
});

describe("into a bar", () => {
  it("of several segments is all of it", () => {
    expect(into(bar(1, { segments: 3, last_time: "2024-05-01T03:59:59.999Z" }), hours(0, 9), MAY)).toEqual(hours(1, 4));
  });

  it("of one segment with many micro-batches is what is pointed at", () => {
    const span = into(bar(1, { batches: 360 }), hours(0, 9), MAY + 1.5 * HOUR);
    expect(span).toEqual(hours(1.25, 1.75));
    expect(into(bar(1, { batches: 360 }), hours(0, 9), MAY + HOUR)).toEqual(hours(1, 1.5));
  });

  it("always is a narrower span", () => {
    expect(into(bar(1, { segments: 3 }), hours(1, 2), MAY + 2 * HOUR)).toEqual(hours(1.5, 2));
  });
});

describe("how many micro-batches a span has", () => {
  it("is estimated where it has parts of segments", () => {
    expect(estimated(overview([bar(1), bar(2), bar(3)]), hours(1.5, 3))).toBe(256 + 512);
    expect(estimated(overview([bar(1, { first_time: null, last_time: null })]), hours(0, 9))).toBe(0);
    expect(estimated(overview([]), hours(0, 9))).toBe(0);
  });
});

// @vitest-environment happy-dom
import { describe, expect, it } from "vitest";

import { bars, draw, spoken, spokenOf, timeAt } from "../src/timeline";
import type { Bar } from "../src/types";
import { bar, interval, overview, run, timeline } from "./made";

const gap = { partition: 0, start: 5, end: 9, dataset: "d" };
const WIDTH = 1_142; // a thousand pixels for the time between first and last
const silent = () => undefined;

const rects = (drawn: HTMLElement, kind: string) => [...drawn.querySelectorAll(`rect[class="${kind}"]`)];
const place = (rect: Element | undefined) => [Number(rect?.getAttribute("x")), Number(rect?.getAttribute("width"))];

describe("the picture in a sentence", () => {
  it("names what is missing", () => {
    const answer = timeline([interval(0), interval(3, { missing_before: 2, gaps: [gap] }), interval(4, { overlaps: [gap] })]);
    expect(spoken(answer)).toBe("3 micro-batches, 2 batches missing, 1 gap in offsets, 1 overlap");
  });

  it("says that nothing is", () => {
    expect(spoken(timeline([interval(0)]))).toBe("1 micro-batch, no gaps");
    expect(spoken(timeline([], { queries: [], runs: [run(), run()] }))).toBe("2 runs");
  });
});

describe("the picture", () => {
  it("has blocks where their time is", () => {
    const drawn = draw(timeline([interval(0), interval(1), interval(2)]), WIDTH, silent);
    // From 10:00:00.0 to 10:00:02.5; LEFT is 118.
    expect(rects(drawn, "batch observed").map((one) => place(one).map(Math.round))).toEqual([[118, 199], [518, 199], [918, 199]]);
  });

  it("lets no block reach into the next one", () => {
    const drawn = draw(timeline([interval(0, { duration_ms: 5_000 }), interval(2, { duration_ms: 3_000 })]), WIDTH, silent);
    const [first, second] = rects(drawn, "batch observed").map(place);
    expect((first?.[0] ?? 0) + (first?.[1] ?? 0)).toBeLessThanOrEqual(second?.[0] ?? 0);
  });

  it("puts a batch of unknown time between its neighbours", () => {
    const lost = interval(1, { processing_time: null, duration_ms: null, provenance: "RECONCILED" });
    const drawn = draw(timeline([interval(0), lost, interval(2)]), WIDTH, silent);
    const [from, width] = place(rects(drawn, "batch reconciled")[0]);
    expect(from).toBe(118 + 200 + 2);
    expect((from ?? 0) + (width ?? 0)).toBeLessThan(918);
  });

  it("marks gaps, overlaps and conflicts", () => {
    const drawn = draw(timeline([interval(0), interval(2, { missing_before: 1, overlaps: [gap], conflicts: 1 })]), WIDTH, silent);
    expect(["gap", "overlap", "batch conflict"].map((kind) => rects(drawn, kind).length)).toEqual([1, 1, 1]);
    expect(rects(draw(timeline([interval(0), interval(1)]), WIDTH, silent), "gap")).toEqual([]);
  });

  it("shows runs where there are no queries, by their state", () => {
    const runs = [run(), run({ state: "FAIL" }), run({ state: "ABORT", started_at: null }), run({ state: "RUNNING", ended_at: null })];
    const drawn = draw(timeline([], { queries: [], runs }), WIDTH, silent);
    expect(["batch observed", "batch gap", "batch reconciled"].map((kind) => rects(drawn, kind).length)).toEqual([1, 2, 1]);
  });

  it("explains a block that is pointed at, offsets and rows included", () => {
    const use = { dataset: { kind: "DATASET" as const, key: "d", namespace: "n", name: "orders", column: null, title: null, type: null }, position: "kafka", certainty: "EXACT", rows: 10, ranges: [{ partition: 0, start: 1, end: 4 }], summary: null };
    const shown: (Node | null)[] = [];
    const drawn = draw(timeline([interval(0, { consumed: [use], rows_dropped_late: 3, conflicts: 2 })]), WIDTH, (what) => shown.push(what));
    rects(drawn, "batch conflict")[0]?.dispatchEvent(new Event("focus"));
    const text = shown[0]?.textContent ?? "";
    for (const part of ["Batch 0", "10 in, 9 out", "3 dropped", "orders", "0:1..4", "2 other reports of this batch"]) expect(text).toContain(part);
  });

  it("says so where nothing is known", () => {
    expect(draw(timeline([]), WIDTH, silent).textContent).toContain("Nothing is known");
  });
});

describe("bars", () => {
  const span = { from: Date.parse("2024-05-01T00:00:00Z"), to: Date.parse("2024-05-01T10:00:00Z") };

  it("are where their time is, and end with the span", () => {
    const drawn = bars(overview([bar(1), bar(9, { last_time: "2024-05-01T11:59:59.999Z" })]), WIDTH, span, silent, silent);
    expect(rects(drawn, "batch observed").map((one) => place(one).map(Math.round))).toEqual([[218, 99], [1_018, 99]]);
  });

  it("show what is wrong in them", () => {
    const drawn = bars(overview([bar(0), bar(1, { missing: 2 }), bar(2, { overlaps: 1 }), bar(3, { failed: 1 }), bar(4, { reconciled: 512 }), bar(5, { summarized: 512 })]), WIDTH, span, silent, silent);
    expect(["mark gap", "mark overlap", "mark conflict", "batch reconciled", "batch summarized"].map((kind) => rects(drawn, kind).length)).toEqual([1, 1, 1, 1, 1]);
    expect(spokenOf(overview([bar(1, { missing: 2, conflicts: 1 }), bar(2, { failed: 3 })]))).toBe("1,024 micro-batches in 2 bars, 2 batches missing, 1 conflict, 3 batches with failed checks");
    expect(spokenOf(overview([bar(1), bar(2, { summarized: 512 })]))).toBe("1,024 micro-batches in 2 bars, 512 only in summaries of days");
  });

  it("are entered where they are clicked, or by key in the middle", () => {
    const entered: [Bar, number][] = [];
    const drawn = bars(overview([bar(2)]), WIDTH, span, silent, (one, at) => entered.push([one, at]));
    const [rect] = rects(drawn, "batch observed");
    rect?.dispatchEvent(new MouseEvent("click", { clientX: 118 + 250 }));
    rect?.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
    expect(entered.map(([one, at]) => [one.first_batch, at])).toEqual([[1_024, Date.parse("2024-05-01T02:30:00Z")], [1_024, Date.parse("2024-05-01T02:30:00Z")]]);
    expect(timeAt(0, WIDTH, span)).toBe(span.from);
  });

  it("say what isn't there", () => {
    const untimed = bar(1, { first_time: null, last_time: null });
    expect(spokenOf(overview([untimed], { truncated: true }))).toContain("512 of unknown time aren't drawn, incomplete");
    expect(bars(overview([]), WIDTH, span, silent, silent).textContent).toContain("No micro-batch is known in this span");
    expect(draw(timeline([]), WIDTH, silent, span).textContent).toContain("No micro-batch is known in this span");
  });
});

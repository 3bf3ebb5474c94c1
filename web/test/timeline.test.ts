// @vitest-environment happy-dom
import { describe, expect, it, vi } from "vitest";

import { forget } from "../src/app/api";
import { bars, beside, blocks, spoken, spokenOf, timeAt, type Drawn } from "../src/timeline/draw";
import { origin } from "../src/timeline/details";
import { ask, needed, shownOf, spanOf, type Found } from "../src/timeline/spans";
import { asset, bar, interval, overview, run, timeline } from "./recorded";

const gap = { partition: 0, start: 5, end: 9, dataset: "d" };
const WIDTH = 1_142; // a thousand pixels for the time between first and last
const HOUR = 3_600_000;
const MAY = Date.parse("2024-05-01T00:00:00Z");
const hours = (from: number, to: number) => ({ from: MAY + from * HOUR, to: MAY + to * HOUR });

const marks = (drawn: Drawn, style: string) => drawn.marks.filter((mark) => mark.style === style);
const places = (drawn: Drawn, style: string) => marks(drawn, style).map(({ x, width }) => [Math.round(x), Math.round(width)]);

describe("the picture in a sentence", () => {
  it("names what is missing", () => {
    const answer = timeline([interval(0), interval(3, { missing_before: 2, gaps: [gap] }), interval(4, { overlaps: [gap] })]);
    expect(spoken(answer)).toBe("3 micro-batches, 2 batches missing, 1 gap in offsets, 1 overlap");
  });

  it("says that nothing is, and of how many", () => {
    expect(spoken(timeline([interval(0)]))).toBe("1 micro-batch, no gaps");
    expect(spoken(timeline([interval(0)], { total: 900 }))).toBe("the latest 1 of 900 micro-batches, no gaps");
    expect(spoken(timeline([], { queries: [], runs: [run(), run()], total: 0 }))).toBe("2 runs");
  });
});

describe("the picture", () => {
  it("has blocks where their time is", () => {
    // From 10:00:00.0 to 10:00:02.5; the lanes begin at 118.
    expect(places(blocks(timeline([interval(0), interval(1), interval(2)]), WIDTH, null), "batch observed")).toEqual([[118, 199], [518, 199], [918, 199]]);
  });

  it("lets no block reach into the next one", () => {
    const [first, second] = marks(blocks(timeline([interval(0, { duration_ms: 5_000 }), interval(2, { duration_ms: 3_000 })]), WIDTH, null), "batch observed");
    expect((first?.x ?? 0) + (first?.width ?? 0)).toBeLessThanOrEqual(second?.x ?? 0);
  });

  it("puts a batch of unknown time between its neighbours", () => {
    const lost = interval(1, { processing_time: null, duration_ms: null, provenance: "RECONCILED" });
    const [mark] = marks(blocks(timeline([interval(0), lost, interval(2)]), WIDTH, null), "batch reconciled");
    expect(mark?.x).toBe(118 + 200 + 2);
    expect((mark?.x ?? 0) + (mark?.width ?? 0)).toBeLessThan(918);
  });

  it("marks gaps, overlaps and conflicts", () => {
    const drawn = blocks(timeline([interval(0), interval(2, { missing_before: 1, overlaps: [gap], conflicts: 1 })]), WIDTH, null);
    expect(["gap", "overlap", "batch conflict"].map((style) => marks(drawn, style).length)).toEqual([1, 1, 1]);
    expect(marks(blocks(timeline([interval(0), interval(1)]), WIDTH, null), "gap")).toEqual([]);
  });

  it("shows runs where there are no queries, by their state", () => {
    const runs = ["COMPLETE", "FAIL", "ABORT", "RUNNING"].map((state, index) => run({ key: state, state, started_at: index === 2 ? null : run().started_at, ended_at: index === 3 ? null : run().ended_at }));
    const drawn = blocks(timeline([], { queries: [], runs }), WIDTH, null);
    expect(["batch observed", "batch gap", "batch reconciled"].map((style) => marks(drawn, style).length)).toEqual([1, 2, 1]);
  });

  it("cuts what reaches beyond the span, and names nothing where nothing is known", () => {
    const drawn = blocks(timeline([interval(0, { duration_ms: 3_600_000 })]), WIDTH, { from: Date.parse("2024-05-01T10:00:01Z"), to: Date.parse("2024-05-01T10:00:02Z") });
    expect(drawn.marks.every(({ x, width }) => x >= 100 && x + width <= 1_140)).toBe(true);
    expect(blocks(timeline([]), WIDTH, null)).toMatchObject({ marks: [], lanes: [], span: null });
  });
});

describe("bars", () => {
  it("are where their time is, and end with the span", () => {
    expect(places(bars(overview([bar(1), bar(9, { last_time: "2024-05-01T11:59:59.999Z" })]), WIDTH, hours(0, 10)), "batch observed")).toEqual([[218, 99], [1_018, 99]]);
  });

  it("show what is wrong in them", () => {
    const drawn = bars(overview([bar(0), bar(1, { missing: 2 }), bar(2, { overlaps: 1 }), bar(3, { failed: 1 }), bar(4, { reconciled: 512 }), bar(5, { summarized: 512 })]), WIDTH, hours(0, 10));
    expect(drawn.marks.map(({ faults }) => faults.join())).toEqual(["", "gap", "overlap", "conflict", "", ""]);
    expect(["batch reconciled", "batch summarized"].map((style) => marks(drawn, style).length)).toEqual([1, 1]);
    expect(drawn.marks[1]?.label).toBe("batches 512 to 1023, 2 batches missing");
    expect(spokenOf(overview([bar(1, { missing: 2, conflicts: 1 }), bar(2, { failed: 3 })]))).toBe("1,024 micro-batches in 2 bars, 2 batches missing, 1 conflict, 3 batches with failed checks");
    expect(spokenOf(overview([bar(1), bar(2, { summarized: 512 })]))).toBe("1,024 micro-batches in 2 bars, 512 only in summaries of days");
  });

  it("say what isn't there, and that nothing is missing only where all is known", () => {
    const untimed = bar(1, { first_time: null, last_time: null });
    expect(spokenOf(overview([untimed], { truncated: true }))).toBe("512 micro-batches in 1 bar, 512 of unknown time aren't drawn, incomplete: there is too much in this span for one answer; zoom in");
    expect(timeAt(0, WIDTH, hours(0, 1))).toBe(MAY);
  });
});

it("goes from mark to mark by arrow keys, also to another lane", () => {
  const answer = timeline([interval(0), interval(1), interval(1, { key: "x", query: "p", batch_id: 7 })], {
    queries: ["q", "p"].map((key) => ({ key, query_id: key, name: key, checkpoint_location: null, first_batch: null, last_batch: null })),
  });
  const drawn = blocks(answer, WIDTH, null).marks;
  const to = (id: string | null, direction: "left" | "right" | "up" | "down") => beside(drawn, id, direction)?.id ?? null;
  expect([to(null, "left"), to("batch-0-0", "right"), to("batch-0-1", "right"), to("batch-0-1", "down"), to("batch-1-7", "up"), to("batch-0-0", "up")])
    .toEqual(["batch-1-7", "batch-0-1", null, "batch-1-7", "batch-0-1", null]);
});

it("asks where a micro-batch's records are from by the first offsets that it wrote", () => {
  const wrote = (ranges: { partition: number; start: number; end: number }[]) => [{ dataset: asset("out"), position: "kafka", certainty: "EXACT", rows: 1, ranges, summary: null } as never];
  expect(origin(wrote([{ partition: 0, start: 4, end: 4 }, { partition: 2, start: 1, end: 3 }]))?.query).toMatchObject({ direction: "BACKWARD", topic: "kafka://broker:9092/out", partition: "2", offset: "1", end: "3" });
  expect(origin(wrote([]))).toBeNull();
});

describe("the questions of a span", () => {
  const shown = (bars: Parameters<typeof overview>[0], more = {}): Found => {
    const answer = overview(bars, more);
    return { span: hours(0, 9), answer, overview: answer };
  };

  it("are one where what is shown tells which", () => {
    expect(needed(hours(1, 3), shown([bar(1), bar(2)]))).toBe("bars");
    expect(needed({ from: MAY + HOUR, to: MAY + HOUR + 60_000 }, shown([bar(1)]))).toBe("blocks");
    expect(needed({ from: MAY + HOUR, to: MAY + HOUR + 60_000 }, shown([bar(1, { summarized: 9 })]))).toBe("bars");
    for (const unsure of [null, shown([bar(1)], { truncated: true }), shown([bar(1, { first_time: null })])]) expect(needed(hours(1, 2), unsure)).toBe("both");
    expect(needed(hours(-5, 2), shown([bar(1)]))).toBe("both");
    const latest: Found = { span: null, answer: timeline([interval(0), interval(4)]), overview: null };
    const inside = { from: Date.parse("2024-05-01T10:00:01Z"), to: Date.parse("2024-05-01T10:00:02Z") };
    expect([needed(inside, latest), needed(hours(1, 12), latest)]).toEqual(["blocks", "both"]);
  });

  it("begin with the latest micro-batches; of those only in summaries, with all bars", async () => {
    forget();
    const asked: string[] = [];
    vi.stubGlobal("fetch", async (path: string) => {
      asked.push(path.replace(/^api\/v1\/jobs\//, "").replace(/\?.*/, ""));
      return Response.json(path.includes("overview") ? overview([bar(1, { summarized: 512 })]) : timeline([]));
    });
    const found = await ask("a", null, null);
    expect(found.overview?.batches).toBe(512);
    expect(asked).toEqual(["a/timeline", "a/timeline/overview", "a/timeline/overview", "a/timeline"]);
    vi.stubGlobal("fetch", async () => Response.json(timeline([interval(0), interval(2)])));
    const latest = await ask("b", null, null);
    expect(shownOf(latest)).toEqual({ from: Date.parse("2024-05-01T10:00:00Z"), to: Date.parse("2024-05-01T10:00:02Z") + 1 });
    vi.unstubAllGlobals();
  });

  it("are of two times, or of none", () => {
    expect(spanOf("2024-05-01T01:00:00Z", "2024-05-01T02:00:00Z")).toEqual(hours(1, 2));
    for (const [from, until] of [["", ""], ["2024-05-01", ""], ["2024-05-02", "2024-05-01"]] as const) expect(spanOf(from, until)).toBeNull();
  });
});

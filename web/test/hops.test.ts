// @vitest-environment happy-dom
import { describe, expect, it } from "vitest";

import { place } from "../src/app/address";
import type { Blast, Trace } from "../src/app/answers";
import { blastQuery, blastSentence, canBlast, ticket, originText } from "../src/views/blast";
import { canDiff, diffSentence, transformationText } from "../src/views/diff";
import { arrowText, blastOf, doubts, partText, pictureOf, stepText, traceOf } from "../src/views/hops";
import { canTrace, traceQuery, traceSentence } from "../src/views/trace";
import { asset, hop, part, step } from "./recorded";

const GRAPH = { graph: { last_event: null, behind: 0, stale: null }, filtered: true as const };
const trace = (more: Partial<Trace>): Trace => ({ direction: "FORWARD", start: [part("orders")], hops: [], ends: [], notes: [], total: 0, max_hops: 0, truncated: false, ...GRAPH, ...more });
const TOTALS = { datasets: 0, clean_again: 0, offsets: 0, files: 0, versions: 0, unknown: 0, steps: 0 };
const blast = (more: Partial<Blast>): Blast => ({ start: [], tainted: [], hops: [], totals: TOTALS, consumers: [], quality: [], notes: [], truncated: false, ...GRAPH, ...more });

describe("a part of a dataset", () => {
  it("is written by its offsets, files or versions", () => {
    expect(partText(part("a"))).toBe("0:5..9");
    expect(partText(part("a", { kind: "FILES", offsets: [], files: ["f"], file_count: 40 }))).toBe("40 files");
    expect(partText(part("a", { kind: "SNAPSHOT", format: "delta", version: "7" }))).toBe("delta 7");
    expect(partText(part("a", { kind: "CHANGES", format: "iceberg", version: "7", from_version: "3", partitions: ["day=1"] }))).toBe("iceberg 3 to 7 (day=1)");
    expect(partText(part("a", { kind: "UNKNOWN" }))).toBe("unknown part");
  });

  it("can be traced, and a step be bad", () => {
    expect(traceOf(part("a"), "BACKWARD")?.query).toMatchObject({ topic: "kafka://broker:9092/a", partition: "0", offset: "5", end: "9", direction: "BACKWARD" });
    expect(traceOf(part("a", { offsets: [], version: "7" }), "FORWARD")?.query).toMatchObject({ dataset: "kafka://broker:9092/a", version: "7" });
    expect(traceOf(part("a", { offsets: [] }), "FORWARD")).toBeNull();
    expect(blastOf(step())?.query).toMatchObject({ query: "q-1", first: "1", last: "3" });
    expect(blastOf(step({ query_id: null, first_batch: null }))).toBeNull();
    expect([stepText(step()), arrowText(step()), arrowText(step({ last_batch: 1 }))]).toEqual(["enrich batches 1 to 3", "enrich 1–3", "enrich 1"]);
  });
});

describe("hops as a picture", () => {
  it("have a box for each dataset and an arrow for each step, dotted where it isn't certain", () => {
    const hops = [hop(1, [part("a")], [part("b"), part("c", { possible: true })]), hop(2, [part("b")], [part("d")], { certainty: "INFERRED" }), hop(3, [part("d")], [])];
    const { picture, beyond, undrawn } = pictureOf(hops, [part("a")], new Map([["b", true], ["c", false]]));
    expect(picture.boxes.map(({ key, start, severity }) => [key, start, severity])).toEqual([["a", true, null], ["b", false, "TAINTED"], ["c", false, null], ["d", false, null]]);
    expect(picture.arrows.map(({ key, line }) => `${key} ${line}`)).toEqual(["a>b observed", "a>c possible", "b>d possible"]);
    expect([beyond, undrawn]).toEqual([0, 1]);
    expect(doubts(hops)).toEqual({ unknown: 0, possible: 2 });
  });

  it("are at most 60 boxes, the rest counted", () => {
    const { picture, beyond } = pictureOf([hop(1, [part("a")], Array.from({ length: 80 }, (_, index) => part(`b${index}`)))], [part("a")]);
    expect([picture.boxes.length, beyond]).toEqual([60, 21]);
    expect(picture.arrows.every(({ target }) => picture.boxes.some(({ key }) => key === target))).toBe(true);
  });
});

describe("a trace", () => {
  const query = (more: object) => place("trace", {}, { query: more }).query;

  it("is asked for once the address says enough, with what belongs to its start", () => {
    expect([query({}), query({ topic: "a" }), query({ topic: "a", partition: "0", offset: "5" }), query({ topic: "a", time: "2024-05-01T00:00:00Z" }), query({ path: "/f" })].map(canTrace)).toEqual([false, false, true, true, true]);
    expect(traceQuery(query({ path: "/f", topic: "a", offset: "3" }))).toEqual({ direction: "FORWARD", limit: 1_000, depth: "all", path: "/f" });
  });

  it("is a sentence with its doubts; nothing only where nothing is unknown", () => {
    expect(traceSentence(trace({}))).toBe("orders 0:5..9 went nowhere that is known.");
    expect(traceSentence(trace({ ends: [part("x", { kind: "UNKNOWN" })] }))).toBe("orders 0:5..9 went UNKNOWN: parts of the answer are unknown (parts of 1 dataset unknown).");
    expect(traceSentence(trace({ total: 2, max_hops: 1, truncated: true, hops: [hop(1, [part("a")], [part("b", { possible: true })])] })))
      .toBe("orders 0:5..9 went through 2 hops, the farthest 1 step away (1 hop not certain; more hops were left out: the answer reached its limit).");
  });
});

describe("bad records", () => {
  const query = (more: object) => place("blast", {}, { query: more }).query;

  it("are asked for once the address says enough", () => {
    expect([query({}), query({ query: "q" }), query({ query: "q", first: "0" }), query({ run: "r" })].map(canBlast)).toEqual([false, false, true, true]);
    expect(blastQuery(query({ query: "q", first: "1", last: "3" }))).toEqual({ limit: 1_000, depth: "all", query: "q", first_batch: "1", last_batch: "3" });
  });

  it("taint nothing only where nothing is unknown", () => {
    expect(blastSentence(blast({}))).toBe("Nothing is tainted.");
    expect(blastSentence(blast({ truncated: true }))).toBe("UNKNOWN what is tainted (there is more: the answer reached its limit of steps).");
    expect(blastSentence(blast({ totals: { ...TOTALS, unknown: 1 } }))).toBe("UNKNOWN what is tainted (1 dataset with an unknown part).");
    expect(blastSentence(blast({ totals: { ...TOTALS, datasets: 2, steps: 3, offsets: 40, clean_again: 1 } }))).toBe("2 datasets tainted through 3 steps: up to 40 records in topics, 1 dataset clean again.");
  });

  it("are a ticket as plain text, which names no consumers only where nothing is unknown", () => {
    const answer = blast({ totals: { ...TOTALS, datasets: 1, steps: 1 }, tainted: [{ dataset: asset("b"), depth: 1, parts: [part("b")], superseded: [], hops: [1], certainty: "EXACT" }] });
    const lines = (given: Blast): string[] => ticket(given, originText(query({ query: "q", first: "1", last: "3" })), "https://h/#/blast").split("\n");
    expect(lines(answer)).toEqual([
      "Bad records: q batches 1 to 3", "1 dataset tainted through 1 step.", "", "Tainted:", "- kafka://broker:9092/b: 0:5..9 (exact)", "",
      "Whom to notify:", "- No declared consumer reads what is tainted.", "", "Answer: https://h/#/blast",
    ]);
    expect(lines({ ...answer, hops: [hop(1, [part("a")], [part("b", { certainty: "UNKNOWN" })])] })[7]).toContain("the answer is incomplete");
  });
});

describe("changes", () => {
  const side = (time: string | null, incomplete = false) => ({ time, run_id: null, code_version: null, plans: [], incomplete });
  const diff = { before: side("2024-05-01T00:00:00Z"), after: side(null), datasets_total: 0, columns_total: 0, edges_total: 0, truncated: false, unknown_schemas: [], jobs: [] };

  it("are asked for once both sides are named", () => {
    const query = (more: object) => place("diff", {}, { query: more }).query;
    expect([query({}), query({ before: "2024-05-01T00:00:00Z" }), query({ before_run: "a" }), query({ before_run: "a", after_run: "b" }), query({ before_version: "a", after_version: "b" })].map(canDiff)).toEqual([false, true, false, true, false]);
  });

  it("are none only where nothing is unknown", () => {
    expect(diffSentence(diff)).toMatch(/^From .*UTC\) to now: nothing differs\. 0 jobs compared\.$/);
    expect(diffSentence({ ...diff, truncated: true })).toContain("UNKNOWN whether anything differs; more may differ");
    expect(diffSentence({ ...diff, edges_total: 2, after: side(null, true) })).toContain("0 datasets, 0 columns and 2 edges differ; a plan of the later side is incomplete");
  });

  it("name how a value comes about", () => {
    expect(transformationText({ type: "DIRECT", kind: "AGGREGATE", subtype: "AGGREGATION", masking: true, expression: "sum(a)", whole: false })).toBe("aggregate aggregation masked sum(a)");
  });
});

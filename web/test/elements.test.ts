// @vitest-environment happy-dom
import { describe, expect, it } from "vitest";

import { HEAD, ROW, WIDTH, elements, fitted, heightOf, sizeOf } from "../src/stage/elements";
import { layers } from "../src/stage/layout";
import { arrow, box, type Arrow, type Box } from "../src/stage/picture";

const made = (boxes: Box[], arrows: Arrow[] = []) => elements({ boxes, arrows }, layers(boxes.map(sizeOf), arrows));
const classes = (found: ReturnType<typeof made>, id: string): string[] => String(found.find(({ data }) => data.id === id)?.classes ?? "").split(" ").filter(Boolean);
const rows = (many: number) => Array.from({ length: many }, (_, index) => ({ name: `c${index}`, type: null }));

describe("a box", () => {
  it("is as high as its head, its rows, and a line for rows that aren't drawn", () => {
    expect(heightOf(box({ key: "a", title: "a" }))).toBe(HEAD);
    expect(heightOf(box({ key: "a", title: "a", rows: rows(3) }))).toBe(HEAD + 3 * ROW + 6);
    expect(heightOf(box({ key: "a", title: "a", rows: rows(3), rowsBeyond: 9 }))).toBe(HEAD + 4 * ROW + 6);
  });

  it("has an element for each row, and a mark where there is more", () => {
    const found = made([box({ key: "a", title: "a", rows: rows(2), rowsBeyond: 5, up: 3, opened: ["down"] })]);
    const ids = found.map(({ data }) => data.id);
    expect(ids).toEqual(expect.arrayContaining(["column:a:c0", "column:a:c1", "rest:a", "more:up:a", "less:down:a"]));
    expect(found.filter(({ data }) => data.kind === "more" || data.kind === "less").map(({ data }) => [data.label, data.kind])).toEqual([["+3", "more"], ["−", "less"]]);
  });

  it("can be closed where it is opened in part, by a mark beside the one for more", () => {
    const marks = made([box({ key: "a", title: "a", up: 3, down: 375, opened: ["up", "down"] })]).filter(({ data }) => data.kind === "more" || data.kind === "less");
    expect(marks.map(({ data }) => [data.id, data.label])).toEqual([["more:up:a", "+3"], ["less:up:a", "−"], ["more:down:a", "+375"], ["less:down:a", "−"]]);
    const [up, lessUp, down, lessDown] = marks.map(({ position, data }) => ({ left: (position?.x ?? 0) - data.wide / 2, right: (position?.x ?? 0) + data.wide / 2 }));
    expect(lessUp?.right).toBeLessThan(up?.left ?? 0);
    expect(lessDown?.left).toBeGreaterThan(down?.right ?? 0);
  });

  it("is coloured by severity and change", () => {
    expect(classes(made([box({ key: "a", title: "a", severity: "BREAKING", change: "ADDED", start: true })]), "a")).toEqual(expect.arrayContaining(["tone-bad", "change-added", "start"]));
  });
});

describe("an arrow", () => {
  const two = [box({ key: "a", title: "a", rows: rows(1) }), box({ key: "b", title: "b", rows: rows(1) })];

  it.each(["observed", "declared", "possible"] as const)("of what is %s", (line) => {
    expect(classes(made(two, [arrow({ source: "a", target: "b", line })]), "a>b")).toContain(line);
  });

  it("of a dataset to itself is a loop", () => {
    expect(classes(made(two, [arrow({ source: "a", target: "a" })]), "a>a")).toContain("loop");
  });

  it("to what isn't drawn is none", () => {
    expect(made(two, [arrow({ source: "a", target: "z" })]).some(({ data }) => data.kind === "arrow")).toBe(false);
  });

  it("fades behind its columns' arrows, of which a direct one hides an indirect one", () => {
    const mappings = [{ source: "c0", target: "c0", direct: true }, { source: "c0", target: "c0", direct: false }, { source: "c0", target: "c7", direct: true }];
    const found = made(two, [arrow({ source: "a", target: "b", mappings })]);
    expect(classes(found, "a>b")).toContain("faded");
    expect(found.filter(({ data }) => data.kind === "mapping").map((one) => one.classes)).toEqual(["mapping direct"]);
  });
});

describe("a text that fits", () => {
  // Without a canvas each character is 7 px wide.
  it("keeps its head and tail", () => {
    expect(fitted("orders", "11px x", WIDTH)).toBe("orders");
    const short = fitted("abcdefghijklmnopqrstuvwxyz", "11px x", 77);
    expect(short).toBe("abcdef…wxyz");
  });

  it("shows what can't be seen", () => {
    expect(fitted("a\u202eb", "11px x", WIDTH)).toBe("a\\u202eb");
  });

  it("keeps one character at least", () => {
    expect(fitted("abcdef", "11px x", 1)).toBe("a…");
  });
});

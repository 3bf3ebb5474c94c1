// @vitest-environment happy-dom
import { describe, expect, it } from "vitest";

import { changeTexts, columnsOf } from "../src/dataset/lineage-table";
import { addressOf, changesBetween, columnPath, pictureOf, withRemoved, type Filters } from "../src/dataset/picture";
import { column, drawing, edge, node, options, via, way } from "./drawn";
import { asset } from "./recorded";

const filters = (more: Partial<Filters>): Filters => ({ namespace: [], owner: [], type: [], tag: [], ...more });
const keys = (picture: { boxes: { key: string }[] }): string[] => picture.boxes.map(({ key }) => key);
const fields = (...names: string[]) => names.map((name) => ({ key: name, name, type: "int" }));
const mapping = (source: string | null, target: string | null, type: "DIRECT" | "INDIRECT" = "DIRECT") => ({
  source, target, job: "etl", transformation: { type, kind: "COPY" as const, subtype: null, masking: false, expression: null, whole: false },
});

describe("a picture", () => {
  it("has a box for each dataset, and the start's is marked", () => {
    const { picture, hidden, drawn } = pictureOf(drawing([node("a", 0), node("b", 1)], [edge("a", "b")]), options());
    expect(keys(picture)).toEqual(["a", "b"]);
    expect(picture.boxes.map(({ start }) => start)).toEqual([true, false]);
    expect(picture.arrows).toMatchObject([{ key: "a>b", label: "etl", line: "observed" }]);
    expect([hidden, [...drawn]]).toEqual([0, [addressOf(asset("a")), addressOf(asset("b"))]]);
  });

  it("counts what a filter hides, and never hides the start", () => {
    const graph = drawing([
      node("a", 0), node("b", 1, { owners: ["x"] }), node("c", 1, { owners_of_jobs: ["x"] }), node("d", 1, { owners: ["y"], owners_of_jobs: ["x"] }),
    ], [edge("a", "b"), edge("a", "d")]);
    const { picture, hidden } = pictureOf(graph, options({ filters: filters({ owner: ["x"] }) }));
    expect(keys(picture)).toEqual(["a", "b", "c"]);
    expect(picture.arrows.map(({ key }) => key)).toEqual(["a>b"]);
    expect(hidden).toBe(1);
  });

  it("has no more than 60 boxes", () => {
    const more = { more_upstream: 9, more_downstream: 9 };
    const graph = drawing(Array.from({ length: 75 }, (_, index) => node(`n${index}`, index === 0 ? 0 : 1, more)));
    const { picture, hidden, drawn } = pictureOf(graph, options());
    // Those of what isn't drawn are among them.
    expect([picture.boxes.length, hidden, drawn.size]).toEqual([60, 0, 58]);
  });

  it("counts neighbours of the start that aren't drawn in boxes of their own, others' at their corners", () => {
    const graph = drawing([node("a", 0, { more_upstream: 5, more_downstream: 603 }), node("b", 1, { more_downstream: 2 })], [edge("a", "b")]);
    const { picture } = pictureOf(graph, options());
    expect(keys(picture)).toEqual(["a", "b", "rest:up:a", "rest:down:a"]);
    expect(picture.boxes.map(({ up, down }) => [up, down])).toEqual([[0, 0], [0, 2], [0, 0], [0, 0]]);
    expect(picture.boxes[3]?.title).toContain("603");
    expect(picture.arrows.map(({ key }) => key)).toEqual(["a>b", "rest:up:a>a", "a>rest:down:a"]);
    // A side that isn't asked for has a number at the corner.
    const [a, ...others] = pictureOf(graph, options({ rest: ["down"] })).picture.boxes;
    expect([a?.up, a?.down, others.map(({ key }) => key)]).toEqual([5, 0, ["b", "rest:down:a"]]);
  });

  it("groups two and more datasets of one side, and an opened group is none", () => {
    const graph = drawing(
      [node("a", 0), node("b", 1, { tags: ["pii"] }), node("c", 1, { tags: ["pii"] }), node("d", -1, { tags: ["pii"] }), node("e", 1)],
      [edge("a", "b", { via_total: 3 }), edge("a", "c"), edge("b", "c"), edge("d", "a"), edge("a", "e")],
    );
    const { picture, drawn } = pictureOf(graph, options({ group: "tag" }));
    expect(keys(picture)).toEqual(["a", "d", "e", "group:down:pii"]);
    expect(picture.boxes[3]).toMatchObject({ kind: "group", under: "pii", title: "2 datasets" });
    expect(picture.arrows.map(({ key, label }) => [key, label])).toEqual([["a>group:down:pii", ""], ["d>a", "etl"], ["a>e", "etl"]]);
    expect(drawn.size).toBe(5);
    expect(keys(pictureOf(graph, options({ group: "tag", open: ["group:down:pii"] })).picture)).toEqual(["a", "b", "c", "d", "e"]);
  });

  it("names a group of datasets without a value so", () => {
    const graph = drawing([node("a", 0), node("b", 1), node("c", 1)]);
    expect(pictureOf(graph, options({ group: "owner" })).picture.boxes[1]).toMatchObject({ key: "group:down:", under: "none" });
  });

  it("gives a group the worst severity of its datasets", () => {
    const graph = drawing([node("a", 0), node("b", 1), node("c", 1)]);
    const severities = new Map([[addressOf(asset("b")), "WARNING"], [addressOf(asset("c")), "BREAKING"]]);
    expect(pictureOf(graph, options({ group: "type", severities })).picture.boxes[1]?.severity).toBe("BREAKING");
  });

  it("names jobs at arrows, their number, or nothing", () => {
    const graph = drawing([node("a", 0), node("b", 1)], [edge("a", "b", { via_total: 3 })]);
    expect(pictureOf(graph, options()).picture.arrows[0]?.label).toBe("etl +2");
    expect(pictureOf(graph, options({ jobs: false })).picture.arrows[0]?.label).toBe("");
  });

  it.each([
    ["observed", [via("j")]],
    ["declared", [via("j", { observed: false, declared: true })]],
    ["possible", [via("j", { observed: false, possible: true })]],
    ["observed", [via("j", { observed: false, possible: true }), via("k")]],
  ])("draws an arrow as %s", (line, through) => {
    expect(pictureOf(drawing([node("a", 0), node("b", 1)], [edge("a", "b", { via: through })]), options()).picture.arrows[0]?.line).toBe(line);
  });

  it("lists 40 columns of the start and 8 of others, those that arrows meet first, in the schema's order", () => {
    const many = fields(...Array.from({ length: 50 }, (_, index) => `c${index}`));
    const graph = drawing(
      [node("a", 0, { columns: many, columns_total: 50 }), node("b", 1, { columns: many, columns_total: 70 })],
      [edge("a", "b", { columns: [mapping("c1", "c49"), mapping(null, "c2")] })],
    );
    const [a, b] = pictureOf(graph, options({ columns: true })).picture.boxes;
    expect([a?.rows.length, a?.rowsBeyond, b?.rows.length, b?.rowsBeyond]).toEqual([40, 10, 8, 62]);
    expect(b?.rows.map(({ name }) => name)).toEqual(["c0", "c1", "c2", "c3", "c4", "c5", "c6", "c49"]);
    const chosen = pictureOf(graph, options({ columns: true, column: { key: "b", name: "c33" } })).picture.boxes[1];
    expect(chosen?.rows.map(({ name }) => name)).toContain("c33");
    expect(pictureOf(graph, options()).picture.boxes.map(({ rows, rowsBeyond }) => [rows.length, rowsBeyond])).toEqual([[0, 0], [0, 0]]);
  });

  it("draws mappings of columns only where both ends are columns", () => {
    const graph = drawing([node("a", 0), node("b", 1)], [edge("a", "b", { columns: [mapping("x", "y"), mapping(null, "y"), mapping("x", "z", "INDIRECT")] })]);
    expect(pictureOf(graph, options({ columns: true })).picture.arrows[0]?.mappings).toEqual([
      { source: "x", target: "y", direct: true }, { source: "x", target: "z", direct: false },
    ]);
    expect(pictureOf(graph, options()).picture.arrows[0]?.mappings).toEqual([]);
  });

  it("colours datasets and columns by severity, and boxes by change", () => {
    const graph = drawing([node("a", 0, { columns: fields("id", "note") }), node("b", 1)]);
    const severities = new Map([[addressOf(asset("a")), "BREAKING"], [addressOf(column("a", "id")), "BREAKING"]]);
    const [a, b] = pictureOf(graph, options({ columns: true, severities, changes: new Map([["b", "ADDED"]]) })).picture.boxes;
    expect([a?.severity, a?.rows.map(({ severity }) => severity), b?.severity, a?.change, b?.change]).toEqual(["BREAKING", ["BREAKING", null], null, null, "ADDED"]);
  });

  it("marks the last run and quality, and opened sides", () => {
    const status = { last_run: { run_id: "r", state: "FAIL" as const, at: null }, quality: "PASSED" as const };
    const found = pictureOf(drawing([node("a", 0, { status }), node("b", 1)]), options({ open: ["down:a", "up:b:c"] })).picture.boxes;
    expect(found.map(({ lastRun, quality, opened }) => [lastRun, quality, opened])).toEqual([["bad", "good", ["down"]], [null, null, ["up"]]]);
  });
});

describe("the path of a column", () => {
  const start = column("orders", "id");

  it("is one box a dataset with its columns on the path, and arrows between columns", () => {
    const found = columnPath(start, [
      way("UPSTREAM", [column("raw", "key"), column("raw", "shop")], [["raw.key", "orders.id"], ["raw.shop", "orders.id"]]),
      way("DOWNSTREAM", [column("report", "id")], [["orders.id", "report.id"]]),
    ], true);
    expect(found.boxes.map(({ title, start: is, rows }) => [title, is, rows.map(({ name }) => name)])).toEqual([
      ["orders", true, ["id"]], ["raw", false, ["key", "shop"]], ["report", false, ["id"]],
    ]);
    expect(found.arrows.map(({ label, mappings }) => [label, mappings.length])).toEqual([["etl", 2], ["etl", 1]]);
    expect(found.total).toBe(4);
  });

  it("counts columns beyond those of the answers", () => {
    const found = columnPath(start, [way("UPSTREAM", [column("raw", "key")], [], 900)], true);
    expect([found.total, found.unlisted]).toEqual([901, 899]);
  });

  it("is incomplete where the column lineage of one way is", () => {
    const [up, down] = [way("UPSTREAM", [], []), way("DOWNSTREAM", [], [])];
    expect(columnPath(start, [up, down], true).complete).toBe(true);
    expect(columnPath(start, [up, { ...down, complete: false }], true).complete).toBe(false);
  });

  it("lists each mapping once, also that of a dataset that isn't drawn", () => {
    const all = Array.from({ length: 80 }, (_, index) => column(`d${index}`, "x"));
    const edges = all.map(({ key }): [string, string] => ["orders.id", key]);
    const { mappings } = columnPath(start, [way("UPSTREAM", [], edges.slice(0, 1)), way("DOWNSTREAM", all, edges)], false);
    expect(mappings.map(({ key }) => key)).toEqual(edges.map(([from, to]) => `${from}>${to}`));
    expect(mappings[79]).toMatchObject({ source: { column: "id" }, target: { column: "x", name: "d79" }, jobs: [{ name: "etl" }], jobsBeyond: 0 });
  });

  it("has no more than 60 boxes, and no arrow to what isn't drawn", () => {
    const all = Array.from({ length: 80 }, (_, index) => column(`d${index}`, "x"));
    const found = columnPath(start, [way("DOWNSTREAM", all, all.map(({ key }) => ["orders.id", key]))], false);
    expect([found.boxes.length, found.arrows.length, found.undrawn]).toEqual([60, 59, 21]);
  });
});

describe("changes", () => {
  const before = drawing([node("a", 0), node("old", 1)], [edge("a", "old"), edge("a", "a")]);
  const after = drawing([node("a", 0), node("new", 1)], [edge("a", "new"), edge("a", "a", { via: [via("other")] })]);

  it("are what was added, removed, and made by other jobs", () => {
    expect([...changesBetween(before, after)].sort()).toEqual([
      ["a>a", "CHANGED"], ["a>new", "ADDED"], ["a>old", "REMOVED"], ["new", "ADDED"], ["old", "REMOVED"],
    ]);
    expect(changesBetween(before, before).size).toBe(0);
  });

  it("are texts of the datasets of a table: their own, and those of arrows that lead to them", () => {
    const both = withRemoved(before, after);
    const texts = changeTexts(both, changesBetween(before, after));
    expect([...texts]).toEqual([["new", ["added", "flow from a added"]], ["old", ["removed", "flow from a removed"]], ["a", ["flow from a changed"]]]);
    const shown = columnsOf(null, new Map(), texts).find(({ name }) => name === "change");
    expect(both.nodes.map((each) => shown?.value?.(each))).toEqual(["flow from a changed", "added; flow from a added", "removed; flow from a removed"]);
    expect(columnsOf(null).some(({ name }) => name === "change")).toBe(false);
  });

  it("keep what is no more in the picture", () => {
    const both = withRemoved(before, after);
    expect(both.nodes.map(({ asset: { key } }) => key)).toEqual(["a", "new", "old"]);
    expect(both.edges.map(({ key }) => key)).toEqual(["a>new", "a>a", "a>old"]);
  });
});

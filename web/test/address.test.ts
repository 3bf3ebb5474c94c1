import { describe, expect, it } from "vitest";

import { altered, place, read, written, DATASET_TABS, PANEL_TABS, RUN_TABS, type Place, type Route } from "../src/app/address";

const PATHS: Record<Route, [readonly string[], readonly string[]]> = {
  home: [[], [""]], search: [[], [""]], dataset: [["namespace", "name"], DATASET_TABS], column: [["namespace", "name", "column"], [""]],
  job: [["namespace", "name"], ["overview", "runs", "timeline"]], run: [["id"], RUN_TABS], consumer: [["key"], [""]], incidents: [[], [""]], incident: [["id"], [""]], checks: [[], [""]],
  trace: [[], [""]], blast: [[], [""]], diff: [[], [""]],
};
const ROUTES = Object.keys(PATHS) as Route[];
const HOSTILE = ["/", "?", "#", "%", ",", "~", "~.", "&", "=", "+", " ", "..", "%2F", "%zz", "a/b", "é", "表", "\u202e", "😀", "<b>", "\"", "'", ":", "//", "\n", "columns"];
const ONE_OF: Record<string, string[]> = { view: ["graph", "table"], group: ["namespace", "owner", "tag", "type"], panel: [...PANEL_TABS], role: ["READ"], "dataset.direction": ["UPSTREAM", "DOWNSTREAM"], "trace.direction": ["BACKWARD"] };
const TIMES = new Set(["since", "from", "until", "time", "before", "after"]);

/** Mulberry32: the same numbers each time. */
function seeded(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function anyPlace(route: Route, random: () => number): Place {
  const one = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  const name = (): string => Array.from({ length: 1 + Math.floor(random() * 4) }, () => one(random() < 0.6 ? HOSTILE : ["orders", "db", "x1"])).join("");
  const [parts, tabs] = PATHS[route];
  const empty = place(route, Object.fromEntries(parts.map((part) => [part, name()])) as never) as Place;
  const query = Object.entries(empty.query).filter(() => random() < 0.4).map(([key, usual]: [string, unknown]): [string, unknown] => {
    const values = ONE_OF[`${route}.${key}`] ?? ONE_OF[key];
    if (values) return [key, one(values)];
    if (key === "zoom") return [key, { zoom: one([0.05, 0.333, 1, 2.5]), x: one([0, -1, 4321]), y: one([-99_999, 12]) }];
    if (TIMES.has(key)) return [key, "2026-11-23T08:15:00.123456+00:00"];
    if (typeof usual === "boolean") return [key, true];
    if (Array.isArray(usual)) return [key, Array.from({ length: 1 + Math.floor(random() * 3) }, name)];
    return [key, typeof usual === "number" ? one(["all", 2, 17]) : name()];
  });
  return { ...altered(empty, Object.fromEntries(query) as never), tab: one(tabs), asOf: random() < 0.3 ? "2026-01-01T00:00:00Z" : "" } as Place;
}

describe("an address", () => {
  it.each(ROUTES)("of %s comes back as the place that it was written of", (route) => {
    const random = seeded(ROUTES.indexOf(route) + 1);
    for (let round = 0; round < 300; round++) {
      const to = anyPlace(route, random);
      const address = written(to);
      expect(read(address), address).toEqual(to);
      // A browser keeps it as it is: nothing in it ends it, splits it, or is written otherwise.
      expect(new URL(address, "http://127.0.0.1/").hash, address).toBe(address);
    }
  });

  it("has no defaults", () => {
    expect(written(place("home", {}))).toBe("#/");
    expect(written(place("dataset", { namespace: "db", name: "orders" }))).toBe("#/dataset/db/orders");
    expect(written(place("dataset", { namespace: "db", name: "orders" }, { tab: "lineage", query: { depth: 1, direction: "BOTH", view: "", open: [] } }))).toBe("#/dataset/db/orders");
    expect(written(place("run", { id: "r" }, { tab: "plan" }))).toBe("#/run/r/plan");
  });

  it("is readable", () => {
    expect(written(place("dataset", { namespace: "kafka://h:9092", name: "orders" }, { query: { depth: "all", owner: ["a,b", "c"], panel: "jobs", zoom: { zoom: 0.85, x: 120, y: -40 } }, asOf: "2026-01-01T00:00:00Z" })))
      .toBe("#/dataset/kafka:%2F%2Fh:9092/orders?depth=all&panel=jobs&zoom=0.85,120,-40&owner=a~.b,c&asof=2026-01-01T00:00:00Z");
  });

  it.each(["#/nowhere", "#/dataset", "#/dataset/only", "#/dataset/a/b/nothing", "#/dataset/a/b/columns/more", "#/dataset//b", "#/run/%zz", "#/constructor", "#orders"])(
    "%s is none", (hash) => expect(read(hash)).toBeNull());

  it.each(["", "#", "#/"])("%j is home", (hash) => expect(read(hash)?.route).toBe("home"));

  it("takes the default for what it can't read", () => {
    const at = read("#/dataset/a/b?depth=-1&direction=SIDEWAYS&since=soon&view=cube&columns=yes&asof=never&panel=sql&role=WROTEREAD&else=1");
    expect(at).toEqual(place("dataset", { namespace: "a", name: "b" }));
  });

  it.each(["", "2", "1,2", "1,2,3,4", "-1,2,3", "0.01,0,0", "9,0,0", "1,2.5,3", "1e1,2,3", "1,9999999,3", "NaN,1,1"])("has no view by %j", (zoom) => {
    expect(read(`#/dataset/a/b?zoom=${zoom}`)).toEqual(place("dataset", { namespace: "a", name: "b" }));
  });

  it("takes the default of hops for none", () => {
    const at = read("#/dataset/a/b?depth=");
    expect(at).toEqual(place("dataset", { namespace: "a", name: "b" }));
  });

  it("has no more than 99 hops", () => {
    expect(read("#/dataset/a/b?depth=12345")?.query).toMatchObject({ depth: 99 });
  });
});

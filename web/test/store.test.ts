import { describe, expect, it } from "vitest";

import { Store } from "../src/store";
import { dataset, flow, graph } from "./made";

const columns = [{ key: "c", name: "id", type: "bigint" }];

describe("an answer", () => {
  it("adds what is new and keeps the first start", () => {
    const store = new Store();
    expect(store.merge(graph("a", [dataset("a"), dataset("b")], [flow("a", "b")]))).toBe(2);
    expect(store.merge(graph("b", [dataset("b"), dataset("c")], [flow("b", "c")]))).toBe(1);
    expect(store.start).toBe("a");
    expect([...store.datasets.keys()]).toEqual(["a", "b", "c"]);
    expect([...store.flows.keys()]).toEqual(["a>b", "b>c"]);
  });

  it("doesn't forget columns that it is silent about, and replaces those that it has", () => {
    const store = new Store();
    const mapping = [{ source: "x", target: "c", job: "j", transformation: { type: "DIRECT" as const, kind: "IDENTITY", subtype: null, masking: false, expression: null } }];
    store.merge(graph("a", [dataset("a", { columns, columns_total: 1 }), dataset("b")], [flow("a", "b", { columns: mapping, columns_total: 1 })]));
    store.merge(graph("a", [dataset("a")], [flow("a", "b")]));
    expect(store.datasets.get("a")).toMatchObject({ columns, columns_total: 1 });
    expect(store.flows.get("a>b")).toMatchObject({ columns: mapping, columns_total: 1 });
    store.merge(graph("a", [dataset("a", { columns: [], columns_total: 0 })], [flow("a", "b", { columns_total: 0 })]));
    expect(store.datasets.get("a")).toMatchObject({ columns: [], columns_total: 0 });
    expect(store.flows.get("a>b")).toMatchObject({ columns: [], columns_total: 0 });
  });

  it("lowers how many neighbours are missing once others bring them", () => {
    const store = new Store();
    store.merge(graph("a", [dataset("a"), dataset("b", { more_upstream: 1, more_downstream: 2 })], [flow("a", "b")]));
    expect(store.datasets.get("b")).toMatchObject({ more_upstream: 1, more_downstream: 2 });
    store.merge(graph("c", [dataset("c"), dataset("b", { more_upstream: 2, more_downstream: 1 })], [flow("b", "c")]));
    expect(store.datasets.get("b")).toMatchObject({ more_upstream: 1, more_downstream: 1 });
  });

  it("counts a dataset that writes itself as nobody's neighbour", () => {
    const store = new Store();
    store.merge(graph("a", [dataset("a", { more_upstream: 1 })], [flow("a", "a")]));
    expect(store.datasets.get("a")).toMatchObject({ more_upstream: 1, more_downstream: 0 });
    expect(store.upstream("a")).toEqual([]);
    expect(store.downstream("a")).toEqual([]);
  });
});

it("knows both neighbourhoods", () => {
  const store = new Store();
  store.merge(graph("b", ["a", "b", "c", "d"].map((key) => dataset(key)), [flow("a", "b"), flow("b", "c"), flow("b", "d")]));
  expect(store.upstream("b")).toEqual(["a"]);
  expect(store.downstream("b")).toEqual(["c", "d"]);
});

it("forgets everything but how columns are shown", () => {
  const store = new Store();
  store.merge(graph("a", [dataset("a"), dataset("b")], [flow("a", "b")]));
  store.selection = { kind: "dataset", key: "a" };
  store.severities.set("a", "CRITICAL");
  store.supposed = { dataset: "a", change: "drop", column: null };
  store.showColumns = true;
  store.clear();
  expect([store.start, store.selection, store.impact, store.supposed]).toEqual([null, null, null, null]);
  expect([store.datasets.size, store.flows.size, store.severities.size]).toEqual([0, 0, 0]);
  expect(store.showColumns).toBe(true);
  store.merge(graph("z", [dataset("z")]));
  expect(store.start).toBe("z");
});

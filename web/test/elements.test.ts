// @vitest-environment happy-dom
import { describe, expect, it } from "vitest";

import { elements } from "../src/elements";
import { Store } from "../src/store";
import { asset, dataset, flow, graph } from "./made";

const made = { job: asset("j", { kind: "JOB", name: "etl" }), first_seen: null, last_seen: null, observed: true, declared: false, possible: false, incomplete: null };

describe("an arrow", () => {
  it.each([
    ["observed", [made], ""],
    ["declared", [{ ...made, observed: false, declared: true }], "declared"],
    ["possible", [{ ...made, observed: false, possible: true }], "possible"],
    ["possible by one job, observed by another", [{ ...made, observed: false, possible: true }, made], ""],
  ])("of what is %s", async (_, via, marked) => {
    const store = new Store();
    store.merge(graph("a", [dataset("a"), dataset("b")], [flow("a", "b", { via })]));
    const arrow = (await elements(store)).find((one) => one.data.kind === "flow");
    expect(String(arrow?.classes).split(" ").filter((name) => name === "declared" || name === "possible").join()).toBe(marked);
  });
});

// @vitest-environment happy-dom
import { describe, expect, it } from "vitest";

import { planText } from "../src/views/plan";

const plan = (more: Partial<Parameters<typeof planText>[0]>) => planText({ steps: [], clean_again: 0, nothing_left: false, complete: true, unknown: [], spreading: [], ...more });

describe("the heading of a plan", () => {
  it("states that nothing is left only where all is known", () => {
    expect(plan({ nothing_left: true, clean_again: 2 })).toBe("nothing is left to repair; 2 steps of the reach clean again");
    expect(plan({ complete: false })).toBe("nothing that is known is left to repair; there may be more to repair");
    expect(plan({ complete: false, unknown: ["who wrote it", "some parts"] })).toBe("nothing that is known is left to repair; not known: who wrote it, some parts");
    expect(plan({ spreading: ["a query"] })).toBe("nothing that is known is left to repair; 1 query may still spread");
  });
});

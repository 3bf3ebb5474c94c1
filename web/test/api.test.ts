// @vitest-environment happy-dom
import { describe, expect, it } from "vitest";

import { part, question, spelled } from "../src/app/api";

describe("a question", () => {
  it("leaves out what isn't given, and repeats lists", () => {
    expect(question("search")).toBe("search");
    expect(question("search", { q: "", owner: null, tag: undefined, facets: false, type: [], kind: ["DATASET", "JOB"], limit: 0, all: true })).toBe("search?kind=DATASET&kind=JOB&limit=0&all=true");
  });

  it("escapes names from outside", () => {
    expect(question(`assets/${part("kafka://h/a?b#c%")}`, { q: "a&b=c+d #é" })).toBe("assets/kafka%3A%2F%2Fh%2Fa%3Fb%23c%25?q=a%26b%3Dc%2Bd+%23%C3%A9");
  });
});

describe("namespace and name", () => {
  it.each([
    ["kafka://b:9092", "orders", "kafka://b:9092/orders"], ["file", "/lake/t", "file:/lake/t"], ["s3://bucket", "/lake/t", "s3://bucket/lake/t"],
  ])("of %s and %s are %s", (namespace, name, word) => expect(spelled({ namespace, name })).toBe(word));
});

import { describe, expect, it } from "vitest";

import { ago, count, duration, headline, number, offsets, parted, shortened, spelling, time, title, utc, visible } from "../src/app/format";
import type { Impact } from "../src/app/answers";
import { asset } from "./recorded";

describe("values", () => {
  it.each([[null, "–"], [undefined, "–"], [0, "0"], [999, "999"], [1234567, "1,234,567"], [-1234.56789, "-1,234.56789"]])("writes the number %s as %s", (value, text) => {
    expect(number(value)).toBe(text);
  });

  it.each([
    [null, "–"], ["", "–"],
    ["2024-05-01T10:00:07Z", "2024-05-01 10:00:07 UTC"],
    ["2024-05-01T10:00:07.123456+00:00", "2024-05-01 10:00:07 UTC"],
  ])("writes the time %s in UTC as %s", (iso, text) => {
    expect(utc(iso)).toBe(text);
  });

  it("writes a time in the viewer's zone", () => {
    // Without a zone, a time is of the viewer's own.
    expect(time(new Date("2024-05-01T10:00:07").toISOString())).toBe("2024-05-01 10:00:07");
    expect([time(null), time(""), time("soon")]).toEqual(["–", "–", "soon"]);
  });

  it.each([
    [0, "0 s ago"], [89, "89 s ago"], [90, "2 min ago"], [5_399, "90 min ago"], [5_400, "2 h ago"], [129_599, "36 h ago"], [129_600, "2 d ago"], [-120, "in 2 min"],
  ])("writes what was %s seconds ago as %s", (seconds, text) => {
    const now = Date.parse("2024-05-01T10:00:07Z");
    expect(ago(new Date(now - seconds * 1_000).toISOString(), now)).toBe(text);
  });

  it("writes how long ago it was only of a time", () => {
    expect(ago("soon")).toBe("–");
  });

  it.each([
    [null, "–"], [0, "0 ms"], [999.4, "999 ms"], [1_000, "1.0 s"], [59_940, "59.9 s"], [60_000, "1 min 0 s"],
    [125_000, "2 min 5 s"], [3_600_000, "1.0 h"], [5_400_000, "1.5 h"], [-400, "–"],
  ])("writes %s ms as %s", (ms, text) => {
    expect(duration(ms)).toBe(text);
  });

  it("says that nothing is hit only where nothing is unknown", () => {
    const board = { severity: "BREAKING" as const } as Impact["hit_consumers"][number];
    expect([
      headline({ severity: "NONE", total: 0, hit_consumers: [] }),
      headline({ severity: "UNKNOWN", total: 0, hit_consumers: [] }),
      headline({ severity: "BREAKING", total: 0, hit_consumers: [board] }),
      headline({ severity: "BREAKING", total: 2, hit_consumers: [board] }),
    ]).toEqual(["Nothing is hit", "UNKNOWN who is hit", "1 consumer hit", "2 assets and 1 consumer hit"]);
  });

  it("counts one and many", () => {
    expect([count(0, "run"), count(1, "run"), count(1_200, "run"), count(2, "batch", "batches")]).toEqual([
      "0 runs", "1 run", "1,200 runs", "2 batches",
    ]);
  });
});

describe("names", () => {
  it.each([
    ["invoice\u202excod.exe", "invoice\\u202excod.exe"], ["a\tb\nc\rd", "a\\tb\\nc\\rd"], ["\u0007", "\\x07"],
    ["a\u00a0b", "a\\xa0b"], ["a\u200bb", "a\\u200bb"], ["\u{e0041}", "\\U000e0041"], ["a\u2800b", "a\\u2800b"],
    ["a\ufe0fb", "a\\ufe0fb"], ["plain text, größer, 表", "plain text, größer, 表"],
  ])("shows what can't be seen of %j", (text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  it("are the title where there is one", () => {
    expect(title(asset("k", { name: "/lake/t" }))).toBe("/lake/t");
    expect(title(asset("k", { title: "t\u200b" }))).toBe("t\\u200b");
  });

  it("keep head and tail when they are long", () => {
    expect(shortened("0123456789", 10)).toBe("0123456789");
    const short = shortened("abcdefghijklmnopqrstuvwxyz", 11);
    expect(short).toBe("abcdef…wxyz");
    expect(short).toHaveLength(11);
  });

  it("are spelled as the API reads them", () => {
    expect(spelling(asset("k", { namespace: "kafka://b:9092", name: "orders" }))).toBe("kafka://b:9092/orders");
    expect(spelling(asset("k", { namespace: "file", name: "/lake/t" }))).toBe("file:/lake/t");
    expect(spelling(asset("k", { namespace: "s3://bucket", name: "/lake/t" }))).toBe("s3://bucket/lake/t");
  });

  it.each([
    ["postgres://h", "db.schema.orders", null, "TABLE", "orders", "db.schema"],
    ["postgres://h", "schema.orders", null, "TABLE", "schema.orders", ""],
    ["s3://b", "/lake/silver/t", null, "FILE", "t", "lake/silver"],
    ["s3://b", "/lake/silver/t", "silver.t", "TABLE", "silver.t", "lake/silver"],
    ["kafka://h:9092", "eu.orders.created.v1", null, "TOPIC", "eu.orders.created.v1", ""],
    ["kafka://h:9092", "eu.orders.created.v1", null, null, "eu.orders.created.v1", ""],
    ["pulsar://h", "eu.orders.created", null, "TOPIC", "eu.orders.created", ""],
    ["kafka://h:9092", "eu.orders.created", "orders", "TOPIC", "orders", ""],
  ])("have a last part and what stands before it: %s %s", (namespace, name, given, type, last, before) => {
    expect(parted({ namespace, name, title: given, type })).toEqual({ last, before });
  });
});

describe("offsets", () => {
  it("are half-open, one alone by itself, and nothing where nothing is new", () => {
    const range = (partition: number, start: number, end: number) => ({ partition, start, end });
    expect(offsets([range(0, 609, 994), range(1, 7, 8), range(2, 5, 5)])).toBe("0:609..994, 1:7");
    expect(offsets([range(2, 5, 5)])).toBe("nothing new");
    expect(offsets([])).toBe("nothing new");
  });
});

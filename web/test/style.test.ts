// @vitest-environment happy-dom
import { describe, expect, it } from "vitest";

import { READABLE, sizeOf } from "../src/stage/elements";
import { svg } from "../src/stage/export";
import { layers } from "../src/stage/layout";
import { arrow, box } from "../src/stage/picture";
import { style } from "../src/stage/style";

describe("texts of a picture", () => {
  it("are all 10 px high at the zoom at which it is first shown", () => {
    const sizes = (style() as { selector: string; style: Record<string, unknown> }[]).flatMap(({ selector, style: { "font-size": size } }) => (size === undefined ? [] : [[selector, Number(size) * READABLE] as const]));
    expect(sizes.length).toBeGreaterThan(5);
    expect(sizes.filter(([, size]) => !(size >= 9.999))).toEqual([]);
  });

  it("are so in files, too", () => {
    const boxes = [
      box({ key: "a", title: "a", under: "topic", rows: [{ name: "id", type: null }], rowsBeyond: 2, up: 3, quality: "good", tainted: true }),
      box({ key: "b", title: "b" }),
    ];
    const arrows = [arrow({ source: "a", target: "b", label: "etl" })];
    const sizes = [...svg({ boxes, arrows }, layers(boxes.map(sizeOf), arrows), "caption").matchAll(/font-size="([^"]*)"/g)].map(([, size]) => Number(size));
    expect(sizes.length).toBeGreaterThan(8);
    expect(sizes.filter((size) => !(size * READABLE >= 9.999))).toEqual([]);
  });
});

import { describe, expect, it, vi } from "vitest";

import { layers, layout, type Line, type Point, type Size } from "../src/stage/layout";

const sizes = (...keys: string[]): Size[] => keys.map((key) => ({ key, width: 240, height: 46, door: 23 }));
const lines = (...pairs: string[]): Line[] => pairs.map((key) => ({ key, source: key[0] as string, target: key[2] as string }));
const across = (boxes: Size[], arrows: Line[]): number[] => boxes.map(({ key }) => (layers(boxes, arrows).places.get(key)?.x ?? NaN) / 410);

describe("layers", () => {
  it("stand one behind the last that leads to them", () => {
    expect(across(sizes("a", "b", "c", "d"), lines("a>b", "b>c", "a>c", "c>d"))).toEqual([0, 1, 2, 3]);
  });

  it("bear cycles and arrows of a dataset to itself", () => {
    const found = across(sizes("a", "b", "c"), lines("a>b", "b>c", "c>a", "b>b"));
    expect([...found].sort()).toEqual([0, 1, 2]);
  });

  it("don't overlap", () => {
    const boxes = sizes("a", "b", "c", "d", "e").map((one, index) => ({ ...one, height: 46 + index * 100 }));
    const { places } = layers(boxes, lines("a>b", "a>c", "a>d", "a>e"));
    const column = boxes.slice(1).map(({ key, height }) => [places.get(key)?.y ?? NaN, height] as const).sort(([left], [right]) => left - right);
    column.slice(1).forEach(([y], index) => expect(y).toBeGreaterThanOrEqual((column[index]?.[0] ?? NaN) + (column[index]?.[1] ?? NaN)));
  });

  it("bear a chain of any length", () => {
    const boxes = Array.from({ length: 5_000 }, (_, index): Size => ({ key: `n${index}`, width: 240, height: 46, door: 23 }));
    const chain = boxes.slice(1).map(({ key }, index): Line => ({ key: `${index}`, source: `n${index}`, target: key }));
    expect(layers(boxes, chain).places.get("n4999")?.x).toBe(4_999 * 410);
  });
});

describe("a picture of one hop", () => {
  // A worker there is none here: whatever needs ELK warns, and has no routes.
  it("is laid out at once, and its arrows touch both their boxes", async () => {
    const boxes = sizes("a", "b", "c", "d", "e");
    const arrows = lines("a>c", "b>c", "c>d", "c>e", "c>c");
    const { places, routes } = await layout(boxes, arrows);
    expect(boxes.map(({ key }) => (places.get(key)?.x ?? NaN) / 430)).toEqual([-1, -1, 0, 1, 1]);
    for (const { key, source, target } of arrows.slice(0, 4)) {
      const [first, last] = [routes.get(key)?.[0], routes.get(key)?.at(-1)];
      expect(first).toEqual({ x: (places.get(source)?.x ?? NaN) + 240, y: (places.get(source)?.y ?? NaN) + 23 });
      expect(last).toEqual({ x: places.get(target)?.x, y: (places.get(target)?.y ?? NaN) + 23 });
    }
  });

  it("has the box of those that aren't drawn beside the centre", async () => {
    const boxes = sizes("a", "b", "c", "d", "e").map((one) => ({ ...one, group: one.key === "e" }));
    const { places } = await layout(boxes, lines("a>b", "a>c", "a>d", "a>e"));
    const down = ["b", "c", "d", "e"].sort((one, other) => (places.get(one)?.y ?? NaN) - (places.get(other)?.y ?? NaN));
    expect(down).toEqual(["b", "c", "e", "d"]);
  });

  it("has arrows that pass the centre by, and arrows within a side", async () => {
    const { places, routes, labels } = await layout(sizes("a", "b", "c", "d", "e"), lines("a>c", "b>c", "c>d", "c>e", "a>d", "a>b", "d>e"));
    const centre = { x: places.get("c")?.x ?? NaN, y: places.get("c")?.y ?? NaN };
    const inside = ({ x, y }: Point): boolean => x >= centre.x && x <= centre.x + 240 && y >= centre.y && y <= centre.y + 46;
    expect([...(labels ?? [])].filter(([, at]) => at === null).map(([key]) => key)).toEqual(["a>d", "a>b", "d>e"]);
    expect([labels?.get("a>c"), labels?.get("c>e")]).toEqual(["at-source", "at-target"]);
    for (const key of ["a>d", "a>b", "d>e"]) {
      const route = routes.get(key) as Point[];
      // Each part is level or upright, so its ends and its middle say whether it crosses the centre.
      route.slice(1).forEach((to, index) => {
        const from = route[index] as Point;
        expect(from.x === to.x || from.y === to.y).toBe(true);
        for (const share of [0, 0.25, 0.5, 0.75, 1]) expect(inside({ x: from.x + share * (to.x - from.x), y: from.y + share * (to.y - from.y) })).toBe(false);
      });
    }
    expect((routes.get("a>b") ?? []).every(({ x }) => x <= (places.get("a")?.x ?? NaN))).toBe(true);
    expect((routes.get("d>e") ?? []).every(({ x }) => x >= (places.get("d")?.x ?? NaN) + 240)).toBe(true);
  });

  it.each([
    ["a box on both sides", ["a>c", "c>a", "b>c"]],
    ["a box without arrows", ["a>c"]],
    ["a second hop", ["a>b", "b>c", "c>d"]],
    ["an arrow back", ["a>c", "c>b", "b>a"]],
  ])("isn't one with %s", async (_name, pairs) => {
    const boxes = sizes(...new Set(["a", "b", "c", ...pairs.flatMap((pair) => pair.split(">"))]));
    const warned = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const { routes } = await layout(boxes, lines(...pairs));
    expect(routes.size).toBe(0);
    expect(warned).toHaveBeenCalledOnce();
    warned.mockRestore();
  });
});

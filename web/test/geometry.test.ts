import { describe, expect, it } from "vitest";

import { corners, pulls, viewOf } from "../src/stage/geometry";

describe("corners", () => {
  it("are shares of the way, and distances to its side", () => {
    const found = corners({ x: 0, y: 0 }, { x: 100, y: 0 }, [{ x: 25, y: 10 }, { x: 75, y: -5 }]);
    expect(found.weights).toEqual([0.25, 0.75]);
    expect(found.distances).toEqual([10, -5]);
  });

  it("come back as the points that they were made of", () => {
    const [from, to, through] = [{ x: 10, y: 20 }, { x: 40, y: 60 }, [{ x: 15, y: 50 }, { x: 70, y: 1 }]];
    const { weights, distances } = corners(from, to, through);
    // Cytoscape's own way back: along the arrow, and by the arrow turned by (x, y) => (-y, x).
    const length = Math.hypot(30, 40);
    const back = weights.map((weight, at) => ({
      x: from.x + weight * 30 - ((distances[at] ?? 0) * 40) / length,
      y: from.y + weight * 40 + ((distances[at] ?? 0) * 30) / length,
    }));
    back.forEach((point, at) => {
      expect(point.x).toBeCloseTo(through[at]?.x ?? NaN);
      expect(point.y).toBeCloseTo(through[at]?.y ?? NaN);
    });
  });

  it("are finite for an arrow of no length", () => {
    const found = corners({ x: 5, y: 5 }, { x: 5, y: 5 }, [{ x: 6, y: 7 }]);
    expect([...found.weights, ...found.distances].every(Number.isFinite)).toBe(true);
  });
});

describe("pulls", () => {
  it("leave to the right and arrive from the left", () => {
    expect(pulls({ x: 0, y: 1 }, { x: 200, y: 9 })).toEqual([{ x: 80, y: 1 }, { x: 120, y: 9 }]);
  });

  it("reach 40 pixels at least, backwards too", () => {
    expect(pulls({ x: 0, y: 0 }, { x: 10, y: 0 })).toEqual([{ x: 40, y: 0 }, { x: -30, y: 0 }]);
    expect(pulls({ x: 300, y: 0 }, { x: 0, y: 0 })).toEqual([{ x: 420, y: 0 }, { x: -120, y: 0 }]);
  });
});

describe("the view of a picture", () => {
  const spot = (x: number, y: number, start = false) => ({ x, y, width: 240, height: 46, start });
  const room = { width: 1_000, height: 600 };

  it("has all of it in the middle, no nearer than is comfortable", () => {
    expect(viewOf([spot(0, 0, true), spot(300, 0)], [], room, 0.77, 1.15)).toEqual({ zoom: 1.15, pan: { x: 500 - 270 * 1.15, y: 300 - 23 * 1.15 } });
  });

  it("shows the start where all of it would be too small to read, and no empty half", () => {
    const far = Array.from({ length: 40 }, (_, index) => spot(430, index * 76));
    const found = viewOf([spot(0, 1_482, true), ...far], [], room, 0.77, 1.15);
    expect(found?.zoom).toBe(0.77);
    expect((found?.pan.y ?? NaN) + (1_482 + 23) * 0.77).toBeCloseTo(300);
    const top = viewOf([spot(0, 0, true), ...far], [], room, 0.77, 1.15);
    expect(top?.pan.y).toBe(40);
    expect(viewOf(far, [], room, 0.05, 1.15)?.zoom).toBeCloseTo(520 / (39 * 76 + 46));
  });

  it("counts turns of arrows, and is nothing without boxes", () => {
    expect(viewOf([spot(0, 0, true)], [{ x: 5_000, y: 0 }], room, 0.05, 1.15)?.zoom).toBeCloseTo(920 / 5_000);
    expect(viewOf([], [], room, 0.05, 1.15)).toBeNull();
  });
});

// Cytoscape wants an arrow's corners as shares of the way and distances to its side.

import type { Point } from "./layout";

export interface Corners {
  weights: number[];
  distances: number[];
}

/** Corners of an arrow from `from` to `to`; both are on the arrow, neither is among the corners. */
export function corners(from: Point, to: Point, through: Point[]): Corners {
  const x = to.x - from.x;
  const y = to.y - from.y;
  const length = Math.hypot(x, y) || 1;
  const weights: number[] = [];
  const distances: number[] = [];
  for (const point of through) {
    const px = point.x - from.x;
    const py = point.y - from.y;
    weights.push((px * x + py * y) / (length * length));
    distances.push((py * x - px * y) / length);
  }
  return { weights, distances };
}

/** Points that pull a curve from `from` to the right, and into `to` from the left. */
export function pulls(from: Point, to: Point): Point[] {
  const reach = Math.max(40, Math.abs(to.x - from.x) * 0.4);
  return [
    { x: from.x + reach, y: from.y },
    { x: to.x - reach, y: to.y },
  ];
}

const MARGIN = 40;

interface Spot extends Point {
  width: number;
  height: number;
  start: boolean;
}

/**
 * Zoom and pan that show all boxes and turns of arrows; where that is less than `least`, the start in the middle, with no
 * empty half where the picture lies on one side of it. Null without boxes. Cytoscape's own would measure every label.
 */
export function viewOf(boxes: readonly Spot[], turns: readonly Point[], room: { width: number; height: number }, least: number, most: number): { zoom: number; pan: Point } | null {
  const start = boxes.find((one) => one.start) ?? boxes[0];
  if (!start || room.width <= 0 || room.height <= 0) return null;
  const axis = (low: "x" | "y", size: "width" | "height"): { low: number; high: number; start: number; room: number } => ({
    low: Math.min(...boxes.map((one) => one[low]), ...turns.map((one) => one[low])),
    high: Math.max(...boxes.map((one) => one[low] + one[size]), ...turns.map((one) => one[low])),
    start: start[low] + start[size] / 2,
    room: room[size],
  });
  const [x, y] = [axis("x", "width"), axis("y", "height")];
  const inside = (one: typeof x): number => Math.max(1, one.room - 2 * MARGIN) / (one.high - one.low);
  const zoom = Math.max(least, Math.min(inside(x), inside(y), most));
  const pan = (one: typeof x): number => {
    if ((one.high - one.low) * zoom <= one.room - 2 * MARGIN + 1) return (one.room - (one.low + one.high) * zoom) / 2;
    const centred = one.room / 2 - one.start * zoom;
    return Math.max(Math.min(centred, MARGIN - one.low * zoom), one.room - MARGIN - one.high * zoom);
  };
  return { zoom, pan: { x: pan(x), y: pan(y) } };
}

let pencil: CanvasRenderingContext2D | null = null;

/** A text's width on the canvas, in pixels. */
export function width(text: string, font: string): number {
  pencil ??= document.createElement("canvas").getContext("2d");
  if (!pencil) return text.length * 7;
  pencil.font = font;
  return pencil.measureText(text).width;
}

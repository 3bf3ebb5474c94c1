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

let pencil: CanvasRenderingContext2D | null = null;

/** A text's width on the canvas, in pixels. */
export function width(text: string, font: string): number {
  pencil ??= document.createElement("canvas").getContext("2d");
  if (!pencil) return text.length * 7;
  pencil.font = font;
  return pencil.measureText(text).width;
}

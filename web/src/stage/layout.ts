// Where datasets stand, left to right, and how arrows go around them: ELK's layered layout, in a worker. A picture of one
// hop, as the first of a dataset is, needs no crossing minimised, and doesn't wait until a worker of 1.6 MB is compiled.

import ELK, { type ElkExtendedEdge, type ElkNode } from "elkjs/lib/elk-api.js";

export interface Point {
  x: number;
  y: number;
}

export interface Size {
  key: string;
  width: number;
  height: number;
  /** Where arrows leave and enter, down from its top: its head's middle, as below are columns' rows. */
  door: number;
}

export interface Line {
  key: string;
  source: string;
  target: string;
}

export interface Placed {
  /** Each box's top left. */
  places: Map<string, Point>;
  /** Each arrow's corners, from where it leaves its source to where it meets its target. */
  routes: Map<string, Point[]>;
}

const GAP = { across: 170, down: 30 };
const SWEEPS = 8;
/** From the centre of a star to where the arrows of a side meet: labels have the room beyond. */
const SHARED = 24;
/** The worker's start takes a processor for a second: not from the first picture. */
const AFTER_FIRST_PICTURE_MS = 1_000;

let elk: InstanceType<typeof ELK> | null = null;

/** Start the worker, and have it compute once: that compiles most of it. */
function prepare(): void {
  try {
    if (elk) return;
    elk = new ELK({ workerUrl: "elk-worker.min.js" });
    const box = (key: string): Size => ({ key, width: 1, height: 1, door: 1 });
    elk.layout(graph([box("a"), box("b")], [{ key: "a>b", source: "a", target: "b" }])).catch(() => undefined);
  } catch {
    // `layout` says so.
  }
}

export async function layout(boxes: Size[], arrows: Line[]): Promise<Placed> {
  const centre = centreOf(boxes, arrows);
  if (centre) {
    setTimeout(prepare, AFTER_FIRST_PICTURE_MS);
    return star(boxes, arrows, centre);
  }
  try {
    elk ??= new ELK({ workerUrl: "elk-worker.min.js" });
    return read(await elk.layout(graph(boxes, arrows)));
  } catch (error) {
    // A browser that allows no workers, or a graph that ELK can't do: plain layers, straight arrows.
    console.warn("headwater: drawn without ELK:", error);
    return layers(boxes, arrows);
  }
}

/** Box that is at one end of every arrow, where every other box is at one side of it only; null if there is none. */
function centreOf(boxes: Size[], arrows: Line[]): Size | null {
  const between = arrows.filter(({ source, target }) => source !== target);
  const ends = new Set(between.flatMap(({ source, target }) => [source, target]));
  if (boxes.length !== Math.max(ends.size, 1)) return null;
  return boxes.find(({ key }) => {
    const before = new Set(between.filter(({ target }) => target === key).map(({ source }) => source));
    const after = new Set(between.filter(({ source }) => source === key).map(({ target }) => target));
    return between.every(({ source, target }) => source === key || target === key) && [...before].every((one) => !after.has(one));
  }) ?? null;
}

/** Three layers around the centre; arrows of a side share the way along it. */
export function star(boxes: Size[], arrows: Line[], centre: Size): Placed {
  const { places } = layers(boxes, arrows);
  const sizes = new Map(boxes.map((one) => [one.key, one]));
  const routes = new Map<string, Point[]>();
  const middle = places.get(centre.key);
  for (const { key, source, target } of arrows) {
    const [from, to] = [places.get(source), places.get(target)];
    const [start, end] = [sizes.get(source), sizes.get(target)];
    if (source === target || !middle || !from || !to || !start || !end) continue;
    const [first, last] = [{ x: from.x + start.width, y: from.y + start.door }, { x: to.x, y: to.y + end.door }];
    const x = target === centre.key ? middle.x - SHARED : middle.x + centre.width + SHARED;
    routes.set(key, first.y === last.y ? [first, last] : [first, { x, y: first.y }, { x, y: last.y }, last]);
  }
  return { places, routes };
}

function graph(boxes: Size[], arrows: Line[]): ElkNode {
  const tall = new Set(boxes.filter(({ height, door }) => height > 2 * door).map(({ key }) => key));
  return {
    id: "root",
    layoutOptions: {
      "elk.algorithm": "layered",
      "elk.direction": "RIGHT",
      "elk.edgeRouting": "ORTHOGONAL",
      "elk.spacing.nodeNode": String(GAP.down),
      "elk.spacing.componentComponent": "60",
      "elk.layered.spacing.nodeNodeBetweenLayers": String(GAP.across),
      "elk.layered.spacing.edgeNodeBetweenLayers": "64",
      "elk.layered.spacing.edgeEdgeBetweenLayers": "12",
      "elk.layered.cycleBreaking.strategy": "DEPTH_FIRST",
      "elk.layered.nodePlacement.strategy": "NETWORK_SIMPLEX",
    },
    children: boxes.map(({ key, width, height, door }) =>
      // Of a box without rows, anywhere on its sides, so that arrows keep apart.
      height <= 2 * door
        ? { id: key, width, height }
        : {
            id: key,
            width,
            height,
            layoutOptions: { "elk.portConstraints": "FIXED_POS" },
            ports: [
              { id: `in:${key}`, x: 0, y: door, width: 0, height: 0, layoutOptions: { "elk.port.side": "WEST" } },
              { id: `out:${key}`, x: width, y: door, width: 0, height: 0, layoutOptions: { "elk.port.side": "EAST" } },
            ],
          }),
    edges: arrows
      .filter(({ source, target }) => source !== target)
      .map(({ key, source, target }) => ({
        id: key,
        sources: [tall.has(source) ? `out:${source}` : source],
        targets: [tall.has(target) ? `in:${target}` : target],
      })),
  };
}

function read(done: ElkNode): Placed {
  const places = new Map((done.children ?? []).map((node) => [node.id, { x: node.x ?? 0, y: node.y ?? 0 }]));
  const routes = new Map<string, Point[]>();
  for (const edge of (done.edges ?? []) as ElkExtendedEdge[]) {
    const section = edge.sections?.[0];
    if (section) routes.set(edge.id, [section.startPoint, ...(section.bendPoints ?? []), section.endPoint]);
  }
  return { places, routes };
}

/**
 * Each box one layer behind the last that leads to it, in the order of its neighbours' mean height (Sugiyama's layers, with
 * barycentres); arrows that close a cycle have no say. Arrows run straight.
 */
export function layers(boxes: Size[], arrows: Line[]): Placed {
  const forward = new Map<string, string[]>(boxes.map(({ key }) => [key, []]));
  const around = new Map<string, string[]>(boxes.map(({ key }) => [key, []]));
  for (const { source, target } of arrows) {
    if (source === target) continue;
    forward.get(source)?.push(target);
    around.get(source)?.push(target);
    around.get(target)?.push(source);
  }
  const depth = new Map<string, number>();
  const placed = new Set<string>();
  for (const key of behindFirst(boxes, forward).reverse()) {
    const here = depth.get(key) ?? 0;
    depth.set(key, here);
    // What is placed already closes a cycle.
    for (const next of forward.get(key) ?? []) if (!placed.has(next)) depth.set(next, Math.max(depth.get(next) ?? 0, here + 1));
    placed.add(key);
  }
  const columns: Size[][] = [];
  for (const box of boxes) (columns[depth.get(box.key) ?? 0] ??= []).push(box);
  const height = new Map<string, number>();
  const measure = (column: Size[]): void => {
    let y = -column.reduce((sum, box) => sum + box.height + GAP.down, 0) / 2;
    for (const box of column) {
      height.set(box.key, y);
      y += box.height + GAP.down;
    }
  };
  columns.forEach(measure);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    for (const column of columns) {
      const mean = new Map(column.map(({ key }) => {
        const near = (around.get(key) ?? []).map((other) => height.get(other) ?? 0);
        return [key, near.length ? near.reduce((sum, y) => sum + y, 0) / near.length : (height.get(key) ?? 0)];
      }));
      column.sort((a, b) => (mean.get(a.key) ?? 0) - (mean.get(b.key) ?? 0));
      measure(column);
    }
  }
  const places = new Map<string, Point>();
  columns.forEach((column, layer) => {
    for (const { key, width } of column) places.set(key, { x: layer * (width + GAP.across), y: height.get(key) ?? 0 });
  });
  return { places, routes: new Map() };
}

/** Every box after all that it leads to, but for cycles; without recursion, as a chain may be long. */
function behindFirst(boxes: Size[], forward: Map<string, string[]>): string[] {
  const order: string[] = [];
  const seen = new Set<string>();
  for (const { key } of boxes) {
    const path: [string, number][] = seen.has(key) ? [] : [[key, 0]];
    seen.add(key);
    while (path.length) {
      const top = path[path.length - 1] as [string, number];
      const next = forward.get(top[0])?.[top[1]++];
      if (next === undefined) order.push((path.pop() as [string, number])[0]);
      else if (!seen.has(next)) {
        seen.add(next);
        path.push([next, 0]);
      }
    }
  }
  return order;
}

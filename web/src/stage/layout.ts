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
  /** Stands for boxes that aren't drawn: where the eye is, beside the start. */
  group?: boolean;
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
  /** End that an arrow's label is near; null: there is no room for one. Without: where fewer arrows run beside it. */
  labels?: Map<string, "at-source" | "at-target" | null>;
}

const GAP = { across: 170, down: 30 };
const SWEEPS = 8;
/** From the centre to where the arrows of a side meet: labels have the room beyond. */
const SHARED = 24;
/** From the centre to the boxes beside it: a label and the shared way have room. */
const BESIDE = 190;
/** Between ways of arrows that don't touch the centre. */
const LANE = 9;
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
  const hop = oneHop(boxes, arrows);
  if (hop) {
    setTimeout(prepare, AFTER_FIRST_PICTURE_MS);
    return besideCentre(boxes, arrows, hop);
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

/** Sides of a picture of one hop: of each box but the centre, whether it is before or behind it. */
interface OneHop {
  centre: Size;
  before: Set<string>;
  behind: Set<string>;
}

/** Centre that every other box is beside, on one side of it; null if there is none, or an arrow leads back past it. */
export function oneHop(boxes: Size[], arrows: Line[]): OneHop | null {
  for (const centre of boxes) {
    const [before, behind] = [new Set<string>(), new Set<string>()];
    for (const { source, target } of arrows) {
      if (source === target) continue;
      if (target === centre.key) before.add(source);
      if (source === centre.key) behind.add(target);
    }
    const beside = before.size + behind.size === boxes.length - 1 && boxes.every(({ key }) => key === centre.key || before.has(key) !== behind.has(key));
    if (beside && !arrows.some(({ source, target }) => behind.has(source) && before.has(target))) return { centre, before, behind };
  }
  return null;
}

/**
 * Three layers in the order of the boxes. Arrows of the centre share the way along each side of it; those from side to
 * side pass it by; those within a side run outside it, each on a way of its own, and have no room for a label.
 */
export function besideCentre(boxes: Size[], arrows: Line[], { centre, before, behind }: OneHop): Placed {
  const sizes = new Map(boxes.map((one) => [one.key, one]));
  const places = new Map<string, Point>();
  const layer = (boxesOfSide: Size[], x: number): void => {
    const others = boxesOfSide.filter(({ group }) => !group);
    const half = Math.ceil(others.length / 2);
    const column = [...others.slice(0, half), ...boxesOfSide.filter(({ group }) => group), ...others.slice(half)];
    for (const [key, y] of stacked(column)) places.set(key, { x, y });
  };
  const left = boxes.filter(({ key }) => before.has(key));
  const across = Math.max(0, ...left.map(({ width }) => width)) + BESIDE;
  layer(left, -across);
  layer([centre], 0);
  layer(boxes.filter(({ key }) => behind.has(key)), centre.width + BESIDE);

  const place = (key: string): Point => places.get(key) as Point;
  const out = (key: string): Point => ({ x: place(key).x + (sizes.get(key)?.width ?? 0), y: place(key).y + (sizes.get(key)?.door ?? 0) });
  const into = (key: string): Point => ({ x: place(key).x, y: place(key).y + (sizes.get(key)?.door ?? 0) });
  const [near, far] = [-SHARED, centre.width + SHARED];
  const top = place(centre.key).y - GAP.down;
  const bottom = top + centre.height + 2 * GAP.down;
  const routes = new Map<string, Point[]>();
  const labels: Placed["labels"] = new Map();
  let [outLeft, outRight] = [0, 0];
  for (const { key, source, target } of arrows) {
    if (source === target) continue;
    if (source === centre.key || target === centre.key) {
      const [from, to, x] = [out(source), into(target), target === centre.key ? near : far];
      routes.set(key, level(from, to) ? [from, to] : [from, { x, y: from.y }, { x, y: to.y }, to]);
      labels.set(key, target === centre.key ? "at-source" : "at-target");
      continue;
    }
    labels.set(key, null);
    if (before.has(source) && behind.has(target)) {
      const [from, to] = [out(source), into(target)];
      // At the height of its target, or above the centre where that is in the way.
      const y = to.y > top && to.y < bottom ? top : to.y;
      const [first, last] = [near - LANE, far + LANE];
      routes.set(key, [from, { x: first, y: from.y }, { x: first, y }, ...(y === to.y ? [] : [{ x: last, y }, { x: last, y: to.y }]), to]);
    } else if (behind.has(source)) {
      const [from, to] = [out(source), out(target)];
      const x = Math.max(from.x, to.x) + SHARED + LANE * outRight++;
      routes.set(key, [from, { x, y: from.y }, { x, y: to.y }, to]);
    } else {
      const [from, to] = [into(source), into(target)];
      const x = Math.min(from.x, to.x) - SHARED - LANE * outLeft++;
      routes.set(key, [from, { x, y: from.y }, { x, y: to.y }, to]);
    }
  }
  return { places, routes, labels };
}

/** Tops of the boxes of a column, whose middle is at 0. */
function stacked(column: Size[]): [key: string, y: number][] {
  let next = -column.reduce((sum, { height }) => sum + height + GAP.down, -GAP.down) / 2;
  return column.map(({ key, height }) => {
    const y = next;
    next += height + GAP.down;
    return [key, y];
  });
}

const level = (from: Point, to: Point): boolean => Math.abs(from.y - to.y) < 1;

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
    for (const [key, y] of stacked(column)) height.set(key, y);
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

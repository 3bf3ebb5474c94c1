// Where datasets stand, left to right, and how arrows go around them: ELK's layered layout, in a worker.

import ELK, { type ElkExtendedEdge, type ElkNode } from "elkjs/lib/elk-api.js";

export interface Point {
  x: number;
  y: number;
}

export interface Box {
  key: string;
  width: number;
  height: number;
}

export interface Arrow {
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

/** Above this many datasets the exact placement costs seconds, and the quick one looks as good. */
const MANY = 250;

let elk: InstanceType<typeof ELK> | null = null;

export async function layout(boxes: Box[], arrows: Arrow[]): Promise<Placed> {
  try {
    elk ??= new ELK({ workerUrl: "elk-worker.min.js" });
    return read(await elk.layout(graph(boxes, arrows)));
  } catch (error) {
    // A browser that allows no workers, or a graph that ELK can't do: plain layers, straight arrows.
    console.warn("headwater: drawn without ELK:", error);
    return layers(boxes, arrows);
  }
}

function graph(boxes: Box[], arrows: Arrow[]): ElkNode {
  return {
    id: "root",
    layoutOptions: {
      "elk.algorithm": "layered",
      "elk.direction": "RIGHT",
      "elk.edgeRouting": "ORTHOGONAL",
      "elk.spacing.nodeNode": "44",
      "elk.spacing.componentComponent": "60",
      "elk.layered.spacing.nodeNodeBetweenLayers": "150",
      "elk.layered.spacing.edgeNodeBetweenLayers": "36",
      "elk.layered.spacing.edgeEdgeBetweenLayers": "12",
      "elk.layered.cycleBreaking.strategy": "DEPTH_FIRST",
      "elk.layered.nodePlacement.strategy": boxes.length > MANY ? "BRANDES_KOEPF" : "NETWORK_SIMPLEX",
      "elk.layered.thoroughness": boxes.length > MANY ? "3" : "12",
    },
    children: boxes.map(({ key, width, height }) => ({ id: key, width, height })),
    edges: arrows
      .filter(({ source, target }) => source !== target)
      .map(({ key, source, target }) => ({ id: key, sources: [source], targets: [target] })),
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

/** Each box one layer behind the last that leads to it; arrows that close a cycle have no say. */
export function layers(boxes: Box[], arrows: Arrow[]): Placed {
  const depth = new Map(boxes.map(({ key }) => [key, 0]));
  for (let round = 0; round < Math.min(boxes.length, 50); round++) {
    let moved = false;
    for (const { source, target } of arrows) {
      const wanted = (depth.get(source) ?? 0) + 1;
      if (source !== target && wanted <= round + 1 && wanted > (depth.get(target) ?? 0)) {
        depth.set(target, wanted);
        moved = true;
      }
    }
    if (!moved) break;
  }
  const filled = new Map<number, number>();
  const places = new Map<string, Point>();
  for (const { key, width, height } of boxes) {
    const layer = depth.get(key) ?? 0;
    const y = filled.get(layer) ?? 0;
    places.set(key, { x: layer * (width + 150), y });
    filled.set(layer, y + height + 44);
  }
  return { places, routes: new Map() };
}

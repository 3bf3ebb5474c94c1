// The store as Cytoscape's elements: boxes of datasets with rows of columns, and arrows between them.

import type { ElementDefinition } from "cytoscape";

import { shortened, title } from "./format";
import { corners, pulls, width } from "./geometry";
import { layout, MANY, type Box, type Placed, type Point } from "./layout";
import { accent, rank, tone } from "./palette";
import type { Store } from "./store";
import type { Dataset, Flow } from "./types";

export const WIDTH = 210;
const HEAD = 52;
const ROW = 22;
const MOST_ROWS = 40;
export const FONT = '"Inter", "Segoe UI", system-ui, sans-serif';

export const columnKey = (dataset: string, column: string): string => `column:${dataset}:${column}`;

const rows = (store: Store, dataset: Dataset): string[] =>
  store.showColumns ? dataset.columns.slice(0, MOST_ROWS).map((column) => column.name) : [];

function box(store: Store, dataset: Dataset): Box {
  const listed = rows(store, dataset).length;
  const more = store.showColumns && dataset.columns.length > MOST_ROWS ? 1 : 0;
  return { key: dataset.asset.key, width: WIDTH, height: HEAD + (listed + more) * ROW + (listed ? 6 : 0), door: HEAD / 2 };
}

/** Text that begins at the box's left, where Cytoscape would centre it. */
function leftAligned(text: string, font: string, indent: number): number {
  return -(WIDTH / 2 - indent - width(text, font) / 2);
}

export async function elements(store: Store): Promise<ElementDefinition[]> {
  const boxes = [...store.datasets.values()].map((dataset) => box(store, dataset));
  const flows = [...store.flows.values()].filter(({ source, target }) => store.datasets.has(source) && store.datasets.has(target));
  const placed = await layout(boxes, flows);
  const found: ElementDefinition[] = [];
  for (const one of boxes) {
    const dataset = store.datasets.get(one.key);
    const corner = placed.places.get(one.key);
    if (dataset && corner) found.push(...dataset_(store, dataset, one, corner));
  }
  const sizes = new Map(boxes.map((one) => [one.key, one]));
  for (const flow of flows) found.push(...flow_(store, flow, placed, sizes));
  return found;
}

function dataset_(store: Store, dataset: Dataset, { key, height }: Box, corner: Point): ElementDefinition[] {
  const centre = { x: corner.x + WIDTH / 2, y: corner.y + height / 2 };
  const name = shortened(title(dataset.asset), 24);
  const kind = shortened([...new Set([dataset.asset.type?.toLowerCase(), dataset.asset.namespace])].filter(Boolean).join(" · "), 32);
  const severity = store.severities.get(key);
  const found: ElementDefinition[] = [
    {
      data: { id: key, kind: "dataset", accent: accent(dataset.asset.type), height, start: key === store.start },
      classes: ["dataset", severity ? `tone-${tone(severity)}` : "", dataset.gone ? "gone" : "", key === store.start ? "start" : ""].join(" "),
      position: centre,
    },
    {
      data: { id: `name:${key}`, label: name, margin: leftAligned(name, `600 13px ${FONT}`, 16) },
      classes: "name",
      position: { x: centre.x, y: corner.y + 19 },
    },
    // Of many, a third less to draw.
    ...(store.datasets.size > MANY ? [] : [{
      data: { id: `sub:${key}`, label: kind, margin: leftAligned(kind, `10px ${FONT}`, 16) },
      classes: "sub",
      position: { x: centre.x, y: corner.y + 37 },
    }]),
  ];
  rows(store, dataset).forEach((column, row) => {
    const label = shortened(column, 27);
    const id = columnKey(key, column);
    const hit = store.severities.get(id);
    found.push({
      data: { id, kind: "column", dataset: key, column, label, margin: leftAligned(label, `11px ${FONT}`, 18) },
      classes: ["column", hit ? `tone-${tone(hit)}` : ""].join(" "),
      position: { x: centre.x, y: corner.y + HEAD + (row + 0.5) * ROW },
    });
  });
  if (store.showColumns && dataset.columns.length > MOST_ROWS) {
    const label = `… ${dataset.columns.length - MOST_ROWS} more`;
    found.push({
      data: { id: `rest:${key}`, label, margin: leftAligned(label, `11px ${FONT}`, 18) },
      classes: "sub",
      position: { x: centre.x, y: corner.y + HEAD + (MOST_ROWS + 0.5) * ROW },
    });
  }
  for (const [side, many, x] of [
    ["up", dataset.more_upstream, corner.x],
    ["down", dataset.more_downstream, corner.x + WIDTH],
  ] as const) {
    if (many > 0) {
      found.push({
        data: { id: `more:${side}:${key}`, kind: "more", side, dataset: key, label: `+${many > 99 ? "99" : many}` },
        classes: "more",
        position: { x, y: corner.y },
      });
    }
  }
  return found;
}

function flow_(store: Store, flow: Flow, placed: Placed, sizes: Map<string, Box>): ElementDefinition[] {
  const jobs = flow.via.map((via) => via.job.name);
  const label = shortened(jobs[0] ?? "", 22) + (flow.via_total > 1 ? ` +${flow.via_total - 1}` : "");
  const mapped = store.showColumns ? mappings(store, flow, placed) : [];
  const declared = flow.via.every((via) => !via.observed);
  const possible = declared && flow.via.some((via) => via.possible);
  const classes = ["flow", mapped.length ? "faded" : "", possible ? "possible" : declared ? "declared" : ""].join(" ");
  const base = { id: flow.key, kind: "flow", source: flow.source, target: flow.target, label };
  if (flow.source === flow.target) {
    const reach = (sizes.get(flow.source)?.height ?? HEAD) / 2 + 32;
    return [{ data: { ...base, reach }, classes: `${classes} loop` }, ...mapped];
  }
  const route = placed.routes.get(flow.key);
  const from = placed.places.get(flow.source);
  const to = placed.places.get(flow.target);
  if (!route || !from || !to) {
    // From head to head: below are columns' rows.
    const head = (key: string): number => HEAD / 2 - (sizes.get(key)?.height ?? HEAD) / 2;
    const out = `${WIDTH / 2}px ${head(flow.source)}px`;
    const into = `${-WIDTH / 2}px ${head(flow.target)}px`;
    return [{ data: { ...base, out, into }, classes: `${classes} straight` }, ...mapped];
  }
  const first = route[0] as Point;
  const last = route[route.length - 1] as Point;
  const through = route.slice(1, -1);
  const out = end(first, from, sizes.get(flow.source));
  const into = end(last, to, sizes.get(flow.target));
  const routed = { ...base, out, into, ...corners(first, last, through) };
  return [{ data: routed, classes: `${classes} ${through.length ? "routed" : "straight"}` }, ...mapped];
}

/** A point of a box's rim, from the box's middle. */
function end(point: Point, corner: Point, size: Box | undefined): string {
  const height = size?.height ?? HEAD;
  return `${(point.x - corner.x - WIDTH / 2).toFixed(1)}px ${(point.y - corner.y - height / 2).toFixed(1)}px`;
}

function mappings(store: Store, flow: Flow, placed: Placed): ElementDefinition[] {
  const source = store.datasets.get(flow.source);
  const target = store.datasets.get(flow.target);
  const from = placed.places.get(flow.source);
  const to = placed.places.get(flow.target);
  if (!source || !target || !from || !to) return [];
  const above = rows(store, source);
  const below = rows(store, target);
  const drawn = new Map<string, ElementDefinition>();
  for (const { source: input, target: output, transformation } of flow.columns) {
    if (input === null || output === null) continue;
    const [i, o] = [above.indexOf(input), below.indexOf(output)];
    if (i < 0 || o < 0) continue;
    const id = `mapping:${flow.key}:${input}>${output}`;
    const direct = transformation.type === "DIRECT";
    if (drawn.has(id) && !direct) continue;
    const start = { x: from.x + WIDTH, y: from.y + HEAD + (i + 0.5) * ROW };
    const stop = { x: to.x, y: to.y + HEAD + (o + 0.5) * ROW };
    drawn.set(id, {
      data: {
        id,
        kind: "mapping",
        flow: flow.key,
        source: columnKey(flow.source, input),
        target: columnKey(flow.target, output),
        ...corners(start, stop, pulls(start, stop)),
      },
      classes: `mapping ${direct ? "direct" : "indirect"}`,
    });
  }
  return [...drawn.values()];
}

/** The severities of an answer, by dataset and by column: the worst of each. */
export function worst(found: { key: string; severity: string }[]): Map<string, string> {
  const kept = new Map<string, string>();
  for (const { key, severity } of found) {
    const known = kept.get(key);
    if (known === undefined || rank(severity) < rank(known)) kept.set(key, severity);
  }
  return kept;
}

// A picture as Cytoscape's elements: boxes with rows, arrows that run around boxes, marks at their corners.

import type { ElementDefinition } from "cytoscape";

import { accent, tone } from "../app/palette";
import { number, visible } from "../app/format";
import { t } from "../app/texts";
import { corners, pulls, width } from "./geometry";
import type { Placed, Point, Size } from "./layout";
import type { Arrow, Box, Picture, Row, Side } from "./picture";

export const WIDTH = 240;
export const HEAD = 46;
export const ROW = 22;
/** Sizes of names, and of all other texts of a picture, here and in files that are exported. */
export const NAME = 13;
export const SMALL = 12;
/** At this zoom the smallest text is 10 px high: the least that is read with ease. */
export const READABLE = 10 / SMALL;
export const FONT = '"Inter", "Segoe UI", system-ui, sans-serif';
const PAD = 16;
const BADGE = 26;
/** Between two marks at one corner: with their height, each is a target of 24 px and more. */
const BETWEEN = 4;

export const columnKey = (dataset: string, column: string): string => `column:${dataset}:${column}`;

/** Height of a box: its head, its rows, and a line for the rows that aren't drawn. */
export const heightOf = ({ rows, rowsBeyond }: Box): number =>
  HEAD + (rows.length + (rowsBeyond > 0 ? 1 : 0)) * ROW + (rows.length ? 6 : 0);

export const sizeOf = (one: Box): Size => ({ key: one.key, width: WIDTH, height: heightOf(one), door: HEAD / 2, group: one.kind === "group" });

/** A text that fits into so many pixels; its middle is left out, as head and tail distinguish names. */
export function fitted(text: string, font: string, most: number): string {
  const shown = visible(text);
  if (width(shown, font) <= most) return shown;
  let [few, many] = [1, shown.length];
  const cut = (kept: number): string => {
    const head = Math.ceil(kept * 0.6);
    return `${shown.slice(0, head)}…${shown.slice(shown.length - (kept - head))}`;
  };
  while (few < many) {
    const middle = Math.ceil((few + many) / 2);
    if (width(cut(middle), font) <= most) few = middle;
    else many = middle - 1;
  }
  return cut(few);
}

/** Text that begins at the box's left, where Cytoscape would centre it. */
const leftAligned = (text: string, font: string, indent = PAD): number => -(WIDTH / 2 - indent - width(text, font) / 2);

export function elements(picture: Picture, placed: Placed): ElementDefinition[] {
  const found: ElementDefinition[] = [];
  const boxes = new Map(picture.boxes.map((one) => [one.key, one]));
  for (const one of picture.boxes) {
    const corner = placed.places.get(one.key);
    if (corner) found.push(...boxOf(one, corner));
  }
  const [leaving, entering] = [new Map<string, number>(), new Map<string, number>()];
  for (const { source, target } of picture.arrows) {
    leaving.set(source, (leaving.get(source) ?? 0) + 1);
    entering.set(target, (entering.get(target) ?? 0) + 1);
  }
  for (const one of picture.arrows) {
    const [source, target] = [boxes.get(one.source), boxes.get(one.target)];
    if (!source || !target) continue;
    const [outs, ins] = [leaving.get(one.source) ?? 0, entering.get(one.target) ?? 0];
    const given = placed.labels?.get(one.key);
    // A label stands where fewer arrows run beside its own.
    const at = given === undefined ? (outs === ins ? "middle" : outs > ins ? "at-target" : "at-source") : given;
    found.push(...arrowOf(one, source, target, placed, at));
  }
  return found;
}

export interface Mark {
  kind: "quality" | "run" | "incident";
  state: string;
  sign: string;
}

/** What a box says at its top right, the first one outermost: its checks, its last run, an incident. */
export function marksOf(one: Box): Mark[] {
  const found = [["quality", one.quality], ["run", one.lastRun], ["incident", one.tainted ? "alarm" : null]] as const;
  return found.flatMap(([kind, state]) => (state ? [{ kind, state, sign: { good: "✓", bad: "✕", alarm: "!" }[state as string] ?? "•" }] : []));
}

/** Middle of a mark's circle, from the top left of its box. */
export const markAt = (index: number): Point => ({ x: WIDTH - 16 - index * 18, y: 17 });

function boxOf(one: Box, corner: Point): ElementDefinition[] {
  const { key } = one;
  const height = heightOf(one);
  const x = corner.x + WIDTH / 2;
  const marks = marksOf(one);
  const room = WIDTH - PAD - 10 - marks.length * 18;
  const title = fitted(one.title, `600 ${NAME}px ${FONT}`, room);
  const under = fitted(one.under, `${SMALL}px ${FONT}`, WIDTH - PAD - 10);
  const classes = [
    one.kind, one.start && "start", one.gone && "gone",
    one.severity && `tone-${tone(one.severity)}`, one.change && `change-${one.change.toLowerCase()}`,
  ].filter(Boolean).join(" ");
  const found: ElementDefinition[] = [
    { data: { id: key, kind: one.kind, accent: accent(one.asset?.type ?? null), height, whole: one.whole }, classes: `box ${classes}`, position: { x, y: corner.y + height / 2 } },
    { data: { id: `name:${key}`, label: title, margin: leftAligned(title, `600 ${NAME}px ${FONT}`) }, classes: "name", position: { x, y: corner.y + 17 } },
    { data: { id: `sub:${key}`, label: under, margin: leftAligned(under, `${SMALL}px ${FONT}`) }, classes: "sub", position: { x, y: corner.y + 33 } },
  ];
  marks.forEach(({ kind, state, sign }, index) =>
    found.push({
      data: { id: `${kind}:${key}`, label: sign },
      classes: `dot ${state}`,
      position: { x: corner.x + markAt(index).x, y: corner.y + markAt(index).y },
    }));
  one.rows.forEach((row, index) => found.push(rowOf(key, row, { x, y: corner.y + HEAD + (index + 0.5) * ROW })));
  if (one.rowsBeyond > 0) {
    const label = t.rowsMore(one.rowsBeyond);
    found.push({
      data: { id: `rest:${key}`, kind: "rest", dataset: key, label, margin: leftAligned(label, `${SMALL}px ${FONT}`) },
      classes: "rest",
      position: { x, y: corner.y + HEAD + (one.rows.length + 0.5) * ROW },
    });
  }
  const y = corner.y + height;
  for (const [side, many, at, outward] of [["up", one.up, corner.x, -1], ["down", one.down, corner.x + WIDTH, 1]] as const) {
    const opened = one.opened.includes(side);
    if (many > 0) found.push(cornerMark("more", key, side, `+${number(many)}`, { x: at, y }));
    // A side that is opened in part has both: more of it, and none of it.
    if (opened) found.push(cornerMark("less", key, side, "−", { x: at + (many > 0 ? outward * (markWidth(`+${number(many)}`) / 2 + BADGE / 2 + BETWEEN) : 0), y }));
  }
  return found;
}

const markWidth = (label: string): number => Math.max(BADGE, 12 + label.length * 7);

/** What a click expands or collapses, at a corner of a box. */
const cornerMark = (kind: "more" | "less", dataset: string, side: Side, label: string, position: Point): ElementDefinition => ({
  data: { id: `${kind}:${side}:${dataset}`, kind, side, dataset, label, wide: markWidth(label) },
  classes: "more",
  position,
});

function rowOf(dataset: string, { name, severity }: Row, position: Point): ElementDefinition {
  const label = fitted(name, `${SMALL}px ${FONT}`, WIDTH - PAD - 10);
  return {
    data: { id: columnKey(dataset, name), kind: "column", dataset, column: name, label, margin: leftAligned(label, `${SMALL}px ${FONT}`), whole: name },
    classes: ["column", severity ? `tone-${tone(severity)}` : ""].join(" "),
    position,
  };
}

function arrowOf(one: Arrow, source: Box, target: Box, placed: Placed, at: string | null): ElementDefinition[] {
  const mapped = mappings(one, source, target, placed);
  const label = at === null ? "" : one.label && fitted(one.label, `${SMALL}px ${FONT}`, 130);
  const classes = ["flow", label ? at : "", mapped.length ? "faded" : "", one.line, one.change ? `change-${one.change.toLowerCase()}` : ""].join(" ");
  const base = { id: one.key, kind: "arrow", source: one.source, target: one.target, label, along: width(label, `${SMALL}px ${FONT}`) / 2 + 14, whole: one.label };
  if (one.source === one.target) return [{ data: { ...base, reach: heightOf(source) / 2 + 32 }, classes: `${classes} loop` }, ...mapped];
  const route = placed.routes.get(one.key);
  const [from, to] = [placed.places.get(one.source), placed.places.get(one.target)];
  if (!route || !from || !to) {
    // From head to head: below are rows.
    const head = (of: Box): number => HEAD / 2 - heightOf(of) / 2;
    return [{ data: { ...base, out: `${WIDTH / 2}px ${head(source)}px`, into: `${-WIDTH / 2}px ${head(target)}px` }, classes: `${classes} straight` }, ...mapped];
  }
  const [first, last] = [route[0] as Point, route[route.length - 1] as Point];
  const through = route.slice(1, -1);
  const routed = { ...base, out: end(first, from, source), into: end(last, to, target), ...corners(first, last, through) };
  return [{ data: routed, classes: `${classes} ${through.length ? "routed" : "straight"}` }, ...mapped];
}

/** A point of a box's rim, from the box's middle. */
const end = (point: Point, corner: Point, of: Box): string =>
  `${(point.x - corner.x - WIDTH / 2).toFixed(1)}px ${(point.y - corner.y - heightOf(of) / 2).toFixed(1)}px`;

function mappings(one: Arrow, source: Box, target: Box, placed: Placed): ElementDefinition[] {
  const [from, to] = [placed.places.get(one.source), placed.places.get(one.target)];
  if (!from || !to || one.mappings.length === 0) return [];
  const above = new Map(source.rows.map(({ name }, index) => [name, index]));
  const below = new Map(target.rows.map(({ name }, index) => [name, index]));
  const drawn = new Map<string, ElementDefinition>();
  for (const mapping of one.mappings) {
    const [i, o] = [above.get(mapping.source), below.get(mapping.target)];
    if (i === undefined || o === undefined) continue;
    const id = `mapping:${one.key}:${mapping.source}>${mapping.target}`;
    if (drawn.has(id) && !mapping.direct) continue;
    const start = { x: from.x + WIDTH, y: from.y + HEAD + (i + 0.5) * ROW };
    const stop = { x: to.x, y: to.y + HEAD + (o + 0.5) * ROW };
    drawn.set(id, {
      data: { id, kind: "mapping", flow: one.key, source: columnKey(one.source, mapping.source), target: columnKey(one.target, mapping.target), ...corners(start, stop, pulls(start, stop)) },
      classes: `mapping ${mapping.direct ? "direct" : "indirect"}`,
    });
  }
  return [...drawn.values()];
}

// Answers about a dataset ⇒ the picture of its lineage.

import type { Asset, Drawing, DrawnEdge, DrawnNode, Lineage } from "../app/answers";
import { parted, spelling } from "../app/format";
import { rank } from "../app/palette";
import { t } from "../app/texts";
import { arrow, box, type Arrow, type Box, type Change, type Picture, type Side } from "../stage/picture";

/** Never more boxes than a person can overlook. */
export const MOST_BOXES = 60;
/** Datasets that are drawn one by one: two boxes may be of the neighbours that aren't. */
export const MOST_DATASETS = MOST_BOXES - 2;
/** Neighbours on one side that are drawn at first. */
export const WIDTH_OF_SIDE = 12;
const ROWS_OF_START = 40;
const ROWS_OF_OTHERS = 8;

export type Grouping = "" | "namespace" | "owner" | "tag" | "type";

export interface Filters {
  namespace: readonly string[];
  owner: readonly string[];
  type: readonly string[];
  tag: readonly string[];
}

export interface Options {
  columns: boolean;
  jobs: boolean;
  group: Grouping;
  filters: Filters;
  /** Opened sides and groups, as the address has them. */
  open: readonly string[];
  /** Sides on which neighbours of the start that aren't drawn have a box of their own. */
  rest: readonly Side[];
  /** Selected column, which is drawn whatever the number of rows. */
  column: { key: string; name: string } | null;
  /** Worst severity by `address` of a dataset or column. */
  severities: ReadonlyMap<string, string>;
  changes: ReadonlyMap<string, Change>;
}

export interface Shown {
  picture: Picture;
  /** Datasets that a filter hides. */
  hidden: number;
  /** Addresses of datasets that are drawn, also within groups. */
  drawn: Set<string>;
}

/** What an answer without keys names a dataset, or one of its columns, by. */
export const addressOf = ({ namespace, name, column = null }: Pick<Asset, "namespace" | "name"> & { column?: string | null }): string =>
  [namespace, name, ...(column === null ? [] : [column])].join("\n");

export const ownersOf = (node: Pick<DrawnNode, "owners" | "owners_of_jobs">): string[] => (node.owners.length ? node.owners : node.owners_of_jobs);

/** Values of a dataset that it is grouped and filtered by. */
export function valuesOf(node: DrawnNode, by: Exclude<Grouping, "">): string[] {
  if (by === "namespace") return [node.asset.namespace];
  if (by === "type") return [node.asset.type ?? ""];
  return by === "owner" ? ownersOf(node) : node.tags;
}

export const passes = (node: DrawnNode, filters: Filters): boolean =>
  (["namespace", "owner", "type", "tag"] as const).every((by) => filters[by].length === 0 || valuesOf(node, by).some((value) => filters[by].includes(value)));

export const sideOf = (hops: number): Side => (hops < 0 ? "up" : "down");
export const groupKey = (side: Side, value: string): string => `group:${side}:${value}`;
export const restKey = (side: Side, key: string): string => `rest:${side}:${key}`;

const GOOD = new Set(["COMPLETE"]);
const BAD = new Set(["FAIL", "ABORT"]);

/** Open incidents that reached a dataset of the answer, by its key. */
export function incidentsOf({ incidents }: Pick<Drawing, "incidents">): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { key, incident } of incidents?.items ?? []) found.set(key, [...(found.get(key) ?? []), incident]);
  return found;
}

function statusOf({ status }: DrawnNode): Pick<Box, "lastRun" | "quality"> {
  const state = status?.last_run?.state ?? null;
  return {
    lastRun: state === null ? null : GOOD.has(state) ? "good" : BAD.has(state) ? "bad" : "none",
    quality: status?.quality === "PASSED" ? "good" : status?.quality === "FAILED" ? "bad" : null,
  };
}

/** The picture of an answer: filtered, grouped, with what isn't drawn counted at each box. */
export function pictureOf(graph: Drawing, options: Options): Shown {
  const start = graph.start.key;
  const shown = graph.nodes.filter((node) => node.asset.key === start || passes(node, options.filters)).slice(0, MOST_DATASETS);
  const hidden = graph.nodes.length - graph.nodes.filter((node) => node.asset.key === start || passes(node, options.filters)).length;
  const inGroup = groupsOf(shown, start, options);
  const rows = options.columns ? mappedRows(graph.edges) : new Map<string, Set<string>>();
  const boxes: Box[] = [];
  const groups = new Map<string, DrawnNode[]>();
  const tainted = incidentsOf(graph);
  for (const node of shown) {
    const group = inGroup.get(node.asset.key);
    if (group) groups.set(group, [...(groups.get(group) ?? []), node]);
    else boxes.push({ ...boxOf(node, node.asset.key === start, options, rows.get(node.asset.key)), tainted: tainted.has(node.asset.key) });
  }
  for (const [key, nodes] of groups) boxes.push({ ...groupBox(key, nodes, options), tainted: nodes.some(({ asset }) => tainted.has(asset.key)) });
  const picture: Picture = { boxes, arrows: arrowsOf(graph.edges, shown, inGroup, options) };
  addRest(picture, start, options.rest);
  return { picture, hidden, drawn: new Set(shown.map((node) => addressOf(node.asset))) };
}

function boxOf(node: DrawnNode, isStart: boolean, options: Options, mapped: Set<string> | undefined): Box {
  const { asset } = node;
  const { last, before } = parted(asset);
  const [rows, beyond] = options.columns ? rowsOf(node, isStart, mapped, options) : [[], 0];
  return box({
    key: asset.key, asset, title: last, whole: spelling(asset), start: isStart, gone: node.gone,
    under: [asset.type?.toLowerCase(), before || asset.namespace].filter(Boolean).join(" · "),
    rows, rowsBeyond: beyond,
    up: node.more_upstream, down: node.more_downstream, inputs: node.upstream_total, outputs: node.downstream_total,
    opened: (["up", "down"] as const).filter((side) => options.open.some((one) => one === `${side}:${asset.key}` || one.startsWith(`${side}:${asset.key}:`))),
    severity: options.severities.get(addressOf(asset)) ?? null,
    change: options.changes.get(asset.key) ?? null,
    ...statusOf(node),
  });
}

/** Columns of a box: of the start the first 40, of others 8, those that arrows meet first. */
function rowsOf(node: DrawnNode, isStart: boolean, mapped: Set<string> | undefined, { column, severities }: Options): [Box["rows"], number] {
  const most = isStart ? ROWS_OF_START : ROWS_OF_OTHERS;
  const chosen = column?.key === node.asset.key ? column.name : null;
  const rank = ({ name }: { name: string }): number => (name === chosen ? 0 : mapped?.has(name) ? 1 : 2);
  const order = new Map(node.columns.map(({ name }, index) => [name, index]));
  const kept = [...node.columns].sort((a, b) => rank(a) - rank(b)).slice(0, most).sort((a, b) => (order.get(a.name) ?? 0) - (order.get(b.name) ?? 0));
  const rows = kept.map(({ name, type }) => ({ name, type, severity: severities.get(addressOf({ ...node.asset, column: name })) ?? null }));
  return [rows, (node.columns_total ?? node.columns.length) - rows.length];
}

/** Columns that some arrow leaves or enters, by dataset. */
function mappedRows(edges: readonly DrawnEdge[]): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  const add = (key: string, name: string | null): void => {
    if (name === null) return;
    const names = found.get(key) ?? new Set();
    found.set(key, names.add(name));
  };
  for (const { source, target, columns } of edges) {
    for (const mapping of columns) {
      add(source, mapping.source);
      add(target, mapping.target);
    }
  }
  return found;
}

/** Group of each dataset that is in one: two and more of one side with the same value. */
function groupsOf(nodes: readonly DrawnNode[], start: string, { group, open }: Options): Map<string, string> {
  const found = new Map<string, string>();
  if (!group) return found;
  const members = new Map<string, string[]>();
  for (const node of nodes) {
    if (node.asset.key === start) continue;
    const key = groupKey(sideOf(node.hops), valuesOf(node, group)[0] ?? "");
    if (!open.includes(key)) members.set(key, [...(members.get(key) ?? []), node.asset.key]);
  }
  for (const [key, all] of members) if (all.length > 1) for (const one of all) found.set(one, key);
  return found;
}

function groupBox(key: string, nodes: readonly DrawnNode[], { severities }: Options): Box {
  const value = key.split(":").slice(2).join(":");
  const worst = nodes.flatMap((node) => severities.get(addressOf(node.asset)) ?? []).sort((a, b) => rank(a) - rank(b))[0];
  return box({
    key, kind: "group", title: t.groupOf(nodes.length), under: value || t.noValue,
    whole: `${value || t.noValue}: ${nodes.map((node) => node.asset.title ?? node.asset.name).join(", ")}`,
    severity: worst ?? null,
    lastRun: nodes.some((node) => BAD.has(node.status?.last_run?.state ?? "")) ? "bad" : null,
    quality: nodes.some((node) => node.status?.quality === "FAILED") ? "bad" : null,
  });
}

function arrowsOf(edges: readonly DrawnEdge[], shown: readonly DrawnNode[], inGroup: Map<string, string>, options: Options): Arrow[] {
  const keys = new Set(shown.map((node) => node.asset.key));
  const found = new Map<string, Arrow>();
  for (const edge of edges) {
    if (!keys.has(edge.source) || !keys.has(edge.target)) continue;
    const [source, target] = [inGroup.get(edge.source) ?? edge.source, inGroup.get(edge.target) ?? edge.target];
    if (source === target && edge.source !== edge.target) continue;
    const key = `${source}>${target}`;
    const grouped = source !== edge.source || target !== edge.target;
    const known = found.get(key);
    const line = lineOf(edge);
    if (known) {
      known.label = "";
      if (line === "observed") known.line = line;
      continue;
    }
    const others = edge.via_total - 1;
    found.set(key, arrow({
      source, target, line,
      label: options.jobs ? (edge.via[0]?.job.name ?? "") + (others > 0 ? ` +${others}` : "") : "",
      change: options.changes.get(edge.key) ?? null,
      mappings: grouped || !options.columns ? [] : edge.columns.flatMap(({ source: from, target: to, transformation }) =>
        from === null || to === null ? [] : [{ source: from, target: to, direct: transformation.type === "DIRECT" }]),
    }));
  }
  return [...found.values()];
}

function lineOf({ via }: DrawnEdge): Arrow["line"] {
  if (via.some((one) => one.observed)) return "observed";
  return via.some((one) => one.possible) ? "possible" : "declared";
}

/** Neighbours of the start that aren't drawn become a box of their own, which opens their list. */
function addRest({ boxes, arrows }: Picture, start: string, sides: readonly Side[]): void {
  const middle = boxes.find(({ key }) => key === start);
  if (!middle) return;
  for (const side of sides) {
    const many = middle[side];
    if (many === 0) continue;
    const key = restKey(side, start);
    boxes.push(box({ key, kind: "group", title: t.restOf(many), under: side === "up" ? t.restUnderUp : t.restUnderDown, whole: t.restWhole(many) }));
    arrows.push(side === "up" ? arrow({ source: key, target: start }) : arrow({ source: start, target: key }));
    middle[side] = 0;
  }
}

/** One column that goes into another, and the jobs that make it so. */
export interface PathMapping {
  key: string;
  source: Asset;
  target: Asset;
  jobs: Asset[];
  /** Jobs beyond those that the answer lists. */
  jobsBeyond: number;
}

/** The path of a column: a picture, and all its mappings, also of datasets that aren't drawn. */
export interface ColumnPath extends Picture {
  mappings: PathMapping[];
  /** Columns on it, listed or not. */
  total: number;
  unlisted: number;
  /** Datasets that aren't drawn. */
  undrawn: number;
  /** False: column lineage on the way is missing or incomplete, so there may be more. */
  complete: boolean;
}

/** Only the path of one column: all hops, both ways, no other column. */
export function columnPath(start: Asset, ways: readonly Lineage[], jobs: boolean): ColumnPath {
  const assets = new Map<string, Asset>([[start.key, start]]);
  for (const way of ways) for (const { asset } of way.items) assets.set(asset.key, asset);
  const boxes = new Map<string, Box>();
  const undrawn = new Set<string>();
  for (const asset of assets.values()) {
    const key = addressOf({ namespace: asset.namespace, name: asset.name });
    if (!boxes.has(key)) {
      if (boxes.size >= MOST_BOXES) {
        undrawn.add(key);
        continue;
      }
      const { last, before } = parted(asset);
      boxes.set(key, box({
        key, title: last, whole: spelling(asset), under: before || asset.namespace, start: boxes.size === 0,
        asset: { ...asset, kind: "DATASET", key, column: null, type: null },
      }));
    }
    const rows = boxes.get(key)?.rows;
    if (rows && asset.column !== null && !rows.some(({ name }) => name === asset.column)) rows.push({ name: asset.column, type: asset.type });
  }
  const arrows = new Map<string, Arrow>();
  const mappings = new Map<string, PathMapping>();
  for (const way of ways) {
    for (const edge of way.edges) {
      const [from, to] = [assets.get(edge.source), assets.get(edge.target)];
      if (!from || !to || from.column === null || to.column === null) continue;
      const key = `${edge.source}>${edge.target}`;
      mappings.set(key, { key, source: from, target: to, jobs: edge.via.map(({ job }) => job), jobsBeyond: edge.via_total - edge.via.length });
      const [source, target] = [addressOf({ namespace: from.namespace, name: from.name }), addressOf({ namespace: to.namespace, name: to.name })];
      if (!boxes.has(source) || !boxes.has(target)) continue;
      const known = arrows.get(`${source}>${target}`) ?? arrow({ source, target, label: jobs ? (edge.via[0]?.job.name ?? "") : "" });
      known.mappings.push({ source: from.column, target: to.column, direct: edge.via.some(({ transformations }) => transformations.some(({ type }) => type === "DIRECT")) });
      arrows.set(known.key, known);
    }
  }
  return {
    boxes: [...boxes.values()], arrows: [...arrows.values()], mappings: [...mappings.values()],
    total: ways.reduce((sum, way) => sum + way.total, 1), unlisted: ways.reduce((sum, way) => sum + way.total - way.items.length, 0), undrawn: undrawn.size,
    complete: ways.every(({ complete }) => complete),
  };
}

/** What was added, removed or changed between two answers, by key of datasets and arrows. */
export function changesBetween(before: Drawing, after: Drawing): Map<string, Change> {
  const found = new Map<string, Change>();
  const [nodes, earlier] = [after.nodes, before.nodes].map((all) => new Map(all.map((node) => [node.asset.key, node]))) as [Map<string, DrawnNode>, Map<string, DrawnNode>];
  const [edges, old] = [after.edges, before.edges].map((all) => new Map(all.map((edge) => [edge.key, edge]))) as [Map<string, DrawnEdge>, Map<string, DrawnEdge>];
  const jobs = ({ via }: DrawnEdge): string => via.map(({ job }) => job.key).sort().join();
  for (const key of nodes.keys()) if (!earlier.has(key)) found.set(key, "ADDED");
  for (const key of earlier.keys()) if (!nodes.has(key)) found.set(key, "REMOVED");
  for (const [key, edge] of edges) {
    const was = old.get(key);
    if (!was) found.set(key, "ADDED");
    else if (jobs(was) !== jobs(edge)) found.set(key, "CHANGED");
  }
  for (const key of old.keys()) if (!edges.has(key)) found.set(key, "REMOVED");
  return found;
}

/** An answer with what was there before and is no more. */
export function withRemoved(before: Drawing, after: Drawing): Drawing {
  const [nodes, edges] = [new Set(after.nodes.map((node) => node.asset.key)), new Set(after.edges.map((edge) => edge.key))];
  return {
    ...after,
    nodes: [...after.nodes, ...before.nodes.filter((node) => !nodes.has(node.asset.key))],
    edges: [...after.edges, ...before.edges.filter((edge) => !edges.has(edge.key))],
  };
}

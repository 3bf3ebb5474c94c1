// Answers of the API about lineage, as small as a test needs them.

import type { Drawing, DrawnEdge, DrawnNode, Impact, ImpactItem, Lineage, LineageEdge, LineageItem, Via } from "../src/app/answers";
import type { Options } from "../src/dataset/picture";
import { asset } from "./recorded";

const GRAPH = { last_event: null, behind: 0, stale: null };

export const via = (name: string, more: Partial<Via> = {}): Via => ({
  job: asset(name, { kind: "JOB" }), first_seen: null, last_seen: null, observed: true, declared: false, transformations: [], incomplete: null,
  possible: false, partitions: [], ...more,
});

export const node = (name: string, hops: number, more: Partial<DrawnNode> = {}): DrawnNode => ({
  asset: asset(name), hops, gone: false, owners: [], tags: [], criticality: null, classification: null, owners_of_jobs: [], contact: null, more_upstream: 0,
  more_downstream: 0, columns: [], columns_total: null, upstream_total: 0, downstream_total: 0, status: null, sensitivity: null, ...more,
});

export const edge = (source: string, target: string, more: Partial<DrawnEdge> = {}): DrawnEdge => ({
  key: `${source}>${target}`, source, target, via: [via("etl")], via_total: 1, columns: [], columns_total: null, ...more,
});

/** The first node is the start. */
export const drawing = (nodes: DrawnNode[], edges: DrawnEdge[] = []): Drawing => ({
  start: (nodes[0] as DrawnNode).asset, nodes, edges, graph: GRAPH, filtered: true,
  metadata: { depth: 1, direction: "BOTH", as_of: null, columns: "NONE", nodes_total: nodes.length, edges_total: edges.length, truncated: false, max_hops: 1 },
});

export const options = (more: Partial<Options> = {}): Options => ({
  columns: false, jobs: true, group: "", filters: { namespace: [], owner: [], type: [], tag: [] }, open: [], rest: ["up", "down"], column: null, severities: new Map(), changes: new Map(), ...more,
});

export const column = (dataset: string, name: string) => asset(dataset, { kind: "COLUMN", key: `${dataset}.${name}`, column: name, type: "string" });

/** Columns upstream or downstream of one, with arrows by keys. */
export const way = (direction: Lineage["direction"], items: ReturnType<typeof column>[], edges: [string, string][], total = items.length): Lineage => ({
  direction, total, items: items.map((found): LineageItem => ({
    asset: found, hops: 1, influence: "DIRECT", parent: "", parent_influence: null, via: [], via_total: 0, gone: false, columns: [], columns_total: null,
  })),
  edges: edges.map(([source, target]): LineageEdge => ({ source, target, via: [via("etl")], via_total: 1 })),
  start: asset("orders"), depth: null, as_of: null, since: null, through: [], direct: null, indirect: null, complete: true, truncated: false,
  max_hops: 0, next_cursor: null, loops: [], gone: false, known_as: [], unknown_until: null, notes: [], quality: [], consumers: [], graph: GRAPH, filtered: true,
});

/** An impact by severities of datasets and columns, all of which are listed. */
export const impact = (items: [ReturnType<typeof asset>, ImpactItem["severity"]][], more: Partial<Impact> = {}): Impact =>
  ({ items: items.map(([found, severity]) => ({ asset: found, severity })), total: items.length, truncated: false, unknown: [], ...more }) as unknown as Impact;

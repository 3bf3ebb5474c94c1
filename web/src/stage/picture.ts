// What a stage draws: boxes with rows, and arrows between them. Views make pictures of answers; the stage knows no question.

import type { Asset } from "../app/answers";

export type Side = "up" | "down";
export type Change = "ADDED" | "REMOVED" | "CHANGED";

/** Names of the colours in which changes are drawn, here and in exported pictures. */
export const CHANGE_COLOURS = { ADDED: "good", REMOVED: "tone-bad", CHANGED: "tone-warn" } as const satisfies Record<Change, string>;

export interface Row {
  /** Field path. */
  name: string;
  type: string | null;
  severity?: string | null;
}

export interface Box {
  /** Key of the dataset, or of a group of datasets. */
  key: string;
  kind: "dataset" | "group";
  asset: Asset | null;
  /** Last part of the name; of a group, what its datasets have in common. */
  title: string;
  /** The line below the title. */
  under: string;
  /** Whole name, for the tooltip. */
  whole: string;
  start: boolean;
  gone: boolean;
  rows: Row[];
  /** Rows that aren't drawn. */
  rowsBeyond: number;
  /** Neighbours that aren't drawn, on each side. */
  up: number;
  down: number;
  /** All its neighbours on each side, drawn or not; null where that isn't known. */
  inputs: number | null;
  outputs: number | null;
  /** Sides that were opened by hand and can be closed again. */
  opened: Side[];
  severity: string | null;
  change: Change | null;
  lastRun: "good" | "bad" | "none" | null;
  quality: "good" | "bad" | null;
  /** Whether an open incident reached it. */
  tainted: boolean;
}

export interface Mapping {
  source: string;
  target: string;
  direct: boolean;
}

export interface Arrow {
  key: string;
  source: string;
  target: string;
  /** Jobs, or steps; "" draws none. */
  label: string;
  line: "observed" | "declared" | "possible";
  change: Change | null;
  mappings: Mapping[];
}

export interface Picture {
  boxes: Box[];
  arrows: Arrow[];
}

/** A box with what most boxes have. */
export const box = (given: Partial<Box> & Pick<Box, "key" | "title">): Box => ({
  kind: "dataset", asset: null, under: "", whole: given.title, start: false, gone: false, rows: [], rowsBeyond: 0, up: 0, down: 0, inputs: null, outputs: null,
  opened: [], severity: null, change: null, lastRun: null, quality: null, tainted: false, ...given,
});

export const arrow = (given: Partial<Arrow> & Pick<Arrow, "source" | "target">): Arrow => ({
  key: `${given.source}>${given.target}`, label: "", line: "observed", change: null, mappings: [], ...given,
});

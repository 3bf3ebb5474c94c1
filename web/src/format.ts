// How values are written for people.

import type { Asset, Range } from "./types";

export const title = (asset: Asset): string => asset.title ?? asset.name;

export const number = (value: number | null | undefined): string =>
  value === null || value === undefined ? "–" : value.toLocaleString("en");

export function time(iso: string | null | undefined): string {
  if (!iso) return "–";
  return iso.replace("T", " ").replace(/(\.\d+)?Z$/, "") + " UTC";
}

export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return "–";
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
  return `${(ms / 3_600_000).toFixed(1)} h`;
}

export const count = (many: number, one: string, more = one + "s"): string => `${number(many)} ${many === 1 ? one : more}`;

/** The head and tail of a long name: both tell, the middle seldom. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = Math.ceil((most - 1) * 0.6);
  return `${text.slice(0, head)}…${text.slice(text.length - (most - 1 - head))}`;
}

/** Offsets by partition, first to last; the API's `end` is the one after. */
export const offsets = (ranges: Range[]): string =>
  ranges.map(({ partition, start, end }) => `${partition}: ${end > start ? `${start}–${end - 1}` : "none"}`).join(", ");

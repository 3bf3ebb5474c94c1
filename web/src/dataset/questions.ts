// Questions that the lineage of a dataset is made of.

import type { ChangeBody, ChangeType, DatasetDetails, Drawing, Impact, Lineage, SchemaChange } from "../app/answers";
import type { Place } from "../app/address";
import { get, part, post, spelled, type Query } from "../app/api";
import { useAsked, type Asked } from "../app/asked";
import { MOST_DATASETS, WIDTH_OF_SIDE } from "./picture";

export type At = Place<"dataset">;

export const nameOf = ({ path }: At): string => spelled(path);

/** Sides as the API names them. */
const opened = (open: readonly string[]): string[] =>
  open.filter((one) => !one.startsWith("group:")).map((one) => one.replace(/^up:/, "UPSTREAM:").replace(/^down:/, "DOWNSTREAM:"));

/** One request has everything that is drawn. */
const asked = ({ path, query, asOf }: At): Query => ({
  asset: spelled(path), depth: query.depth, direction: query.direction === "BOTH" ? null : query.direction,
  to: query.to, open: opened(query.open), as_of: asOf,
});

const drawing = (at: At): Query => ({ ...asked(at), width: WIDTH_OF_SIDE, limit: MOST_DATASETS, columns: at.query.columns ? "ALL" : null });

/** Ask what the place will need before it is drawn: the answers are kept for `useDetails` and `useDrawing`. */
export function askAhead(at: At, picture: boolean): void {
  const ignored = (): undefined => undefined;
  get(`assets/${part(nameOf(at))}`).catch(ignored);
  if (picture && at.tab === "lineage" && !at.query.since && !at.query.only) get("graph", drawing(at)).catch(ignored);
}

/** What is drawn: at most 58 datasets, each with its most important neighbours. */
export function useDrawing(at: At, wanted: boolean): Asked<Drawing> {
  const query = drawing(at);
  return useAsked(wanted ? JSON.stringify(query) : null, () => get<Drawing>("graph", query), { keep: true });
}

/** The whole answer, as a table has it: the nearest 1,000 datasets. */
export function useWhole(at: At, wanted: boolean, asOf = at.asOf): Asked<Drawing> {
  const query = { ...asked(at), as_of: asOf, limit: 1_000 };
  return useAsked(wanted ? JSON.stringify(query) : null, () => get<Drawing>("graph", query), { keep: true });
}

/** A dataset with the columns of its schema at the time of the address. */
export function useColumnsThen(at: At, dataset = nameOf(at)): Asked<Drawing> {
  const query = { asset: dataset, as_of: at.asOf, columns: "START", limit: 1 };
  return useAsked(at.asOf ? JSON.stringify(query) : null, () => get<Drawing>("graph", query));
}

export const useDetails = (dataset: string | null): Asked<DatasetDetails> =>
  useAsked(dataset, () => get<DatasetDetails>(`assets/${part(dataset ?? "")}`));

/** All columns whose values one is made from and goes into; those that only decide on rows aren't among them. */
export function usePath(at: At, dataset: string, column: string | null): Asked<Lineage[]> {
  const ask = (way: string): Promise<Lineage> =>
    get<Lineage>(`columns/${part(dataset)}/${part(column ?? "")}/${way}`, { depth: "all", limit: 500, influence: "DIRECT", as_of: at.asOf });
  return useAsked(column === null ? null : `${dataset}\n${column}\n${at.asOf}`, () => Promise.all([ask("upstream"), ask("downstream")]));
}

const SCHEMA = new Set(["REMOVED", "RETYPED", "RENAMED"]);
export const CHANGES = ["REMOVED", "RETYPED", "RENAMED", "DATA_INCORRECT", "FRESHNESS_BREACH", "PRIVACY_RECLASSIFICATION", "ASSET_DEPRECATED", "BACKFILL_RESTATEMENT"] as const;
export type ChangeName = (typeof CHANGES)[number];
export const needsColumn = (change: string): boolean => SCHEMA.has(change);

/** The change that an address supposes; null where none is supposed, or it isn't complete. */
export function changeOf(at: At): ChangeBody | null {
  const { change, changed, changedcol, newtype, newname } = at.query;
  if (!CHANGES.includes(change as ChangeName)) return null;
  if (needsColumn(change) && !changedcol) return null;
  if ((change === "RETYPED" && !newtype) || (change === "RENAMED" && !newname)) return null;
  return {
    dataset: changed || nameOf(at),
    column: changedcol || null,
    type: needsColumn(change) ? null : (change as ChangeType),
    schema: needsColumn(change) ? (change as SchemaChange) : null,
    new_name: change === "RENAMED" ? newname : null,
    new_type: change === "RETYPED" ? newtype : null,
    nullable: null,
    extent: null,
  };
}

/** What the supposed change hits, all hops. Asked once for all parts of the page. */
export function useImpact(at: At): Asked<Impact> {
  const change = changeOf(at);
  const key = change && JSON.stringify(change);
  return useAsked(key, () => {
    const given = Object.fromEntries(Object.entries(change ?? {}).filter(([, value]) => value !== null));
    return post<Impact>("impact/analyze", { depth: "all", limit: 1_000 }, given);
  });
}

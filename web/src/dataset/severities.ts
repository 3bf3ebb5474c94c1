// The answer of an impact ⇒ the worst severity of each dataset and column.

import type { Impact } from "../app/answers";
import { rank } from "../app/palette";
import { addressOf } from "./picture";

/** Severities by address: of datasets (the worst of their columns', too) and of columns. */
export function severitiesOf(impact: Impact | null, wanted: readonly string[] = []): Map<string, string> {
  const found = new Map<string, string>();
  const note = (address: string, severity: string): void => {
    const known = found.get(address);
    if (known === undefined || rank(severity) < rank(known)) found.set(address, severity);
  };
  for (const { asset, severity } of impact?.items ?? []) {
    if (wanted.length && !wanted.includes(severity)) continue;
    note(addressOf({ namespace: asset.namespace, name: asset.name }), severity);
    if (asset.column !== null) note(addressOf({ namespace: asset.namespace, name: asset.name, column: asset.column }), severity);
  }
  return found;
}

/** Whether an answer names all that is hit: of a dataset that it doesn't name, nothing is known otherwise. */
export const listsAllHits = ({ items, total, truncated, unknown }: Impact): boolean => items.length >= total && !truncated && unknown.length === 0;

/** Datasets that are hit, by address; those that aren't among `drawn` are counted by whoever draws. */
export const datasetsOf = (severities: ReadonlyMap<string, string>): string[] => [...severities.keys()].filter((address) => address.split("\n").length === 2);

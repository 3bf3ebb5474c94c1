// Where the page is: one signal, kept equal to the browser's address in both directions.

import { signal } from "@preact/signals";

import { altered, place, read, written, type Place, type Route } from "./address";

/** The place that is shown; null is an address that names none. */
export const here = signal<Place | null>(read(location.hash));

/** Arrive somewhere: Back leads to where the reader was. */
export function go(to: Place): void {
  if (written(to) === location.hash) return;
  history.pushState(null, "", written(to));
  here.value = to;
}

/** Alter what is shown of the same place: no step for Back. */
export function replace(to: Place): void {
  history.replaceState(null, "", written(to));
  here.value = to;
}

/** Alter the query of the place that is shown, if it is still of this route. */
export function tweak<R extends Route>(route: R, query: Partial<Place<R>["query"]>): void {
  const now = here.peek();
  if (now?.route === route) replace(altered(now as unknown as Place<R>, query as never) as Place);
}

/** The same as `tweak`, as a step that Back undoes: what is drawn, or what was asked, is another. */
export function step<R extends Route>(route: R, query: Partial<Place<R>["query"]>): void {
  const now = here.peek();
  if (now?.route === route) go(altered(now as unknown as Place<R>, query as never) as Place);
}

/** Link to a place, at the instant that is shown. */
export function link(to: Place): string {
  const asOf = here.value?.asOf ?? "";
  return written(to.asOf || !asOf ? to : { ...to, asOf });
}

/** Follow the browser: Back, Forward, links and what is typed. */
export function follow(): void {
  const arrive = (): void => {
    here.value = read(location.hash);
  };
  window.addEventListener("popstate", arrive);
  window.addEventListener("hashchange", arrive);
}

interface Named {
  kind: string;
  namespace: string;
  name: string;
  column?: string | null;
}

/** Place of an asset: a dataset, a column or a job. */
export function placeOf({ kind, namespace, name, column }: Named): Place {
  if (kind === "JOB") return place("job", { namespace, name });
  if (column) return place("column", { namespace, name, column });
  return place("dataset", { namespace, name });
}

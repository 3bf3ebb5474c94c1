// The HTTP API, by relative address: the page works behind any prefix.

import type { Checks, Graph, Hits, Impact, JobDetails, Known, Me, Overview, RunDetails, Timeline } from "./types";
import { written, type Span } from "./zoom";

export class Problem extends Error {
  constructor(
    readonly title: string,
    readonly detail: string,
    readonly nearest: string[] = [],
    /** Address of the log-in, which would help. */
    readonly login: string | null = null,
  ) {
    super(detail || title);
  }
}

/** Query of the page's address after a log-out. */
const LOGGED_OUT = "?logged-out";

type Query = Record<string, string | number | boolean>;

async function ask<T>(path: string, query: Query = {}, init: RequestInit = {}): Promise<T> {
  const text = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString();
  let answer: Response;
  try {
    answer = await fetch(`api/v1/${path}${text && "?" + text}`, init);
  } catch (error) {
    if ((error as Error).name === "AbortError") throw error;
    throw new Problem("The server does not answer.", "Is headwater serve still running?");
  }
  if (answer.ok) return (await answer.json()) as T;
  const login = answer.status === 401 ? answer.headers.get("x-headwater-login") : null;
  if (login !== null) return logIn(login);
  const problem = await answer.json().catch(() => ({}));
  throw new Problem(
    problem.title ?? `The server answered ${answer.status}.`,
    problem.detail ?? "",
    problem.nearest ?? problem.candidates ?? [],
  );
}

/** Leave for the log-in, which comes back to this address; whoever has just logged out stays, and is asked. */
function logIn(login: string): Promise<never> {
  if (location.search === LOGGED_OUT) throw new Problem("You are logged out.", "", [], login);
  location.assign(withReturn(login));
  return new Promise(() => {});
}

/** Address of the log-in that comes back to this address. */
export function withReturn(login: string): string {
  const search = location.search === LOGGED_OUT ? "" : location.search;
  return `${login}?return=${encodeURIComponent("/" + search + location.hash)}`;
}

export const me = (): Promise<Me> => ask("me");

export const search = (text: string, signal: AbortSignal): Promise<Hits> =>
  ask("search", { q: text, limit: 12 }, { signal });

/** Datasets to begin with, and how many there are, exactly: a search counts the best 1,000 only. */
export async function datasets(): Promise<Hits> {
  const [some, all] = await Promise.all([
    ask<Hits>("search", { kind: "DATASET", limit: 24 }),
    ask<Hits>("assets", { limit: 1 }),
  ]);
  return { items: some.items, total: all.total };
}

export const graph = (
  asset: string,
  { depth = 1, direction = "BOTH", columns = false }: { depth?: number; direction?: string; columns?: boolean } = {},
): Promise<Graph> => ask("graph", { asset, depth, direction, columns });

export const known = (dataset: string): Promise<Known> => ask(`assets/${encodeURIComponent(dataset)}`);

export const job = (key: string): Promise<JobDetails> => ask(`jobs/${encodeURIComponent(key)}`);

export const run = (id: string): Promise<RunDetails> => ask(`runs/${encodeURIComponent(id)}`);

export const checks = (): Promise<Checks> => ask("checks", { limit: 20 });

export const timeline = (job: string, limit: number, span: Span | null = null): Promise<Timeline> =>
  ask(`jobs/${encodeURIComponent(job)}/timeline`, { limit, ...(span && written(span)) });

export const overview = (job: string, bars: number, span: Span | null = null): Promise<Overview> =>
  ask(`jobs/${encodeURIComponent(job)}/timeline/overview`, { bars, ...(span && written(span)) });

export interface Change {
  dataset: string;
  column?: string;
  schema?: string;
  type?: string;
  new_name?: string;
}

export const impact = (change: Change): Promise<Impact> =>
  ask("impact/analyze", { depth: "all", limit: 1000 }, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(change),
  });

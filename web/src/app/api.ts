// The HTTP API, by relative address: the page works behind any prefix.

import { here } from "./navigation";
import { t } from "./texts";

export class Problem extends Error {
  constructor(
    readonly title: string,
    readonly detail: string,
    readonly nearest: string[] = [],
    /** Address of the log-in, which would help. */
    readonly login: string | null = null,
    /** Status of the answer; 0 where there was none. */
    readonly status = 0,
  ) {
    super(detail || title);
  }
}

/** Query of the page's address after a log-out. */
const LOGGED_OUT = "?logged-out";

export type Value = string | number | boolean | readonly (string | number)[] | null | undefined;
export type Query = Record<string, Value>;

/** Path and query of a question; values that aren't given are left out, lists are repeated. */
export function question(path: string, query: Query = {}): string {
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined || value === "" || value === false) continue;
    for (const each of Array.isArray(value) ? value : [value]) asked.append(name, String(each));
  }
  const text = asked.toString();
  return path + (text && `?${text}`);
}

/** One part of a path. */
export const part = encodeURIComponent;

// Answers of the last minute, by question: two parts of the page that ask the same ask once.
const KEPT_MS = 60_000;
const MOST_KEPT = 200;
const kept = new Map<string, { at: number; answer: Promise<unknown> }>();

export const get = <T>(path: string, query: Query = {}): Promise<T> => once(question(path, query));

/** Ask by POST. It is a question all the same, and is kept as those of `get` are. */
export const post = <T>(path: string, query: Query, body: unknown): Promise<T> => once(question(path, query), JSON.stringify(body));

function once<T>(asked: string, body?: string): Promise<T> {
  const key = body === undefined ? asked : `${asked} ${body}`;
  const known = kept.get(key);
  if (known && Date.now() - known.at < KEPT_MS) return known.answer as Promise<T>;
  const answer = ask<T>(asked, body === undefined ? {} : { method: "POST", headers: { "content-type": "application/json" }, body });
  kept.set(key, { at: Date.now(), answer });
  answer.catch(() => kept.get(key)?.answer === answer && kept.delete(key));
  for (const oldest of kept.keys()) {
    if (kept.size <= MOST_KEPT) break;
    kept.delete(oldest);
  }
  return answer;
}

/** Ask everything anew. */
export const forget = (): void => kept.clear();

async function ask<T>(asked: string, init: RequestInit = {}): Promise<T> {
  let answer: Response;
  try {
    answer = await fetch(`api/v1/${asked}`, init);
  } catch {
    throw new Problem(t.noAnswer, t.noAnswerDetail);
  }
  if (answer.ok) return (await answer.json()) as T;
  const login = answer.status === 401 ? answer.headers.get("x-headwater-login") : null;
  if (login !== null) return logIn(login);
  const problem = await answer.json().catch(() => ({}));
  throw new Problem(
    problem.title ?? t.answered(answer.status),
    problem.detail ?? "",
    problem.nearest?.length ? problem.nearest : (problem.candidates ?? []),
    null,
    answer.status,
  );
}

/** Leave for the log-in, which comes back to this address; whoever has just logged out stays, and is asked. */
function logIn(login: string): Promise<never> {
  if (location.search === LOGGED_OUT) throw new Problem(t.loggedOut, "", [], login, 401);
  location.assign(withReturn(login));
  return new Promise(() => {});
}

/** Address of the log-in that comes back to this address. */
export function withReturn(login: string): string {
  const search = location.search === LOGGED_OUT ? "" : location.search;
  return `${login}?return=${encodeURIComponent("/" + search + location.hash)}`;
}

/** End the session here; address where it ends at the provider. */
export async function logOut(): Promise<string> {
  const answer = await fetch("logout", { method: "POST" });
  if (!answer.ok) throw new Problem(t.stillLoggedIn, t.answered(answer.status));
  return ((await answer.json()) as { location: string }).location;
}

/** The instant that is shown, as a parameter; of questions that have none, an answer of now says so. */
export const asOf = (): string | null => here.value?.asOf || null;

/** Namespace and name in one word, as the API understands them. */
export const spelled = ({ namespace, name }: { namespace: string; name: string }): string =>
  name.startsWith("/") ? `${namespace}${namespace.includes("://") ? "" : ":"}${name}` : `${namespace}/${name}`;

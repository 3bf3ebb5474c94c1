// State ⇄ address: one table of routes, and two functions that read and write every address of the page.

/** How one parameter of an address is read and written. A value that is the default isn't written. */
interface Codec<T> {
  read(text: string | null): T;
  write(value: T): string | null;
}

const text: Codec<string> = { read: (value) => value ?? "", write: (value) => value || null };
const flag: Codec<boolean> = { read: (value) => value === "1", write: (value) => (value ? "1" : null) };
const list: Codec<string[]> = {
  read: (value) => (value ? value.split(",").map(unescapeComma) : []),
  write: (values) => (values.length ? values.map(escapeComma).join(",") : null),
};
const oneOf = <T extends string>(first: T, ...others: T[]): Codec<T> => ({
  read: (value) => [first, ...others].find((each) => each === value) ?? first,
  write: (value) => (value === first ? null : value),
});
/** Number of hops; "all" is every hop. */
const hops = (usual: number): Codec<number | "all"> => ({
  read: (value) => (value === "all" ? "all" : value !== null && /^\d+$/.test(value) ? Math.min(Number(value), 99) : usual),
  write: (value) => (value === usual ? null : String(value)),
});
/** A time as the API has it; "" is none, and so is what isn't a time. */
const time: Codec<string> = {
  read: (value) => (value !== null && !Number.isNaN(Date.parse(value)) ? value : ""),
  write: (value) => value || null,
};

/** Zoom of a picture, and the way from the start's corner to the middle of the view, in the picture's pixels. */
export interface View {
  zoom: number;
  x: number;
  y: number;
}

export const LEAST_ZOOM = 0.05;
export const MOST_ZOOM = 2.5;

/** `0.85,120,-40`; null is the view that suits the picture. */
const seen: Codec<View | null> = {
  read: (value) => {
    const found = /^(\d(?:\.\d{1,3})?),(-?\d{1,6}),(-?\d{1,6})$/.exec(value ?? "");
    const [zoom, x, y] = (found ?? []).slice(1).map(Number);
    return zoom === undefined || x === undefined || y === undefined || zoom < LEAST_ZOOM || zoom > MOST_ZOOM ? null : { zoom, x, y };
  },
  write: (value) => value && `${value.zoom},${value.x},${value.y}`,
};

function escapeComma(value: string): string {
  return value.replaceAll("~", "~~").replaceAll(",", "~.");
}

function unescapeComma(value: string): string {
  return value.replace(/~([~.])/g, (_, sign: string) => (sign === "~" ? "~" : ","));
}

export const DATASET_TABS = ["lineage", "columns", "runs", "quality", "impact", "versions"] as const;
export const RUN_TABS = ["overview", "batches", "inputs", "outputs", "plan"] as const;
export const PANEL_TABS = ["about", "columns", "jobs", "impact"] as const;
export type PanelTab = (typeof PANEL_TABS)[number];
export type DatasetTab = (typeof DATASET_TABS)[number];
export type RunTab = (typeof RUN_TABS)[number];

/** Names in the path of each route, its tabs, and the parameters of its query. */
const ROUTES = {
  home: { path: [], tabs: ["" as const], query: {} },
  search: {
    path: [],
    tabs: ["" as const],
    query: { q: text, kind: list, type: list, namespace: text, owner: text, tag: text, sensitivity: list },
  },
  dataset: {
    path: ["namespace", "name"],
    tabs: DATASET_TABS,
    query: {
      /** `table`, `graph`; "" is what suits the screen. */
      view: oneOf("", "graph", "table"),
      depth: hops(1),
      direction: oneOf("BOTH", "UPSTREAM", "DOWNSTREAM"),
      /** Whether boxes list columns. */
      columns: flag,
      /** Selected column of the selected dataset. */
      col: text,
      /** Only the path of the selected column. */
      only: flag,
      /** Selected dataset or group by its key, or arrow (`key>key`); "" is the dataset of the address. */
      sel: text,
      /** Whether the panel is closed. */
      nopanel: flag,
      /** Tab of the panel; "" is the one of what is selected. */
      panel: oneOf("", ...PANEL_TABS),
      zoom: seen,
      /** Opened sides: `up:key`, `down:key:neighbour`; and opened groups: `group:side:value`. */
      open: list,
      group: oneOf("", "namespace", "owner", "tag", "type"),
      /** Whether arrows name no jobs. */
      nojobs: flag,
      namespace: list,
      owner: list,
      type: list,
      tag: list,
      /** Other end of a path, `namespace/name` or a key. */
      to: text,
      /** Colours are of what changed since. */
      since: time,
      /** Supposed change, and the dataset (key) and column that it is of; "" is the dataset of the address. */
      change: text,
      changed: text,
      changedcol: text,
      newtype: text,
      newname: text,
      severity: list,
      /** Job of the timeline, and its span. */
      timeline: text,
      from: time,
      until: time,
      /** Runs that are listed: those that wrote the dataset, or read it. */
      role: oneOf("WROTE", "READ"),
      sort: text,
      find: text,
    },
  },
  column: { path: ["namespace", "name", "column"], tabs: ["" as const], query: {} },
  job: {
    path: ["namespace", "name"],
    tabs: ["overview", "runs", "timeline"] as const,
    query: { from: time, until: time, state: list },
  },
  run: { path: ["id"], tabs: RUN_TABS, query: {} },
  consumer: { path: ["key"], tabs: ["" as const], query: {} },
  incidents: { path: [], tabs: ["" as const], query: { all: flag } },
  incident: { path: ["id"], tabs: ["" as const], query: { view: oneOf("", "graph", "table"), plan: flag } },
  checks: { path: [], tabs: ["" as const], query: { rule: list, find: text } },
  trace: {
    path: [],
    tabs: ["" as const],
    query: {
      direction: oneOf("FORWARD", "BACKWARD"),
      topic: text, partition: text, offset: text, end: text,
      dataset: text, version: text, path: text,
      time: time, until: time,
      view: oneOf("", "graph", "table"),
    },
  },
  blast: {
    path: [],
    tabs: ["" as const],
    query: {
      run: text, query: text, first: text, last: text,
      topic: text, partition: text, offset: text, end: text,
      time: time, until: time,
      view: oneOf("", "graph", "table"),
    },
  },
  diff: {
    path: [],
    tabs: ["" as const],
    query: { job: text, dataset: text, before: time, after: time, before_run: text, after_run: text, before_version: text, after_version: text },
  },
} as const;

type Routes = typeof ROUTES;
export type Route = keyof Routes;
type Query<R extends Route> = { [K in keyof Routes[R]["query"]]: Routes[R]["query"][K] extends Codec<infer T> ? T : never };

/** One state of the page. `asOf` is the instant that every answer is of; "" is now. */
export type Place<R extends Route = Route> = {
  [K in R]: {
    route: K;
    path: Record<Routes[K]["path"][number], string>;
    tab: Routes[K]["tabs"][number];
    query: Query<K>;
    asOf: string;
  };
}[R];

interface AnyRoute {
  path: readonly string[];
  tabs: readonly string[];
  query: Record<string, Codec<unknown>>;
}

const of = (route: Route): AnyRoute => ROUTES[route] as unknown as AnyRoute;

/** A place with defaults for what isn't given. */
export function place<R extends Route>(
  route: R,
  path: Record<Routes[R]["path"][number], string>,
  { tab, query = {}, asOf = "" }: { tab?: Routes[R]["tabs"][number]; query?: Partial<Query<R>>; asOf?: string } = {},
): Place<R> {
  const { tabs, query: codecs } = of(route);
  const defaults = Object.fromEntries(Object.entries(codecs).map(([name, codec]) => [name, codec.read(null)]));
  return { route, path, tab: tab ?? tabs[0], query: { ...defaults, ...query }, asOf } as unknown as Place<R>;
}

/** The same place with another part of its query. */
export const altered = <R extends Route>(from: Place<R>, query: Partial<Query<R>>): Place<R> =>
  ({ ...from, query: { ...from.query, ...query } }) as Place<R>;

// Only what would end or split an address is escaped: names stay readable.
const escaped = (name: string): string => encodeURIComponent(name).replace(/%(3A|40|2C|24|3D|2B|7E)/g, (code) => decodeURIComponent(code)).replaceAll("+", "%2B");

/** `#/dataset/kafka:%2F%2Fprod/orders/columns?asof=…` */
export function written(to: Place): string {
  const { path, tabs, query } = of(to.route);
  if (to.route === "home" && !to.asOf) return "#/";
  const names = path.map((name) => escaped((to.path as Record<string, string>)[name] ?? ""));
  const parts = [to.route === "home" ? "" : to.route, ...names, to.tab === tabs[0] ? "" : to.tab].filter((part, index) => part || (index > 0 && index <= names.length));
  const asked = new URLSearchParams();
  for (const [name, codec] of Object.entries(query)) {
    const value = codec.write((to.query as Record<string, unknown>)[name]);
    if (value !== null) asked.set(name, value);
  }
  if (to.asOf) asked.set("asof", to.asOf);
  const search = asked.toString().replace(/%(3A|2C|2F|40|7E)/g, (code) => decodeURIComponent(code));
  return `#/${parts.join("/")}${search && "?" + search}`;
}

/** The place of an address; null where it is none. */
export function read(hash: string): Place | null {
  const [before = "", search = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const [name = "", ...rest] = before.split("/");
  const route = (name || "home") as Route;
  if (!Object.hasOwn(ROUTES, route)) return null;
  const { path, tabs, query } = of(route);
  if (rest.length < path.length || rest.length > path.length + 1) return null;
  let names: string[];
  try {
    names = rest.map(decodeURIComponent);
  } catch {
    return null;
  }
  const tab = names[path.length] || tabs[0];
  if (!tabs.includes(tab as string) || path.some((_, index) => !names[index])) return null;
  const asked = new URLSearchParams(search);
  return {
    route,
    path: Object.fromEntries(path.map((each, index) => [each, names[index]])),
    tab,
    query: Object.fromEntries(Object.entries(query).map(([each, codec]) => [each, codec.read(asked.get(each))])),
    asOf: time.read(asked.get("asof")),
  } as unknown as Place;
}

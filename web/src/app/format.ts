// How values are written for people.

import { values } from "../texts/values";
import type { Asset, Impact, OffsetSpan } from "./answers";

const { nouns, units } = values;

export const title = (asset: Asset): string => visible(asset.title ?? asset.name);

/** With commas between thousands. The browser's own formats are a tenth of a second's work when they are first used. */
export const number = (value: number | null | undefined): string =>
  value === null || value === undefined ? "–" : String(value).replace(/(?<!\..*)\B(?=(\d{3})+(?!\d))/g, ",");

/** A time in the viewer's zone, to the second. */
export function time(iso: string | null | undefined): string {
  if (!iso) return "–";
  const at = new Date(iso);
  return Number.isNaN(at.getTime()) ? iso : local(at);
}

/** The same in UTC, which stands beside it. */
export function utc(iso: string | null | undefined): string {
  if (!iso) return "–";
  return iso.replace("T", " ").replace(/(\.\d+)?(Z|\+00:00)$/, "") + ` ${values.utc}`;
}

const two = (value: number): string => String(value).padStart(2, "0");

function local(at: Date): string {
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/** How long ago, in one unit. */
export function ago(iso: string, now: number = Date.now()): string {
  const seconds = Math.round((now - Date.parse(iso)) / 1_000);
  if (Number.isNaN(seconds)) return "–";
  const future = seconds < 0;
  const amount = Math.abs(seconds);
  const [value, unit] =
    amount < 90 ? [amount, units.second] : amount < 5_400 ? [Math.round(amount / 60), units.minute] : amount < 129_600 ? [Math.round(amount / 3_600), units.hour] : [Math.round(amount / 86_400), units.day];
  return (future ? values.ahead : values.ago)(`${value} ${unit}`);
}

export function duration(ms: number | null | undefined): string {
  // Clocks of two machines: how long it took isn't known.
  if (ms === null || ms === undefined || ms < 0) return "–";
  if (ms < 1_000) return `${Math.round(ms)} ${units.millisecond}`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} ${units.second}`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} ${units.minute} ${Math.round((ms % 60_000) / 1_000)} ${units.second}`;
  return `${(ms / 3_600_000).toFixed(1)} ${units.hour}`;
}

export const count = (many: number, one: string, more = one + "s"): string => `${number(many)} ${many === 1 ? one : more}`;

/**
 * What others named, with what acts on text or isn't drawn as escapes: `invoice\\u202excod.exe`. The same characters as on
 * the command line (schemas/headwater_schemas/visible.py): controls, format characters (bidirectional, zero-width), separators
 * and unusual spaces, surrogates, unassigned ones, and the default-ignorable rest.
 */
export const visible = (text: string): string => text.replace(UNSEEN, escaped);

const UNSEEN = /(?! )[\p{C}\p{Z}\p{DI}\u2800]/gu;

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const named = { 9: "\\t", 10: "\\n", 13: "\\r" }[code];
  const hex = code.toString(16);
  return named ?? (code < 0x100 ? `\\x${hex.padStart(2, "0")}` : code < 0x10000 ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`);
}

/** The head and tail of a long name: both distinguish it, the middle seldom does. */
export function shortened(text: string, most: number): string {
  const shown = visible(text);
  if (shown.length <= most) return shown;
  const head = Math.ceil((most - 1) * 0.6);
  return `${shown.slice(0, head)}…${shown.slice(shown.length - (most - 1 - head))}`;
}

/** Namespace and name in one word, as the API understands them. */
export const spelling = ({ namespace, name }: Asset): string =>
  name.startsWith("/") ? `${namespace}${namespace.includes("://") ? "" : ":"}${name}` : `${namespace}/${name}`;

/** Offsets by partition, `0:609..994`: half-open, one alone as `0:609`; as schemas/headwater_schemas/ranges.py has it. */
export const offsets = (ranges: OffsetSpan[]): string =>
  ranges
    .filter(({ start, end }) => end > start)
    .map(({ partition, start, end }) => `${partition}:${end === start + 1 ? start : `${start}..${end}`}`)
    .join(", ") || values.nothingNew;

/** Nothing is said to be hit only where nothing on the way is unknown. */
export function headline({ severity, total, hit_consumers: consumers }: Pick<Impact, "severity" | "total" | "hit_consumers">): string {
  const hit = [total && count(total, ...nouns.asset), consumers.length && count(consumers.length, ...nouns.consumer)].filter((each) => typeof each === "string");
  if (hit.length) return values.isHit(hit);
  return severity === "NONE" ? values.nothingHit : values.unknownHit;
}

/**
 * The last part of a name that has several, and what stands before it: `db.schema.orders` is `orders` in `db.schema`. A
 * topic's name is one, however many dots it has.
 */
export function parted({ namespace, name, title, type }: Pick<Asset, "namespace" | "name" | "title" | "type">): { last: string; before: string } {
  const shown = title ?? name;
  // Before an answer is there, and of a topic's columns, only the namespace tells that it is a topic.
  if (type === "TOPIC" || namespace.startsWith("kafka://")) return { last: shown, before: "" };
  const path = name.includes("/");
  const parts = path ? name.split("/").filter(Boolean) : name.split(".");
  // Names of two parts are of many kinds: only three and more are a database's.
  if (!path && parts.length < 3) return { last: shown, before: "" };
  const last = parts.at(-1) ?? name;
  const own = title === null || title === name || title === last || name.endsWith(title);
  return { last: own ? last : shown, before: parts.slice(0, -1).join(path ? "/" : ".") };
}

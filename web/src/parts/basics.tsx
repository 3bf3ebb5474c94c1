// Small parts that every view is made of.

import type { ComponentChildren, TargetedKeyboardEvent } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import type { Asset } from "../app/answers";
import type { Problem } from "../app/api";
import type { Asked } from "../app/asked";
import { ago, number, parted, spelling, time, utc } from "../app/format";
import { go, link, placeOf } from "../app/navigation";
import { tone } from "../app/palette";
import type { Place } from "../app/address";
import { say } from "../app/state";
import { t } from "../app/texts";

/** Link to a place of the page. */
export const Link = ({ to, children, ...rest }: { to: Place; children: ComponentChildren; title?: string; class?: string; "aria-current"?: "page" | undefined }) => (
  <a href={link(to)} {...rest}>{children}</a>
);

/** An asset's name by its last part, linked; the whole name is its tooltip. */
export function AssetLink({ asset, whole = false, under = false }: { asset: Asset; whole?: boolean; under?: boolean }) {
  const { last, before } = parted(asset);
  const name = asset.kind === "COLUMN" ? t.titles.column(asset.column ?? "", last) : whole ? spelling(asset) : last;
  return (
    <span class="asset">
      <Link to={placeOf(asset)} title={spelling(asset) + (asset.column ? ` · ${asset.column}` : "")}>{name}</Link>
      {under && <small>{[asset.namespace, before].filter(Boolean).join(" · ")}</small>}
    </span>
  );
}

/** A kind or a type, in its colour. */
export const Chip = ({ kind, children }: { kind: string | null | undefined; children?: ComponentChildren }) => (
  <span class={`chip ${(kind ?? "other").toLowerCase()}`}>{children ?? (kind ?? "dataset").toLowerCase()}</span>
);

/** A severity or a state, in its tone. */
export const Tone = ({ severity, children }: { severity: string; children?: ComponentChildren }) => (
  <span class={`tone ${tone(severity)}`}>{children ?? severity.toLowerCase()}</span>
);

const STATES: Record<string, string> = { COMPLETE: "good", PASSED: "good", FAIL: "bad", FAILED: "bad", ABORT: "bad", RUNNING: "info", START: "info" };
/** State of a run or of checks: a dot and a word. */
export const State = ({ state }: { state: string | null | undefined }) => (
  <span class={`state ${STATES[state ?? ""] ?? "none"}`}>{(state ?? "unknown").toLowerCase()}</span>
);

/** UTC without what it has in common with the viewer's zone: all of it, or the date. */
const beside = (local: string, universal: string): string =>
  universal === `${local} ${t.utc}` ? t.utc : universal.slice(0, 10) === local.slice(0, 10) ? universal.slice(11) : universal;

/** A time in the viewer's zone, with UTC beside it. */
export function Time({ at, short = false }: { at: string | null | undefined; short?: boolean }) {
  if (!at) return <>–</>;
  return <time dateTime={at} title={`${time(at)} (${t.here}), ${utc(at)}`}>{short ? ago(at) : <>{time(at)} <small>{beside(time(at), utc(at))}</small></>}</time>;
}

/** Beside a picture of another time: what is stated of its datasets and jobs has no other time than now. */
export const OfNow = ({ asOf }: { asOf: string }) => (asOf ? <p class="note of-now">{t.factsOfNow(time(asOf))}</p> : null);

/** Names and values, without those that have none. */
export function Facts({ rows }: { rows: [string, ComponentChildren][] }) {
  const shown = rows.filter(([, value]) => value !== null && value !== undefined && value !== "" && value !== false);
  return shown.length === 0 ? null : <dl class="facts">{shown.map(([name, value]) => <><dt>{name}</dt><dd>{value}</dd></>)}</dl>;
}

/** A part of a view with a heading. */
export const Section = ({ title, children, id, actions }: { title: ComponentChildren; children: ComponentChildren; id?: string; actions?: ComponentChildren }) => (
  <section class="part" id={id}>
    <div class="part-head"><h2>{title}</h2>{actions}</div>
    {children}
  </section>
);

/** A problem. Its nearest names lead to a search, or to `choose`, where the question can be asked of another name. */
export function Trouble({ problem, again, close, choose }: { problem: Problem; again?: () => void; close?: () => void; choose?: (name: string) => void }) {
  // Every question fails alike until the reader is logged in: the frame says so, once.
  if (problem.login !== null && !close) return null;
  return (
    <div class="trouble" role="alert">
      <strong>{problem.title}</strong>
      {problem.detail && problem.detail !== problem.title && <p>{problem.detail}</p>}
      {problem.nearest.length > 0 && (
        <p>{t.nearest} {problem.nearest.map((name) => (choose ? <button class="link nearest" onClick={() => choose(name)}>{name}</button> : <a class="nearest" href={`#/search?q=${encodeURIComponent(name)}`}>{name}</a>))}</p>
      )}
      <p class="row">
        {problem.login !== null && <a href={problem.login}>{t.logIn}</a>}
        {again && <button onClick={again}>{t.tryAgain}</button>}
        {close && <button onClick={close}>{t.close}</button>}
      </p>
    </div>
  );
}

/** An answer, or that it is waited for, or what went wrong. */
export function Answer<T>({ asked, children }: { asked: Asked<T>; children: (value: T) => ComponentChildren }) {
  if (asked.problem) return <Trouble problem={asked.problem} again={asked.again} />;
  return asked.value === null ? <Waiting /> : <>{children(asked.value)}</>;
}

/** Shown from a sixth of a second on: what is quicker needs no word. */
export function Waiting() {
  const [shown, show] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => show(true), 160);
    return () => clearTimeout(timer);
  }, []);
  return <p class="waiting" role="status">{shown ? t.waiting : ""}</p>;
}

/** Tabs that are links, so that each has an address. */
export function Tabs<T extends string>({ tabs, now, to, label }: { tabs: readonly { tab: T; title: string; count?: number | null }[]; now: T; to: (tab: T) => Place; label: string }) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ tab, title, count }) => (
        <Link to={to(tab)} aria-current={tab === now ? "page" : undefined}>
          {title}{count !== undefined && count !== null && <small> {number(count)}</small>}
        </Link>
      ))}
    </nav>
  );
}

/** Copies a text, and says so. */
export function Copy({ text, children, class: style = "" }: { text: string | (() => string); children: ComponentChildren; class?: string }) {
  const [copied, set] = useState(false);
  const copy = (): void => {
    void navigator.clipboard.writeText(typeof text === "string" ? text : text()).then(() => {
      set(true);
      say(t.copied);
      setTimeout(() => set(false), 2_000);
    });
  };
  return <button class={style} onClick={copy}>{copied ? t.copied : children}</button>;
}

/** A button that opens a list of things to do; arrow keys go through it, Esc closes it. */
export function Menu({ label, title, children, pressed = false }: { label: ComponentChildren; title?: string; children: ComponentChildren | ((close: () => void) => ComponentChildren); pressed?: boolean }) {
  const [open, set] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const close = (): void => {
    set(false);
    button.current?.focus();
  };
  useEffect(() => {
    if (!open) return undefined;
    root.current?.querySelector<HTMLElement>(".menu-list button, .menu-list input, .menu-list select, .menu-list a")?.focus();
    const outside = (event: Event): void => {
      if (!root.current?.contains(event.target as Node)) set(false);
    };
    document.addEventListener("pointerdown", outside);
    return () => document.removeEventListener("pointerdown", outside);
  }, [open]);
  const key = (event: TargetedKeyboardEvent<HTMLDivElement>): void => {
    if (event.key === "Escape" && open) {
      event.stopPropagation();
      close();
    }
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const items = [...(root.current?.querySelectorAll<HTMLElement>(".menu-list button, .menu-list a") ?? [])];
    if (!open || items.length === 0) return;
    event.preventDefault();
    event.stopPropagation();
    const next = items.indexOf(document.activeElement as HTMLElement) + (event.key === "ArrowDown" ? 1 : -1);
    items[(next + items.length) % items.length]?.focus();
  };
  return (
    <div class="menu" ref={root} onKeyDown={key}>
      <button ref={button} aria-expanded={open} aria-haspopup="true" aria-pressed={pressed || undefined} title={title} onClick={() => set(!open)}>{label}</button>
      {open && <div class="menu-list">{typeof children === "function" ? children(close) : children}</div>}
    </div>
  );
}

/** Open a place from a row or a key. */
export const open = (asset: Asset): void => go(placeOf(asset));

// Elements without a framework. Text is always text: nothing from the API is ever read as HTML, and what can't be seen of
// it is an escape.

import { visible } from "./format";

type Child = Node | string | number | null | undefined | false;
// Attributes that people read.
const READ = new Set(["title", "aria-label", "placeholder", "alt"]);

type Props = Record<string, unknown>;

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: (Child | Child[])[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  assign(made, props);
  append(made, children);
  return made;
}

export function svg(tag: string, props: Props = {}, ...children: (Child | Child[])[]): SVGElement {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  assign(made, props);
  append(made, children);
  return made;
}

function assign(element: Element, props: Props): void {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
    else element.setAttribute(name, value === true ? "" : READ.has(name) ? visible(String(value)) : String(value));
  }
}

function append(element: Element, children: (Child | Child[])[]): void {
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== false) element.append(child instanceof Node ? child : visible(String(child)));
  }
}

export function byId<T extends HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found as T;
}

// Every text that Preact draws is escaped in one place: names from outside can hide nothing and reorder nothing.

import { options, type VNode } from "preact";

import { visible } from "./format";

// Attributes that people read.
const READ = ["title", "aria-label", "placeholder", "alt", "label"];
// Elements whose text has lines.
const LINES = new Set(["pre", "code", "textarea"]);

const inLines = (text: string): string => text.split("\n").map((line) => line.split("\t").map(visible).join("\t")).join("\n");

/** Escape what can't be seen in all texts and in attributes that people read, of every element drawn from now on. */
export function escapeTexts(): void {
  const before = options.vnode;
  options.vnode = (vnode: VNode) => {
    if (typeof vnode.type === "string") {
      const props = vnode.props as Record<string, unknown>;
      const shown = LINES.has(vnode.type) ? inLines : visible;
      for (const name of READ) if (typeof props[name] === "string") props[name] = visible(props[name] as string);
      if (typeof props.children === "string") props.children = shown(props.children);
      else if (Array.isArray(props.children)) props.children = props.children.map((child: unknown) => (typeof child === "string" ? shown(child) : child));
    }
    before?.(vnode);
  };
}

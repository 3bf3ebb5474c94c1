// The head of a view: what it is of, its whole name, and what can be done with it.

import type { ComponentChildren } from "preact";

import type { Asset } from "../app/answers";
import { parted } from "../app/format";
import { Chip } from "./basics";

interface Given {
  kind?: string | null;
  word?: string;
  /** What stands before the title: namespace, schema. */
  before?: string;
  title: ComponentChildren;
  children?: ComponentChildren;
}

export const Head = ({ kind, word, before, title, children }: Given) => (
  <header class="head">
    {(kind || word || before) && <p class="head-under">{(kind || word) && <Chip kind={kind}>{word}</Chip>} {before}</p>}
    <div class="head-row"><h1>{title}</h1>{children && <div class="head-actions">{children}</div>}</div>
  </header>
);

/** Namespace, and what comes before the last part of the name. */
export function beforeOf(asset: Asset): string {
  return [asset.namespace, parted(asset).before].filter(Boolean).join(" · ");
}

/** Namespace and name of a name in one word. Any split that is spelled the same leads to the same asset. */
export function split(word: string): { namespace: string; name: string } {
  const address = /^([a-z][a-z0-9+.-]*:\/\/[^/]*)(\/.+)$/is.exec(word);
  if (address?.[1] && address[2]) return { namespace: address[1], name: address[2].startsWith("//") ? address[2] : address[2].slice(1) };
  const path = /^([^/:]+):(\/.*)$/s.exec(word);
  if (path) return { namespace: path[1] ?? "", name: path[2] ?? "" };
  const at = word.indexOf("/");
  return at > 0 ? { namespace: word.slice(0, at), name: word.slice(at + 1) } : { namespace: word, name: word };
}

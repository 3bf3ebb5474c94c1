// Long content: its beginning, and a button for the rest. Nothing is cut without a word.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

import { t } from "../app/texts";

/** A long text. Its beginning ends before a surrogate pair, not within. */
export function Folded({ text, most = 400, pre = false }: { text: string; most?: number; pre?: boolean }) {
  const [open, set] = useState(false);
  const long = text.length > most * 1.2;
  const shown = long && !open ? beginning(text, most) : text;
  return (
    <div class="fold">
      {pre ? <pre class="fold-pre">{shown}</pre> : <span class="fold-text">{shown}</span>}
      {long && <button class="link" aria-expanded={open} onClick={() => set(!open)}>{open ? t.showLess : t.showAllLetters(text.length)}</button>}
    </div>
  );
}

export function beginning(text: string, most: number): string {
  const cut = /[\uD800-\uDBFF]$/.test(text.slice(0, most)) ? most - 1 : most;
  return `${text.slice(0, cut).trimEnd()} …`;
}

/** A long list: its first items, and a button with the number of all. */
export function FoldedList({ items, most = 10, noun }: { items: ComponentChildren[]; most?: number; noun?: (many: number) => string }) {
  const [open, set] = useState(false);
  const long = items.length > most + 2;
  const shown = long && !open ? items.slice(0, most) : items;
  return (
    <div class="fold">
      <ul class="fold-list">{shown.map((item) => <li>{item}</li>)}</ul>
      {long && <button class="link" aria-expanded={open} onClick={() => set(!open)}>{open ? t.showLess : t.showAllOf(items.length, noun)}</button>}
    </div>
  );
}

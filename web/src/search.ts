// The search field: a combobox as WAI-ARIA describes it.

import { Problem, search } from "./api";
import { h } from "./dom";
import { distinct, shortened, title } from "./format";
import type { Asset, Hit } from "./types";

const PAUSE_MS = 140;

export function combobox(input: HTMLInputElement, list: HTMLElement, chosen: (asset: Asset) => void): void {
  let hits: Hit[] = [];
  /** The text that `hits` answer. */
  let answered = "";
  let active = -1;
  let timer = 0;
  let asked = new AbortController();

  function close(): void {
    list.hidden = true;
    active = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function choose(index: number): void {
    const hit = hits[index];
    if (!hit) return;
    close();
    input.blur();
    input.value = "";
    chosen(hit.asset);
  }

  /** Enter may come before the answer to the last letter does: what was typed is meant, not what is listed yet. */
  async function enter(): Promise<void> {
    const text = input.value.trim();
    if (text !== answered) await ask();
    if (text === answered && text === input.value.trim()) choose(Math.max(active, 0));
  }

  function mark(index: number): void {
    active = index;
    [...list.children].forEach((child, place) => child.setAttribute("aria-selected", String(place === index)));
    const child = list.children[index];
    if (child) {
      input.setAttribute("aria-activedescendant", child.id);
      child.scrollIntoView({ block: "nearest" });
    }
  }

  function show(rows: HTMLElement[]): void {
    list.replaceChildren(...rows);
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
  }

  async function ask(): Promise<void> {
    clearTimeout(timer);
    asked.abort();
    asked = new AbortController();
    const text = input.value.trim();
    if (!text) return close();
    try {
      const found = await search(text, asked.signal);
      hits = found.items;
      answered = text;
      if (!hits.length) return show([h("li", { class: "note" }, `Nothing is called “${text}”.`)]);
      const under = distinct(hits.map(({ asset }) => asset), 48);
      show(hits.map((hit, index) => option(hit, index, under[index] ?? "", () => choose(index))));
      mark(0);
    } catch (error) {
      if (error instanceof Problem) show([h("li", { class: "note" }, error.message)]);
    }
  }

  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => void ask(), PAUSE_MS);
  });
  input.addEventListener("focus", () => input.value && void ask());
  input.addEventListener("blur", () => window.setTimeout(close, 120));
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (hits.length) mark((active + (event.key === "ArrowDown" ? 1 : hits.length - 1)) % hits.length);
    } else if (event.key === "Enter") {
      void enter();
    } else if (event.key === "Escape") {
      close();
      input.blur();
    }
    event.stopPropagation();
  });
}

function option({ asset, gone }: Hit, index: number, under: string, choose: () => void): HTMLElement {
  const name = asset.column ?? title(asset);
  const of = asset.kind === "COLUMN" ? `column of ${title(asset)} · ${under}` : under;
  return h(
    "li",
    // mousedown: the field loses the focus before a click would come.
    { role: "option", id: `hit-${index}`, onmousedown: choose },
    h("span", { class: `chip ${(asset.kind === "DATASET" ? (asset.type ?? "other") : asset.kind).toLowerCase()}` },
      (asset.kind === "DATASET" ? (asset.type ?? "dataset") : asset.kind).toLowerCase()),
    h("span", { class: "hit-name" }, shortened(name, 48), gone ? h("em", {}, " gone") : null),
    h("span", { class: "hit-of" }, of),
  );
}

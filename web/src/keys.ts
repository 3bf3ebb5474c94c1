// The keyboard: everything that the mouse can do.

import type { Canvas } from "./canvas";
import { byId } from "./dom";
import type { Selection, Store } from "./store";

export interface Hands {
  store: Store;
  canvas: Canvas;
  select(selection: Selection): void;
  expand(dataset: string, side: "up" | "down"): void;
  go(dataset: string): void;
  columns(): void;
  theme(): void;
  timeline(job: string, name: string): void;
  closeDrawer(): void;
}

export function keys(hands: Hands): void {
  const { store, canvas } = hands;

  /** The dataset that the keys are about: what is selected, or has what is. */
  function here(): string | null {
    const { selection } = store;
    if (!selection) return store.start;
    if (selection.kind === "dataset") return selection.key;
    if (selection.kind === "column") return selection.key.split(":")[1] ?? null;
    return store.flows.get(selection.key)?.target ?? null;
  }

  function step(direction: "left" | "right" | "up" | "down"): void {
    const from = here();
    const to = from && (store.selection ? canvas.beside(from, direction) : from);
    if (to) hands.select({ kind: "dataset", key: to });
  }

  /** The arrows of the dataset in turn. */
  function nextFlow(): void {
    const { selection } = store;
    const at = selection?.kind === "flow" ? store.flows.get(selection.key) : undefined;
    const dataset = origin ?? here();
    const around = [...store.flows.values()].filter((flow) => flow.source === dataset || flow.target === dataset);
    const next = around[(at ? around.indexOf(at) + 1 : 0) % around.length];
    if (!next) return;
    origin = dataset;
    hands.select({ kind: "flow", key: next.key });
  }
  let origin: string | null = null;

  function timelineOfSelection(): void {
    const dataset = here();
    const flow =
      store.selection?.kind === "flow"
        ? store.flows.get(store.selection.key)
        : [...store.flows.values()].find((one) => one.target === dataset) ?? [...store.flows.values()].find((one) => one.source === dataset);
    const job = flow?.via[0]?.job;
    if (job) hands.timeline(job.key, job.name);
  }

  function escape(): void {
    if (!byId("alert").hidden) byId("alert").hidden = true;
    else if (!byId("drawer").hidden) hands.closeDrawer();
    else hands.select(null);
  }

  const actions: Record<string, () => void> = {
    "/": () => byId("query").focus(),
    ArrowLeft: () => step("left"),
    ArrowRight: () => step("right"),
    ArrowUp: () => step("up"),
    ArrowDown: () => step("down"),
    "[": () => at((key) => hands.expand(key, "up")),
    "]": () => at((key) => hands.expand(key, "down")),
    e: nextFlow,
    c: hands.columns,
    t: timelineOfSelection,
    d: hands.theme,
    "+": () => canvas.zoom(1.25),
    "=": () => canvas.zoom(1.25),
    "-": () => canvas.zoom(0.8),
    "0": () => canvas.fit(),
    "?": () => byId<HTMLDialogElement>("keys").showModal(),
    Escape: escape,
  };

  function at(act: (key: string) => void): void {
    const key = here();
    if (key) act(key);
  }

  document.addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || byId<HTMLDialogElement>("keys").open) return;
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return;
    if (event.key !== "e") origin = null;
    if (event.key === "Enter") {
      if (target.tagName !== "BUTTON" && target.tagName !== "A") at(hands.go);
      return;
    }
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}

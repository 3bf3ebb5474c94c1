// Stage: a picture on a canvas, and what a person does on it.

import type { TargetedKeyboardEvent } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import type { View } from "../app/address";
import { dark, report, say } from "../app/state";
import { t } from "../app/texts";
import { fileName, save } from "../parts/download";
import { Canvas, type Chosen } from "./canvas";
import { mermaid, png, svg } from "./export";
import { Minimap } from "./minimap";
import type { Picture, Side } from "./picture";

export type { Chosen } from "./canvas";

export interface Given {
  picture: Picture;
  /** Read out by a screen reader. */
  label: string;
  /** Name of files that are exported, and what stands below the picture in them. */
  name: string;
  chosen?: Chosen;
  onChoose?: (chosen: Chosen) => void;
  onExpand?: (key: string, side: Side, more: boolean) => void;
  onOpen?: (key: string) => void;
  /** Shows the same answer as a table: offered where texts are too small to read. */
  onTable?: () => void;
  /** Part of the picture that is in view; null is what suits it. */
  view?: View | null;
  onView?: (view: View | null) => void;
  /** Keys that the view has besides. */
  onKey?: (key: string) => boolean;
}

declare global {
  interface Window {
    /** For tests and for a developer's console. */
    headwater?: { canvas: Canvas; picture: Picture };
  }
}

export function Stage(given: Given) {
  const { picture, label, chosen = null } = given;
  const frame = useRef<HTMLDivElement>(null);
  const [canvas, made] = useState<Canvas | null>(null);
  const [{ beyond, readable }, sees] = useState({ beyond: 0, readable: true });
  const now = useRef(given);
  now.current = given;
  /** What was expanded, until a picture has more boxes than the one of then: it comes into view with its neighbours. */
  const expanded = useRef<{ key: string; side: Side; boxes: number } | null>(null);
  const expand = (key: string, side: Side, more: boolean): void => {
    expanded.current = more ? { key, side, boxes: now.current.picture.boxes.length } : null;
    now.current.onExpand?.(key, side, more);
  };

  useEffect(() => {
    if (!frame.current) return undefined;
    const own = new Canvas(frame.current, {
      choose: (to) => now.current.onChoose?.(to),
      expand,
      open: (key) => now.current.onOpen?.(key),
      sight: (many, legible) => sees((before) => (before.beyond === many && before.readable === legible ? before : { beyond: many, readable: legible })),
      moved: (view) => {
        if (JSON.stringify(view) !== JSON.stringify(now.current.view ?? null)) now.current.onView?.(view);
      },
    });
    made(own);
    const resized = new ResizeObserver(() => own.resize());
    resized.observe(frame.current);
    return () => {
      resized.disconnect();
      own.destroy();
      delete window.headwater;
    };
  }, []);

  // Before it is drawn: the first picture is shown so.
  useEffect(() => canvas?.show(given.view ?? null), [canvas, JSON.stringify(given.view)]);

  useEffect(() => {
    if (!canvas) return;
    window.headwater = { canvas, picture };
    if (picture.boxes.length === 0) return canvas.forget();
    const opened = expanded.current && picture.boxes.length > expanded.current.boxes ? expanded.current : null;
    if (opened) expanded.current = null;
    const around = opened?.key ?? now.current.chosen?.key ?? picture.boxes.find((one) => one.start)?.key ?? null;
    canvas.draw(picture, around && canvas.cy.getElementById(around).nonempty() ? around : null)
      .then(() => opened && canvas.reveal(opened.key, opened.side))
      .catch(report);
  }, [canvas, picture]);

  useEffect(() => {
    canvas?.light(chosen);
    if (canvas && chosen) canvas.reveal(chosen.key);
  }, [canvas, chosen?.kind, chosen?.key, chosen?.column]);

  useEffect(() => canvas?.recolor(), [canvas, dark.value]);

  const key = (event: TargetedKeyboardEvent<HTMLDivElement>): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || !canvas || event.target !== frame.current) return;
    if (!act(event.key, canvas)) return;
    event.preventDefault();
    event.stopPropagation();
  };

  const act = (pressed: string, on: Canvas): boolean => {
    const { onChoose, onOpen, onKey } = now.current;
    const start = picture.boxes.find((one) => one.start) ?? picture.boxes[0];
    const box = chosen && chosen.kind !== "arrow" ? chosen.key : (picture.arrows.find((one) => one.key === chosen?.key)?.source ?? start?.key);
    const directions = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" } as const;
    if (pressed in directions && box) {
      const next = on.beside(box, directions[pressed as keyof typeof directions]);
      const found = picture.boxes.find((one) => one.key === next);
      if (found) {
        onChoose?.({ kind: found.kind, key: found.key });
        say(t.chosenBox(found, picture));
      }
      return true;
    }
    switch (pressed) {
      case "[":
      case "]": {
        const side: Side = pressed === "[" ? "up" : "down";
        const found = picture.boxes.find((one) => one.key === box);
        if (found && found[side] > 0) expand(found.key, side, true);
        else say(t.nothingMore);
        return true;
      }
      case "{":
      case "}":
        if (box) expand(box, pressed === "{" ? "up" : "down", false);
        return true;
      case "e": {
        const arrows = box ? on.arrowsOf(box) : [];
        const next = arrows[(arrows.indexOf(chosen?.kind === "arrow" ? chosen.key : "") + 1) % Math.max(arrows.length, 1)];
        if (next) onChoose?.({ kind: "arrow", key: next });
        return true;
      }
      case "Enter":
        if (box) onOpen?.(box);
        return true;
      case "+":
      case "=":
        on.zoom(1.25);
        return true;
      case "-":
        on.zoom(0.8);
        return true;
      case "0":
        on.fit();
        return true;
      case "9":
        on.fit(true);
        return true;
      case "Escape":
        if (!chosen) return false;
        onChoose?.(null);
        return true;
      default:
        return onKey?.(pressed) ?? false;
    }
  };

  return (
    <div class="stage">
      <div id="canvas" ref={frame} tabIndex={0} role="application" aria-label={`${label} ${t.stageKeys}`} onKeyDown={key} />
      {canvas && beyond > 0 && <Minimap canvas={canvas} />}
      <div class="stage-zoom" role="group" aria-label={t.zoom}>
        {beyond > 0 && <span class="note" role="status">{t.beyond(beyond, picture.boxes.length)}</span>}
        {beyond > 0 && <button onClick={() => canvas?.fit(true)} title={t.showAllKey}>{t.showAll}</button>}
        {!readable && given.onTable && <button onClick={given.onTable} title={t.tooSmall}>{t.asTable}</button>}
        <button aria-label={t.farther} title={t.farther} onClick={() => canvas?.zoom(0.8)}>−</button>
        <button aria-label={t.nearer} title={t.nearer} onClick={() => canvas?.zoom(1.25)}>+</button>
        <button title={t.fitKey} onClick={() => canvas?.fit()}>{t.fit}</button>
      </div>
    </div>
  );
}

/** Files of the picture that is drawn, for the export menu of a view. */
export function exportPicture(kind: "svg" | "png" | "mermaid", name: string): void {
  const drawn = window.headwater;
  if (!drawn) return;
  const { canvas, picture } = drawn;
  const caption = `${name} · ${location.href}`;
  if (kind === "mermaid") save(fileName(name, "mmd"), mermaid(picture));
  else if (kind === "svg") save(fileName(name, "svg"), svg(picture, canvas.placed, caption), "image/svg+xml");
  else png(picture, canvas.placed, caption).then((blob) => save(fileName(name, "png"), blob), report);
}

// Keys that work everywhere, and the dialog that lists all keys.

import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

import type { Theme } from "./palette";
import { applyTheme, chosenTheme, say } from "./state";
import { t } from "./texts";

export const keysShown = signal(false);

const NEXT: Record<Theme, Theme> = { auto: "light", light: "dark", dark: "auto" };
export function nextTheme(): void {
  applyTheme(NEXT[chosenTheme.value]);
  say(t.themeNow(t.themes[chosenTheme.value]));
}

/** Whether a key is meant for the field that has the focus. */
export const isField = (target: EventTarget | null): boolean => target instanceof HTMLElement && (/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName) || target.isContentEditable);

/** What a key of the whole page does; null where it does nothing. */
export function actionOf(event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "target">): "search" | "keys" | "theme" | null {
  if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "k") return "search";
  if (event.ctrlKey || event.metaKey || event.altKey || isField(event.target)) return null;
  return ({ "/": "search", "?": "keys", d: "theme" } as const)[event.key] ?? null;
}

/** A key of a view, wherever the focus is but in a field: its table has no stage that takes keys. Null does nothing. */
export function useKey(name: string, does: (() => void) | null): void {
  const now = useRef(does);
  now.current = does;
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if (event.key !== name || event.repeat || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isField(event.target) || document.querySelector("dialog[open]")) return;
      now.current?.();
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, [name]);
}

function act(event: KeyboardEvent): void {
  if (event.defaultPrevented || document.querySelector("dialog[open]")) return;
  const action = actionOf(event);
  if (!action) return;
  event.preventDefault();
  if (action === "theme") nextTheme();
  else if (action === "keys") keysShown.value = true;
  else {
    const field = document.getElementById("query") as HTMLInputElement | null;
    field?.focus();
    field?.select();
  }
}

export function Keys() {
  const dialog = useRef<HTMLDialogElement>(null);
  // An effect would come after the first frame: keys that are pressed before it would be lost.
  useLayoutEffect(() => {
    document.addEventListener("keydown", act);
    return () => document.removeEventListener("keydown", act);
  }, []);
  const shown = keysShown.value;
  useEffect(() => {
    if (shown && !dialog.current?.open) dialog.current?.showModal();
  }, [shown]);
  return (
    <dialog id="keys" class="keys" ref={dialog} aria-labelledby="keys-title" onClose={() => (keysShown.value = false)} onClick={(event) => event.target === dialog.current && dialog.current?.close()}>
      <h2 id="keys-title">{t.keys}</h2>
      {t.keyGroups.map(({ title, keys }) => (
        <>
          <h3>{title}</h3>
          <dl>{keys.map(([names, does]) => <><dt>{names.map((name, index) => <>{index > 0 && " "}<kbd>{name}</kbd></>)}</dt><dd>{does}</dd></>)}</dl>
        </>
      ))}
      <form method="dialog"><button class="primary">{t.close}</button></form>
    </dialog>
  );
}

// What is true of the whole page: what was announced, what failed, who asks, which theme, how wide the screen is.

import { effect, signal } from "@preact/signals";

import type { Me } from "./answers";
import { Problem, get } from "./api";
import { asProblem } from "./asked";
import { visible } from "./format";
import { here } from "./navigation";
import { isDark, setTheme, theme, type Theme } from "./palette";

/** What a screen reader reads out next. */
export const live = signal("");
export const say = (text: string): void => {
  live.value = visible(text);
};

/** What failed, shown until it is closed or the page is elsewhere. */
export const trouble = signal<Problem | null>(null);
export const report = (error: unknown): void => {
  trouble.value = asProblem(error);
};

export const who = signal<Me | null>(null);
export const askWho = (): void => void get<Me>("me").then((me) => (who.value = me), report);

export const dark = signal(false);
export const chosenTheme = signal<Theme>("auto");
export function applyTheme(chosen: Theme = theme()): void {
  setTheme(chosen);
  chosenTheme.value = chosen;
  dark.value = isDark();
  document.documentElement.classList.toggle("dark", dark.value);
}

const NARROW = matchMedia("(max-width: 820px)");
/** Whether the screen is a phone's: tables first, panels as sheets. */
export const narrow = signal(NARROW.matches);
NARROW.addEventListener?.("change", () => (narrow.value = NARROW.matches));

// What failed elsewhere isn't of this place.
let before = "";
effect(() => {
  const now = here.value ? JSON.stringify([here.value.route, here.value.path]) : "";
  if (now !== before) trouble.value = null;
  before = now;
});

/** Kept by this browser. A browser that keeps nothing forgets. */
export function kept<T>(name: string, usual: T): T {
  try {
    const found = localStorage.getItem(`headwater.${name}`);
    return found === null ? usual : (JSON.parse(found) as T);
  } catch {
    return usual;
  }
}

export function keep(name: string, value: unknown): void {
  try {
    localStorage.setItem(`headwater.${name}`, JSON.stringify(value));
  } catch {
    // It is forgotten.
  }
}

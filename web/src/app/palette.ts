// Colours come from app.css alone: the canvas reads the same custom properties that elements are styled by.

const SEVERITIES = ["CRITICAL", "BREAKING", "BLOCKING", "TAINTED", "RESTRICTED", "DEGRADED", "UNKNOWN", "WARNING", "INFO", "COSMETIC", "NONE"];

/** The worse of two severities comes first. */
export const rank = (severity: string): number => {
  const found = SEVERITIES.indexOf(severity);
  return found < 0 ? SEVERITIES.length : found;
};

/** One of five tones: several severities share one, and the panel spells each out. */
export function tone(severity: string): "bad" | "restricted" | "warn" | "info" | "none" {
  if (rank(severity) <= 3) return "bad";
  if (severity === "RESTRICTED") return "restricted";
  if (["DEGRADED", "UNKNOWN", "WARNING"].includes(severity)) return "warn";
  return severity === "NONE" ? "none" : "info";
}

export function css(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** A dataset's accent, by its type. */
export function accent(type: string | null): string {
  const known: Record<string, string> = { TOPIC: "topic", TABLE: "table", VIEW: "table", FILE: "file" };
  return css(known[(type ?? "").toUpperCase()] ?? "other");
}

export type Theme = "auto" | "light" | "dark";

export function theme(): Theme {
  const kept = localStorage.getItem("headwater.theme");
  return kept === "light" || kept === "dark" ? kept : "auto";
}

export function setTheme(chosen: Theme): void {
  if (chosen === "auto") {
    localStorage.removeItem("headwater.theme");
    delete document.documentElement.dataset.theme;
  } else {
    localStorage.setItem("headwater.theme", chosen);
    document.documentElement.dataset.theme = chosen;
  }
}

export const isDark = (): boolean =>
  theme() === "dark" || (theme() === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);

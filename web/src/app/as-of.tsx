// The instant that the page shows: a menu to choose it, and a bar that states it.

import { useState } from "preact/hooks";

import { Menu, Time } from "../parts/basics";
import type { Place } from "./address";
import { time, utc } from "./format";
import { go, here } from "./navigation";
import { narrow } from "./state";
import { t } from "./texts";

const DAY_MS = 86_400_000;
const two = (value: number): string => String(value).padStart(2, "0");

/** As a field of type datetime-local has it, in the viewer's zone. */
export function field(iso: string): string {
  const at = new Date(iso);
  return Number.isNaN(at.getTime()) ? "" : `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** As the API has it; "" where the field holds no time. */
export function instant(value: string): string {
  const at = value ? new Date(value) : null;
  return at && !Number.isNaN(at.getTime()) ? at.toISOString().replace(".000Z", "Z") : "";
}

/** Times that people ask for. On a Monday, the last Monday was a week ago. */
export function presets(now: Date = new Date()): Record<"yesterday" | "monday" | "week", string> {
  const monday = new Date(now.getFullYear(), now.getMonth(), now.getDate() - (((now.getDay() + 6) % 7) || 7));
  const toMinute = (at: number): string => instant(field(new Date(at).toISOString()));
  return { yesterday: toMinute(now.getTime() - DAY_MS), monday: toMinute(monday.getTime()), week: toMinute(now.getTime() - 7 * DAY_MS) };
}

/** Whether the question of a view can be asked of another time than now. */
export const canBeAsOf = (place: Place | null): boolean => (place?.route === "dataset" && (place.tab === "lineage" || place.tab === "columns")) || place?.route === "column";

const set = (asOf: string): void => {
  const now = here.peek();
  if (now) go({ ...now, asOf });
};

export function AsOfMenu() {
  const asOf = here.value?.asOf ?? "";
  const label = asOf ? `${t.asOf} ${time(asOf).slice(0, 16)}` : t.asOfNow;
  return (
    <Menu label={<><span aria-hidden="true">◷</span>{narrow.value && asOf ? time(asOf).slice(5, 16) : label}</>} title={t.asOfHelp} pressed={asOf !== ""}>
      {(close) => <Form asOf={asOf} close={close} />}
    </Menu>
  );
}

function Form({ asOf, close }: { asOf: string; close: () => void }) {
  const [value, setValue] = useState(asOf ? field(asOf) : "");
  const chosen = instant(value);
  const future = chosen !== "" && Date.parse(chosen) > Date.now();
  const apply = (iso: string): void => {
    set(iso);
    close();
  };
  const times = presets();
  return (
    <form class="when" onSubmit={(event) => {
      event.preventDefault();
      if (chosen && !future) apply(chosen);
    }}>
      <p>{t.asOfHelp}</p>
      <label>{t.asOfField}<input type="datetime-local" value={value} max={field(new Date().toISOString())} onInput={(event) => setValue(event.currentTarget.value)} />
        <small>{future ? t.asOfFuture : chosen ? t.asOfUtc(utc(chosen)) : t.asOfNone}</small>
      </label>
      <div class="when-presets">
        {(["yesterday", "monday", "week"] as const).map((name) => <button type="button" title={time(times[name])} onClick={() => apply(times[name])}>{t.presets[name]}</button>)}
      </div>
      <div class="when-row">
        <button class="primary" disabled={!chosen || future}>{t.apply}</button>
        {asOf && <button type="button" onClick={() => apply("")}>{t.backToNow}</button>}
      </div>
    </form>
  );
}

/** Stands under the header as long as the page shows another time than now. */
export function AsOfBar() {
  const now = here.value;
  if (!now?.asOf) return null;
  return (
    <div class="when-bar" role="region" aria-label={t.asOf}>
      <span><strong>{t.asOf}</strong> <Time at={now.asOf} /></span>
      {!canBeAsOf(now) && <span>{t.asOfNowOnly}</span>}
      <button onClick={() => set("")}>{t.backToNow}</button>
    </div>
  );
}

// Search field of the header: a combobox as WAI-ARIA describes it.

import { useEffect, useRef, useState } from "preact/hooks";

import { Chip } from "../parts/basics";
import { place, type Place } from "./address";
import type { FoundConsumer, Hit, SearchPage } from "./answers";
import { get } from "./api";
import { asProblem } from "./asked";
import { number, parted, spelling, visible } from "./format";
import { go, placeOf } from "./navigation";
import { say } from "./state";
import { t } from "./texts";

const PAUSE_MS = 140;
const MOST_HITS = 8;
const MOST_CONSUMERS = 3;

interface Shown {
  /** The text that this is the answer to. */
  text: string;
  hits: Hit[];
  consumers: FoundConsumer[];
  total: number;
  truncated: boolean;
  note: string;
}

const NOTHING: Shown = { text: "", hits: [], consumers: [], total: 0, truncated: false, note: "" };

/** Name and what stands before it, of a hit: `orders` in `snowflake://acme · db.schema`. */
export function spoken({ asset }: Pick<Hit, "asset">): { name: string; of: string } {
  const { last, before } = parted(asset);
  const around = [asset.namespace, before].filter(Boolean).join(" · ");
  return asset.kind === "COLUMN" && asset.column !== null ? { name: asset.column, of: `${t.searchField.columnOf(last)} · ${around}` } : { name: last, of: around };
}

const searchPlace = (text: string): Place => place("search", {}, { query: { q: text } });

/** Where each option leads, in the order that they are shown. */
export const targets = ({ hits, consumers, text }: Shown): Place[] => [
  ...hits.map(({ asset }) => placeOf(asset)),
  ...consumers.map(({ key }) => place("consumer", { key })),
  ...(hits.length + consumers.length ? [searchPlace(text)] : []),
];

/** What was typed leads there, if Enter came before its answer: to what is called exactly so, else to all hits. */
export const typed = ({ hits, text }: Shown): Place => {
  const [first, second] = hits;
  return first?.match === "EXACT" && second?.match !== "EXACT" ? placeOf(first.asset) : searchPlace(text);
};

async function ask(text: string): Promise<Shown> {
  const { items, consumers, total, truncated } = await get<SearchPage>("search", { q: text, limit: MOST_HITS });
  const some = (consumers ?? []).slice(0, MOST_CONSUMERS);
  const note = items.length + some.length ? "" : truncated ? t.searchField.incomplete(text) : t.nothingFound(text);
  return { text, hits: items.slice(0, MOST_HITS), consumers: some, total, truncated, note };
}

export function SearchField() {
  const input = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const [shown, show] = useState<Shown>(NOTHING);
  const [open, setOpen] = useState(false);
  const [active, mark] = useState(0);
  const timer = useRef(0);
  const questions = useRef(0);
  // Keys come faster than draws.
  const latest = useRef(shown);
  latest.current = shown;

  const text = (): string => input.current?.value.trim() ?? "";
  const close = (): void => {
    setOpen(false);
    mark(0);
  };
  const leave = (to: Place): void => {
    questions.current++;
    clearTimeout(timer.current);
    close();
    if (input.current) input.current.value = "";
    input.current?.blur();
    latest.current = NOTHING;
    show(NOTHING);
    go(to);
  };

  /** The answer to what is typed now; null if something else was typed meanwhile. */
  const question = async (): Promise<Shown | null> => {
    clearTimeout(timer.current);
    const mine = ++questions.current;
    const asked = text();
    if (!asked) {
      close();
      return null;
    }
    let answer: Shown;
    try {
      answer = await ask(asked);
    } catch (error) {
      const problem = asProblem(error);
      answer = { ...NOTHING, note: [problem.title, problem.detail].filter(Boolean).join(" ") };
    }
    if (mine !== questions.current) return null;
    latest.current = answer;
    show(answer);
    mark(0);
    setOpen(true);
    say(answer.note || t.found(answer.total, answer.truncated));
    return answer;
  };

  /** Enter may come before the answer to the last letter does: what was typed is meant, not what is listed yet. */
  const enter = async (): Promise<void> => {
    if (!text()) return;
    if (open && latest.current.text === text()) {
      const to = targets(latest.current)[active];
      if (to) leave(to);
      else if (!latest.current.note) leave(searchPlace(text()));
      return;
    }
    const answer = await question();
    if (answer && !answer.note) leave(typed(answer));
  };

  const options = targets(shown).length;
  const key = (event: KeyboardEvent): void => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (!open) void question();
      else if (options) mark((active + (event.key === "ArrowDown" ? 1 : options - 1)) % options);
    } else if (event.key === "Enter") {
      event.preventDefault();
      void enter();
    } else if (event.key === "Escape") {
      questions.current++;
      clearTimeout(timer.current);
      if (open) close();
      else input.current?.blur();
    }
    if (!event.ctrlKey && !event.metaKey) event.stopPropagation();
  };

  useEffect(() => {
    if (open) list.current?.querySelector(`#hit-${active}`)?.scrollIntoView?.({ block: "nearest" });
  }, [open, active]);
  useEffect(() => () => clearTimeout(timer.current), []);

  const expanded = open && options > 0;
  const option = (index: number, to: Place, style: string, content: preact.ComponentChildren, title?: string) => (
    <li
      key={index} id={`hit-${index}`} role="option" class={style} title={title} aria-selected={index === active}
      // The field keeps the focus until a hit is chosen.
      onMouseDown={(event) => event.preventDefault()} onClick={() => leave(to)}
    >
      {content}
    </li>
  );
  const to = targets(shown);
  return (
    <div class="find" role="search">
      <svg viewBox="0 0 16 16" width="15" height="15" aria-hidden="true"><circle cx="7" cy="7" r="4.5" /><path d="M10.5 10.5 14 14" /></svg>
      <input
        id="query" ref={input} type="text" role="combobox" aria-label={t.search} aria-controls="hits" aria-expanded={expanded} aria-autocomplete="list"
        aria-activedescendant={expanded ? `hit-${active}` : undefined} placeholder={t.search} autocomplete="off" spellcheck={false}
        onInput={() => {
          clearTimeout(timer.current);
          timer.current = window.setTimeout(() => void question(), PAUSE_MS);
        }}
        onFocus={() => text() && void question()}
        onBlur={() => window.setTimeout(() => document.activeElement !== input.current && close(), 120)}
        onKeyDown={key}
      />
      <kbd aria-hidden="true">/</kbd>
      <div class="find-hits" hidden={!open}>
        {shown.note && <p class="find-note">{shown.note}</p>}
        <ul id="hits" ref={list} role="listbox" aria-label={t.searchField.hits} hidden={options === 0}>
          {shown.hits.map((hit, index) => {
            const { name, of } = spoken(hit);
            const kind = hit.asset.kind === "DATASET" ? hit.asset.type : hit.asset.kind;
            return option(index, to[index] as Place, "find-hit", <><Chip kind={kind} /><span><b class="find-name">{name}{hit.gone && <em> {t.searchField.gone}</em>}</b><span class="find-of">{of}</span></span></>,
              visible(spelling(hit.asset) + (hit.asset.column ? ` · ${hit.asset.column}` : "")));
          })}
          {shown.consumers.map(({ name, owners }, at) =>
            option(shown.hits.length + at, to[shown.hits.length + at] as Place, "find-hit", <><Chip kind="consumer" /><span><b class="find-name">{name}</b><span class="find-of">{owners.join(", ")}</span></span></>, visible(name)))}
          {options > 0 && option(options - 1, to[options - 1] as Place, "find-all", <><span>{t.allHits(shown.text)}</span><small>{number(shown.total)}{shown.truncated && "+"}</small></>)}
        </ul>
      </div>
    </div>
  );
}

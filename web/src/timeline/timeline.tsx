// Timeline of a job at a fixed height: the latest micro-batches first; farther away, bars of many; nearer, those of a span.

import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import type { Overview, Timeline as Answer } from "../app/answers";
import { useAsked } from "../app/asked";
import { report, say } from "../app/state";
import { t } from "../app/texts";
import { Trouble, Waiting } from "../parts/basics";
import { Details } from "./details";
import { bars, beside, BLOCK, blocks, fault, LEFT, roomOf, spoken, spokenOf, timeAt, top, type Drawn, type Mark } from "./draw";
import { ask, history, shownOf, spanOf, type Found } from "./spans";
import { into, middle, moved, scaled, STEP, within, written, type Span } from "./zoom";

const WHEEL_MS = 150;
const NAME = 16;
const w = t.timeline;

export interface Given {
  /** Key of the job. */
  job: string;
  from: string;
  until: string;
  /** Another span was chosen; both "" for the latest micro-batches. */
  onSpan: (from: string, until: string) => void;
  /** The run of what was chosen is to be opened: Enter, once its details are kept. */
  onRun?: (runId: string) => void;
}

const runOf = ({ what }: Mark): string | null => (what.kind === "run" ? what.run.run_id : what.kind === "bar" ? null : what.batch.run_id);

export function Timeline({ job, from, until, onSpan, onRun }: Given) {
  const asked = spanOf(from, until);
  const shown = useRef<Found | null>(null);
  const answer = useAsked(`timeline ${job} ${from} ${until}`, () => ask(job, asked, shown.current), { keep: true });
  const of = useRef(job);
  // What is kept while the next answer comes is of the same job.
  if (of.current !== job) {
    of.current = job;
    shown.current = null;
  } else if (answer.value && !answer.waiting) shown.current = answer.value;
  const found = answer.waiting ? shown.current : answer.value;

  const [lanes, width] = useWidth();
  const drawn = useMemo(() => (found ? draw(found, width) : null), [found, width]);
  const words = useMemo(() => (found ? sentence(found) : ""), [found]);
  useEffect(() => {
    if (words) say(words);
  }, [words]);

  const [active, setActive] = useState<string | null>(null);
  const [hovered, setHovered] = useState<string | null>(null);
  const [pinned, setPinned] = useState<string | null>(null);
  useEffect(() => {
    setHovered(null);
    setPinned(null);
  }, [job]);
  const marks = drawn?.marks ?? [];
  const mark = (id: string | null): Mark | null => marks.find((one) => one.id === id) ?? null;
  const [focused, setFocused] = useState(false);
  const explained = mark(hovered) ?? mark(pinned) ?? (focused ? mark(active) : null);

  // Each step goes on from what was asked for last, whether its answer is there or not.
  const steps = useRef(0);
  const go = (to: Span | null | Promise<Span | null>): void => {
    const mine = ++steps.current;
    void Promise.resolve(to).then((span) => {
      if (mine !== steps.current) return;
      const next = span ? written(span) : { from: "", to: "" };
      onSpan(next.from, next.to);
    }, report);
  };
  const here = (): Span | null => asked ?? (found ? shownOf(found) : null);
  const zoomable = (found?.answer.queries.length ?? 0) > 0;
  const all = (): void => go(history(job));
  const zoom = (factor: number, at?: number): void => {
    const now = here();
    if (!now) return all();
    // Of the latest micro-batches, the latest stay.
    const next = scaled(now, at ?? (asked || factor < 1 ? middle(now) : now.to), factor);
    go(factor < 1 ? next : history(job).then((whole) => (whole ? within(next, whole) : null)));
  };
  const move = (share: number): void => {
    const now = here();
    if (now) go(moved(now, share));
  };
  const choose = (one: Mark, at?: number): void => {
    setActive(one.id);
    const span = here();
    if (one.what.kind === "bar" && span) return go(into(one.what.bar, span, at ?? middle(spanOfMark(one, width, span))));
    setPinned(one.id === pinned ? null : one.id);
  };
  const enter = (one: Mark): void => {
    const run = one.id === pinned && onRun ? runOf(one) : null;
    if (run) onRun?.(run);
    else choose(one);
  };

  const wheel = useWheel((factor, x) => {
    const now = here();
    if (zoomable && now) zoom(factor, timeAt(x, width, now));
  });
  const key = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const to = (direction: "left" | "right" | "up" | "down") => (): void => {
      const next = beside(marks, mark(active)?.id ?? null, direction);
      if (next) setActive(next.id);
      else if (zoomable && direction === "left") move(-0.5);
      else if (zoomable && direction === "right") move(0.5);
    };
    const chosen = mark(active);
    const act: Record<string, (() => void) | undefined> = {
      ArrowLeft: to("left"), ArrowRight: to("right"), ArrowUp: to("up"), ArrowDown: to("down"),
      Home: marks[0] && (() => setActive(marks[0]?.id ?? null)),
      End: marks.length ? () => setActive(marks[marks.length - 1]?.id ?? null) : undefined,
      Enter: chosen ? () => enter(chosen) : undefined,
      " ": chosen ? () => choose(chosen) : undefined,
      Escape: pinned ? () => setPinned(null) : undefined,
      ...(zoomable ? { "+": () => zoom(1 / STEP), "=": () => zoom(1 / STEP), "-": () => zoom(STEP), "0": all, l: () => go(null), PageUp: () => move(-0.5), PageDown: () => move(0.5) } : {}),
    };
    const does = act[event.key];
    if (!does) return;
    event.preventDefault();
    event.stopPropagation();
    does();
  };

  const button = (label: string, title: string, act: () => void) => <button title={title} aria-label={title} disabled={!zoomable} onClick={act}>{label}</button>;
  return (
    <div class="timeline">
      <div class="timeline-head">
        <p class="timeline-words">{words}</p>
        <span class="timeline-zooms" role="group" aria-label={w.zoom}>
          {button("‹", w.earlier, () => move(-0.5))}
          {button("›", w.later, () => move(0.5))}
          {button("−", w.zoomOut, () => zoom(STEP))}
          {button("+", w.zoomIn, () => zoom(1 / STEP))}
          {button(w.all, w.zoomAll, all)}
          {button(w.latest, w.zoomLatest, () => go(null))}
        </span>
      </div>
      <div class="timeline-body">
        <div class={`timeline-lanes ${answer.waiting ? "late" : ""}`} ref={lanes} onWheel={wheel}>
          {answer.problem ? <Trouble problem={answer.problem} again={answer.again} />
            : !drawn || !found ? <Waiting />
            : marks.length === 0 ? <div class="timeline-none" tabIndex={0} role="group" aria-label={w.zoom} onKeyDown={key}><p>{asked ? w.timelineNothingThen : w.timelineNothing}</p></div>
            : <Lanes drawn={drawn} label={w.timelineOf(words)} active={mark(active)?.id ?? null} pinned={pinned} focused={focused} onKey={key} onHover={setHovered} onChoose={choose}
                onFocus={(is) => {
                  setFocused(is);
                  if (is && !mark(active)) setActive(marks[marks.length - 1]?.id ?? null);
                }} />}
        </div>
        <div class="timeline-details" role="region" aria-label={w.timelineDetails} tabIndex={0}>
          {explained ? <Details what={explained.what} /> : <p class="timeline-hint">{found?.overview ? w.timelineHintBars : zoomable ? w.timelineHint : w.timelineHintRuns}</p>}
        </div>
      </div>
      <Legend runs={found !== null && !zoomable} />
    </div>
  );
}

const draw = (found: Found, width: number): Drawn => (found.overview && found.span ? bars(found.overview, width, found.span) : blocks(found.answer as Answer, width, found.span));
const sentence = (found: Found): string => (found.overview ? spokenOf(found.answer as Overview) : spoken(found.answer as Answer));
const spanOfMark = (one: Mark, width: number, span: Span): Span => ({ from: timeAt(one.x, width, span), to: timeAt(one.x + one.width, width, span) });

function Legend({ runs }: { runs: boolean }) {
  const kinds: [string, string][] = runs ? [["observed", w.legendRun]] : [["observed", w.legendBatch], ["reconciled", w.legendReconciled], ["summarized", w.legendSummarized], ["gap", w.legendGap], ["overlap", w.legendOverlap], ["conflict", w.legendConflict]];
  return <p class="timeline-legend">{kinds.map(([kind, name]) => <span><i class={kind} aria-hidden="true" />{name}</span>)}</p>;
}

interface Shown {
  drawn: Drawn;
  label: string;
  active: string | null;
  pinned: string | null;
  focused: boolean;
  onKey: (event: KeyboardEvent) => void;
  onHover: (id: string | null) => void;
  onChoose: (mark: Mark, at?: number) => void;
  onFocus: (is: boolean) => void;
}

/** One stop of the Tab key: the list has the focus, and names the mark that the keys are about. */
function Lanes({ drawn, label, active, pinned, focused, onKey, onHover, onChoose, onFocus }: Shown) {
  const { width, height, span } = drawn;
  const svg = useRef<SVGSVGElement>(null);
  const end = LEFT + roomOf(width);
  return (
    <div class="timeline-list" role="listbox" tabIndex={0} aria-label={label} aria-description={w.timelineKeys} aria-activedescendant={active ?? undefined}
      onKeyDown={onKey} onFocus={() => onFocus(true)} onBlur={() => onFocus(false)} onMouseLeave={() => onHover(null)}>
      <svg ref={svg} width={width} height={height} role="presentation">
        <g aria-hidden="true">
          {drawn.lanes.map((name, lane) => (
            <>
              <line x1={LEFT} x2={end} y1={top(lane) + BLOCK / 2} y2={top(lane) + BLOCK / 2} class="axis" />
              <text x={8} y={top(lane) + BLOCK / 2 + 4} class="lane"><title>{name}</title>{name.length > NAME ? name.slice(0, NAME - 1) + "…" : name}</text>
            </>
          ))}
          {drawn.ticks.map(({ x, text, anchor }) => <text x={x} y={height - 6} class="tick" text-anchor={anchor}>{text}</text>)}
        </g>
        {drawn.marks.map((mark) => (
          <g key={mark.id}>
            <rect
              id={mark.id} role="option" aria-label={mark.label} aria-selected={mark.id === pinned} x={mark.x} y={top(mark.lane)} width={mark.width} height={BLOCK} rx={2.5}
              class={`${mark.style} ${focused && mark.id === active ? "active" : ""} ${mark.id === pinned ? "pinned" : ""}`}
              onMouseEnter={() => onHover(mark.id)}
              onClick={(event) => onChoose(mark, span ? timeAt(event.clientX - (svg.current?.getBoundingClientRect().left ?? 0), width, span) : undefined)}
            />
            {mark.faults.map((kind, at) => <rect x={mark.x} y={top(mark.lane) + fault(at).y} width={mark.width} height={fault(at).height} class={`fault ${kind}`} />)}
          </g>
        ))}
      </svg>
    </div>
  );
}

/** Width of an element, also after it has changed. */
function useWidth(): [RefObject<HTMLDivElement | null>, number] {
  const element = useRef<HTMLDivElement>(null);
  const [width, set] = useState(800);
  useLayoutEffect(() => {
    const now = element.current;
    if (!now) return undefined;
    const measure = (): void => set(Math.max(320, now.clientWidth));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(now);
    return () => observer.disconnect();
  }, []);
  return [element, width];
}

/** Turns of a wheel in a row are one step, around where the pointer is. */
function useWheel(turn: (factor: number, x: number) => void): (event: WheelEvent) => void {
  const state = useRef({ turned: 1, timer: 0 });
  const latest = useRef(turn);
  latest.current = turn;
  useEffect(() => () => clearTimeout(state.current.timer), []);
  return (event) => {
    const list = (event.currentTarget as HTMLElement).querySelector("svg");
    if (event.ctrlKey || !event.deltaY || !list) return;
    event.preventDefault();
    const x = event.clientX - list.getBoundingClientRect().left;
    const { current } = state;
    current.turned *= event.deltaY > 0 ? 2 : 0.5;
    clearTimeout(current.timer);
    current.timer = window.setTimeout(() => {
      const { turned } = current;
      current.turned = 1;
      if (turned !== 1) latest.current(turned, x);
    }, WHEEL_MS);
  };
}

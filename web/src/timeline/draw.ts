// Where everything of a timeline stands: a lane for each streaming query, a block for each micro-batch or a bar for many, gaps
// in red; runs of batch jobs.

import type { Overview, OverviewBar, Timeline, TimelineInterval, TimelineQuery, TimelineRun } from "../app/answers";
import { count } from "../app/format";
import { t } from "../app/texts";
import { extent, MOST_BATCHES, within, type Span } from "./zoom";

export const LANE = 46;
export const BLOCK = 24;
export const LEFT = 118;
const RIGHT = 24;
const TOP = 8;
const FAULT = 6;
const LEAST = 3;

/** What a mark stands for. */
export type What =
  | { kind: "batch"; batch: TimelineInterval }
  | { kind: "gap"; batch: TimelineInterval }
  | { kind: "bar"; bar: OverviewBar }
  | { kind: "run"; run: TimelineRun };

export interface Mark {
  id: string;
  /** Names of its style. */
  style: string;
  x: number;
  width: number;
  lane: number;
  label: string;
  what: What;
  /** Faults of a bar, each a stripe. */
  faults: string[];
}

export interface Drawn {
  lanes: string[];
  marks: Mark[];
  /** What is on the screen; null where nothing has a time. */
  span: Span | null;
  ticks: { x: number; text: string; anchor: "start" | "middle" | "end" }[];
  width: number;
  height: number;
}

export const roomOf = (width: number): number => Math.max(200, width - LEFT - RIGHT);
export const top = (lane: number): number => lane * LANE + TOP;
const named = (query: TimelineQuery): string => query.name ?? query.query_id.slice(0, 8);

/** The time at a place of a drawing of this width. */
export const timeAt = (x: number, width: number, { from, to }: Span): number =>
  from + Math.max(0, Math.min(1, (x - LEFT) / roomOf(width))) * (to - from);

const placed = (width: number, { from, to }: Span) => (at: number): number =>
  LEFT + (to > from ? ((at - from) / (to - from)) * roomOf(width) : roomOf(width) / 2);

const took = (at: string | null, ms: number | null): number[] => (at ? [Date.parse(at), Date.parse(at) + (ms ?? 0)] : []);

/** Micro-batches, a block each, or runs. Without a span, from the first to the last of them. */
export function blocks(answer: Timeline, width: number, span: Span | null): Drawn {
  const runs = answer.queries.length || !answer.runs.length ? [] : answer.runs;
  const lanes = answer.queries
    .map((query) => ({ name: named(query), intervals: answer.intervals.filter((one) => one.query === query.key), runs: [] as TimelineRun[] }))
    .concat(runs.length ? [{ name: t.timeline.laneRuns, intervals: [], runs }] : [])
    .filter((lane) => lane.intervals.length || lane.runs.length);
  const times = lanes.flatMap((lane) => [
    ...lane.intervals.flatMap((one) => took(one.processing_time, one.duration_ms)),
    ...lane.runs.flatMap((run) => [run.started_at, run.ended_at].filter((at) => at !== null).map((at) => Date.parse(at))),
  ]);
  const shown = span ?? (times.length ? { from: Math.min(...times), to: Math.max(...times) } : null);
  const x = placed(width, shown ?? { from: 0, to: 0 });
  const marks = lanes.flatMap(({ intervals, runs: own }, lane) => [
    ...intervals.flatMap((one, index) => block(one, intervals[index - 1], intervals[index + 1], x, lane)),
    ...own.map((run) => runMark(run, x, lane)),
  ]);
  return frame(lanes.map(({ name }) => name), marks, width, shown);
}

/** Bars of many micro-batches. */
export function bars(overview: Overview, width: number, span: Span): Drawn {
  const lanes = overview.queries
    .map((query) => ({ name: named(query), own: overview.bars.filter((one) => one.query === query.key) }))
    .filter(({ own }) => own.length);
  const x = placed(width, span);
  const marks = lanes.flatMap(({ own }, lane) => own.flatMap((bar): Mark[] => {
    const all = extent([bar]);
    if (!all) return [];
    const shown = within(all, span);
    const [left, right] = [x(shown.from), x(shown.to)];
    const faults = [bar.missing || bar.gaps ? "gap" : null, bar.overlaps || bar.rewinds ? "overlap" : null, bar.conflicts || bar.failed ? "conflict" : null].filter((kind) => kind !== null);
    const style = bar.summarized === bar.batches ? "summarized" : bar.reconciled === bar.batches ? "reconciled" : "observed";
    const words = [
      style === "observed" ? "" : style,
      bar.missing ? t.timeline.spokenMissing(bar.missing) : "",
      bar.gaps ? t.timeline.gapsInOffsets(bar.gaps) : "",
      bar.overlaps ? t.timeline.overlaps(bar.overlaps) : "",
      bar.conflicts ? t.timeline.spokenConflicts(bar.conflicts) : "",
      bar.failed ? t.timeline.spokenFailed(bar.failed) : "",
    ].filter(Boolean);
    return [{
      id: `bar-${lane}-${bar.first_batch}`, style: `batch ${style}`, x: left, width: Math.max(LEAST, right - left - 1), lane,
      label: t.timeline.markBars(bar.first_batch, bar.last_batch, words), what: { kind: "bar", bar }, faults,
    }];
  }));
  return frame(lanes.map(({ name }) => name), marks, width, span);
}

/** Height of each stripe from the bottom of a bar. */
export const fault = (index: number): { y: number; height: number } => ({ y: BLOCK - FAULT * (index + 1), height: FAULT - 1 });

function block(one: TimelineInterval, before: TimelineInterval | undefined, after: TimelineInterval | undefined, x: (at: number) => number, lane: number): Mark[] {
  const [from, to] = reach(one, before, after, x);
  const made: Mark[] = [];
  const mark = (id: string, style: string, left: number, width: number, label: string, what: What): void =>
    void made.push({ id: `${id}-${lane}-${one.batch_id}`, style, x: left, width, lane, label, what, faults: [] });
  if (one.missing_before > 0 || one.gaps.length > 0) {
    const left = before ? reach(before, undefined, one, x)[1] : from - 14;
    mark("gap", "gap", Math.min(left, from - 6), Math.max(6, from - left), t.timeline.markGap(one.batch_id), { kind: "gap", batch: one });
  }
  if (one.overlaps.length) mark("overlap", "overlap", from - 2, 4, t.timeline.markOverlap(one.batch_id), { kind: "gap", batch: one });
  const style = one.conflicts ? "conflict" : one.provenance === "RECONCILED" ? "reconciled" : "observed";
  mark("batch", `batch ${style}`, from, Math.max(LEAST, to - from - 1), t.timeline.markBatch(one.batch_id, style), { kind: "batch", batch: one });
  return made;
}

/** Where a block stands. A batch whose time isn't known (it was reconciled) stands between its neighbours. */
function reach(one: TimelineInterval, before: TimelineInterval | undefined, after: TimelineInterval | undefined, x: (at: number) => number): [number, number] {
  if (one.processing_time) {
    const at = Date.parse(one.processing_time);
    const end = x(at + (one.duration_ms ?? 0));
    return [x(at), Math.min(end, after?.processing_time ? x(Date.parse(after.processing_time)) : Infinity)];
  }
  const left = before?.processing_time ? x(Date.parse(before.processing_time) + (before.duration_ms ?? 0)) : LEFT;
  const right = after?.processing_time ? x(Date.parse(after.processing_time)) : left + 12;
  return [left + 2, Math.max(left + 8, right - 2)];
}

function runMark(run: TimelineRun, x: (at: number) => number, lane: number): Mark {
  const from = Date.parse(run.started_at ?? run.ended_at ?? "");
  const to = Date.parse(run.ended_at ?? run.started_at ?? "");
  const style = run.state === "COMPLETE" ? "observed" : run.state === "FAIL" || run.state === "ABORT" ? "gap" : "reconciled";
  // A run that has neither time stands at the beginning.
  const left = Number.isNaN(from) ? LEFT : x(from);
  return {
    id: `run-${run.key}`, style: `batch ${style}`, x: left, width: Number.isNaN(to) ? 4 : Math.max(4, x(to) - left), lane,
    label: t.timeline.markRun(run.run_id, run.state), what: { kind: "run", run }, faults: [],
  };
}

const two = (value: number): string => String(value).padStart(2, "0");
const DAY_MS = 86_400_000;

/** A time of the axis, in the viewer's zone. */
export function tick(at: number, span: Span): string {
  const date = new Date(at);
  const clock = `${two(date.getHours())}:${two(date.getMinutes())}`;
  return span.to - span.from < DAY_MS ? `${clock}:${two(date.getSeconds())}` : `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${clock}`;
}

function frame(lanes: string[], marks: Mark[], width: number, span: Span | null): Drawn {
  const x = span ? placed(width, span) : null;
  const steps = span && span.to > span.from ? (roomOf(width) < 460 ? 2 : 4) : 0;
  const ticks = !span || !x ? [] : Array.from({ length: steps + 1 }, (_, index) => {
    const at = span.from + (steps ? ((span.to - span.from) * index) / steps : 0);
    return { x: x(at), text: tick(at, span), anchor: steps === 0 ? "middle" as const : index === 0 ? "start" as const : index === steps ? "end" as const : "middle" as const };
  });
  return { lanes, marks: marks.flatMap((mark) => cut(mark, width)), span, ticks, width: LEFT + roomOf(width) + RIGHT, height: Math.max(1, lanes.length) * LANE + 26 };
}

/** The part of a mark that is within the drawing, and a little around it: a gap may begin before the first block. */
function cut(mark: Mark, width: number): Mark[] {
  const [least, most] = [LEFT - 16, LEFT + roomOf(width) + 16];
  const [left, right] = [Math.max(least, mark.x), Math.min(most, mark.x + mark.width)];
  return right <= left ? [] : [{ ...mark, x: left, width: right - left }];
}

/** Mark beside another: the one before or after it in its lane, or that of another lane which is nearest in time. */
export function beside(marks: readonly Mark[], id: string | null, direction: "left" | "right" | "up" | "down"): Mark | null {
  const now = marks.find((mark) => mark.id === id);
  if (!now) return marks[direction === "left" ? marks.length - 1 : 0] ?? null;
  if (direction === "left" || direction === "right") {
    const lane = marks.filter((mark) => mark.lane === now.lane);
    return lane[lane.indexOf(now) + (direction === "right" ? 1 : -1)] ?? null;
  }
  const lanes = [...new Set(marks.map(({ lane }) => lane))].sort((a, b) => a - b);
  const to = lanes[lanes.indexOf(now.lane) + (direction === "down" ? 1 : -1)];
  const there = marks.filter(({ lane }) => lane === to);
  const away = (mark: Mark): number => Math.abs(mark.x + mark.width / 2 - now.x - now.width / 2);
  return there.length ? there.reduce((best, mark) => (away(mark) < away(best) ? mark : best)) : null;
}

/** Bars in a sentence. */
export function spokenOf({ bars: all, batches, truncated }: Pick<Overview, "bars" | "batches" | "truncated">): string {
  const sum = (of: (bar: OverviewBar) => number): number => all.reduce((total, bar) => total + of(bar), 0);
  const [missing, gaps, overlaps, conflicts, failed, summarized] = [sum((bar) => bar.missing), sum((bar) => bar.gaps), sum((bar) => bar.overlaps), sum((bar) => bar.conflicts), sum((bar) => bar.failed), sum((bar) => bar.summarized)];
  const untimed = all.filter((bar) => !extent([bar])).reduce((total, bar) => total + bar.batches, 0);
  return [
    t.timeline.spokenBars(batches, all.length),
    missing && t.timeline.spokenMissing(missing),
    gaps && t.timeline.gapsInOffsets(gaps),
    overlaps && t.timeline.overlaps(overlaps),
    conflicts && t.timeline.spokenConflicts(conflicts),
    failed && t.timeline.spokenFailed(failed),
    summarized ? t.timeline.spokenSummarized(summarized) : all.length > 0 && !missing && !gaps && !overlaps && !truncated && t.timeline.noGaps,
    untimed && t.timeline.spokenUntimed(untimed),
    truncated && t.timeline.spokenTruncated,
  ].filter(Boolean).join(", ");
}

/** The picture in a sentence. */
export function spoken(answer: Pick<Timeline, "intervals" | "runs" | "total">): string {
  const { intervals, runs, total } = answer;
  const missing = intervals.reduce((sum, one) => sum + one.missing_before, 0);
  const gaps = intervals.filter((one) => one.gaps.length).length;
  const overlaps = intervals.filter((one) => one.overlaps.length).length;
  const conflicts = intervals.filter((one) => one.conflicts).length;
  return [
    intervals.length === 0 ? t.timeline.spokenRuns(runs.length, runs.length >= MOST_BATCHES)
      : total > intervals.length ? t.timeline.spokenLatest(intervals.length, total) : t.timeline.spokenBatches(intervals.length),
    missing && t.timeline.spokenMissing(missing),
    gaps && t.timeline.gapsInOffsets(gaps),
    overlaps && t.timeline.overlaps(overlaps),
    conflicts && count(conflicts, ...t.nouns.conflict),
    intervals.length > 0 && !missing && !gaps && !overlaps && t.timeline.noGaps,
  ].filter(Boolean).join(", ");
}

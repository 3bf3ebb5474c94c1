// What a job did, in time: a lane for each streaming query, a block for each micro-batch or a bar for many, gaps in red; runs
// of batch jobs.

import { h, svg } from "./dom";
import { count, duration, number, offsets, time } from "./format";
import type { Bar, Interval, Overview, Query, Run, Timeline } from "./types";
import { extent as spanOf, middle, within, type Span } from "./zoom";

const LANE = 46;
const BLOCK = 22;
const LEFT = 118;

const MARK = 6;

const roomOf = (width: number): number => Math.max(240, width - LEFT - 24);
const named = (query: Query): string => query.name ?? query.query_id.slice(0, 8);

/** The time at a place of a drawing of this width. */
export const timeAt = (x: number, width: number, { from, to }: Span): number =>
  from + Math.max(0, Math.min(1, (x - LEFT) / roomOf(width))) * (to - from);

/**
 * Micro-batches, a block each, or runs.
 *
 * Without a span, from the first to the last of them.
 */
export function draw(answer: Timeline, width: number, describe: (what: Node | null) => void, span: Span | null = null): HTMLElement {
  const lanes = [
    ...answer.queries.map((query) => ({
      name: named(query),
      intervals: answer.intervals.filter((one) => one.query === query.key),
      runs: [] as Run[],
    })),
    ...(answer.queries.length || !answer.runs.length ? [] : [{ name: "runs", intervals: [] as Interval[], runs: answer.runs }]),
  ].filter((lane) => lane.intervals.length || lane.runs.length);
  if (!lanes.length) return empty(span);

  const times = lanes.flatMap(({ intervals, runs }) => [
    ...intervals.flatMap((one) => took(one.processing_time, one.duration_ms)),
    ...runs.flatMap((run) => [run.started_at, run.ended_at].filter((at) => at !== null).map((at) => Date.parse(at))),
  ]);
  const { drawing, x } = frame(lanes.map(({ name }) => name), width, span ?? { from: Math.min(...times), to: Math.max(...times) }, "img", spoken(answer));
  lanes.forEach(({ intervals, runs }, row) => {
    intervals.forEach((one, index) => drawing.append(...block(one, intervals[index - 1], intervals[index + 1], x, top(row), describe)));
    for (const run of runs) drawing.append(bar(run, x, top(row), describe));
  });
  return h("div", {}, drawing);
}

/** Bars of many micro-batches. */
export function bars(
  overview: Overview,
  width: number,
  span: Span,
  describe: (what: Node | null) => void,
  into: (bar: Bar, at: number) => void,
): HTMLElement {
  const lanes = overview.queries
    .map((query) => ({ name: named(query), own: overview.bars.filter((one) => one.query === query.key) }))
    .filter(({ own }) => own.length);
  if (!lanes.length) return empty(span);
  const { drawing, x } = frame(lanes.map(({ name }) => name), width, span, "group", spokenOf(overview));
  lanes.forEach(({ own }, row) => {
    for (const one of own) {
      const all = spanOf([one]);
      if (!all) continue;
      const shown = within(all, span);
      const [left, right] = [x(shown.from), x(shown.to)];
      const made = mark(`batch ${one.summarized === one.batches ? "summarized" : one.reconciled === one.batches ? "reconciled" : "observed"}`, left, Math.max(3, right - left - 1), top(row), summed(one), describe, `batches ${one.first_batch} to ${one.last_batch}`);
      made.setAttribute("role", "button");
      made.addEventListener("click", (event) =>
        into(one, timeAt((event as MouseEvent).clientX - drawing.getBoundingClientRect().left, width, span)));
      made.addEventListener("keydown", (event) => {
        if ((event as KeyboardEvent).key !== "Enter") return;
        event.stopPropagation();
        into(one, middle(shown));
      });
      drawing.append(made);
      const faults = [one.missing || one.gaps ? "gap" : null, one.overlaps || one.rewinds ? "overlap" : null, one.conflicts || one.failed ? "conflict" : null];
      faults.filter((kind) => kind !== null).forEach((kind, at) =>
        drawing.append(svg("rect", { x: left, y: top(row) + BLOCK - MARK * (at + 1), width: Math.max(3, right - left - 1), height: MARK - 1, class: `mark ${kind}` })));
    }
  });
  return h("div", {}, drawing);
}

const empty = (span: Span | null): HTMLElement =>
  h("p", { class: "note" }, span ? "No micro-batch is known in this span of time. Zoom out, or go to the latest." : "Nothing is known of when this job ran.");

const top = (row: number): number => row * LANE + 10;

/** Names and axes of lanes, and where a time is. */
function frame(names: string[], width: number, { from: first, to: last }: Span, role: string, label: string): { drawing: SVGElement; x: (at: number) => number } {
  const room = roomOf(width);
  const x = (at: number): number => LEFT + (last > first ? ((at - first) / (last - first)) * room : room / 2);
  const height = names.length * LANE + 26;
  const drawing = svg("svg", { width: LEFT + room + 24, height, role, "aria-label": label });
  names.forEach((name, row) => {
    const y = top(row);
    drawing.append(
      svg("line", { x1: LEFT, x2: LEFT + room, y1: y + BLOCK / 2, y2: y + BLOCK / 2, class: "axis" }),
      svg("text", { x: 8, y: y + BLOCK / 2 + 4, class: "lane" }, name.length > 16 ? name.slice(0, 15) + "…" : name),
    );
  });
  const format = last - first < 86_400_000 ? (at: number) => new Date(at).toISOString().slice(11, 19) : (at: number) => new Date(at).toISOString().slice(0, 16).replace("T", " ");
  for (let tick = 0; tick <= 4; tick++) {
    const at = first + ((last - first) * tick) / 4;
    drawing.append(svg("text", { x: x(at), y: height - 4, class: "tick", "text-anchor": tick === 0 ? "start" : tick === 4 ? "end" : "middle" }, format(at)));
    if (last <= first) break;
  }
  return { drawing, x };
}

const took = (at: string | null, ms: number | null): number[] => (at ? [Date.parse(at), Date.parse(at) + (ms ?? 0)] : []);

function block(
  one: Interval,
  before: Interval | undefined,
  after: Interval | undefined,
  x: (at: number) => number,
  y: number,
  describe: (what: Node | null) => void,
): SVGElement[] {
  const [from, to] = extent(one, before, after, x);
  const made: SVGElement[] = [];
  const broken = one.missing_before > 0 || one.gaps.length > 0;
  const words = described(one);
  if (broken) {
    const left = before ? extent(before, undefined, one, x)[1] : from - 14;
    made.push(mark("gap", Math.min(left, from - 6), Math.max(6, from - left), y, gap(one), describe));
  }
  if (one.overlaps.length) made.push(mark("overlap", from - 2, 4, y, gap(one), describe));
  const kind = one.conflicts ? "conflict" : one.provenance === "RECONCILED" ? "reconciled" : "observed";
  made.push(mark(`batch ${kind}`, from, Math.max(3, to - from - 1), y, words, describe, `batch ${one.batch_id}`));
  return made;
}

/** Where a block stands. A batch whose time isn't known (it was reconciled) stands between its neighbours. */
function extent(one: Interval, before: Interval | undefined, after: Interval | undefined, x: (at: number) => number): [number, number] {
  if (one.processing_time) {
    const at = Date.parse(one.processing_time);
    const end = x(at + (one.duration_ms ?? 0));
    const next = after?.processing_time ? x(Date.parse(after.processing_time)) : Infinity;
    return [x(at), Math.min(end, next)];
  }
  const left = before?.processing_time ? x(Date.parse(before.processing_time) + (before.duration_ms ?? 0)) : LEFT;
  const right = after?.processing_time ? x(Date.parse(after.processing_time)) : left + 12;
  return [left + 2, Math.max(left + 8, right - 2)];
}

function mark(kind: string, x: number, width: number, y: number, words: () => Node, describe: (what: Node | null) => void, label?: string): SVGElement {
  const shown = () => describe(words());
  return svg(
    "rect",
    { x, y, width, height: BLOCK, rx: 2.5, class: kind, tabindex: 0, "aria-label": label ?? kind, onmouseenter: shown, onfocus: shown },
  );
}

function bar(run: Run, x: (at: number) => number, y: number, describe: (what: Node | null) => void): SVGElement {
  const from = Date.parse(run.started_at ?? run.ended_at ?? "");
  const to = Date.parse(run.ended_at ?? run.started_at ?? "");
  const words = () =>
    facts(`Run ${run.run_id.slice(0, 8)}`, [
      ["state", run.state],
      ["started", time(run.started_at)],
      ["took", run.started_at && run.ended_at ? duration(to - from) : "–"],
      ["code", run.code_version?.slice(0, 12) ?? "–"],
      ["error", run.error_message],
    ]);
  const state = run.state === "COMPLETE" ? "observed" : run.state === "FAIL" || run.state === "ABORT" ? "gap" : "reconciled";
  return mark(`batch ${state}`, x(from), Math.max(4, x(to) - x(from)), y, words, describe, `run ${run.state}`);
}

function described(one: Interval): () => Node {
  return () =>
    facts(`Batch ${one.batch_id}`, [
      ["at", time(one.processing_time)],
      ["took", duration(one.duration_ms)],
      ["rows", `${number(one.rows_in)} in, ${number(one.rows_out)} out`],
      ["late", one.rows_dropped_late ? `${number(one.rows_dropped_late)} dropped` : null],
      ["watermark", one.watermark_after && time(one.watermark_after)],
      ...one.consumed.filter((use) => use.ranges.length).map((use): [string, string] => [
        use.dataset.title ?? use.dataset.name,
        offsets(use.ranges),
      ]),
      ["known", one.provenance === "RECONCILED" ? "from the checkpoint, after a crash" : null],
      ["conflicts", one.conflicts ? `${count(one.conflicts, "other report")} of this batch` : null],
      ["run", one.run_id?.slice(0, 8)],
      ["code", one.code_version?.slice(0, 12)],
    ]);
}

function gap(one: Interval): () => Node {
  return () =>
    facts(`Before batch ${one.batch_id}`, [
      ["missing", one.missing_before ? count(one.missing_before, "batch", "batches") : null],
      ["skipped", one.gaps.length ? offsets(one.gaps) : null],
      ["read twice", one.overlaps.length ? offsets(one.overlaps) : null],
    ]);
}

function summed(one: Bar): () => Node {
  return () =>
    facts(`Batches ${one.first_batch} to ${one.last_batch}`, [
      ["number", number(one.batches)],
      ["kept", one.summarized ? `${number(one.summarized)} only in summaries of days; the archive has them one by one` : null],
      ["from", one.first_time && time(one.first_time)],
      ["to", one.last_time && time(one.last_time)],
      ["missing", one.missing ? count(one.missing, "batch", "batches") : null],
      ["skipped", one.gaps ? count(one.gaps, "gap") + " in offsets" : null],
      ["read twice", one.overlaps ? count(one.overlaps, "overlap") : null],
      ["rewinds", one.rewinds ? number(one.rewinds) : null],
      ["conflicts", one.conflicts ? count(one.conflicts, "other report") : null],
      ["checks", one.failed ? `failed for ${count(one.failed, "batch", "batches")}` : null],
      ["known", one.reconciled ? `${number(one.reconciled)} from the checkpoint, after a crash` : null],
    ]);
}

export function facts(title: string, rows: [string, string | null | undefined][]): HTMLElement {
  return h(
    "div",
    { class: "facts" },
    h("strong", {}, title),
    h("dl", {}, rows.filter(([, value]) => value).flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
  );
}

/** Bars in a sentence. */
export function spokenOf({ bars: all, batches, truncated }: Overview): string {
  const sum = (of: (bar: Bar) => number): number => all.reduce((total, bar) => total + of(bar), 0);
  const parts = [`${count(batches, "micro-batch", "micro-batches")} in ${count(all.length, "bar")}`];
  const [missing, gaps, overlaps, conflicts, failed] = [sum((bar) => bar.missing), sum((bar) => bar.gaps), sum((bar) => bar.overlaps), sum((bar) => bar.conflicts), sum((bar) => bar.failed)];
  if (missing) parts.push(`${count(missing, "batch", "batches")} missing`);
  if (gaps) parts.push(`${count(gaps, "gap")} in offsets`);
  if (overlaps) parts.push(count(overlaps, "overlap"));
  if (conflicts) parts.push(count(conflicts, "conflict"));
  if (failed) parts.push(`${count(failed, "batch", "batches")} with failed checks`);
  const summarized = sum((bar) => bar.summarized);
  if (summarized) parts.push(`${number(summarized)} only in summaries of days`);
  else if (all.length && !missing && !gaps && !overlaps) parts.push("no gaps");
  const untimed = all.filter((bar) => !spanOf([bar])).reduce((total, bar) => total + bar.batches, 0);
  if (untimed) parts.push(`${number(untimed)} of unknown time aren't drawn`);
  if (truncated) parts.push("incomplete: there is too much in this span for one answer; zoom in");
  return parts.join(", ");
}

/** The picture in a sentence. */
export function spoken(answer: Timeline): string {
  const missing = answer.intervals.reduce((sum, one) => sum + one.missing_before, 0);
  const gaps = answer.intervals.filter((one) => one.gaps.length).length;
  const overlaps = answer.intervals.filter((one) => one.overlaps.length).length;
  const parts = answer.intervals.length ? [count(answer.intervals.length, "micro-batch", "micro-batches")] : [count(answer.runs.length, "run")];
  if (missing) parts.push(`${count(missing, "batch", "batches")} missing`);
  if (gaps) parts.push(`${count(gaps, "gap")} in offsets`);
  if (overlaps) parts.push(`${count(overlaps, "overlap")}`);
  if (answer.intervals.length && !missing && !gaps && !overlaps) parts.push("no gaps");
  return parts.join(", ");
}

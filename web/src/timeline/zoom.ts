// Spans of time, from years to one micro-batch.

import type { Overview, OverviewBar as Bar } from "../app/answers";

/** Milliseconds since 1970, half-open. */
export interface Span {
  from: number;
  to: number;
}

/** Micro-batches that are drawn one by one; of more, bars. */
export const MOST_BATCHES = 200;
export const STEP = 4;
const SHORTEST_MS = 1_000;

const width = ({ from, to }: Span): number => to - from;
export const middle = ({ from, to }: Span): number => (from + to) / 2;

/** A time's span has whole milliseconds, as the address has. */
const whole = (from: number, to: number): Span => ({ from: Math.floor(from), to: Math.ceil(to) });

/** Wider (a factor above 1) or narrower, with `at` where it is on the screen. */
export function scaled(span: Span, at: number, factor: number): Span {
  const by = Math.max(factor, SHORTEST_MS / Math.max(1, width(span)));
  return whole(at - (at - span.from) * by, at + (span.to - at) * by);
}

/** Later by a share of its width; earlier by a negative one. */
export const moved = (span: Span, share: number): Span => whole(span.from + share * width(span), span.to + share * width(span));

/** The part of a span that is within another; all of the other where there is none. */
export function within(span: Span, outer: Span): Span {
  const part = { from: Math.max(span.from, outer.from), to: Math.min(span.to, outer.to) };
  return part.from < part.to ? part : outer;
}

/** From the first micro-batch to behind the beginning of the last; null where no time of them is known. */
export function extent(bars: Pick<Bar, "first_time" | "last_time">[]): Span | null {
  const times = bars.flatMap((bar) => [bar.first_time, bar.last_time].filter((at) => at !== null).map((at) => Date.parse(at)));
  return times.length ? { from: Math.min(...times), to: Math.max(...times) + 1 } : null;
}

/** The span of a bar, always narrower than the one before; of one segment, the part around `at` with few enough micro-batches. */
export function into(bar: Bar, span: Span, at: number): Span {
  const all = extent([bar]) ?? span;
  const shown = within(all, span);
  const few = bar.segments === 1 ? Math.min(1, (0.9 * MOST_BATCHES) / bar.batches) : 1;
  let wide = Math.min(width(shown), width(all) * few);
  if (wide > 0.75 * width(span)) wide = width(span) / 2;
  wide = Math.max(wide, SHORTEST_MS);
  const from = Math.max(shown.from, Math.min(at - wide / 2, shown.to - wide));
  return whole(from, from + wide);
}

/** About how many micro-batches a span has: bars are of whole segments, those at its ends reach beyond it. */
export function estimated(overview: Overview, span: Span): number {
  return overview.bars.reduce((sum, bar) => {
    const all = extent([bar]);
    if (!all) return sum;
    const part = Math.min(all.to, span.to) - Math.max(all.from, span.from);
    return sum + bar.batches * Math.max(0, Math.min(1, part / width(all)));
  }, 0);
}

/** As the address and the API have it. */
export const written = ({ from, to }: Span): { from: string; to: string } => ({
  from: new Date(from).toISOString(),
  to: new Date(to).toISOString(),
});

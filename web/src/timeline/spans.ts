// Spans of the timeline, and the questions that answer them: micro-batches where a span has few, else bars.

import type { Overview, Timeline } from "../app/answers";
import { get, part } from "../app/api";
import { estimated, extent, MOST_BATCHES, type Span, written } from "./zoom";

/** Micro-batches (a block each) or bars of many, and the span they are of; without a span they are the latest. */
export type Found = { span: Span | null } & ({ answer: Timeline; overview: null } | { answer: Overview; overview: Overview });

/** The span of two times of an address; null where they are none. */
export function spanOf(from: string, until: string): Span | null {
  const span = { from: Date.parse(from), to: Date.parse(until) };
  return span.from < span.to ? span : null;
}

const timelineOf = (job: string, span: Span | null): Promise<Timeline> =>
  get<Timeline>(`jobs/${part(job)}/timeline`, { limit: MOST_BATCHES, ...(span ? written(span) : {}) });
const overviewOf = (job: string, bars: number, span: Span | null): Promise<Overview> =>
  get<Overview>(`jobs/${part(job)}/timeline/overview`, { bars, ...(span ? written(span) : {}) });

/** From the first micro-batch to the last one. */
export const history = async (job: string): Promise<Span | null> => extent((await overviewOf(job, 1, null)).bars);

/** Which answer a span needs, by what is shown of it already; "both" where nothing tells. */
export function needed(span: Span, shown: Found | null): "blocks" | "bars" | "both" {
  const around = shown && shownOf(shown);
  if (!shown || !around || span.from < around.from || span.to > around.to) return "both";
  // All that is drawn one by one is kept one by one.
  if (!shown.overview) return "blocks";
  if (shown.overview.truncated) return "both";
  if (!shown.overview.queries.length || shown.overview.bars.some((bar) => !bar.first_time)) return "both";
  const inside = shown.overview.bars.filter((bar) => {
    const all = extent([bar]);
    return all !== null && all.to > span.from && all.from < span.to;
  });
  if (inside.some((bar) => bar.summarized)) return "bars";
  // They needn't be spread evenly over a segment: somewhat more may turn out to be few enough.
  const many = estimated(shown.overview, span);
  return many > 1.5 * MOST_BATCHES ? "bars" : many < 0.5 * MOST_BATCHES ? "blocks" : "both";
}

/** What a span shows; without one, the latest micro-batches. */
export async function ask(job: string, span: Span | null, shown: Found | null): Promise<Found> {
  if (!span) {
    const answer = await timelineOf(job, null);
    // None may be kept one by one any more.
    const all = answer.queries.length && !answer.intervals.length ? await history(job) : null;
    return all ? ask(job, all, null) : { span, answer, overview: null };
  }
  const need = needed(span, shown);
  const bars = (overview: Overview): Found => ({ span, answer: overview, overview });
  if (need === "bars") return bars(await overviewOf(job, MOST_BATCHES, span));
  if (need === "blocks") {
    const answer = await timelineOf(job, span);
    return answer.total <= MOST_BATCHES ? { span, answer, overview: null } : bars(await overviewOf(job, MOST_BATCHES, span));
  }
  const [overview, answer] = await Promise.all([overviewOf(job, MOST_BATCHES, span), timelineOf(job, span)]);
  return overview.bars.some((bar) => bar.summarized) || answer.total > MOST_BATCHES ? bars(overview) : { span, answer, overview: null };
}

/** What is on the screen: a span that was asked for, or the time of the latest micro-batches. */
export function shownOf(found: Found): Span | null {
  if (found.span || found.overview) return found.span;
  const { intervals } = found.answer as Timeline;
  return extent(intervals.map((one) => ({ first_time: one.processing_time, last_time: one.processing_time })));
}

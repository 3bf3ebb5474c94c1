// The timeline of a job: the latest micro-batches first; farther away, bars of many; nearer, the micro-batches of a span.

import * as api from "./api";
import { h } from "./dom";
import { bars, draw, spoken, spokenOf, timeAt } from "./timeline";
import type { Bar, Overview, Timeline } from "./types";
import { estimated, extent, into, middle, MOST_BATCHES, moved, scaled, STEP, within, type Span } from "./zoom";

const WHEEL_MS = 150;

export interface Around {
  /** Shows that there is something to wait for, and reports what fails. */
  busy(work: () => Promise<void>): Promise<void>;
  /** The drawer has another size, or is shown or hidden. */
  resized(): void;
  /** What is shown, for the address: of a job, a span or (null) the latest; null for nothing. */
  shows(what: { job: string; span: Span | null } | null): void;
  say(text: string): void;
}

export class Drawer {
  private job = "";
  private span: Span | null = null;
  /** What is on the screen, also of the latest micro-batches. */
  private shown: Span | null = null;
  /** What was asked for and isn't there yet: the next step goes on from it. */
  private wanted: Span | null = null;
  private whole: Span | null = null;
  private questions = 0;
  private readonly title = h("h2");
  private readonly under = h("p", { class: "under" });
  private readonly lanes = h("div", { class: "lanes", tabindex: 0, role: "group", onwheel: (event: WheelEvent) => this.wheel(event),
    "aria-label": "Timeline. Plus and minus zoom, the arrow keys go earlier and later." });
  private readonly details = h("div", { class: "details" });
  private readonly zooms = h("span", { class: "zooms", role: "group", "aria-label": "Zoom of the timeline" },
    this.button("←", "Earlier (←)", () => this.move(-0.5)),
    this.button("→", "Later (→)", () => this.move(0.5)),
    this.button("−", "Zoom out (−)", () => this.zoom(STEP)),
    this.button("+", "Zoom in (+)", () => this.zoom(1 / STEP)),
    this.button("All", "All of it (0)", () => this.all()),
    this.button("Latest", "The latest micro-batches (l)", () => this.go(() => null)));

  constructor(private readonly element: HTMLElement, private readonly around: Around) {
    element.addEventListener("keydown", (event) => this.key(event));
  }

  /** Show the latest micro-batches of a job, or those of a span. */
  async open(job: string, name: string | null, span: Span | null = null): Promise<void> {
    if (this.job !== job) this.whole = null;
    this.job = job;
    await this.load(span, name);
    this.lanes.focus();
  }

  /** Without it, the address stays. */
  hide(): void {
    this.questions++;
    this.element.hidden = true;
    this.around.resized();
  }

  close(): void {
    this.hide();
    this.around.shows(null);
  }

  private button(label: string, title: string, act: () => void): HTMLElement {
    return h("button", { title, "aria-label": title, onclick: act }, label);
  }

  private async load(span: Span | null, name: string | null = null): Promise<void> {
    const mine = ++this.questions;
    const { job } = this;
    const found = await ask(job, span);
    if (mine !== this.questions) return;
    this.span = found.span;
    this.show(name ?? found.answer.asset.name, found);
    this.around.shows({ job, span: found.span });
  }

  private show(name: string, { answer, overview }: Found): void {
    const { element, span } = this;
    element.hidden = false;
    this.details.replaceChildren(h("p", { class: "hint" }, overview ? "Point at a bar; click it, or press Enter on it, to zoom in." : "Point at a block, or go through them with Tab."));
    this.title.textContent = "";
    this.title.append(h("span", {}, name));
    const words = overview ? spokenOf(overview) : spoken(answer as Timeline);
    this.under.replaceChildren(h("span", {}, words));
    this.zooms.hidden = !answer.queries.length;
    if (!this.title.isConnected) {
      element.replaceChildren(
        h("header", {}, this.title, this.under,
          h("span", { class: "key" }, h("i", { class: "observed" }), "batch", h("i", { class: "reconciled" }), "reconciled", h("i", { class: "summarized" }), "summarized", h("i", { class: "gap" }), "gap", h("i", { class: "overlap" }), "read twice"),
          this.zooms,
          h("button", { class: "icon", "aria-label": "Close the timeline", onclick: () => this.close() }, "✕")),
        h("div", { class: "body" }, this.lanes, this.details));
    }
    const describe = (what: Node | null): void => void (what && this.details.replaceChildren(what));
    // What had the focus is drawn anew: without it, the next key would be the graph's.
    const focused = this.lanes.contains(document.activeElement);
    if (overview && span) {
      this.shown = span;
      this.lanes.replaceChildren(bars(overview, this.width, span, describe, (bar, at) => this.into(bar, at)));
    } else {
      this.shown = span ?? extent((answer as Timeline).intervals.map((one) => ({ first_time: one.processing_time, last_time: one.processing_time })));
      this.lanes.replaceChildren(draw(answer as Timeline, this.width, describe, span));
    }
    if (focused) this.lanes.focus();
    this.around.say(words);
    this.around.resized();
  }

  private get width(): number {
    return this.element.clientWidth - 330;
  }

  /** Show another span. Of several in a row, the last one is shown, whichever answer comes first. */
  private go(to: () => Span | null | Promise<Span | null>, wanted: Span | null = null): void {
    this.wanted = wanted;
    void this.around.busy(async () => {
      try {
        await this.load(await to());
      } finally {
        if (this.wanted === wanted) this.wanted = null;
      }
    });
  }

  private zoom(factor: number, at?: number): void {
    const from = this.wanted ?? this.shown;
    if (!from) return this.all();
    // Of the latest micro-batches, the latest stay.
    const next = scaled(from, at ?? (this.span || factor < 1 ? middle(from) : from.to), factor);
    this.go(async () => {
      if (factor < 1) return next;
      const all = await this.history();
      return all ? within(next, all) : null;
    }, next);
  }

  private move(share: number): void {
    const from = this.wanted ?? this.shown;
    if (!from) return;
    const next = moved(from, share);
    this.go(() => next, next);
  }

  private into(bar: Bar, at: number): void {
    if (this.span) this.go(() => this.span && into(bar, this.span, at));
  }

  private all(): void {
    this.whole = null;
    this.go(() => this.history());
  }

  /** From the first micro-batch to the last one. */
  private async history(): Promise<Span | null> {
    this.whole ??= extent((await api.overview(this.job, 1)).bars);
    return this.whole;
  }

  private turned = 1;
  private timer: number | undefined;

  private wheel(event: WheelEvent): void {
    if (event.ctrlKey || !event.deltaY || !this.shown || this.zooms.hidden) return;
    event.preventDefault();
    const left = this.lanes.firstElementChild?.getBoundingClientRect().left ?? 0;
    const at = timeAt(event.clientX - left, this.width, this.shown);
    this.turned *= event.deltaY > 0 ? 2 : 0.5;
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => {
      const { turned } = this;
      this.turned = 1;
      if (turned !== 1 && !this.element.hidden) this.zoom(turned, at);
    }, WHEEL_MS);
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || this.zooms.hidden) return;
    const act = {
      "+": () => this.zoom(1 / STEP),
      "=": () => this.zoom(1 / STEP),
      "-": () => this.zoom(STEP),
      "0": () => this.all(),
      l: () => this.go(() => null),
      ArrowLeft: () => this.move(-0.5),
      ArrowRight: () => this.move(0.5),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }
}

type Found = { span: Span | null } & ({ answer: Timeline; overview: null } | { answer: Overview; overview: Overview });

/** Micro-batches where a span has few, else bars; without a span, the latest micro-batches. */
async function ask(job: string, span: Span | null): Promise<Found> {
  if (!span) {
    const answer = await api.timeline(job, MOST_BATCHES);
    // None may be kept one by one any more.
    const all = answer.queries.length && !answer.intervals.length ? extent((await api.overview(job, 1)).bars) : null;
    return all ? ask(job, all) : { span, answer, overview: null };
  }
  const overview = await api.overview(job, MOST_BATCHES, span);
  const found: Found = { span, answer: overview, overview };
  if (overview.bars.some((bar) => bar.summarized)) return found;
  // They needn't be spread evenly over a segment: somewhat more may turn out to be few enough.
  if (overview.queries.length && estimated(overview, span) > 1.5 * MOST_BATCHES) return found;
  const answer = await api.timeline(job, MOST_BATCHES, span);
  return answer.total <= MOST_BATCHES ? { span, answer, overview: null } : found;
}

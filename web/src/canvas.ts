// The drawing: Cytoscape on a canvas, and what a person does on it.

import cytoscape, { type Core, type EventObject } from "cytoscape";

import { elements } from "./elements";
import { MANY } from "./layout";
import { style } from "./style";
import type { Selection, Store } from "./store";

export interface Wishes {
  select(selection: Selection): void;
  expand(dataset: string, side: "up" | "down"): void;
  open(dataset: string): void;
}

const QUIET = matchMedia("(prefers-reduced-motion: reduce)");
const COMFORTABLE = 1.15;
/** Below this, a box is a dot of its colour: its name can't be read. */
const FAR = 0.22;

export class Canvas {
  readonly cy: Core;
  private drawing = 0;
  /** Whether all is in view since the last fit, as no one moved it. */
  private untouched = true;

  constructor(
    private readonly container: HTMLElement,
    private readonly store: Store,
    wishes: Wishes,
  ) {
    this.cy = cytoscape({
      container,
      style: style(),
      minZoom: 0.02,
      maxZoom: 2.5,
      autoungrabify: true,
      boxSelectionEnabled: false,
      selectionType: "single",
      // Twice the pixels is four times the work for each frame: sharp enough on a screen of two.
      pixelRatio: Math.min(2, window.devicePixelRatio),
      hideEdgesOnViewport: false,
    });
    this.cy.on("tap", (event: EventObject) => {
      if (event.target === this.cy) wishes.select(null);
    });
    this.cy.on("tap", "node, edge", (event: EventObject) => {
      const { kind, id, dataset, side, flow } = event.target.data();
      if (kind === "dataset") wishes.select({ kind: "dataset", key: id });
      else if (kind === "column") wishes.select({ kind: "column", key: id });
      else if (kind === "flow") wishes.select({ kind: "flow", key: id });
      else if (kind === "mapping") wishes.select({ kind: "flow", key: flow });
      else if (kind === "more") wishes.expand(dataset, side);
    });
    this.cy.on("dbltap", ".dataset", (event: EventObject) => wishes.open(event.target.id()));
    this.cy.on("zoom", () => this.farOrNear());
    this.cy.on("dragpan scrollzoom pinchzoom", () => (this.untouched = false));
    this.cy.on("mouseover", "node[kind], edge", () => (container.style.cursor = "pointer"));
    this.cy.on("mouseout", "node[kind], edge", () => (container.style.cursor = ""));
  }

  /** Draw the store anew. What `around` names stays where it is on the screen; without it, all is brought into view. */
  async draw(around: string | null = null): Promise<void> {
    const mine = ++this.drawing;
    const found = await elements(this.store);
    if (mine !== this.drawing) return;
    const before = around ? this.cy.getElementById(around).renderedPosition() : undefined;
    // While many are moved, their picture is: Cytoscape's option is read once, at its start, so it is set where it is kept.
    (this.cy as unknown as { renderer(): { textureOnViewport: boolean } }).renderer().textureOnViewport =
      this.store.datasets.size > MANY;
    this.cy.batch(() => {
      this.cy.elements().remove();
      this.cy.add(found);
    });
    const after = around ? this.cy.getElementById(around) : this.cy.collection();
    if (before && after.nonempty()) {
      const now = after.renderedPosition();
      this.cy.panBy({ x: before.x - now.x, y: before.y - now.y });
      this.untouched = false;
    } else {
      this.fit();
    }
    this.far = false;
    this.farOrNear();
    this.light();
    this.container.dataset.drawn = String(this.store.datasets.size);
  }

  /** Nothing is drawn, nor will be by what is on its way. */
  forget(): void {
    this.drawing += 1;
    this.container.dataset.drawn = "0";
  }

  private far = false;

  private farOrNear(): void {
    const far = this.cy.zoom() < FAR;
    if (far === this.far) return;
    this.far = far;
    this.cy.batch(() => this.cy.nodes(".dataset").toggleClass("far", far));
  }

  fit(): void {
    this.untouched = true;
    this.cy.fit(undefined, 56);
    if (this.cy.zoom() > COMFORTABLE) {
      this.cy.zoom(COMFORTABLE);
      this.cy.center();
    }
  }

  zoom(by: number): void {
    this.untouched = false;
    const [x, y] = [this.cy.width() / 2, this.cy.height() / 2];
    this.cy.zoom({ level: this.cy.zoom() * by, renderedPosition: { x, y } });
  }

  recolor(): void {
    this.cy.style(style());
    if (this.store.start !== null) void this.draw(this.store.start);
  }

  resize(): void {
    this.cy.resize();
    if (this.untouched) this.fit();
  }

  /** Show what is selected, and what it hangs together with; dim the rest if it is a column. */
  light(): void {
    const { cy, store } = this;
    cy.batch(() => {
      cy.elements().removeClass("chosen lit dim");
      const chosen = store.selection;
      if (!chosen) return;
      const element = cy.getElementById(chosen.key);
      if (chosen.kind === "dataset") {
        element.addClass("chosen");
        cy.edges(".flow").filter((edge) => edge.data("source") === chosen.key || edge.data("target") === chosen.key).addClass("lit");
      } else if (chosen.kind === "flow") {
        element.addClass("lit");
        cy.edges(".mapping").filter((edge) => edge.data("flow") === chosen.key).addClass("lit");
      } else {
        const path = this.reached(chosen.key, "source", "target").union(this.reached(chosen.key, "target", "source"));
        cy.elements(".mapping, .flow").not(path).addClass("dim");
        path.addClass("lit");
        element.addClass("chosen");
      }
    });
  }

  /** Columns and arrows that a column leads to, or comes from. */
  private reached(start: string, from: "source" | "target", to: "source" | "target"): cytoscape.CollectionReturnValue {
    const found = this.cy.collection();
    const waiting = [start];
    const seen = new Set(waiting);
    const arrows = this.cy.edges(".mapping.direct");
    while (waiting.length) {
      const here = waiting.pop();
      arrows
        .filter((edge) => edge.data(from) === here)
        .forEach((edge) => {
          const next = edge.data(to) as string;
          found.merge(edge).merge(this.cy.getElementById(next));
          if (!seen.has(next)) {
            seen.add(next);
            waiting.push(next);
          }
        });
    }
    return found;
  }

  /** Bring something into view, if it isn't. */
  reveal(key: string): void {
    const element = this.cy.getElementById(key);
    if (element.empty()) return;
    const box = element.renderedBoundingBox();
    const inside = box.x1 > 0 && box.y1 > 0 && box.x2 < this.cy.width() && box.y2 < this.cy.height();
    if (inside) return;
    this.untouched = false;
    if (QUIET.matches) this.cy.center(element);
    else this.cy.animate({ center: { eles: element }, duration: 180 });
  }

  /** The dataset that lies next in a direction; of what is drawn, by place. */
  beside(key: string, direction: "left" | "right" | "up" | "down"): string | null {
    const here = this.cy.getElementById(key).position();
    let best: string | null = null;
    let least = Infinity;
    const linked = new Set(direction === "left" ? this.store.upstream(key) : direction === "right" ? this.store.downstream(key) : []);
    this.cy.nodes(".dataset").forEach((node) => {
      if (node.id() === key) return;
      const { x, y } = node.position();
      const [along, across] = direction === "left" || direction === "right" ? [x - here.x, y - here.y] : [y - here.y, x - here.x];
      const ahead = direction === "left" || direction === "up" ? -along : along;
      if (ahead < 20 || (linked.size && !linked.has(node.id()))) return;
      const far = ahead + 2.5 * Math.abs(across);
      if (far < least) [best, least] = [node.id(), far];
    });
    return best;
  }
}

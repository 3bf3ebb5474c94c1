// The drawing: Cytoscape on a canvas, and what a person does on it.

import cytoscape, { type Core, type EventObject } from "cytoscape";

import { LEAST_ZOOM, MOST_ZOOM, type View } from "../app/address";
import { columnKey, elements, heightOf, READABLE, sizeOf, WIDTH } from "./elements";
import { viewOf } from "./geometry";
import { layout, type Placed, type Point } from "./layout";
import type { Picture, Side } from "./picture";
import { style } from "./style";

/** A dataset, one of its columns, an arrow, or a group of datasets. */
export type Chosen = { kind: "dataset" | "column" | "arrow" | "group"; key: string; column?: string } | null;

export interface Wishes {
  choose(chosen: Chosen): void;
  expand(key: string, side: Side, more: boolean): void;
  open(key: string): void;
  /** How many boxes are out of sight, and whether all texts can be read. */
  sight(beyond: number, readable: boolean): void;
  /** The reader moved the picture, and has stopped; null: it was brought into view. */
  moved(view: View | null): void;
}

const QUIET = matchMedia("(prefers-reduced-motion: reduce)");
const COMFORTABLE = 1.15;
const STILL_MS = 150;

export class Canvas {
  readonly cy: Core;
  placed: Placed = { places: new Map(), routes: new Map() };
  private picture: Picture = { boxes: [], arrows: [] };
  private chosen: Chosen = null;
  private drawing = 0;
  /** The view is chosen by the size of the picture, by the address, or by the reader, who moved it since. */
  private viewBy: "picture" | "address" | "reader" = "picture";

  constructor(private readonly container: HTMLElement, private readonly wishes: Wishes) {
    this.cy = cytoscape({
      container,
      style: style(),
      minZoom: LEAST_ZOOM,
      maxZoom: MOST_ZOOM,
      autoungrabify: true,
      boxSelectionEnabled: false,
      selectionType: "single",
      // Twice the pixels is four times the work for each frame: sharp enough on a screen of two.
      pixelRatio: Math.min(2, window.devicePixelRatio),
    });
    this.cy.on("tap", (event: EventObject) => {
      container.focus({ preventScroll: true });
      if (event.target === this.cy) wishes.choose(null);
    });
    this.cy.on("tap", "node, edge", (event: EventObject) => {
      const { kind, id, dataset, side, flow, column } = event.target.data();
      if (kind === "dataset" || kind === "group" || kind === "arrow") wishes.choose({ kind, key: id });
      else if (kind === "column") wishes.choose({ kind: "column", key: dataset, column });
      else if (kind === "rest") wishes.choose({ kind: "dataset", key: dataset });
      else if (kind === "mapping") wishes.choose({ kind: "arrow", key: flow });
      else if (kind === "more" || kind === "less") wishes.expand(dataset, side, kind === "more");
    });
    this.cy.on("dbltap", ".dataset", (event: EventObject) => wishes.open(event.target.id()));
    this.cy.on("dragpan scrollzoom pinchzoom", () => (this.viewBy = "reader"));
    this.cy.on("viewport", () => this.look());
    this.cy.on("viewport", () => this.settle());
    this.cy.on("mouseover", "node[kind], edge", (event: EventObject) => {
      container.style.cursor = "pointer";
      container.title = event.target.data("whole") ?? "";
    });
    this.cy.on("mouseout", "node[kind], edge", () => {
      container.style.cursor = "";
      container.title = "";
    });
  }

  /** Draw a picture. A box that was drawn before stays where it is on the screen: `around`, else the start. */
  async draw(picture: Picture, around: string | null): Promise<void> {
    const mine = ++this.drawing;
    const placed = await layout(picture.boxes.map(sizeOf), picture.arrows);
    if (mine !== this.drawing) return;
    const known = around !== null && this.cy.getElementById(around).nonempty();
    const before = known ? { ...this.cy.getElementById(around).renderedPosition() } : null;
    this.placed = placed;
    this.picture = picture;
    const found = elements(picture, placed);
    this.cy.batch(() => {
      this.cy.elements().remove();
      this.cy.add(found);
    });
    const after = around !== null ? this.cy.getElementById(around) : this.cy.collection();
    if (before && after.nonempty()) {
      const now = after.renderedPosition();
      this.cy.panBy({ x: before.x - now.x, y: before.y - now.y });
      if (this.viewBy === "picture") this.fit();
    } else {
      this.restore();
    }
    this.settle();
    this.light(this.chosen);
    this.look();
    this.container.dataset.drawn = String(picture.boxes.length);
  }

  /** Nothing is drawn, nor will be by what is on its way. */
  forget(): void {
    this.drawing += 1;
    this.cy.elements().remove();
    this.picture = { boxes: [], arrows: [] };
    this.container.dataset.drawn = "0";
  }

  destroy(): void {
    this.drawing += 1;
    clearTimeout(this.settling);
    this.cy.destroy();
  }

  private wanted: View | null = null;

  /** Show a view that the reader didn't move to: that of an address. It is kept for a picture that is yet to be drawn. */
  show(view: View | null): void {
    this.wanted = view;
    const wish = JSON.stringify(view);
    // The address answers with the view that it was told, when the reader may have moved on.
    if (this.picture.boxes.length > 0 && wish !== this.told && wish !== JSON.stringify(this.view())) this.restore();
  }

  private restore(): void {
    const corner = this.corner();
    if (!this.wanted || !corner) return this.fit();
    const { zoom, x, y } = this.wanted;
    this.viewBy = "address";
    this.cy.viewport({ zoom, pan: { x: this.cy.width() / 2 - (corner.x + x) * zoom, y: this.cy.height() / 2 - (corner.y + y) * zoom } });
    // The picture may be another one by now.
    if (this.beyond() === this.picture.boxes.length) this.fit();
  }

  private view(): View | null {
    const corner = this.corner();
    if (this.viewBy === "picture" || !corner) return null;
    const [zoom, pan] = [this.cy.zoom(), this.cy.pan()];
    const way = (room: number, moved: number, from: number): number => Math.round((room / 2 - moved) / zoom - from) + 0;
    return { zoom: Number(zoom.toFixed(3)), x: way(this.cy.width(), pan.x, corner.x), y: way(this.cy.height(), pan.y, corner.y) };
  }

  /** Top left of the start. */
  private corner(): Point | undefined {
    const start = this.picture.boxes.find((one) => one.start) ?? this.picture.boxes[0];
    return start && this.placed.places.get(start.key);
  }

  private settling = 0;
  /** The view that the address was told last. */
  private told = "null";

  private settle(): void {
    clearTimeout(this.settling);
    this.settling = window.setTimeout(() => {
      if (this.picture.boxes.length === 0) return;
      const view = this.view();
      this.told = JSON.stringify(view);
      this.wishes.moved(view);
    }, STILL_MS);
  }

  /** All that fits at a readable size, around the start; `whole` brings all into view, however small. */
  fit(whole = false): void {
    this.viewBy = whole ? "reader" : "picture";
    const boxes = this.picture.boxes.flatMap((one) => {
      const corner = this.placed.places.get(one.key);
      return corner ? [{ ...corner, width: WIDTH, height: heightOf(one), start: one.start }] : [];
    });
    const turns = [...this.placed.routes.values()].flat();
    const view = viewOf(boxes, turns, { width: this.cy.width(), height: this.cy.height() }, whole ? this.cy.minZoom() : READABLE, COMFORTABLE);
    if (view) this.cy.viewport(view);
  }

  zoom(by: number): void {
    this.viewBy = "reader";
    this.cy.zoom({ level: this.cy.zoom() * by, renderedPosition: { x: this.cy.width() / 2, y: this.cy.height() / 2 } });
  }

  recolor(): void {
    this.cy.style(style());
    const found = elements(this.picture, this.placed);
    this.cy.batch(() => {
      this.cy.elements().remove();
      this.cy.add(found);
    });
    this.light(this.chosen);
  }

  resize(): void {
    this.cy.resize();
    if (this.viewBy === "picture") this.fit();
    else if (this.viewBy === "address") this.restore();
    this.look();
  }

  private looking = 0;

  /** Count what is out of sight, once a frame. */
  private look(): void {
    if (this.looking) return;
    this.looking = requestAnimationFrame(() => {
      this.looking = 0;
      if (this.cy.destroyed()) return;
      // An address has three digits of the zoom.
      this.wishes.sight(this.beyond(), this.cy.zoom() > READABLE - 0.001);
    });
  }

  private beyond(): number {
    const { x1, x2, y1, y2 } = this.cy.extent();
    return this.cy.nodes(".box").filter((node) => {
      const { x, y } = node.position();
      return x < x1 || x > x2 || y < y1 || y > y2;
    }).length;
  }

  /** Show what is chosen, and what it hangs together with; dim the rest if it is a column. */
  light(chosen: Chosen): void {
    this.chosen = chosen;
    const { cy } = this;
    cy.batch(() => {
      cy.elements().removeClass("chosen lit dim");
      if (!chosen) return;
      if (chosen.kind === "column") {
        const key = columnKey(chosen.key, chosen.column ?? "");
        const path = this.reached(key, "source", "target").union(this.reached(key, "target", "source"));
        if (path.nonempty()) cy.elements(".mapping, .flow").not(path).addClass("dim");
        path.addClass("lit");
        cy.getElementById(key).addClass("chosen");
        return;
      }
      const element = cy.getElementById(chosen.key);
      if (chosen.kind === "arrow") {
        element.addClass("lit");
        cy.edges(".mapping").filter((edge) => edge.data("flow") === chosen.key).addClass("lit");
      } else {
        element.addClass("chosen");
        cy.edges(".flow").filter((edge) => edge.data("source") === chosen.key || edge.data("target") === chosen.key).addClass("lit");
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
      arrows.filter((edge) => edge.data(from) === here).forEach((edge) => {
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

  /** Bring something into view, if it isn't; with its neighbours on a side, where all of them have room. */
  reveal(key: string, side: Side | null = null): void {
    const element = this.cy.getElementById(key);
    if (element.empty()) return;
    const near = side === null ? element : element.union(side === "up" ? element.incomers(".box") : element.outgoers(".box"));
    const box = near.renderedBoundingBox();
    const [width, height] = [this.cy.width(), this.cy.height()];
    if (box.x1 > 0 && box.y1 > 0 && box.x2 < width && box.y2 < height) return;
    const eles = box.w < width && box.h < height ? near : element;
    this.viewBy = "reader";
    if (QUIET.matches) this.cy.center(eles);
    else this.cy.animate({ center: { eles }, duration: 180 });
  }

  /** Center on a point of the picture. */
  centerOn(x: number, y: number): void {
    this.viewBy = "reader";
    this.cy.pan({ x: this.cy.width() / 2 - x * this.cy.zoom(), y: this.cy.height() / 2 - y * this.cy.zoom() });
  }

  /** The box that lies next in a direction; where arrows lead there, the nearest that one leads to. */
  beside(key: string, direction: "left" | "right" | "up" | "down"): string | null {
    const from = this.cy.getElementById(key);
    if (from.empty()) return null;
    const here = from.position();
    const level = direction === "left" || direction === "right";
    const ends = this.picture.arrows.flatMap(({ source, target }) =>
      direction === "left" && target === key ? [source] : direction === "right" && source === key ? [target] : []);
    const linked = new Set(ends.filter((end) => end !== key));
    let best: string | null = null;
    let least = Infinity;
    this.cy.nodes(".box").forEach((node) => {
      if (node.id() === key || (linked.size && !linked.has(node.id()))) return;
      const { x, y } = node.position();
      const [along, across] = level ? [x - here.x, y - here.y] : [y - here.y, x - here.x];
      const ahead = direction === "left" || direction === "up" ? -along : along;
      if (ahead < 20) return;
      const far = ahead + 2.5 * Math.abs(across);
      if (far < least) [best, least] = [node.id(), far];
    });
    return best;
  }

  /** Arrows of a box, in the order in which a key steps through them. */
  arrowsOf(key: string): string[] {
    return this.picture.arrows.filter(({ source, target }) => source === key || target === key).map((arrow) => arrow.key);
  }
}

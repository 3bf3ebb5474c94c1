// What is drawn: answers of /graph merged by key, and what is selected, expanded, coloured.

import type { Dataset, Flow, Graph, Impact } from "./types";

export type Selection = { kind: "dataset" | "flow" | "column"; key: string } | null;

/** A change whose impact is shown, or was asked for last. */
export interface Supposed {
  dataset: string;
  change: string;
  column: string | null;
}

export class Store {
  start: string | null = null;
  readonly datasets = new Map<string, Dataset>();
  readonly flows = new Map<string, Flow>();
  /** Worst severity by dataset's key, and by column's key. */
  severities = new Map<string, string>();
  impact: Impact | null = null;
  supposed: Supposed | null = null;
  showColumns = false;
  selection: Selection = null;

  clear(): void {
    this.start = null;
    this.datasets.clear();
    this.flows.clear();
    this.forgetImpact();
    this.selection = null;
  }

  forgetImpact(): void {
    this.severities.clear();
    this.impact = null;
    this.supposed = null;
  }

  /** Add an answer; how many datasets are new. What is known of columns is kept where the answer is silent. */
  merge(answer: Graph): number {
    const before = this.datasets.size;
    this.start ??= answer.start.key;
    for (const node of answer.nodes) {
      const known = this.datasets.get(node.asset.key);
      if (known && node.columns_total === null) {
        node.columns = known.columns;
        node.columns_total = known.columns_total;
      }
      this.datasets.set(node.asset.key, node);
    }
    for (const edge of answer.edges) {
      const known = this.flows.get(edge.key);
      if (known && edge.columns_total === null) {
        edge.columns = known.columns;
        edge.columns_total = known.columns_total;
      }
      this.flows.set(edge.key, edge);
    }
    this.countMissing();
    return this.datasets.size - before;
  }

  /** /graph counts neighbours that its own answer lacks; some of them may be drawn already, by another answer. */
  private countMissing(): void {
    const into = new Map<string, number>();
    const out = new Map<string, number>();
    for (const { source, target } of this.flows.values()) {
      if (source === target) continue;
      into.set(target, (into.get(target) ?? 0) + 1);
      out.set(source, (out.get(source) ?? 0) + 1);
    }
    for (const [key, dataset] of this.datasets) {
      const known = this.neighbours.get(key);
      const total = known ?? { up: 0, down: 0 };
      total.up = Math.max(total.up, (into.get(key) ?? 0) + (known ? 0 : dataset.more_upstream));
      total.down = Math.max(total.down, (out.get(key) ?? 0) + (known ? 0 : dataset.more_downstream));
      this.neighbours.set(key, total);
      dataset.more_upstream = total.up - (into.get(key) ?? 0);
      dataset.more_downstream = total.down - (out.get(key) ?? 0);
    }
  }

  private readonly neighbours = new Map<string, { up: number; down: number }>();

  upstream(key: string): string[] {
    return [...this.flows.values()].filter((flow) => flow.target === key && flow.source !== key).map((flow) => flow.source);
  }

  downstream(key: string): string[] {
    return [...this.flows.values()].filter((flow) => flow.source === key && flow.target !== key).map((flow) => flow.target);
  }
}

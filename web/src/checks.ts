// What breaks the rules of `headwater check`, in the side panel.

import { h } from "./dom";
import { count, number, time } from "./format";
import type { CheckedRule, Checks, Finding } from "./types";

export interface Opened {
  close(): void;
  go(dataset: string): void;
  timeline(job: string, name: string): void;
}

/** Rules that are broken, those with the most findings first, and then how many hold. */
export function checksPanel(found: Checks, opened: Opened): HTMLElement[] {
  const broken = found.rules.filter((rule) => rule.total).sort((one, other) => other.total - one.total);
  const holding = found.rules.length - broken.length;
  const exempted = found.exempted ? `, ${number(found.exempted)} exempted` : "";
  return [
    h("header", {},
      h("div", {}, h("span", { class: "chip" }, "checks"), h("h2", {}, found.total ? count(found.total, "finding") : "Nothing is found"),
        h("p", { class: "under" }, `${count(holding, "rule")} of ${number(found.rules.length)} hold${exempted}`)),
      h("button", { class: "icon", "aria-label": "Close", title: "Close (Esc)", onclick: opened.close }, "✕")),
    ...broken.map((rule) => section(rule, opened)),
  ];
}

function section(rule: CheckedRule, opened: Opened): HTMLElement {
  const more = rule.total - rule.findings.length;
  return h("section", { class: "rule" },
    h("h3", {}, rule.rule, h("small", {}, number(rule.total))),
    h("p", { class: "under" }, rule.title),
    h("ul", { class: "findings" }, rule.findings.map((finding) => item(finding, opened)), more > 0 && h("li", { class: "note" }, `and ${number(more)} more`)),
    h("p", { class: "note" }, rule.fix));
}

function item({ subject, message, since }: Finding, opened: Opened): HTMLElement {
  const open = subject.kind === "JOB" ? () => opened.timeline(subject.key, subject.name) : () => opened.go(subject.key);
  return h("li", {},
    subject.kind === "CONSUMER" ? h("b", {}, subject.name) : h("button", { class: "link", onclick: open }, subject.name),
    h("span", {}, message),
    (since || subject.owners.length > 0) && h("small", {}, [since && `since ${time(since)}`, ...subject.owners].filter(Boolean).join(", ")));
}

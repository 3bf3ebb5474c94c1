// What breaks the rules of `headwater check`, in the side panel.

import { h } from "./dom";
import { count, number, time } from "./format";
import type { CheckedRule, Checks, Finding } from "./types";

export interface Opened {
  close(): void;
  go(dataset: string): void;
  timeline(job: string, name: string): void;
}

/** How many rules hold, those that took too long or of which not all is known, and those that are broken, with the most findings first. */
export function checksPanel(found: Checks, opened: Opened): HTMLElement[] {
  const broken = found.rules.filter((rule) => rule.total).sort((one, other) => other.total - one.total);
  const late = found.unchecked;
  const unknown = found.rules.filter((rule) => rule.unknown !== null);
  const holding = found.rules.filter((rule) => !rule.total && rule.unknown === null).length;
  const exempted = found.exempted ? `, ${number(found.exempted)} exempted` : "";
  return [
    h("header", {},
      h("div", {}, h("span", { class: "chip" }, "checks"), h("h2", {}, found.total ? count(found.total, "finding") : late.length ? "Not all is checked" : unknown.length ? "Not all is known" : "Nothing is found"),
        h("p", { class: "under" }, `${count(holding, "rule")} of ${number(found.rules.length + late.length)} hold${exempted}`)),
      h("button", { class: "icon", "aria-label": "Close", title: "Close (Esc)", onclick: opened.close }, "✕")),
    ...late.map(({ rule, title, reason }) =>
      h("section", { class: "rule" }, h("h3", {}, rule, h("small", {}, "not checked")), h("p", { class: "under" }, title), h("p", { class: "note" }, reason))),
    ...unknown.map(({ rule, title, unknown: what }) =>
      h("section", { class: "rule" }, h("h3", {}, rule, h("small", {}, "UNKNOWN")), h("p", { class: "under" }, title), h("p", { class: "note" }, `Not known is ${what}.`))),
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
    subject.kind === "CONSUMER" ? h("b", {}, subject.name) : h("button", { class: "link", onclick: open }, subject.table ? `${subject.name} (${subject.table})` : subject.name),
    h("span", {}, message),
    (since || subject.owners.length > 0) && h("small", {}, [since && `since ${time(since)}`, ...subject.owners].filter(Boolean).join(", ")));
}

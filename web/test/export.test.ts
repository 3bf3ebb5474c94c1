// @vitest-environment happy-dom
import { describe, expect, it } from "vitest";

import { mermaid, svg } from "../src/stage/export";
import { sizeOf } from "../src/stage/elements";
import { layers } from "../src/stage/layout";
import { arrow, box, type Picture } from "../src/stage/picture";

const picture: Picture = {
  boxes: [
    box({ key: "a", title: "orders", start: true, down: 603, rows: [{ name: "id", type: "int" }], rowsBeyond: 3 }),
    box({ key: "b", title: 'x"]; click n0 "javascript:alert(1)', whole: "<script>alert(1)</script>", severity: "BREAKING", rows: [{ name: "key", type: null }] }),
    box({ key: "c", title: "invoice\u202excod.exe", change: "REMOVED" }),
  ],
  arrows: [
    arrow({ source: "a", target: "b", label: "etl|x", mappings: [{ source: "id", target: "key", direct: true }, { source: "id", target: "hidden", direct: false }] }),
    arrow({ source: "a", target: "c", line: "declared" }),
    arrow({ source: "b", target: "b", line: "possible" }),
  ],
};
const drawn = (): Document =>
  new DOMParser().parseFromString(svg(picture, layers(picture.boxes.map(sizeOf), picture.arrows), "orders · here"), "image/svg+xml");

describe("SVG", () => {
  it("has every box and every arrow, also without routes of a layout", () => {
    expect([...drawn().querySelectorAll(".arrow")].map((one) => one.getAttribute("data-arrow"))).toEqual(["a>b", "a>c", "b>b"]);
    expect([...drawn().querySelectorAll(".box")].map((one) => one.getAttribute("data-box"))).toEqual(["a", "b", "c"]);
  });

  it("has the marks of each box", () => {
    const marked = { boxes: [box({ key: "a", title: "orders", quality: "bad", lastRun: "good", tainted: true })], arrows: [] };
    const root = new DOMParser().parseFromString(svg(marked, layers(marked.boxes.map(sizeOf), []), "here"), "image/svg+xml");
    expect([...root.querySelectorAll(".mark")].map((one) => one.getAttribute("class"))).toEqual(["mark bad", "mark good", "mark alarm"]);
  });

  it("draws what was added and removed in the colours of the picture", () => {
    const boxes = [box({ key: "a", title: "a" }), box({ key: "b", title: "b" })];
    const changed = { boxes, arrows: [arrow({ source: "a", target: "b", change: "REMOVED" })] };
    const root = new DOMParser().parseFromString(svg(changed, layers(boxes.map(sizeOf), []), "here"), "image/svg+xml");
    const line = root.querySelector(".arrow");
    expect([line?.getAttribute("stroke-width"), line?.getAttribute("stroke-dasharray")]).toEqual(["2.6", "6 4"]);
  });

  it("has mappings between rows that are drawn", () => {
    expect(drawn().querySelectorAll(".mapping").length).toBe(1);
  });

  it("draws arrows that aren't observed with dashes", () => {
    expect([...drawn().querySelectorAll(".arrow")].map((one) => one.getAttribute("stroke-dasharray"))).toEqual([null, "6 4", "2 4"]);
  });

  it("holds all boxes within its frame", () => {
    const [left, top, width, height] = (drawn().documentElement.getAttribute("viewBox") ?? "").split(" ").map(Number) as [number, number, number, number];
    for (const one of drawn().querySelectorAll(".box > rect[rx='8']")) {
      const [x, y, across, down] = ["x", "y", "width", "height"].map((name) => Number(one.getAttribute(name))) as [number, number, number, number];
      expect(x >= left && y >= top && x + across <= left + width && y + down <= top + height).toBe(true);
    }
  });

  it("takes no name for markup, and shows what can't be seen", () => {
    const text = svg(picture, layers(picture.boxes.map(sizeOf), picture.arrows), "</title><script>");
    expect(text).not.toMatch(/<script|\u202e/);
    expect(text).toContain("invoice\\u202excod.exe");
  });

  it("says what isn't drawn", () => {
    expect(drawn().documentElement.textContent).toContain("+603");
    expect(drawn().documentElement.textContent).toContain("… 3 more");
  });
});

describe("Mermaid", () => {
  it("has a line for each box and arrow, by ids of its own", () => {
    const lines = mermaid(picture).trimEnd().split("\n");
    expect(lines[0]).toBe("flowchart LR");
    expect(lines.length).toBe(7);
    expect(lines[1]).toBe('  n0["orders"]');
    expect(lines[4]).toBe('  n0 -->|"etl#124;x"| n1');
    expect(lines[5]).toBe("  n0 -.-> n2");
  });

  it("escapes what would end a name or act", () => {
    const line = mermaid(picture).split("\n")[2] ?? "";
    expect(line).toBe('  n1["x#34;#93;; click n0 #34;javascript:alert#40;1#41;"]');
    expect(mermaid(picture)).not.toContain("\u202e");
    expect(mermaid({ boxes: [box({ key: "k", title: "a#b\nc<d>" })], arrows: [] })).toBe('flowchart LR\n  n0["a#35;b#92;nc#60;d#62;"]\n');
  });
});

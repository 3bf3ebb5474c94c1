// @vitest-environment happy-dom
import { h, render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { place } from "../src/app/address";
import type { Neighbour, NeighbourPage } from "../src/app/answers";
import { forget } from "../src/app/api";
import { Neighbours } from "../src/dataset/neighbours";
import { asset } from "./recorded";

const MANY = 2_000;
const HEIGHT = 370;
const ROW = 37;
const all = Array.from({ length: MANY }, (_, index): Neighbour => ({
  asset: asset(`reader ${index}`), owners: [], owners_of_jobs: [], tags: [], criticality: index < 3 ? "tier-1" : null, sensitivity: null, gone: false,
  upstream_total: 1, downstream_total: 0, status: null, jobs: [], jobs_total: 1,
}));

let asked: URLSearchParams[];

beforeEach(() => {
  asked = [];
  vi.stubGlobal("fetch", async (path: string) => {
    const query = new URLSearchParams(path.split("?")[1]);
    asked.push(query);
    const found = query.has("criticality") ? all.filter(({ criticality }) => criticality === query.get("criticality")) : all;
    const begin = Number(query.get("cursor") ?? 0);
    const end = begin + Number(query.get("limit"));
    const none = { value: null, total: MANY - 3 };
    const page: NeighbourPage = {
      items: found.slice(begin, end), total: found.length, next_cursor: end < found.length ? String(end) : null, start: asset("hub"), direction: "DOWNSTREAM",
      facets: { namespaces: [{ value: "kafka://broker:9092", total: MANY }], owners: [], types: [], criticalities: [{ value: "tier-1", total: 3 }, none] },
      graph: { last_event: null, behind: 0, stale: null }, filtered: true,
    };
    return Response.json(page);
  });
  // Without a layout nothing has a height.
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(HEIGHT);
  vi.spyOn(HTMLElement.prototype, "scrollHeight", "get").mockImplementation(function (this: HTMLElement) {
    return this.querySelectorAll("tbody > tr:not([aria-hidden])").length * ROW + [...this.querySelectorAll<HTMLElement>("tbody > tr[aria-hidden]")].reduce((sum, { style }) => sum + parseInt(style.height), 0);
  });
});

afterEach(() => {
  act(() => render(null, document.body));
  forget();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const names = (): string[] => [...document.querySelectorAll(".asset > a")].map(({ textContent }) => textContent ?? "");

async function open(): Promise<HTMLElement> {
  act(() => render(h(Neighbours, { at: place("dataset", { namespace: "n", name: "hub" }), dataset: "hub", side: "down", drawn: () => false }), document.body));
  return vi.waitFor(() => document.querySelector<HTMLElement>(".table-frame") ?? expect.fail("no list yet"));
}

describe("neighbours of a hub", () => {
  it("are scrolled to the last one, page by page, and only those in sight are drawn", async () => {
    const frame = await open();
    expect(document.querySelector("[role=status]")?.textContent).toBe("2,000 readers");
    await vi.waitFor(() => {
      act(() => {
        frame.scrollTop = frame.scrollHeight - HEIGHT;
        frame.dispatchEvent(new Event("scroll"));
      });
      expect(names().at(-1)).toBe("reader 1999");
    });
    expect(names().length).toBeLessThan(60);
    expect(asked.map((query) => query.get("cursor"))).toEqual([null, "200", "1200"]);
  });

  it("are filtered by criticality beside namespace, owner and type", async () => {
    await open();
    const fields = [...document.querySelectorAll<HTMLLabelElement>(".neighbour-by label")];
    expect(fields.map((field) => field.firstChild?.textContent)).toEqual(["Namespace", "Owner", "Type", "Criticality"]);
    const select = fields[3]?.querySelector("select") as HTMLSelectElement;
    expect([...select.options].map(({ text }) => text)).toEqual(["any", "tier-1 (3)"]);
    act(() => {
      select.value = "tier-1";
      select.dispatchEvent(new Event("change"));
    });
    await vi.waitFor(() => expect(names()).toEqual(["reader 0", "reader 1", "reader 2"]));
    expect(document.querySelectorAll(".neighbour-by select")[3]).toBe(select);
    expect(select.value).toBe("tier-1");
  });
});

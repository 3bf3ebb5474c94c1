// @vitest-environment happy-dom
import { h, render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { forget } from "../src/app/api";
import { here } from "../src/app/navigation";
import { written } from "../src/app/address";
import { SearchField, spoken } from "../src/app/search-field";
import { asset } from "./recorded";

let answers: Map<string, (names: string[], match?: string) => void>;

beforeEach(() => {
  vi.useFakeTimers();
  forget();
  answers = new Map();
  vi.stubGlobal("fetch", (path: string) =>
    new Promise((resolve) => {
      const text = new URLSearchParams(path.split("?")[1]).get("q") ?? "";
      answers.set(text, (names, match = "BEGINNINGS") => resolve(Response.json({
        items: names.map((name) => ({ asset: asset(name), match, owners: [], tags: [], gone: false, sensitivity: null })),
        total: names.length * 10, truncated: false, consumers: [], next_cursor: null,
      })));
    }));
  act(() => render(h(SearchField, {}), document.body));
});

afterEach(() => {
  act(() => render(null, document.body));
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const input = (): HTMLInputElement => document.querySelector("#query") as HTMLInputElement;
const hits = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>("#hits [role=option]")];
const list = (): HTMLElement => document.querySelector(".find-hits") as HTMLElement;
const marked = (): number => hits().findIndex((each) => each.getAttribute("aria-selected") === "true");
const pass = (ms: number): Promise<void> => act(async () => void (await vi.advanceTimersByTimeAsync(ms)));
const press = (key: string): Promise<void> => act(() => void input().dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true })));
const letters = (text: string): void => {
  input().value = text;
  input().dispatchEvent(new Event("input", { bubbles: true }));
};

async function type(text: string): Promise<void> {
  letters(text);
  await pass(200);
}

async function answer(text: string, names: string[], match?: string): Promise<void> {
  answers.get(text)?.(names, match);
  await pass(1);
}

const at = (): string => (here.value ? written(here.value) : "");

describe("the search field", () => {
  it("asks after a pause, for the last text alone", async () => {
    letters("o");
    await pass(100);
    expect(answers.size).toBe(0);
    await type(" or ");
    expect([...answers.keys()]).toEqual(["or"]);
    await answer("or", ["orders", "or_lines"]);
    expect(list().hidden).toBe(false);
    expect(input().getAttribute("aria-expanded")).toBe("true");
    expect(hits().map((each) => each.querySelector("b")?.textContent ?? each.textContent)).toEqual(["orders", "or_lines", "All hits of “or”20"]);
  });

  it("goes round with the arrows, and Enter chooses", async () => {
    await type("or");
    await answer("or", ["a", "b"]);
    expect(marked()).toBe(0);
    await press("ArrowUp");
    expect(marked()).toBe(2);
    await press("ArrowDown");
    await press("ArrowDown");
    expect(input().getAttribute("aria-activedescendant")).toBe("hit-1");
    await press("Enter");
    expect(at()).toContain("/dataset/kafka:%2F%2Fbroker:9092/b");
    expect([input().value, list().hidden]).toEqual(["", true]);
  });

  it("leads to all hits by its last option", async () => {
    await type("or");
    await answer("or", ["a"]);
    await press("ArrowUp");
    await press("Enter");
    expect(at()).toBe("#/search?q=or");
  });

  it("means what was typed, where Enter comes before the answer", async () => {
    await type("or");
    await answer("or", ["orders"]);
    letters("cust");
    await press("Enter");
    await answer("cust", ["customers", "custody"]);
    expect(at()).toBe("#/search?q=cust");
    letters("payments");
    await press("Enter");
    await answer("payments", ["payments"], "EXACT");
    expect(at()).toContain("/payments");
  });

  it("drops an answer that a newer question has overtaken", async () => {
    await type("or");
    await type("cu");
    await answer("or", ["orders"]);
    await answer("cu", ["customers"]);
    expect(list().textContent).toContain("customers");
    expect(list().textContent).not.toContain("orders");
  });

  it("says that nothing is called so, and what is wrong with the server", async () => {
    await type("zzz");
    await answer("zzz", []);
    expect(list().textContent).toBe("Nothing is called like “zzz”.");
    expect(input().getAttribute("aria-expanded")).toBe("false");
    vi.stubGlobal("fetch", () => Promise.reject(new TypeError("connection refused")));
    await type("zz");
    expect(list().textContent).toContain("Is headwater serve still running?");
  });

  it("closes with Escape, and keeps its keys to itself", async () => {
    await type("or");
    await answer("or", ["orders"]);
    const outside = vi.fn();
    document.addEventListener("keydown", outside);
    await press("Escape");
    document.removeEventListener("keydown", outside);
    expect([list().hidden, input().getAttribute("aria-expanded")]).toEqual([true, "false"]);
    expect(outside).not.toHaveBeenCalled();
  });

  it("draws what names hold as text", async () => {
    await type("x");
    await answer("x", ["<img src=x onerror=alert(1)>"]);
    expect(list().querySelector("img")).toBeNull();
    expect(list().textContent).toContain("<img");
  });
});

it("names a hit by its last part, with what stands before it", () => {
  expect(spoken({ asset: asset("db.schema.orders", { namespace: "snowflake://acme" }) })).toEqual({ name: "orders", of: "snowflake://acme · db.schema" });
  expect(spoken({ asset: asset("orders", { kind: "COLUMN", column: "id" }) })).toEqual({ name: "id", of: "column of orders · kafka://broker:9092" });
});

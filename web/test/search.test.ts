// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { combobox } from "../src/search";
import type { Asset } from "../src/types";
import { asset } from "./made";

let input: HTMLInputElement;
let list: HTMLElement;
let chosen: Asset[];
let answers: Map<string, (names: string[]) => void>;

beforeEach(() => {
  vi.useFakeTimers();
  document.body.innerHTML = '<input id="query"><ul id="hits" hidden></ul>';
  input = document.querySelector("input") as HTMLInputElement;
  list = document.querySelector("ul") as HTMLElement;
  chosen = [];
  answers = new Map();
  vi.stubGlobal("fetch", (path: string, init: RequestInit) =>
    new Promise((resolve, reject) => {
      const text = new URLSearchParams(path.split("?")[1]).get("q") ?? "";
      init.signal?.addEventListener("abort", () => reject(Object.assign(new Error(), { name: "AbortError" })));
      answers.set(text, (names) => resolve(Response.json({ items: names.map((name) => ({ asset: asset(name) })), total: names.length })));
    }));
  combobox(input, list, (one) => chosen.push(one));
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const press = (key: string) => input.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));

async function type(text: string): Promise<void> {
  input.value = text;
  input.dispatchEvent(new Event("input"));
  await vi.advanceTimersByTimeAsync(200);
}

async function answer(text: string, ...names: string[]): Promise<void> {
  answers.get(text)?.(names);
  await vi.advanceTimersByTimeAsync(1);
}

const marked = () => [...list.children].findIndex((child) => child.getAttribute("aria-selected") === "true");

describe("the search field", () => {
  it("asks after a pause, for the last text alone", async () => {
    input.value = "o";
    input.dispatchEvent(new Event("input"));
    await vi.advanceTimersByTimeAsync(100);
    expect(answers.size).toBe(0);
    await type(" or ");
    expect([...answers.keys()]).toEqual(["or"]);
    await answer("or", "orders", "or_lines");
    expect(list.hidden).toBe(false);
    expect(input.getAttribute("aria-expanded")).toBe("true");
    expect(list.children).toHaveLength(2);
  });

  it("goes round with the arrows, and Enter chooses", async () => {
    await type("or");
    await answer("or", "a", "b", "c");
    expect(marked()).toBe(0);
    press("ArrowUp");
    expect(marked()).toBe(2);
    press("ArrowDown");
    press("ArrowDown");
    expect(marked()).toBe(1);
    expect(input.getAttribute("aria-activedescendant")).toBe("hit-1");
    press("Enter");
    await vi.advanceTimersByTimeAsync(1);
    expect(chosen.map((one) => one.name)).toEqual(["b"]);
    expect([list.hidden, input.value]).toEqual([true, ""]);
  });

  it("takes Enter before the answer for the text that was typed, not for what is listed", async () => {
    await type("or");
    await answer("or", "orders");
    input.value = "cust";
    press("Enter");
    await vi.advanceTimersByTimeAsync(1);
    expect(chosen).toEqual([]);
    await answer("cust", "customers");
    expect(chosen.map((one) => one.name)).toEqual(["customers"]);
  });

  it("drops an answer that a newer question has overtaken", async () => {
    await type("or");
    await type("cu");
    await answer("or", "orders");
    await answer("cu", "customers");
    expect(list.textContent).toContain("customers");
    expect(list.textContent).not.toContain("orders");
  });

  it("says that nothing is called so, and what is wrong with the server", async () => {
    await type("zzz");
    await answer("zzz");
    expect(list.textContent).toBe("Nothing is called “zzz”.");
    vi.stubGlobal("fetch", () => Promise.reject(new TypeError("connection refused")));
    await type("zz");
    expect(list.textContent).toContain("Is headwater serve still running?");
  });

  it("closes with Escape, and keeps its keys to itself", async () => {
    await type("or");
    await answer("or", "orders");
    const outside = vi.fn();
    document.addEventListener("keydown", outside);
    press("Escape");
    document.removeEventListener("keydown", outside);
    expect([list.hidden, input.getAttribute("aria-expanded")]).toEqual([true, "false"]);
    expect(outside).not.toHaveBeenCalled();
  });

  it("draws what names hold as text", async () => {
    await type("x");
    await answer("x", "<img src=x onerror=alert(1)>");
    expect(list.querySelector("img")).toBeNull();
    expect(list.textContent).toContain("<img");
  });
});

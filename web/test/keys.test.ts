// @vitest-environment happy-dom
import { beforeEach, describe, expect, it, vi } from "vitest";

import type { Canvas } from "../src/canvas";
import { type Hands, keys } from "../src/keys";
import { Store } from "../src/store";
import { asset, dataset, flow, graph } from "./made";

const job = { job: asset("j", { kind: "JOB", name: "etl" }), first_seen: null, last_seen: null, observed: true, declared: false, possible: false, incomplete: null };
const canvas = { beside: vi.fn(), zoom: vi.fn(), fit: vi.fn() };
let hands: Hands;
let store: Store;
let stop: AbortController;

beforeEach(() => {
  document.body.innerHTML = '<input id="query"><div id="alert" hidden></div><div id="drawer" hidden></div><dialog id="keys"></dialog><button>b</button>';
  vi.resetAllMocks();
  store = new Store();
  store.merge(graph("b", ["a", "b", "c"].map((key) => dataset(key)), [flow("a", "b"), flow("b", "c", { via: [job] })]));
  hands = {
    store, canvas: canvas as unknown as Canvas, select: vi.fn((selection) => void (store.selection = selection)), expand: vi.fn(),
    go: vi.fn(), columns: vi.fn(), theme: vi.fn(), timeline: vi.fn(), closeDrawer: vi.fn(),
  };
  // Each test's listener ends with the test.
  stop?.abort();
  stop = new AbortController();
  const add = document.addEventListener.bind(document);
  const spy = vi.spyOn(document, "addEventListener").mockImplementation((kind: string, heard: unknown) => add(kind, heard as EventListener, { signal: stop.signal }));
  keys(hands);
  spy.mockRestore();
});

function press(key: string, more: KeyboardEventInit = {}, at: Element = document.body): boolean {
  return at.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));
}

describe("arrows", () => {
  it("begin at the start, then go to what stands beside", () => {
    press("ArrowRight");
    expect(hands.select).toHaveBeenLastCalledWith({ kind: "dataset", key: "b" });
    canvas.beside.mockReturnValue("c");
    press("ArrowRight");
    expect(canvas.beside).toHaveBeenCalledWith("b", "right");
    expect(hands.select).toHaveBeenLastCalledWith({ kind: "dataset", key: "c" });
  });

  it("stay where nothing is", () => {
    store.selection = { kind: "dataset", key: "c" };
    canvas.beside.mockReturnValue(null);
    press("ArrowRight");
    expect(hands.select).not.toHaveBeenCalled();
  });
});

describe("what the keys are about", () => {
  it.each([
    [null, "b"], [{ kind: "dataset", key: "a" }, "a"], [{ kind: "column", key: "0:a:id" }, "a"], [{ kind: "flow", key: "b>c" }, "c"],
  ] as const)("is, with %j selected, %s", (selection, key) => {
    store.selection = selection;
    press("]");
    expect(hands.expand).toHaveBeenCalledWith(key, "down");
    press("[");
    expect(hands.expand).toHaveBeenCalledWith(key, "up");
    press("Enter");
    expect(hands.go).toHaveBeenCalledWith(key);
  });
});

it("goes through the arrows of one dataset, and round", () => {
  for (const key of ["a>b", "b>c", "a>b"]) {
    press("e");
    expect(hands.select).toHaveBeenLastCalledWith({ kind: "flow", key });
  }
});

it("shows the timeline of the job that writes what is selected, or reads it", () => {
  store.selection = { kind: "dataset", key: "c" };
  press("t");
  expect(hands.timeline).toHaveBeenLastCalledWith("j", "etl");
  store.selection = { kind: "flow", key: "b>c" };
  press("t");
  expect(hands.timeline).toHaveBeenCalledTimes(2);
  store.selection = { kind: "flow", key: "a>b" };
  press("t");
  expect(hands.timeline).toHaveBeenCalledTimes(2);
});

it("closes one thing at a time with Escape: what is explained, the drawer, the selection", () => {
  const [alert, drawer] = ["alert", "drawer"].map((id) => document.getElementById(id) as HTMLElement);
  alert!.hidden = false;
  drawer!.hidden = false;
  press("Escape");
  expect([alert!.hidden, drawer!.hidden]).toEqual([true, false]);
  press("Escape");
  expect(hands.closeDrawer).toHaveBeenCalledOnce();
  expect(hands.select).not.toHaveBeenCalled();
  drawer!.hidden = true;
  press("Escape");
  expect(hands.select).toHaveBeenCalledWith(null);
});

describe("keys that aren't meant", () => {
  it("are those of the browser and of fields", () => {
    press("c", { ctrlKey: true });
    press("c", { metaKey: true });
    press("c", { altKey: true });
    press("c", {}, document.querySelector("input") as Element);
    expect(hands.columns).not.toHaveBeenCalled();
    press("c");
    expect(hands.columns).toHaveBeenCalledOnce();
  });

  it("are left to the browser where nobody takes them", () => {
    expect(press("x")).toBe(true);
    expect(press("+")).toBe(false);
    expect(canvas.zoom).toHaveBeenCalledWith(1.25);
  });

  it("are Enter on a button", () => {
    press("Enter", {}, document.querySelector("button") as Element);
    expect(hands.go).not.toHaveBeenCalled();
  });
});

// @vitest-environment happy-dom
import { h, render } from "preact";
import { afterEach, describe, expect, it } from "vitest";

import { actionOf, Keys, keysShown } from "../src/app/keys";

const key = (name: string, more: Partial<Record<"ctrlKey" | "metaKey" | "altKey", boolean>> = {}, target: EventTarget = document.body) =>
  actionOf({ key: name, ctrlKey: false, metaKey: false, altKey: false, target, ...more });

describe("keys of the whole page", () => {
  it("focus the search, list the keys, change the theme", () => {
    expect([key("/"), key("?"), key("d"), key("x")]).toEqual(["search", "keys", "theme", null]);
    expect([key("k", { ctrlKey: true }), key("K", { metaKey: true })]).toEqual(["search", "search"]);
  });

  it("aren't those of the browser and of fields", () => {
    for (const name of ["ctrlKey", "metaKey", "altKey"] as const) expect(key("d", { [name]: true })).toBeNull();
    for (const field of ["input", "select", "textarea"]) expect(key("/", {}, document.createElement(field))).toBeNull();
    expect(key("k", { ctrlKey: true }, document.createElement("input"))).toBe("search");
  });

  it("work as soon as the page is there, before its first frame", () => {
    render(h(Keys, {}), document.body);
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "?", bubbles: true }));
    expect(keysShown.value).toBe(true);
  });

  afterEach(() => {
    keysShown.value = false;
    render(null, document.body);
  });
});

// @vitest-environment happy-dom
import { h, render } from "preact";
import { act } from "preact/test-utils";
import { describe, expect, it } from "vitest";

import { Message } from "../src/views/checks";

function shown(message: string, incident: string | null): HTMLElement {
  const subject = { kind: "DATASET" as const, key: "k", name: "n/orders", owners: [], table: null };
  act(() => render(h(Message, { of: { id: "1", subject, message, since: null, incident } }), document.body));
  return document.body;
}

describe("a finding", () => {
  it("links the incident that it is about", () => {
    const found = shown("It holds bad data of incident INC 7/b (SEV2), which is open.", "INC 7/b");
    expect(found.textContent).toBe("It holds bad data of incident INC 7/b (SEV2), which is open.");
    expect(found.querySelector("a")?.getAttribute("href")).toBe("#/incident/INC%207%2Fb");
    expect(found.querySelector("a")?.textContent).toBe("INC 7/b");
  });

  it("links an id that is a part of other words, once, and one that its sentence doesn't name", () => {
    expect(shown("It holds bad data of incident b, which is open.", "b").innerHTML).toContain('incident <a href="#/incident/b">b</a>, which');
    expect(shown("It is bad.", "INC-7").textContent).toBe("It is bad. INC-7");
  });

  it("has no link without an incident, whatever its sentence is like", () => {
    expect(shown("It holds bad data of incident X.", null).querySelector("a")).toBeNull();
  });
});

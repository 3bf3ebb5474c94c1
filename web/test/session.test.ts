// @vitest-environment happy-dom
import { h, render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { Me } from "../src/app/answers";
import { get, Problem } from "../src/app/api";
import { trouble, who } from "../src/app/state";
import { Who } from "../src/app/shell";

let asked: string[];
let assigned: string[];
let answers: Record<string, Response>;
let address: { search: string; hash: string; assign: (url: string) => void };

beforeEach(() => {
  [asked, assigned, answers] = [[], [], {}];
  address = { search: "", hash: "", assign: (url) => assigned.push(url) };
  vi.stubGlobal("location", address);
  vi.stubGlobal("fetch", async (path: string, init: RequestInit = {}) => {
    asked.push(`${init.method ?? "GET"} ${path}`);
    return answers[path];
  });
});

afterEach(() => {
  act(() => render(null, document.body));
  trouble.value = null;
  vi.unstubAllGlobals();
});

function shown(given: Partial<Me>): HTMLElement {
  who.value = { source: "session", subject: "ann", name: "", tenant: "default", groups: [], scopes: [], expires: null, filtered: false, login: "login", ...given };
  act(() => render(h(Who, {}), document.body));
  return document.querySelector("#who") as HTMLElement;
}

const refused = (headers: Record<string, string>) => Response.json({ title: "A valid credential is needed" }, { status: 401, headers });

describe("who is logged in", () => {
  it("is shown with a way out", async () => {
    answers = { logout: Response.json({ location: "https://login.example/end" }) };
    const place = shown({});
    expect([place.hidden, place.textContent]).toEqual([false, "annLog out"]);
    place.querySelector("button")?.click();
    await vi.waitFor(() => expect(assigned).toEqual(["https://login.example/end"]));
    expect(asked).toEqual(["POST logout"]);
  });

  it("can't log out of what isn't a session, and is nobody where everybody may ask", () => {
    const place = shown({ source: "proxy", subject: "<b>cay", login: null });
    expect(place.textContent).toBe("<b>cay");
    expect(place.querySelector("button, b")).toBeNull();
    expect(shown({ source: "anonymous", subject: "", login: null }).hidden).toBe(true);
  });

  it("has the name that the provider gives", () => {
    const place = shown({ subject: "248289", name: "Ann <i>Lee" });
    expect(place.textContent).toBe("Ann <i>LeeLog out");
    expect(place.querySelector<HTMLElement>(".who-name")?.title).toBe("Logged in as Ann <i>Lee (248289)");
  });

  it("learns that answers are filtered, by the same line also without a credential", () => {
    for (const given of [{}, { source: "anonymous" as const, subject: "", login: null }]) {
      const place = shown({ ...given, filtered: true });
      expect(place.hidden).toBe(false);
      expect(place.querySelector(".note")?.textContent).toBe("Answers leave out what you may not see.");
    }
  });

  it("can log in where reads need no credential, and comes back to where it was", () => {
    const place = shown({ source: "anonymous", subject: "" });
    expect(place.textContent).toBe("Log in");
    address.hash = "#/dataset/dwh/orders";
    address.search = "?logged-out";
    place.querySelector("a")?.click();
    expect(assigned).toEqual([`login?return=${encodeURIComponent("/#/dataset/dwh/orders")}`]);
  });

  it("learns that the log-out failed", async () => {
    answers = { logout: new Response("", { status: 503 }) };
    shown({}).querySelector("button")?.click();
    await vi.waitFor(() => expect(trouble.value?.title).toBe("You are still logged in."));
    expect(assigned).toEqual([]);
  });
});

describe("a request without a credential", () => {
  it("leads to the log-in and back", async () => {
    address.hash = "#/dataset/kafka:%2F%2Fb/orders?columns=1";
    answers = { "api/v1/first": refused({ "x-headwater-login": "login" }) };
    void get("first");
    await vi.waitFor(() => expect(assigned).toHaveLength(1));
    expect(assigned[0]).toBe(`login?return=${encodeURIComponent("/#/dataset/kafka:%2F%2Fb/orders?columns=1")}`);
  });

  it("stays where the server has no log-in, and after a log-out", async () => {
    answers = { "api/v1/me": refused({}) };
    await expect(get("me")).rejects.toMatchObject({ title: "A valid credential is needed", login: null });
    address.search = "?logged-out";
    answers = { "api/v1/me": refused({ "x-headwater-login": "login" }) };
    const failed: unknown = await get("me").catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(Problem);
    expect(failed).toMatchObject({ title: "You are logged out.", login: "login" });
    expect(assigned).toEqual([]);
  });
});

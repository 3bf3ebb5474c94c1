// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { me, Problem } from "../src/api";
import { showWho } from "../src/session";

let place: HTMLElement;
let asked: string[];
let assigned: string[];
let answers: Record<string, Response>;
let address: { search: string; hash: string; assign: (url: string) => void };

const report = vi.fn();

beforeEach(() => {
  document.body.innerHTML = '<span id="who" hidden></span>';
  place = document.querySelector("span") as HTMLElement;
  [asked, assigned, answers] = [[], [], {}];
  address = { search: "", hash: "", assign: (url) => assigned.push(url) };
  vi.stubGlobal("location", address);
  vi.stubGlobal("fetch", async (path: string, init: RequestInit = {}) => {
    asked.push(`${init.method ?? "GET"} ${path}`);
    return answers[path];
  });
});

afterEach(() => vi.unstubAllGlobals());

const whoIs = (given: object) => Response.json({ source: "session", subject: "ann", name: "", filtered: false, login: "login", ...given });
const refused = (headers: Record<string, string>) => Response.json({ title: "A valid credential is needed" }, { status: 401, headers });

describe("who is logged in", () => {
  it("is shown with a way out", async () => {
    answers = { "api/v1/me": whoIs({}), logout: Response.json({ location: "https://login.example/end" }) };
    await showWho(place, report);
    expect(place.hidden).toBe(false);
    expect(place.textContent).toBe("annLog out");
    place.querySelector("button")?.click();
    await vi.waitFor(() => expect(assigned).toEqual(["https://login.example/end"]));
    expect(asked).toEqual(["GET api/v1/me", "POST logout"]);
  });

  it("can't log out of what isn't a session, and is nobody where everybody may ask", async () => {
    answers = { "api/v1/me": whoIs({ source: "proxy", subject: "<b>cay", login: null }) };
    await showWho(place, report);
    expect(place.textContent).toBe("<b>cay");
    expect(place.querySelector("button, b")).toBeNull();
    place.hidden = true;
    answers = { "api/v1/me": whoIs({ source: "anonymous", subject: "", login: null }) };
    await showWho(place, report);
    expect(place.hidden).toBe(true);
  });

  it("has the name that the provider gives", async () => {
    answers = { "api/v1/me": whoIs({ subject: "248289", name: "Ann <i>Lee" }) };
    await showWho(place, report);
    expect(place.textContent).toBe("Ann <i>LeeLog out");
    expect(place.querySelector("span")?.title).toBe("Logged in as Ann <i>Lee (248289)");
  });

  it("learns that answers are filtered, by the same line also without a credential", async () => {
    for (const given of [{}, { source: "anonymous", subject: "", login: null }]) {
      place.hidden = true;
      answers = { "api/v1/me": whoIs({ ...given, filtered: true }) };
      await showWho(place, report);
      expect(place.hidden).toBe(false);
      expect(place.querySelector(".note")?.textContent).toBe("Answers leave out what you may not see.");
    }
  });

  it("can log in where reads need no credential, and comes back to where it was", async () => {
    answers = { "api/v1/me": whoIs({ source: "anonymous", subject: "" }) };
    await showWho(place, report);
    expect(place.textContent).toBe("Log in");
    address.hash = "#asset=dwh";
    address.search = "?logged-out";
    place.querySelector("a")?.click();
    expect(assigned).toEqual([`login?return=${encodeURIComponent("/#asset=dwh")}`]);
  });

  it("learns that the log-out failed", async () => {
    answers = { "api/v1/me": whoIs({}), logout: new Response("", { status: 503 }) };
    await showWho(place, report);
    place.querySelector("button")?.click();
    await vi.waitFor(() => expect(report).toHaveBeenCalled());
    expect(assigned).toEqual([]);
  });
});

describe("a request without a credential", () => {
  it("leads to the log-in and back", async () => {
    address.hash = "#asset=kafka%3A%2F%2Fb%2Forders&columns=1";
    answers = { "api/v1/me": refused({ "x-headwater-login": "login" }) };
    void me();
    await vi.waitFor(() => expect(assigned).toHaveLength(1));
    expect(assigned[0]).toBe(`login?return=${encodeURIComponent("/#asset=kafka%3A%2F%2Fb%2Forders&columns=1")}`);
  });

  it("stays where the server has no log-in, and after a log-out", async () => {
    answers = { "api/v1/me": refused({}) };
    await expect(me()).rejects.toMatchObject({ title: "A valid credential is needed", login: null });
    address.search = "?logged-out";
    answers = { "api/v1/me": refused({ "x-headwater-login": "login" }) };
    const failed: unknown = await me().catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(Problem);
    expect(failed).toMatchObject({ title: "You are logged out.", login: "login" });
    expect(assigned).toEqual([]);
  });
});

import { describe, expect, it } from "vitest";
import { Daemon } from "../../../obsidian-plugin/src/client";
import type { Clock } from "../../../obsidian-plugin/src/clock";
import type { AskRequest, AskResponse } from "../../../obsidian-plugin/src/wire";
import {
  all,
  blocked,
  citation,
  daemonOf,
  failure,
  frames,
  HandClock,
  json,
  line,
  plain,
  source,
  status,
  Ways,
  type Sent,
} from "./support";

const QUESTION: AskRequest = { question: "How many kilos?", include_personal: true };
const NEVER = new AbortController().signal;
const HEALTHY = { status: "ok" };
const SOURCES = {
  type: "sources",
  sources: [source(1)],
  silent: false,
  personal_included: true,
  generator: "m",
  notices: [],
  understood: null,
};
const DELTA = { type: "delta", text: "31 kg [1]", part: "vault" };
const GROUNDING = { type: "grounding", citations: [citation(1)], removed: 0, refused: false };
const DONE = { type: "done", seconds: 2, finish: "stop" };
const ERROR = { type: "error", code: "model_busy", message: "The model is busy.", retry: true };
const WHOLE: AskResponse = {
  answer: "31 kg [1]",
  citations: [citation(1)],
  sources: [source(1)],
  silent: false,
  refused: false,
  personal_included: true,
  generator: "m",
  notices: [],
  understood: null,
  web: null,
  seconds: 2,
  finish: "stop",
};

function streaming(...events: { type: string }[]) {
  return () => new Response(frames(...events), { headers: { "Content-Type": "text/event-stream; charset=utf-8" } });
}

/** The app's own way reaches a daemon that answers its health, and this to all else. */
function behind(answer: (sent: Sent) => unknown, code = 200) {
  return (sent: Sent) => (sent.url.endsWith("/healthz") ? plain(HEALTHY) : plain(answer(sent), code));
}

describe("Asking", () => {
  it("sends the question as it is, and yields the events up to done", async () => {
    const ways = new Ways(streaming(SOURCES, DELTA, GROUNDING, DONE, DELTA));
    const events = await all(daemonOf(ways).ask(QUESTION, NEVER));
    expect(events).toEqual([SOURCES, DELTA, GROUNDING, DONE]);
    const [sent] = ways.fetched;
    expect(sent).toMatchObject({ url: "http://nas:8765/api/ask", method: "POST", body: QUESTION });
    expect(sent?.headers).toEqual({ Accept: "text/event-stream", "Content-Type": "application/json" });
    expect(sent?.init).toMatchObject({ redirect: "manual", credentials: "omit" });
  });

  it("shows the token in the header alone, and none where there is none", async () => {
    for (const [token, header] of [
      ["se/cret+1", "Bearer se/cret+1"],
      ["", undefined],
      [null, undefined],
    ] as const) {
      const ways = new Ways(
        (sent) => (sent.url.includes("/api/ask") ? streaming(DONE)() : blocked()),
        behind(() => status()),
      );
      const daemon = daemonOf(ways, { token });
      await all(daemon.ask(QUESTION, NEVER));
      await daemon.status();
      expect(ways.fetched[0]?.headers.Authorization).toBe(header);
      expect(ways.requested.map(({ headers }) => headers.Authorization)).toEqual([undefined, header]);
      for (const { url } of [...ways.fetched, ...ways.requested]) expect(url).not.toContain("se");
    }
  });

  it.each(["tök€n", "to ken", "to\nken"])("says that the token %j cannot be sent, and sends nothing", async (token) => {
    const ways = new Ways(streaming(DONE));
    expect(await failure(all(daemonOf(ways, { token }).ask(QUESTION, NEVER)))).toMatchObject({
      kind: "token",
      code: "token_unsendable",
    });
    expect(ways.fetched).toEqual([]);
  });

  it("ends with an error event of the daemon's", async () => {
    const ways = new Ways(streaming(SOURCES, DELTA, ERROR, DELTA));
    expect((await all(daemonOf(ways).ask(QUESTION, NEVER))).at(-1)).toEqual(ERROR);
  });

  it("is broken where the stream ends without done or error, after what had come", async () => {
    const seen: unknown[] = [];
    const read = async () => {
      for await (const event of daemonOf(new Ways(streaming(SOURCES, DELTA))).ask(QUESTION, NEVER)) seen.push(event);
    };
    expect(await failure(read())).toMatchObject({ kind: "broken", retry: true });
    expect(seen).toEqual([SOURCES, DELTA]);
  });

  it("hangs up when the reader leaves, and when the answer is whole", async () => {
    for (const last of [DELTA, DONE]) {
      const open = line();
      open.send(frames(SOURCES, last));
      for await (const event of daemonOf(new Ways(() => open.response)).ask(QUESTION, NEVER)) {
        if (event.type === last.type) break;
      }
      expect(open.isHungUp, last.type).toBe(true);
    }
  });

  it("gives its own error for each refusal, in the daemon's words", async () => {
    const told = { code: "some_code", message: "A sentence of the daemon's." };
    for (const [code, kind, retry] of [
      [429, "token", true],
      [400, "refused", false],
      [403, "refused", false],
      [422, "refused", false],
      [502, "refused", true],
      [503, "refused", true],
    ] as const) {
      const error = await failure(all(daemonOf(new Ways(() => json(told, code))).ask(QUESTION, NEVER)));
      expect(error, String(code)).toMatchObject({ name: "DaemonError", kind, retry, ...told });
    }
  });

  it("does not follow a redirect, which shows a page no status, and says so", async () => {
    const error = await failure(all(daemonOf(new Ways(() => Response.error())).ask(QUESTION, NEVER)));
    expect(error).toMatchObject({ kind: "not_ours", code: "redirected" });
  });

  it.each([
    ["a page", () => new Response("<html>", { headers: { "Content-Type": "text/html" } })],
    ["a page that is not found", () => new Response("<html>", { status: 404 })],
    ["another's JSON", () => json({ detail: "Not Found" }, 404)],
    ["an older daemon", () => json({ code: "not_found", message: "There is nothing here." }, 404)],
    ["JSON where a stream was asked for", () => json(WHOLE)],
    ["an event without its fields", streaming({ type: "sources" })],
  ])("says that %s is not ours", async (_, answer) => {
    const error = await failure(all(daemonOf(new Ways(answer as () => Response)).ask(QUESTION, NEVER)));
    expect(error).toMatchObject({ kind: "not_ours", retry: false });
    expect((error as Error).message).toContain("http://nas:8765");
  });
});

describe("A daemon that wants a token", () => {
  it.each([
    [401, "token_needed", "Choose it in the plugin's settings"],
    [403, "foreign_origin", "Start it with VAULTASK_API_TOKEN"],
  ])("%s %s says what to do in Obsidian, where the daemon speaks to programs", async (status, code, sentence) => {
    const told = { code, message: "Send it as `Authorization: Bearer ...`." };
    const error = await failure(all(daemonOf(new Ways(() => json(told, status))).ask(QUESTION, NEVER)));
    expect(error).toMatchObject({ kind: "token", code, retry: false });
    expect((error as Error).message).toContain(sentence);
  });
});

describe("Where the platform blocks the page's own requests", () => {
  it("asks by the app's own way, and tells the whole answer as the events of a stream", async () => {
    const ways = new Ways(
      blocked,
      behind(() => WHOLE),
    );
    const events = await all(daemonOf(ways, { token: "t" }).ask(QUESTION, NEVER));
    expect(events.map(({ type }) => type)).toEqual(["unstreamed", "sources", "delta", "grounding", "done"]);
    expect(events.slice(1)).toMatchObject([SOURCES, DELTA, GROUNDING, DONE]);
    expect(ways.requested[1]).toMatchObject({ method: "POST", body: QUESTION });
    expect(ways.requested[1]?.headers).toEqual({
      Accept: "application/json",
      Authorization: "Bearer t",
      "Content-Type": "application/json",
    });
  });

  it("says so before the answer is there", async () => {
    let answer: (whole: AskResponse) => void = () => undefined;
    const asked = new Promise<AskResponse>((resolve) => {
      answer = resolve;
    });
    const ways = new Ways(blocked, async (sent) =>
      sent.url.endsWith("/healthz") ? plain(HEALTHY) : plain(await asked),
    );
    const events = daemonOf(ways).ask(QUESTION, NEVER);
    expect((await events.next()).value).toMatchObject({ type: "unstreamed" });
    answer(WHOLE);
    expect((await events.next()).value).toMatchObject(SOURCES);
  });

  it("keeps the web's part under its own events", async () => {
    const web = { results: [], provider: "DuckDuckGo", message: "The web was asked.", answer: "Dark and dry. [1]" };
    const events = await all(
      daemonOf(
        new Ways(
          blocked,
          behind(() => ({ ...WHOLE, web })),
        ),
      ).ask(QUESTION, NEVER),
    );
    expect(events.slice(4)).toMatchObject([
      { type: "web", results: [], provider: "DuckDuckGo", message: "The web was asked." },
      { type: "delta", text: "Dark and dry. [1]", part: "web" },
      DONE,
    ]);
  });

  it("does not take a moment without a network for that", async () => {
    const answers = [blocked, streaming(DONE), streaming(DONE)];
    const ways = new Ways(
      () => (answers.shift() ?? blocked)(),
      behind(() => WHOLE),
    );
    const daemon = daemonOf(ways);
    expect(await all(daemon.ask(QUESTION, NEVER))).toEqual([DONE]);
    expect(await all(daemon.ask(QUESTION, NEVER))).toEqual([DONE]);
  });

  it("tells of no words of the web's part where there are none", async () => {
    const web = { results: [], provider: "DuckDuckGo", message: "The web gave nothing.", answer: "" };
    const events = await all(
      daemonOf(
        new Ways(
          blocked,
          behind(() => ({ ...WHOLE, answer: "", web })),
        ),
      ).ask(QUESTION, NEVER),
    );
    expect(events.map(({ type }) => type)).toEqual(["unstreamed", "sources", "grounding", "web", "done"]);
  });

  it("remembers that for ten minutes, so that the next question does not try in vain", async () => {
    const clock = new HandClock();
    const ways = new Ways(
      blocked,
      behind(() => WHOLE),
    );
    const daemon = daemonOf(ways, {}, clock);
    await all(daemon.ask(QUESTION, NEVER));
    await all(daemon.ask(QUESTION, NEVER));
    expect(ways.fetched).toHaveLength(2);
    clock.pass(10 * 60_000);
    await all(daemon.ask(QUESTION, NEVER));
    expect(ways.fetched).toHaveLength(4);
  });

  it("tries again as soon as the address is another", async () => {
    const addresses = ["http://nas:8765", "http://other:8765"];
    const ways = new Ways(
      blocked,
      behind(() => status()),
    );
    const daemon = new Daemon(ways, () => ({ address: addresses[0] ?? "", token: null }), new HandClock());
    await daemon.status();
    await daemon.status();
    addresses.shift();
    await daemon.status();
    expect(new Set(ways.fetched.map(({ url }) => url))).toEqual(
      new Set(["http://nas:8765/api/status", "http://other:8765/api/status"]),
    );
    expect(ways.fetched).toHaveLength(4);
  });

  it("gives the daemon's refusal there too, and shows the token to nobody who only says that he is alive", async () => {
    const told = { code: "token_needed", message: "The token is not right." };
    const ways = new Ways(
      blocked,
      behind(() => told, 401),
    );
    expect(await failure(all(daemonOf(ways, { token: "t" }).ask(QUESTION, NEVER)))).toMatchObject({
      kind: "token",
      code: told.code,
    });
    expect(ways.requested[0]).toMatchObject({
      url: "http://nas:8765/healthz",
      headers: { Accept: "application/json" },
    });
    expect(ways.requested[0]?.headers).not.toHaveProperty("Authorization");
  });

  it("takes a stranger that answers for what it is", async () => {
    for (const answer of [
      { status: 200, text: "<html>Router</html>" },
      { status: 404, text: "{}" },
    ]) {
      expect(await failure(daemonOf(new Ways(blocked, () => answer)).status())).toMatchObject({ kind: "not_ours" });
    }
  });
});

describe("Where nobody answers", () => {
  it("says what to look at", async () => {
    const error = await failure(all(daemonOf(new Ways(blocked)).ask(QUESTION, NEVER)));
    expect(error).toMatchObject({ kind: "unreachable", retry: true });
    expect((error as Error).message).toMatch(/http:\/\/nas:8765.*running.*address.*network/);
  });

  it.each(["http://127.0.0.1:8765", "http://localhost:8765", "http://[::1]:8765"])(
    "says that %s is the device itself",
    async (address) => {
      const error = (await failure(daemonOf(new Ways(blocked), { address }).status())) as Error;
      expect(error.message).toContain("this device itself");
    },
  );

  it("does not wait for ever for a first byte, nor for a sign of life", async () => {
    const clock = new HandClock();
    const silence = () => new Promise<never>(() => undefined);
    const ways = new Ways(silence, silence);
    const answer = failure(daemonOf(ways, {}, clock).status());
    while (ways.fetched.length === 0) await Promise.resolve();
    clock.pass(20_000);
    while (ways.requested.length === 0) await Promise.resolve();
    clock.pass(10_000);
    expect(await answer).toMatchObject({ kind: "unreachable" });
  });
});

describe("Stopping", () => {
  it("rejects with the signal's own reason before, while waiting, while reading and without a stream", async () => {
    const silence = () => new Promise<never>(() => undefined);
    const open = line();
    open.send(frames(SOURCES));
    const ways = {
      waiting: new Ways(silence),
      reading: new Ways(() => open.response),
      probing: new Ways(blocked, silence),
      unstreamed: new Ways(blocked, (sent) => (sent.url.endsWith("/healthz") ? plain(HEALTHY) : silence())),
    };
    for (const [when, way] of Object.entries(ways)) {
      const hangUp = new AbortController();
      const reading = failure(all(daemonOf(way).ask(QUESTION, hangUp.signal)));
      for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
      hangUp.abort();
      expect(await reading, when).toBe(hangUp.signal.reason);
      expect(hangUp.signal.reason).toMatchObject({ name: "AbortError" });
    }
    expect(open.isHungUp).toBe(true);
  });

  it("sends nothing once it was aborted", async () => {
    const ways = new Ways(streaming(DONE));
    expect(await failure(daemonOf(ways).status(AbortSignal.abort()))).toMatchObject({ name: "AbortError" });
    expect(ways.fetched).toEqual([]);
  });

  it("hands the signal to fetch, so that the connection ends too", async () => {
    const ways = new Ways(streaming(DONE));
    const { signal } = new AbortController();
    await all(daemonOf(ways).ask(QUESTION, signal));
    expect(ways.fetched[0]?.init.signal).toBe(signal);
  });
});

describe("Notes and what is near them", () => {
  const note = { path: "a.md", text: "x", index: {} };

  it("encodes each part of a path, and names the lines and the switch", async () => {
    const ways = new Ways(() => json(note));
    await daemonOf(ways).note("Été/100% #1? [x]\ud800/a&b.md", { includePersonal: false, from: 3, to: 9 });
    expect(ways.fetched[0]?.url).toBe(
      "http://nas:8765/api/notes/%C3%89t%C3%A9/100%25%20%231%3F%20%5Bx%5D%EF%BF%BD/a%26b.md" +
        "?from=3&to=9&include_personal=false",
    );
  });

  it("asks for what is near with the path as a value", async () => {
    const ways = new Ways(() => json({ path: "a.md", related: [] }));
    await daemonOf(ways).related("B/a&b #1.md", { includePersonal: true, k: 6 });
    expect(ways.fetched[0]?.url).toBe("http://nas:8765/api/related?path=B%2Fa%26b%20%231.md&k=6&include_personal=true");
  });

  it("gives null for a note that is not shown, by either way, and for nothing else", async () => {
    const gone = { code: "no_such_note", message: "There is no such note." };
    const open = daemonOf(new Ways(() => json(gone, 404)));
    const shut = daemonOf(
      new Ways(
        blocked,
        behind(() => gone, 404),
      ),
    );
    for (const daemon of [open, shut]) {
      expect(await daemon.note("a.md", { includePersonal: true })).toBeNull();
      expect(await daemon.related("a.md", { includePersonal: true, k: 6 })).toBeNull();
    }
    const foreign = daemonOf(new Ways(() => json({ code: "foreign_origin", message: "Not from there." }, 403)));
    expect(await failure(foreign.note("a.md", { includePersonal: true }))).toMatchObject({ code: "foreign_origin" });
    const old = daemonOf(new Ways(() => json({ code: "not_found", message: "Nothing here." }, 404)));
    expect(await failure(old.note("a.md", { includePersonal: true }))).toMatchObject({ kind: "not_ours" });
  });

  it("does not take JSON that lacks what it needs", async () => {
    for (const value of [{}, null, [], "x", { ...status(), embedding: null }, { ...status(), progress: 7 }]) {
      expect(await failure(daemonOf(new Ways(() => json(value))).status())).toMatchObject({ kind: "not_ours" });
    }
    expect(await daemonOf(new Ways(() => json(status()))).status()).toEqual(status());
  });
});

describe("Following", () => {
  const index = {
    type: "index",
    progress: {},
    freshness: {},
    notes: 1,
    chunks: 1,
    waiting: 0,
    mode: "w",
    message: "m",
  };
  const notes = { type: "notes", changed: ["a.md"], gone: [], more: false };

  it("yields the daemon's events until it leaves", async () => {
    const ways = new Ways(streaming(index, notes, { type: "weather" }));
    expect(await all(daemonOf(ways).follow({ includePersonal: true }, NEVER))).toEqual([index, notes]);
    expect(ways.fetched[0]?.url).toBe("http://nas:8765/api/events?include_personal=true");
  });

  it("asks for the status where nothing streams: soon while work goes on, seldom while none does", async () => {
    const indexing = status({ progress: { phase: "indexing", done: 1, total: 9, rate: 1, seconds_left: 8 }, notes: 1 });
    const answers = [indexing, indexing, status(), status(), status({ last_indexed: "2026-11-30T02:00:00+00:00" })];
    const pauses: number[] = [];
    const clock: Clock = {
      now: () => 0,
      after(milliseconds, run) {
        if (milliseconds !== 5_000 && milliseconds !== 30_000) return () => undefined;
        pauses.push(milliseconds);
        if (answers.length > 0) queueMicrotask(run);
        return () => undefined;
      },
    };
    const hangUp = new AbortController();
    const ways = new Ways(
      blocked,
      behind(() => answers.shift()),
    );
    const events = daemonOf(ways, {}, clock).follow({ includePersonal: false }, hangUp.signal);
    const next = async () => (await events.next()).value;
    const everything = { type: "notes", changed: [], gone: [], more: true };
    expect(await next()).toMatchObject({ type: "index", progress: { phase: "indexing" }, mode: "watching" });
    expect(await next()).toMatchObject({ type: "index", progress: { phase: "idle" } });
    expect(await next()).toEqual(everything);
    expect(await next()).toMatchObject({ type: "index", last_indexed: "2026-11-30T02:00:00+00:00" });
    expect(await next()).toEqual(everything);
    expect(pauses).toEqual([5_000, 5_000, 30_000, 30_000]);
    const last = failure(events.next());
    hangUp.abort();
    expect(await last).toBe(hangUp.signal.reason);
  });
});

import { describe, expect, it } from "vitest";
import { eventsOf } from "../../../obsidian-plugin/src/sse";
import { all, failure, frames, HandClock, line } from "./support";

const SHAPES = { delta: "text", done: "seconds#" };
const UNREADABLE = new Error("unreadable");

function listen(body: ReadableStream<Uint8Array>, signal = new AbortController().signal, clock = new HandClock()) {
  return eventsOf<{ type: string }>(body, { shapes: SHAPES, signal, clock, unreadable: () => UNREADABLE });
}

function bodyOf(...chunks: Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(control) {
      for (const chunk of chunks) control.enqueue(chunk);
      control.close();
    },
  });
}

const EVENTS = [
  { type: "delta", text: "Çay 🫖 — 31 kg\nof “potatoes”, عربي 中文" },
  { type: "delta", text: "data: not a field\n\nevent: nor this" },
  { type: "done", seconds: 1.5 },
];

describe("An event stream", () => {
  it("gives the same events wherever its bytes are split in two, inside of a character too", async () => {
    const bytes = new TextEncoder().encode(frames(...EVENTS));
    for (let at = 0; at <= bytes.length; at += 1) {
      expect(await all(listen(bodyOf(bytes.slice(0, at), bytes.slice(at)))), `split at ${at}`).toEqual(EVENTS);
    }
  });

  it("gives the same events when every byte comes alone, with each kind of line end", async () => {
    for (const end of ["\n", "\r\n"]) {
      const bytes = new TextEncoder().encode(frames(...EVENTS).replaceAll("\n", end));
      const single = [...bytes].map((byte) => Uint8Array.of(byte));
      expect(await all(listen(bodyOf(...single))), JSON.stringify(end)).toEqual(EVENTS);
    }
  });

  it("passes over comments, unknown types, unknown fields, names of objects' own, and a byte order mark", async () => {
    const text =
      "\ufeff: still here\n\n" +
      frames({ type: "weather" }, { type: "constructor" }) +
      'id: 7\nretry: 10\nfuture: x\nevent: delta\ndata: {"type":"delta","text":"a","new":{"field":1}}\n\n';
    const events = await all(listen(bodyOf(new TextEncoder().encode(text))));
    expect(events).toEqual([{ type: "delta", text: "a", new: { field: 1 } }]);
  });

  it("yields an event as soon as its blank line is there", async () => {
    const open = line();
    const events = listen(open.response.body as ReadableStream<Uint8Array>);
    open.send(frames(EVENTS[0] as { type: string }));
    expect((await events.next()).value).toEqual(EVENTS[0]);
    open.send('event: delta\ndata: {"type":"delta","text":"b"}\n');
    open.end();
    expect(await events.next()).toEqual({ done: true, value: undefined });
  });

  it.each(["{", "[]", "null", '"delta"', '{"text":"a"}', '{"type":"delta"}', '{"type":"delta","text":7}'])(
    "does not take %s for an event",
    async (data) => {
      const open = line();
      open.send(`data: ${data}\n\n`);
      const events = listen(open.response.body as ReadableStream<Uint8Array>);
      expect(await failure(events.next())).toBe(UNREADABLE);
      expect(open.isHungUp).toBe(true);
    },
  );

  it("is broken when the connection fails, and when it is silent for four keepalives", async () => {
    const failing = line();
    const first = listen(failing.response.body as ReadableStream<Uint8Array>).next();
    failing.fail(new TypeError("network error"));
    expect(await failure(first)).toMatchObject({ kind: "broken", retry: true });

    const silent = line();
    const clock = new HandClock();
    const second = listen(silent.response.body as ReadableStream<Uint8Array>, undefined, clock).next();
    let isOver = false;
    void second.catch(() => (isOver = true));
    silent.send(": still here\n\n");
    await aMoment();
    clock.pass(59_999);
    await aMoment();
    expect(isOver).toBe(false);
    clock.pass(1);
    expect(await failure(second)).toMatchObject({ kind: "broken" });
    expect(silent.isHungUp).toBe(true);
  });

  it("hangs up when it is aborted, and rejects with the signal's reason", async () => {
    const open = line();
    const hangUp = new AbortController();
    const next = listen(open.response.body as ReadableStream<Uint8Array>, hangUp.signal).next();
    hangUp.abort();
    expect(await failure(next)).toBe(hangUp.signal.reason);
    expect(open.isHungUp).toBe(true);
  });

  it("hangs up when it was aborted between two events, though the next is there", async () => {
    const open = line();
    const hangUp = new AbortController();
    const events = listen(open.response.body as ReadableStream<Uint8Array>, hangUp.signal);
    open.send(frames(EVENTS[0] as { type: string }));
    await events.next();
    open.send(frames(EVENTS[1] as { type: string }));
    hangUp.abort();
    expect(await failure(events.next())).toBe(hangUp.signal.reason);
    expect(open.isHungUp).toBe(true);
  });

  it("leaves no timer behind", async () => {
    const clock = new HandClock();
    await all(listen(bodyOf(new TextEncoder().encode(frames(...EVENTS))), undefined, clock));
    expect(clock.count).toBeGreaterThan(0);
    expect(clock.waiting).toBe(0);
  });

  it("hangs up when its reader goes away", async () => {
    const open = line();
    open.send(frames(...EVENTS));
    for await (const event of listen(open.response.body as ReadableStream<Uint8Array>)) {
      expect(event).toEqual(EVENTS[0]);
      break;
    }
    expect(open.isHungUp).toBe(true);
  });
});

/** Long enough for all that waits for nothing but its turn. */
function aMoment(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

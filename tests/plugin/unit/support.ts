// What several unit tests stand on: a clock that is turned by hand, and ways out of the app that answer as told.
import type { Clock } from "../../../obsidian-plugin/src/clock";
import { Daemon, type Connection, type Plain, type Transport } from "../../../obsidian-plugin/src/client";
import type { Citation, Source, StatusResponse } from "../../../obsidian-plugin/src/wire";

/** Time that passes only when a test says so. */
export class HandClock implements Clock {
  private time = 0;
  private readonly timers = new Map<number, () => void>();
  /** How many timers were ever set. */
  count = 0;

  now(): number {
    return this.time;
  }

  after(milliseconds: number, run: () => void): () => void {
    const key = (this.count += 1);
    const due = this.time + milliseconds;
    this.timers.set(key, () => {
      if (this.time >= due) {
        this.timers.delete(key);
        run();
      }
    });
    return () => this.timers.delete(key);
  }

  pass(milliseconds: number): void {
    this.time += milliseconds;
    for (const timer of [...this.timers.values()]) timer();
  }

  get waiting(): number {
    return this.timers.size;
  }
}

export interface Sent {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: unknown;
  init: RequestInit;
}

type Answering<T> = (sent: Sent) => T | Promise<T>;

/** Ways out that answer as a test says, and remember what was sent. */
export class Ways implements Transport {
  readonly fetched: Sent[] = [];
  readonly requested: Sent[] = [];

  constructor(
    private readonly onFetch: Answering<Response>,
    private readonly onRequest: Answering<Plain> = () => {
      throw new Error("net::ERR_CONNECTION_REFUSED");
    },
  ) {}

  async fetch(url: string, init: RequestInit): Promise<Response> {
    const sent = sentOf(url, init);
    this.fetched.push(sent);
    return this.onFetch(sent);
  }

  async request(url: string, init: { method: string; headers: Record<string, string>; body?: string }): Promise<Plain> {
    const sent = sentOf(url, init);
    this.requested.push(sent);
    return this.onRequest(sent);
  }
}

function sentOf(url: string, init: RequestInit): Sent {
  const headers = init.headers as Record<string, string>;
  const body: unknown = typeof init.body === "string" ? JSON.parse(init.body) : null;
  return { url, method: init.method ?? "GET", headers, body, init };
}

export function daemonOf(
  ways: Transport,
  connection: Partial<Connection> = {},
  clock: Clock = new HandClock(),
): Daemon {
  return new Daemon(ways, () => ({ address: "http://nas:8765", token: null, ...connection }), clock);
}

export function blocked(): Response {
  throw new TypeError("Failed to fetch");
}

export function json(value: unknown, status = 200): Response {
  return new Response(JSON.stringify(value), { status, headers: { "Content-Type": "application/json" } });
}

export function plain(value: unknown, status = 200): Plain {
  return { status, text: JSON.stringify(value) };
}

/** The bytes of events, framed as the daemon does. */
export function frames(...events: { type: string }[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

export interface Line {
  response: Response;
  send(bytes: Uint8Array | string): void;
  end(): void;
  fail(error: Error): void;
  readonly isHungUp: boolean;
}

/** A stream that a test writes to, and that remembers whether its reader hung up. */
export function line(headers: Record<string, string> = { "Content-Type": "text/event-stream" }): Line {
  const state = { isHungUp: false };
  let control: ReadableStreamDefaultController<Uint8Array> | null = null;
  const body = new ReadableStream<Uint8Array>({
    start(given) {
      control = given;
    },
    cancel() {
      state.isHungUp = true;
    },
  });
  return {
    response: new Response(body, { headers }),
    send: (bytes) => control?.enqueue(typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes),
    end: () => control?.close(),
    fail: (error) => control?.error(error),
    get isHungUp() {
      return state.isHungUp;
    },
  };
}

export async function all<T>(events: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const event of events) list.push(event);
  return list;
}

/** The error that something rejects with. */
export async function failure(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error("It did not fail.");
}

export function source(n: number, values: Partial<Source> = {}): Source {
  return {
    n,
    path: `Notes/Note ${n}.md`,
    title: `Note ${n}`,
    heading: null,
    heading_path: [],
    block: null,
    line_start: 1,
    line_end: 3,
    quote: `What note ${n} says.`,
    url: "obsidian://open?vault=sample",
    score: 0.5,
    provenance: "both",
    via: null,
    also: [],
    personal: false,
    ...values,
  };
}

export function citation(n: number, values: Partial<Citation> = {}): Citation {
  const { path, title, heading, heading_path, block, line_start, line_end, quote, url } = source(n);
  return { n, path, title, heading, heading_path, block, line_start, line_end, quote, url, ...values };
}

export function status(values: Partial<StatusResponse> = {}): StatusResponse {
  return {
    version: "0.1.0",
    vault: {
      name: "sample",
      kind: "folder",
      mode: "watching",
      message: "Watching 14 folders for changes.",
      freshness: { lag: null, last_change_seen: null, last_change_indexed: null, waiting: 0 },
    },
    notes: 58,
    chunks: 143,
    last_indexed: "2026-11-30T01:20:00+00:00",
    progress: { phase: "idle", done: 0, total: 0, rate: 0, seconds_left: null },
    embedding: {
      model: "multilingual-e5-small",
      dimension: 384,
      ready: true,
      waiting: 0,
      last_error: null,
      next_try_seconds: null,
      centred: true,
      rebuild_needed: null,
    },
    generation: { generator: "ollama_chat/qwen3:4b", local: true, offered: [] },
    reranker: null,
    web: { enabled: false, provider: null, keeps_question_home: false },
    personal_allowed: true,
    problems: [],
    problem_count: 0,
    rules: {},
    warnings: [],
    ...values,
  };
}

/** How long the processor works on something, in milliseconds: what else it does meanwhile does not count. */
export function effort(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

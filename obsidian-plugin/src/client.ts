// The daemon's API. Knows addresses, headers and failures; never what an answer looks like, and nothing of Obsidian.
import { ANSWER_EVENTS, HEALTH, NOTE, RELATED, STATUS, VAULT_EVENTS, WHOLE } from "./answers";
import { eventsOfWhole, indexEventOf } from "./answers";
import { encodePart, encodePath } from "./addresses";
import { pause, SYSTEM_CLOCK, within, type Clock } from "./clock";
import type { AnswerEvent, ClientEvent, VaultEvent } from "./events";
import { fits, readJson, type Shape } from "./shape";
import { eventsOf } from "./sse";
import { broken, DaemonError, notOurs, refusal, unreachable, unsendableToken } from "./trouble";
import type { AskRequest, AskResponse, IndexEvent, NoteResponse, RelatedResponse, StatusResponse } from "./wire";

export { DaemonError, type TroubleKind } from "./trouble";

/** The two ways out of the app. */
export interface Transport {
  /** The page's own fetch: streams and stops, and may be blocked by the platform (it then rejects with a TypeError). */
  fetch(url: string, init: RequestInit): Promise<Response>;
  /** The app's own: is never blocked, neither streams nor stops. Resolves for every HTTP status. */
  request(url: string, init: { method: string; headers: Record<string, string>; body?: string }): Promise<Plain>;
}

export interface Plain {
  status: number;
  text: string;
}

/** Where the daemon is and what to show it; read anew for each request, so that settings take effect at once. */
export interface Connection {
  /** Such as http://nas:8765, without a slash at its end. */
  address: string;
  token: string | null;
}

/** One request, as it stands before it is known which way it goes out. */
interface Call {
  address: string;
  url: string;
  init: { method: string; headers: Record<string, string>; body?: string };
}

/** The first line to ask for where only how a note stands is wanted: text that is not shown is not handed out. */
export const NO_LINES = 1e9;

const JSON_TYPE = "application/json";
const STREAM_TYPE = "text/event-stream";
/** How long a daemon may take before the first byte, and to say that it is alive. */
const FIRST_BYTE = 20_000;
const SIGN_OF_LIFE = 10_000;
/** For how long it is taken for granted that the platform blocks streaming: it may be allowed meanwhile. */
const BLOCKED_FOR = 10 * 60_000;
/** How often the status is asked for where nothing streams, while work goes on and while none does. */
const BUSY_PAUSE = 5_000;
const IDLE_PAUSE = 30_000;
const UNSTREAMED = "This device cannot stream: answers come in one piece.";

/** Asks one daemon. An aborted request rejects with the AbortError of its signal; all else with a DaemonError. */
export class Daemon {
  private blocked: { address: string; until: number } | null = null;

  constructor(
    private readonly transport: Transport,
    private readonly connection: () => Connection,
    private readonly clock: Clock = SYSTEM_CLOCK,
  ) {}

  /**
   * Ask, and yield the events of the answer up to `done` or `error`. Returning early, or aborting, hangs up, which
   * stops the model. Where the platform blocks streaming (fetch rejects with a TypeError while `request` reaches the
   * daemon) it yields `unstreamed` first and then the whole answer as the same events; that is remembered for the
   * address, so that the next question does not try in vain. Such an answer can only be left alone: the model goes on.
   */
  async *ask(request: AskRequest, signal: AbortSignal): AsyncGenerator<ClientEvent, void, void> {
    const call = this.call("POST", "/api/ask", STREAM_TYPE, request);
    const response = await this.reach(call, signal);
    if (response === null) {
      yield { type: "unstreamed", message: UNSTREAMED };
      const whole = await this.askAtOnce(call, signal);
      yield* eventsOfWhole(whole);
      return;
    }
    const events = this.events<AnswerEvent>(response, ANSWER_EVENTS, call, signal);
    for await (const event of events) {
      yield event;
      if (event.type === "done" || event.type === "error") return;
    }
    throw broken();
  }

  status(signal?: AbortSignal): Promise<StatusResponse> {
    return this.get("/api/status", STATUS, signal);
  }

  /** A note's lines and how it stands in the index; null where the daemon shows no such note under that switch. */
  note(
    path: string,
    which: { includePersonal: boolean; from?: number; to?: number },
    signal?: AbortSignal,
  ): Promise<NoteResponse | null> {
    const query = queryOf({ from: which.from, to: which.to, include_personal: which.includePersonal });
    return unlessHidden(this.get(`/api/notes/${encodePath(path)}${query}`, NOTE, signal));
  }

  /** The notes near a note; null where the daemon shows no such note under that switch. */
  related(
    path: string,
    which: { includePersonal: boolean; k: number },
    signal?: AbortSignal,
  ): Promise<RelatedResponse | null> {
    const query = queryOf({ path, k: which.k, include_personal: which.includePersonal });
    return unlessHidden(this.get(`/api/related${query}`, RELATED, signal));
  }

  /**
   * Yield the events of /api/events until aborted; ends, or rejects with a DaemonError, when the connection does.
   * Where the platform blocks streaming the status is asked for every few seconds instead: it gives the same `index`
   * events, and a `notes` event that names no note (`more`) when something was indexed.
   */
  async *follow(which: { includePersonal: boolean }, signal: AbortSignal): AsyncGenerator<VaultEvent, void, void> {
    const query = queryOf({ include_personal: which.includePersonal });
    const call = this.call("GET", `/api/events${query}`, STREAM_TYPE);
    const response = await this.reach(call, signal);
    if (response === null) {
      yield* this.poll(signal);
      return;
    }
    yield* this.events<VaultEvent>(response, VAULT_EVENTS, call, signal);
  }

  private async *poll(signal: AbortSignal): AsyncGenerator<VaultEvent, void, void> {
    let last: IndexEvent | null = null;
    for (;;) {
      const now = indexEventOf(await this.status(signal));
      if (JSON.stringify(now) !== JSON.stringify(last)) yield now;
      if (last !== null && (now.last_indexed !== last.last_indexed || now.notes !== last.notes)) {
        yield { type: "notes", changed: [], gone: [], more: true };
      }
      last = now;
      const isQuiet = now.waiting === 0 && ["idle", "waiting", "failed"].includes(now.progress.phase);
      await pause(isQuiet ? IDLE_PAUSE : BUSY_PAUSE, this.clock, signal);
    }
  }

  private askAtOnce(call: Call, signal: AbortSignal): Promise<AskResponse> {
    const headers = { ...call.init.headers, Accept: JSON_TYPE };
    return read(this.request({ ...call, init: { ...call.init, headers } }, signal), WHOLE, call);
  }

  private async get<T>(path: string, shape: Shape, signal?: AbortSignal): Promise<T> {
    const call = this.call("GET", path, JSON_TYPE);
    const response = await this.reach(call, signal);
    const plain = response === null ? this.request(call, signal, FIRST_BYTE) : this.plain(response, signal);
    return read(plain, shape, call);
  }

  private call(method: string, path: string, accept: string, body?: unknown): Call {
    const { address, token } = this.connection();
    const headers: Record<string, string> = { Accept: accept };
    // fetch would reject it in a way that looks as if the daemon could not be reached.
    if (token !== null && !/^[\x21-\x7e]*$/.test(token)) throw unsendableToken();
    if (token) headers.Authorization = `Bearer ${token}`;
    if (body !== undefined) headers["Content-Type"] = JSON_TYPE;
    return {
      address,
      url: address + path,
      init: { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) },
    };
  }

  /** Send a call by the page's own way, and give what comes back; null where the platform does not let it through. */
  private async reach(call: Call, signal?: AbortSignal): Promise<Response | null> {
    signal?.throwIfAborted();
    if (this.isBlocked(call.address)) return null;
    const first = await this.attempt(call, signal);
    if (first !== null) return first;
    await this.findSignOfLife(call, signal);
    // A moment without a network looks the same.
    const second = await this.attempt(call, signal);
    if (second === null) this.blocked = { address: call.address, until: this.clock.now() + BLOCKED_FOR };
    return second;
  }

  private async attempt(call: Call, signal?: AbortSignal): Promise<Response | null> {
    const response = this.fetch(call, signal);
    try {
      return await within(response, this.clock, signal, FIRST_BYTE);
    } catch {
      // One that comes after all is heard by nobody.
      response.then((late) => late.body?.cancel()).catch(() => undefined);
      signal?.throwIfAborted();
      return null;
    }
  }

  private async fetch({ url, init }: Call, signal?: AbortSignal): Promise<Response> {
    return this.transport.fetch(url, {
      ...init,
      // Neither the question nor the token follows to an address that nobody entered.
      redirect: "manual",
      credentials: "omit",
      cache: "no-store",
      referrerPolicy: "no-referrer",
      ...(signal && { signal }),
    });
  }

  private isBlocked(address: string): boolean {
    return this.blocked?.address === address && this.clock.now() < this.blocked.until;
  }

  /** See whether the daemon answers by the app's own way. Rejects where nobody does, or somebody else. */
  private async findSignOfLife({ address }: Call, signal?: AbortSignal): Promise<void> {
    const call = { address, url: `${address}/healthz`, init: { method: "GET", headers: { Accept: JSON_TYPE } } };
    const { status, text } = await this.request(call, signal, SIGN_OF_LIFE);
    if (status !== 200 || !fits(readJson(text), HEALTH)) throw notOurs(address, `http_${status}`);
  }

  private async request(call: Call, signal?: AbortSignal, milliseconds?: number): Promise<Plain> {
    try {
      return await within(this.transport.request(call.url, call.init), this.clock, signal, milliseconds);
    } catch {
      signal?.throwIfAborted();
      throw unreachable(call.address);
    }
  }

  private async plain(response: Response, signal?: AbortSignal): Promise<Plain> {
    try {
      return { status: response.status, text: await within(response.text(), this.clock, signal, FIRST_BYTE) };
    } catch {
      signal?.throwIfAborted();
      throw broken();
    }
  }

  /** The events of a stream; rejects where something else came back. */
  private async *events<E>(
    response: Response,
    shapes: Readonly<Record<string, Shape>>,
    { address }: Call,
    signal: AbortSignal,
  ): AsyncGenerator<E, void, void> {
    const { ok, status, headers, body } = response;
    if (!ok) throw refusal(address, status, (await this.plain(response, signal)).text);
    const unreadable = () => notOurs(address, "unreadable");
    if (body === null || !headers.get("Content-Type")?.startsWith(STREAM_TYPE)) {
      body?.cancel().catch(() => undefined);
      throw unreadable();
    }
    yield* eventsOf<E>(body, { shapes, signal, clock: this.clock, unreadable });
  }
}

async function read<T>(plain: Promise<Plain>, shape: Shape, { address }: Call): Promise<T> {
  const { status, text } = await plain;
  if (status < 200 || status > 299) throw refusal(address, status, text);
  const value = readJson(text);
  if (!fits(value, shape)) throw notOurs(address, "unreadable");
  return value as T;
}

async function unlessHidden<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof DaemonError && error.code === "no_such_note") return null;
    throw error;
  }
}

function queryOf(values: Record<string, string | number | boolean | undefined>): string {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return `?${given.map(([name, value]) => `${name}=${encodePart(String(value))}`).join("&")}`;
}

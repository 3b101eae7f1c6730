// From the bytes of an event stream to events. Knows the shapes of ours; what is unknown to it is passed over.
import { within, type Clock } from "./clock";
import { fits, readJson, type Shape } from "./shape";
import { broken } from "./trouble";

/** A comment comes every 15 seconds, so a line that is silent for four times that is dead. */
const LONGEST_SILENCE = 60_000;

export interface Listening {
  /** The types that are listened for, each with the fields an event of it must have. */
  shapes: Readonly<Record<string, Shape>>;
  signal: AbortSignal;
  clock: Clock;
  /** The error of an event that does not look as its type says. */
  unreadable: () => Error;
}

/**
 * Yield the events of the known types; end where the stream ends. Rejects with the signal's reason, with `unreadable`,
 * or, where the connection fails or falls silent, as broken. Whichever way it ends, the connection is closed.
 */
export async function* eventsOf<E>(body: ReadableStream<Uint8Array>, how: Listening): AsyncGenerator<E, void, void> {
  const lines = new Lines();
  let data: string[] = [];
  for await (const text of textOf(body, how)) {
    for (const line of lines.take(text)) {
      if (line.startsWith("data:")) data.push(line.slice(5));
      if (line !== "" || data.length === 0) continue;
      const event = read(data.join("\n"), how);
      data = [];
      if (event !== null) yield event as E;
    }
  }
}

/**
 * Cuts text into lines as https://html.spec.whatwg.org/multipage/server-sent-events.html has them. Of the fields only
 * `data` is used: an event of ours says its type there. The libraries that read the others as well take 1.6 kB and more
 * of the 60 that main.js may have.
 */
class Lines {
  private rest = "";

  /** Give the lines that are whole with this text. A carriage return at its end may be half of a line end. */
  take(text: string): string[] {
    const all = this.rest + text;
    const end = all.length - Number(all.endsWith("\r"));
    const lines = all.slice(0, end).split(/\r\n?|\n/);
    this.rest = (lines.pop() ?? "") + all.slice(end);
    return lines;
  }
}

/** Null where it is of a type that is not listened for. */
function read(data: string, { shapes, unreadable }: Listening): unknown {
  const event = readJson(data);
  if (!fits(event, "type")) throw unreadable();
  const type = event.type as string;
  const shape = Object.hasOwn(shapes, type) ? shapes[type] : undefined;
  if (shape === undefined) return null;
  if (!fits(event, shape)) throw unreadable();
  return event;
}

async function* textOf(body: ReadableStream<Uint8Array>, { signal, clock }: Listening): AsyncGenerator<string> {
  // WebKit cannot iterate a stream.
  const reader = body.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await next(reader, signal, clock);
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

async function next(reader: ReadableStreamDefaultReader<Uint8Array>, signal: AbortSignal, clock: Clock) {
  try {
    return await within(reader.read(), clock, signal, LONGEST_SILENCE);
  } catch {
    signal.throwIfAborted();
    throw broken();
  }
}

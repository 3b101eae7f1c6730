// Keeps up with the daemon while somebody looks: its status and its events, reconnecting with growing pauses.
import { DaemonError, type Daemon } from "../client";
import type { VaultEvent } from "../events";
import type { IndexEvent, NotesEvent, StatusResponse } from "../wire";

export interface Known {
  status: StatusResponse | null;
  index: IndexEvent | null;
  trouble: DaemonError | null;
}

interface Heard {
  /** Something about how the daemon stands changed. */
  known(known: Known): void;
  /** Notes changed; any may have, for null: before a stream begins changes are told by nobody. */
  notes(event: NotesEvent | null): void;
}

const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 30_000;

export class Follower {
  private readonly state: Known = { status: null, index: null, trouble: null };
  private listener: AbortController | null = null;
  private pauseNow = FIRST_PAUSE;

  constructor(
    private readonly daemon: Daemon,
    private readonly includePersonal: () => boolean,
    private readonly heard: Heard,
  ) {}

  /** Begin, or begin anew after an address, a token or the switch changed. */
  start(): void {
    this.stop();
    this.pauseNow = FIRST_PAUSE;
    this.listener = new AbortController();
    void this.run(this.listener.signal);
  }

  stop(): void {
    this.listener?.abort();
    this.listener = null;
  }

  private async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.connect(signal);
      await pauseFor(this.pauseNow, signal);
      this.pauseNow = Math.min(2 * this.pauseNow, LONGEST_PAUSE);
    }
  }

  private async connect(signal: AbortSignal): Promise<void> {
    let hasStatus = false;
    try {
      const status = await this.daemon.status(signal);
      hasStatus = true;
      this.tell({ status, index: null, trouble: null }, signal);
      const events = this.daemon.follow({ includePersonal: this.includePersonal() }, signal);
      for await (const event of events) this.take(event, signal);
    } catch (error) {
      // Where the platform lets nothing stream, the status alone is asked again and again.
      if (!hasStatus && error instanceof DaemonError) this.tell({ index: null, trouble: error }, signal);
    }
  }

  private take(event: VaultEvent, signal: AbortSignal): void {
    if (signal.aborted) return;
    this.pauseNow = FIRST_PAUSE;
    // A stream begins with an event of the index.
    if (this.state.index === null) this.heard.notes(null);
    if (event.type === "index") this.tell({ index: event, trouble: null }, signal);
    else this.heard.notes(event);
  }

  private tell(news: Partial<Known>, signal: AbortSignal): void {
    if (signal.aborted) return;
    Object.assign(this.state, news);
    this.heard.known(this.state);
  }
}

function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const timer = window.setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      window.clearTimeout(timer);
      resolve();
    });
  });
}

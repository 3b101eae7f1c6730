// A conversation under way: asks, listens, stops and remembers. Knows no DOM.
import { DaemonError, type Daemon } from "../client";
import { emptyConversation, historyFor, reduce } from "../conversation";
import type { Action, Conversation, Trouble, Turn } from "../conversation";
import type { History } from "../history";
import type { Settings } from "../settings";
import type { AskRequest } from "../wire";

/** What is put to the vault: the typed words, and what they are about. */
export type Asked = Pick<Turn, "question" | "note" | "selection">;

interface Desk {
  readonly daemon: Daemon;
  readonly history: History;
  readonly settings: Settings;
  personal(): boolean;
}

/** The most of a selection that the wire takes. */
const LONGEST_SELECTION = 8_000;

export class Asking {
  conversation = emptyConversation(newId());
  private hangUp: AbortController | null = null;

  constructor(
    private readonly desk: Desk,
    private readonly isPersonal: () => boolean,
    private readonly tellChange: () => void,
  ) {}

  get last(): Turn | null {
    return this.conversation.turns.at(-1) ?? null;
  }

  get busy(): boolean {
    return this.hangUp !== null;
  }

  ask(asked: Asked): void {
    if (this.busy) return;
    const turn = { ...asked, id: newId(), personal: this.isPersonal(), askedAt: Date.now() };
    this.act({ type: "asked", turn });
    void this.listen();
  }

  /** Ask the last question anew, under the switch as it is now. */
  again(): void {
    if (this.busy || this.last === null) return;
    this.act({ type: "again", personal: this.isPersonal(), askedAt: Date.now() });
    void this.listen();
  }

  /** Hang up, which stops the model too. */
  stop(): void {
    if (this.hangUp === null) return;
    this.hangUp.abort();
    this.hangUp = null;
    this.act({ type: "stopped" });
    this.keep();
  }

  /** Let go of a conversation that is to be forgotten, or of any. */
  leave(id: string | null): void {
    if (id === null || id === this.conversation.id) this.startNew();
  }

  startNew(): void {
    this.open(emptyConversation(newId()));
  }

  /** Go on with an earlier conversation. */
  open(conversation: Conversation): void {
    this.stop();
    // One that was cut off by the app's end is not being answered any more.
    this.conversation = reduce(conversation, { type: "stopped" });
    this.tellChange();
  }

  renamed(from: string, to: string): void {
    if (this.act({ type: "renamed", from, to })) this.keep();
  }

  private async listen(): Promise<void> {
    const hangUp = new AbortController();
    this.hangUp = hangUp;
    this.keep();
    try {
      await this.hear(hangUp.signal);
    } catch (error) {
      if (!hangUp.signal.aborted) this.act({ type: "failed", trouble: troubleOf(error) });
    } finally {
      if (this.hangUp === hangUp) this.ended();
    }
  }

  private async hear(signal: AbortSignal): Promise<void> {
    const turn = this.last;
    if (turn === null) return;
    for await (const event of this.desk.daemon.ask(this.requestFor(turn), signal)) {
      if (signal.aborted) return;
      this.act({ type: "event", event });
    }
  }

  private requestFor(turn: Turn): AskRequest {
    const { sources, language } = this.desk.settings;
    return {
      question: turn.question,
      history: historyFor(this.conversation),
      note: turn.note,
      include_personal: turn.personal,
      // Apart from the question: the daemon refuses words of a note that takes no part, and takes none to the web.
      ...(turn.selection !== null && { selection: turn.selection.slice(0, LONGEST_SELECTION) }),
      ...(sources !== null && { k: sources }),
      ...(language !== "" && { language }),
    };
  }

  private ended(): void {
    this.hangUp = null;
    this.keep();
    this.tellChange();
  }

  /** Take an action in; false where it changed nothing. */
  private act(action: Action): boolean {
    const next = reduce(this.conversation, action);
    if (next === this.conversation) return false;
    this.conversation = next;
    this.tellChange();
    return true;
  }

  private keep(): void {
    this.desk.history.keep(this.conversation);
  }
}

function troubleOf(error: unknown): Trouble {
  if (error instanceof DaemonError) return { code: error.kind, message: error.message, retry: error.retry };
  const name = error instanceof Error ? error.name : "an unknown failure";
  return { code: "plugin", message: `The pane could not show this answer (${name}). Ask again.`, retry: true };
}

function newId(): string {
  return `${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 10)}`;
}

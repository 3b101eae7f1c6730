// A conversation under way: asks, listens, stops and remembers. Knows no DOM.
import { DaemonError, NO_LINES, type Daemon } from "../client";
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

/** The most that is sent of a selection, so that the question fits the wire beside it. */
const LONGEST_SELECTION = 2_400;

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
    await this.refuseHiddenWords(turn, signal);
    for await (const event of this.desk.daemon.ask(this.requestFor(turn), signal)) {
      if (signal.aborted) return;
      this.act({ type: "event", event });
    }
  }

  /**
   * Selected words travel in the question, so where personal notes stay out those of a note that is not known to be
   * open must not be sent: the daemon shows such a note to nobody who asks without personal notes.
   */
  private async refuseHiddenWords({ note, selection, personal }: Turn, signal: AbortSignal): Promise<void> {
    if (selection === null || personal) return;
    const known =
      note !== null && (await this.desk.daemon.note(note, { includePersonal: false, from: NO_LINES }, signal));
    if (known) return;
    const message =
      "The selected words were not sent: their note is personal, or not indexed yet. Include personal notes to ask.";
    throw new DaemonError("refused", "selection_hidden", message, true);
  }

  private requestFor(turn: Turn): AskRequest {
    const { sources, language } = this.desk.settings;
    return {
      question: wordsOf(turn),
      history: historyFor(this.conversation),
      note: turn.note,
      include_personal: turn.personal,
      // A note's words are no words of the user's, so they are not taken to a web search.
      ...(turn.selection !== null && { allow_web: false }),
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

/** The question as it is sent: the selected words are quoted beneath the typed ones. */
export function wordsOf({ question, selection }: Pick<Turn, "question" | "selection">): string {
  if (selection === null) return question;
  const quoted = selection.trim().replace(/^/gm, "> ").slice(0, LONGEST_SELECTION);
  return `${question}\n\n${quoted}`;
}

function troubleOf(error: unknown): Trouble {
  if (error instanceof DaemonError) return { code: error.kind, message: error.message, retry: error.retry };
  const name = error instanceof Error ? error.name : "an unknown failure";
  return { code: "plugin", message: `The pane failed over this answer (${name}). Ask again.`, retry: true };
}

function newId(): string {
  return `${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 10)}`;
}

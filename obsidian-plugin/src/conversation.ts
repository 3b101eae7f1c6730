// What was asked and answered: (conversation, action) -> conversation. Pure.
import type { ClientEvent } from "./events";
import type { Citation, DeltaEvent, HistoryTurn, Source, SourcesEvent, Understood, WebResult } from "./wire";

export type TurnState = "asking" | "streaming" | "done" | "stopped" | "failed";

/** One question and what came of it. */
export interface Turn {
  readonly id: string;
  readonly question: string;
  /** The note it was asked about. */
  readonly note: string | null;
  /** Words of the note that were selected when it was asked. */
  readonly selection: string | null;
  /** Whether personal notes were asked for: what went over the wire. */
  readonly personal: boolean;
  /** When it was asked, in milliseconds. */
  readonly askedAt: number;
  readonly state: TurnState;
  /** The vault's part as received, Markdown with `[n]`. */
  readonly text: string;
  readonly sources: readonly Source[];
  readonly citations: readonly Citation[];
  readonly notices: readonly string[];
  /** Whether personal notes took part; null until the daemon said. */
  readonly personalIncluded: boolean | null;
  readonly silent: boolean;
  readonly generator: string | null;
  readonly removed: number;
  readonly web: WebShare | null;
  /** A sentence that says why the answer did not come as a stream. */
  readonly unstreamed: string | null;
  readonly error: Trouble | null;
  readonly seconds: number | null;
  readonly finish: "stop" | "length" | null;
}

export interface WebShare {
  readonly provider: string;
  readonly message: string;
  readonly results: readonly WebResult[];
  /** Markdown whose `[n]` count `results`. */
  readonly text: string;
}

export interface Trouble {
  /** A TroubleKind of the client, or the code of an error event. */
  readonly code: string;
  readonly message: string;
  readonly retry: boolean;
}

export interface Conversation {
  readonly id: string;
  readonly turns: readonly Turn[];
}

export type Action =
  | { type: "asked"; turn: Pick<Turn, "id" | "question" | "note" | "selection" | "personal" | "askedAt"> }
  | { type: "event"; event: ClientEvent }
  | { type: "stopped" }
  | { type: "failed"; trouble: Trouble }
  /** The last turn is to be asked again: it is emptied and asked under the switch as it is now. */
  | { type: "again"; personal: boolean; askedAt: number }
  | { type: "renamed"; from: string; to: string };

const ENDED: readonly TurnState[] = ["done", "stopped", "failed"];
/** What goes back to the daemon at most: it keeps what fits into its model's room, and the wire allows 100 turns. */
const MOST_TURNS = 40;
const LONGEST_TEXT = 20_000;
const MOST_TEXT = 60_000;

const UNANSWERED = {
  state: "asking",
  text: "",
  sources: [],
  citations: [],
  notices: [],
  personalIncluded: null,
  silent: false,
  generator: null,
  removed: 0,
  web: null,
  unstreamed: null,
  error: null,
  seconds: null,
  finish: null,
} as const;

export function emptyConversation(id: string): Conversation {
  return { id, turns: [] };
}

/** Give the next conversation; events belong to the last turn, and are nothing to a turn that has ended. */
export function reduce(conversation: Conversation, action: Action): Conversation {
  switch (action.type) {
    case "asked":
      return { ...conversation, turns: [...conversation.turns, { ...UNANSWERED, ...action.turn }] };
    case "again": {
      const { personal, askedAt } = action;
      return changeLast(conversation, (turn) => ({ ...turn, ...UNANSWERED, personal, askedAt }));
    }
    case "event":
      return changeRunning(conversation, (turn) => hear(turn, action.event));
    case "stopped":
      return changeRunning(conversation, (turn) => ({ ...turn, state: "stopped" }));
    case "failed":
      return changeRunning(conversation, (turn) => ({ ...turn, state: "failed", error: action.trouble }));
    case "renamed":
      return rename(conversation, action);
  }
}

/**
 * The earlier turns as the daemon wants them: questions and answers of finished turns, each marked with whether
 * personal notes took part (unknown counts as yes), the newest that fit into the wire's limits.
 */
export function historyFor(conversation: Conversation): HistoryTurn[] {
  const kept: HistoryTurn[] = [];
  let room = MOST_TEXT;
  for (const turn of [...conversation.turns].reverse()) {
    const both = exchange(turn);
    room -= both.reduce((sum, { text }) => sum + text.length, 0);
    if (room < 0 || kept.length + both.length > MOST_TURNS) break;
    kept.unshift(...both);
  }
  return kept;
}

/** What was said in a turn; nothing where no answer came of it. */
function exchange(turn: Turn): HistoryTurn[] {
  const answer = turn.text || (turn.web?.text ?? "");
  if (!["done", "stopped"].includes(turn.state) || answer.trim() === "") return [];
  // Words that were typed while the switch was on were meant for no web, whatever the answer was made of.
  const personal = turn.personal || turn.personalIncluded !== false;
  return [
    { role: "user", text: shorten(turn.question), personal },
    { role: "assistant", text: shorten(answer), personal },
  ];
}

/** Cut a text where no character is torn apart. */
function shorten(text: string): string {
  return text.slice(0, LONGEST_TEXT).replace(/[\ud800-\udbff]$/, "");
}

function hear(turn: Turn, event: ClientEvent): Turn {
  switch (event.type) {
    case "unstreamed":
      return { ...turn, unstreamed: event.message };
    case "sources":
      return { ...turn, ...hearSources(turn, event) };
    case "delta":
      return hearDelta({ ...turn, state: "streaming" }, event);
    case "web": {
      const { provider, message, results } = event;
      return { ...turn, state: "streaming", web: { provider, message, results, text: turn.web?.text ?? "" } };
    }
    case "grounding":
      return { ...turn, citations: event.citations, removed: event.removed };
    case "done":
      return { ...turn, state: "done", seconds: event.seconds, finish: event.finish };
    case "error":
      return { ...turn, state: "failed", error: { code: event.code, message: event.message, retry: event.retry } };
  }
}

function hearSources(turn: Turn, event: SourcesEvent): Partial<Turn> {
  const { sources, silent, generator, understood } = event;
  const notices = understood ? [readAs(understood), ...event.notices] : event.notices;
  // Once personal notes took part nothing that comes later undoes it.
  const personalIncluded =
    turn.personalIncluded === true || event.personal_included || sources.some(({ personal }) => personal);
  return { state: "streaming", sources, silent, generator, notices, personalIncluded };
}

/** How the daemon read the question: what it searched for, within which filters, and the time. */
function readAs({ text, filters, days, order }: Understood): string {
  return `Read as: ${[text, ...filters, days && `${days.first} to ${days.last}`, order].filter(Boolean).join(" · ")}`;
}

function hearDelta(turn: Turn, { part, text }: DeltaEvent): Turn {
  if (part !== "web") return { ...turn, text: turn.text + text };
  const web = turn.web ?? { provider: "", message: "", results: [], text: "" };
  return { ...turn, web: { ...web, text: web.text + text } };
}

function changeLast(conversation: Conversation, change: (turn: Turn) => Turn): Conversation {
  const last = conversation.turns.at(-1);
  return last ? { ...conversation, turns: [...conversation.turns.slice(0, -1), change(last)] } : conversation;
}

function changeRunning(conversation: Conversation, change: (turn: Turn) => Turn): Conversation {
  const last = conversation.turns.at(-1);
  return last && !ENDED.includes(last.state) ? changeLast(conversation, change) : conversation;
}

/** Follow a note, or a folder of notes, to its new name. */
function rename(conversation: Conversation, { from, to }: { from: string; to: string }): Conversation {
  const moved = <P extends string | null>(path: P) =>
    path === from || path?.startsWith(`${from}/`) ? to + path.slice(from.length) : path;
  const turns = conversation.turns.map((turn) => ({
    ...turn,
    note: moved(turn.note),
    sources: turn.sources.map((each) => ({ ...each, path: moved(each.path), via: moved(each.via) })),
    citations: turn.citations.map((each) => ({ ...each, path: moved(each.path) })),
  }));
  return JSON.stringify(turns) === JSON.stringify(conversation.turns) ? conversation : { ...conversation, turns };
}

// Conversations that survive closing: kept on this device, per vault, outside its notes.
import { reduce, type Conversation } from "./conversation";
import { allFit, fits } from "./shape";

/** Where a value is kept for this vault on this device (Obsidian's loadLocalStorage and saveLocalStorage). */
export interface Drawer {
  load(key: string): unknown;
  save(key: string, value: unknown): void;
}

const KEY = "vault-ask-history";
const MOST = 30;
const LARGEST = 500_000;

const TURN =
  "id question note? selection? personal! askedAt# state text sources[] citations[] notices[] personalIncluded!? " +
  "silent! generator? removed# unstreamed? seconds#? finish?";
const CITATION = "n# path title heading? heading_path[] block? line_start# line_end# quote";
const SOURCE = `${CITATION} provenance via? personal!`;
const RESULT = "n# title url snippet";

/** The newest conversations, at most 30 and half a megabyte of them; what cannot be read is left out, never fatal. */
export class History {
  constructor(private readonly drawer: Drawer) {}

  all(): Conversation[] {
    try {
      const kept = this.drawer.load(KEY);
      // One that was being answered when the app closed is not any more.
      return Array.isArray(kept) ? kept.filter(isConversation).map((each) => reduce(each, { type: "stopped" })) : [];
    } catch {
      return [];
    }
  }

  /** Keep a conversation in its newest state, as the newest. An empty one is not kept. */
  keep(conversation: Conversation): void {
    if (conversation.turns.length > 0) this.save([conversation, ...this.allBut(conversation.id)]);
  }

  forget(id: string): void {
    this.save(this.allBut(id));
  }

  clear(): void {
    this.save([]);
  }

  private allBut(id: string): Conversation[] {
    return this.all().filter((each) => each.id !== id);
  }

  /** Save what fits; where the device has no room for that, half of it, and so on. */
  private save(conversations: readonly Conversation[]): void {
    for (let kept = whatFits(conversations); ; kept = kept.slice(0, kept.length / 2)) {
      try {
        this.drawer.save(KEY, kept);
        return;
      } catch {
        if (kept.length === 0) return;
      }
    }
  }
}

/** The newest that fit together; of a conversation that alone is too large the newest turns. */
function whatFits([newest, ...older]: readonly Conversation[]): Conversation[] {
  if (newest === undefined) return [];
  let turns = newest.turns;
  while (turns.length > 0 && sizeOf({ ...newest, turns }) > LARGEST) turns = turns.slice(1);
  const kept = turns.length > 0 ? [{ ...newest, turns }] : [];
  let room = LARGEST - kept.reduce((sum, each) => sum + sizeOf(each), 0);
  for (const each of older.slice(0, MOST - 1)) {
    room -= sizeOf(each);
    if (room < 0) break;
    kept.push(each);
  }
  return kept;
}

function sizeOf(conversation: Conversation): number {
  return JSON.stringify(conversation).length;
}

function isConversation(value: unknown): value is Conversation {
  return fits(value, "id turns[]") && (value.turns as unknown[]).length > 0 && (value.turns as unknown[]).every(isTurn);
}

function isTurn(value: unknown): boolean {
  if (!fits(value, TURN)) return false;
  const { sources, citations, notices, web, error } = value;
  return (
    allFit(sources, SOURCE) &&
    allFit(citations, CITATION) &&
    (notices as unknown[]).every((notice) => typeof notice === "string") &&
    (error === null || fits(error, "code message retry!")) &&
    (web === null || (fits(web, "provider message text") && allFit(web.results, RESULT)))
  );
}

// How the daemon and the open note stand, in a sentence with what to do. Pure; the pane draws it.
import { indexEventOf } from "./answers";
import type { DaemonError } from "./client";
import type { IndexEvent, NoteResponse, StatusResponse } from "./wire";

export interface Standing {
  level: "good" | "busy" | "warning" | "bad";
  /** A few words. */
  title: string;
  /** What it means and what to do; may be empty. */
  detail: string;
  /** Share of the work that is done, 0 to 1; null where there is none, or nobody can tell. */
  progress: number | null;
}

/** A file's time is kept to two seconds on some devices, and told to the second by the daemon. */
const SAME_TIME = 2_000;
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const BY_WORDS = "Until then they are found by words alone.";
const SO_FAR = "Answers come from what is indexed so far.";

interface Known {
  status: StatusResponse | null;
  index: IndexEvent | null;
  trouble: DaemonError | null;
}

/**
 * Unreachable, token refused, no vault-ask, indexing n of m with time left, waiting, failed, answering by quotes,
 * ready.
 */
export function standingOf({ status, index, trouble }: Known): Standing {
  if (trouble !== null) return ofTrouble(trouble);
  const now = index ?? (status && indexEventOf(status));
  if (now === null) return at("busy", "Connecting");
  return ofWork(now) ?? (status && ofEmbedder(status)) ?? ofWaiting(now) ?? ofReady(now, status);
}

function at(level: Standing["level"], title: string, detail = "", progress: number | null = null): Standing {
  return { level, title, detail, progress };
}

function ofTrouble({ kind, message }: DaemonError): Standing {
  switch (kind) {
    case "unreachable":
      return at("bad", "The daemon cannot be reached", message);
    case "token":
      return at("bad", "The token is missing or wrong", message);
    case "not_ours":
      return at("bad", "No vault-ask answers there", message);
    case "refused":
      return at("warning", "The daemon refused", message);
    case "broken":
      return at("warning", "The connection broke off", message);
  }
}

/** What is going on in the index; null while nothing is. */
function ofWork({ progress, message, mode }: IndexEvent): Standing | null {
  const { phase, done, total, seconds_left } = progress;
  const left = seconds_left === null ? "" : ` About ${duration(seconds_left * SECOND)} left.`;
  const busy = (title: string, detail: string) => {
    const of = total > 0 ? `: ${count(done)} of ${count(total)}` : "";
    return at("busy", title + of, detail + left, total > 0 ? Math.min(1, done / total) : null);
  };
  // A vault that went away while nothing was to be done leaves the work idle.
  switch (phase === "idle" && mode === "waiting" ? mode : phase) {
    case "idle":
      return null;
    case "listing":
      return busy("Reading the vault", SO_FAR);
    case "indexing":
      return busy("Indexing notes", SO_FAR);
    case "rebuilding":
      return busy("Rebuilding the index", "Answers come from the old one.");
    case "embedding":
      return busy("Learning what passages mean", BY_WORDS);
    case "waiting":
      return at("warning", "The vault cannot be read just now", `${message} ${SO_FAR}`);
    case "failed":
      return at("bad", "Indexing failed", `${message} ${SO_FAR} The daemon's log says more.`);
  }
}

/** What keeps passages from being found by what they mean. */
function ofEmbedder({ embedding }: StatusResponse): Standing | null {
  const { rebuild_needed, ready, waiting, last_error, next_try_seconds } = embedding;
  if (rebuild_needed !== null) return at("warning", "The index must be rebuilt", rebuild_needed);
  if (ready || (waiting === 0 && last_error === null)) return null;
  const again = next_try_seconds === null ? "" : ` Next try in ${duration(next_try_seconds * SECOND)}.`;
  return at("warning", "The embedding model is away", `${last_error ?? "It does not answer."}${again} ${BY_WORDS}`);
}

function ofWaiting({ freshness, waiting }: IndexEvent): Standing | null {
  if (freshness.waiting > 0) {
    const detail = "The version before is searched until then.";
    return at("busy", `Waiting for the rest of ${notesOf(freshness.waiting)}`, detail);
  }
  if (waiting === 0) return null;
  return at("busy", `Learning what ${notesOf(waiting)} mean${waiting === 1 ? "s" : ""}`, BY_WORDS);
}

function ofReady({ notes }: IndexEvent, status: StatusResponse | null): Standing {
  if (notes === 0) return at("warning", "No notes", "The index is empty. Which vault is the daemon given?");
  return at("good", `Ready: ${notesOf(notes)}`, status === null ? "" : whoWords(status));
}

function whoWords({ generation: { generator, local, offered } }: StatusResponse): string {
  if (generator === "extractive") {
    const model = offered[0] === undefined ? "" : `, such as ${offered[0]} on its machine`;
    return `Answers are quotes from notes until a model is configured in the daemon${model}.`;
  }
  const where = local ? "on your own machines" : "elsewhere: what it reads leaves your machines";
  return `Answers are worded by ${generator}, ${where}.`;
}

/**
 * How fresh the open note is: "indexed 3 s ago", "waiting: this version is not indexed yet" where the file on this
 * device is newer than the indexed one, or that it does not take part (personal or not in the index, which nobody tells
 * apart).
 */
export function freshnessOf(
  note: NoteResponse | null,
  file: { mtime: number },
  now: number,
  includePersonal: boolean,
): { fresh: boolean; text: string } {
  if (note === null) {
    const why = includePersonal ? "not in the index" : "personal, or not in the index";
    return { fresh: false, text: `Not included: ${why}` };
  }
  const { state, indexed_at, modified_at } = note.index;
  if (state === "incomplete") return { fresh: false, text: "Waiting: the newest version has not arrived whole" };
  // A time that cannot be read compares as false, so that a note is not called old without a reason.
  if (file.mtime > Date.parse(modified_at) + SAME_TIME) {
    return { fresh: false, text: "Waiting: this version is not indexed yet" };
  }
  const byWords = state === "words_only" ? ", found by words alone so far" : "";
  return { fresh: true, text: `Indexed ${ago(now - Date.parse(indexed_at))}${byWords}` };
}

function ago(milliseconds: number): string {
  // Clocks of two devices differ a little.
  return milliseconds >= SECOND ? `${duration(milliseconds)} ago` : "just now";
}

/** A time in its largest unit, as short as a strip is: "3 s", "5 min", "2 h", "4 days". */
function duration(milliseconds: number): string {
  if (milliseconds < MINUTE) return `${Math.ceil(milliseconds / SECOND)} s`;
  if (milliseconds < HOUR) return `${Math.floor(milliseconds / MINUTE)} min`;
  if (milliseconds < DAY) return `${Math.floor(milliseconds / HOUR)} h`;
  const days = Math.floor(milliseconds / DAY);
  return days === 1 ? "1 day" : `${days} days`;
}

function notesOf(n: number): string {
  return `${count(n)} note${n === 1 ? "" : "s"}`;
}

function count(n: number): string {
  return n.toLocaleString("en");
}

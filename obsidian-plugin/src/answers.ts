// What the daemon's answers must look like to be used, and a whole answer told as the events of a stream. Pure.
import type { AnswerEvent } from "./events";
import type { Shape } from "./shape";
import type { AskResponse, IndexEvent, StatusResponse } from "./wire";

// The fields without which what reads them would trip; the daemon's own tests hold it to all the others.
export const ANSWER_EVENTS: Readonly<Record<AnswerEvent["type"], Shape>> = {
  sources: "sources[] personal_included! notices[]",
  delta: "text",
  web: "results[] message",
  grounding: "citations[]",
  done: "finish",
  error: "code message",
};

export const VAULT_EVENTS: Readonly<Record<"index" | "notes", Shape>> = {
  index: "progress{} freshness{} notes# message",
  notes: "changed[] gone[]",
};

export const STATUS = "vault{} notes# progress{} embedding{} generation{}";
export const NOTE = "text index{}";
export const RELATED = "related[]";
export const WHOLE = "answer citations[] sources[] notices[]";
export const HEALTH = "status";

/** Tell a whole answer in the order in which a stream would have. */
export function* eventsOfWhole(whole: AskResponse): Generator<AnswerEvent, void, void> {
  const { answer, citations, refused, web } = whole;
  yield { ...whole, type: "sources" };
  if (answer) yield { type: "delta", text: answer, part: "vault" };
  yield { type: "grounding", citations, removed: 0, refused };
  if (web) {
    yield { ...web, type: "web" };
    if (web.answer) yield { type: "delta", text: web.answer, part: "web" };
  }
  yield { type: "done", seconds: whole.seconds, finish: whole.finish };
}

/** Tell a status as the event that says the same. */
export function indexEventOf(status: StatusResponse): IndexEvent {
  const { progress, vault, notes, chunks, embedding, last_indexed } = status;
  return {
    type: "index",
    progress,
    freshness: vault.freshness,
    notes,
    chunks,
    waiting: embedding.waiting,
    last_indexed,
    mode: vault.mode,
    message: vault.message,
  };
}

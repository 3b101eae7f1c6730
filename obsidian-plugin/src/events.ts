// What reaches the pane while an answer is made: the daemon's own events, and one of the client's.
import type { IndexEvent, NotesEvent, Wire } from "./wire";

/** An event of an answer, as the daemon sends it. */
export type AnswerEvent = NonNullable<Wire["event"]>;

/** The platform does not let this page stream from the daemon, so the answer comes in one piece. */
export interface UnstreamedEvent {
  type: "unstreamed";
  message: string;
}

export type ClientEvent = AnswerEvent | UnstreamedEvent;

/** An event of /api/events. */
export type VaultEvent = IndexEvent | NotesEvent;

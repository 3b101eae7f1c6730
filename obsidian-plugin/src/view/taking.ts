// Taking an answer out of the pane: to the clipboard, or into the note that is being edited.
import { Notice, type App } from "obsidian";
import { answerWithLinks, cutAtCitations } from "../citations";
import type { Turn } from "../conversation";
import { insertAtCursor } from "../host";

/** Put an answer at the cursor; the only thing that is ever written, and only when the user says so. */
export function insertAnswer(app: App, turn: Turn): void {
  if (insertAtCursor(app, answerWithLinks(turn, { list: false }))) return;
  new Notice("Open a note for editing first: the answer goes where you would type.");
}

/** The answer with its citations as wikilinks, and its sources below. */
export function withCitations(turn: Turn): string {
  return answerWithLinks(turn, { list: true });
}

/** The answer's words alone. */
export function withoutCitations({ text, sources }: Turn): string {
  const pieces = cutAtCitations(text, (n) => sources.some((source) => source.n === n));
  const words = pieces.filter((piece) => typeof piece === "string");
  return words.map((piece, at) => (at < words.length - 1 ? piece.trimEnd() : piece)).join("");
}

export async function copy(win: Window, text: string): Promise<void> {
  try {
    await win.navigator.clipboard.writeText(text);
    new Notice("Copied");
  } catch {
    new Notice("This window may not use the clipboard. Select the answer and copy it.");
  }
}

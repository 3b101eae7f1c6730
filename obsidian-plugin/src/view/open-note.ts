// The note that is open beside the pane: how fresh its index is, and the notes near it.
import type { TFile } from "obsidian";
import { NO_LINES } from "../client";
import { freshnessOf } from "../standing";
import type { NoteResponse, NotesEvent, RelatedNote } from "../wire";
import type { Desk } from "./desk";
import type { Links } from "./links";
import { add, button, div, icon, Later, words } from "./parts";
import { nameOf } from "./words";

/** How many notes are shown. */
const MOST = 6;
/** Calm after a note was opened, and after the index changed, in milliseconds. */
const AFTER_OPENING = 250;
const AFTER_CHANGE = 1_500;
/** How often "indexed 3 s ago" is said anew. */
const TICK = 10_000;

export class OpenNote {
  private readonly noteEl: HTMLElement;
  private readonly foldEl: HTMLButtonElement;
  private readonly nameEl: HTMLElement;
  private readonly freshnessEl: HTMLElement;
  private readonly relatedEl: HTMLElement;
  private readonly loadLater = new Later(() => void this.load());
  private readonly drawLater = new Later(() => {
    this.drawFreshness();
  });
  private besideFile: TFile | null = null;
  private noteKnown: NoteResponse | null = null;
  private relatedNotes: readonly RelatedNote[] = [];
  private loadingNow: AbortController | null = null;
  private isKnown = false;
  private isIdle = true;
  /** As the user left it; until then open while nothing was asked. */
  private isUnfolded: boolean | null = null;
  private hasTurns = false;

  constructor(
    parent: HTMLElement,
    private readonly desk: Desk,
    private readonly linkKeeper: Links,
    private readonly includePersonal: () => boolean,
  ) {
    this.noteEl = div(parent, "open-note");
    const head = div(this.noteEl, "open-head");
    this.foldEl = button(head, "fold", "", () => {
      this.isUnfolded = this.relatedEl.hidden;
      this.arrange();
    });
    icon(this.foldEl, "chevron-right");
    this.nameEl = words(this.foldEl, "span", "fold-name", "");
    this.freshnessEl = add(head, "span", "freshness");
    this.relatedEl = add(this.noteEl, "ul", "related");
    this.arrange();
  }

  /** Another note is open now, or none. */
  show(file: TFile | null): void {
    if (file?.path !== this.besideFile?.path) this.forget();
    this.besideFile = file;
    this.draw();
    this.loadLater.in(AFTER_OPENING);
  }

  /** The index holds other versions of some notes now, perhaps of any for null. */
  changed(event: NotesEvent | null): void {
    if (this.besideFile === null) return;
    const { path } = this.besideFile;
    const isMine = !event || event.more || [...event.changed, ...event.gone].includes(path);
    this.loadLater.in(isMine ? AFTER_OPENING : AFTER_CHANGE);
  }

  /** The file was written on this device. */
  written(path: string): void {
    if (path === this.besideFile?.path) this.drawFreshness();
  }

  refresh(): void {
    this.loadLater.in(0);
  }

  arrangeFor(has: { turns: boolean; idle: boolean }): void {
    this.hasTurns = has.turns;
    this.isIdle = has.idle;
    this.arrange();
  }

  stop(): void {
    this.loadingNow?.abort();
    this.loadLater.cancel();
    this.drawLater.cancel();
  }

  private forget(): void {
    this.loadingNow?.abort();
    this.noteKnown = null;
    this.relatedNotes = [];
    this.isKnown = false;
  }

  private async load(): Promise<void> {
    const file = this.besideFile;
    this.loadingNow?.abort();
    if (file === null) return;
    const loading = new AbortController();
    this.loadingNow = loading;
    const includePersonal = this.includePersonal();
    try {
      const [note, near] = await Promise.all([
        this.desk.daemon.note(file.path, { includePersonal, from: NO_LINES }, loading.signal),
        this.desk.daemon.related(file.path, { includePersonal, k: MOST }, loading.signal),
      ]);
      if (loading.signal.aborted) return;
      this.noteKnown = note;
      this.relatedNotes = near?.related ?? [];
      this.isKnown = true;
    } catch {
      // The strip above says what is wrong with the daemon; here nothing is known then.
      if (loading.signal.aborted) return;
      this.forget();
    }
    this.draw();
  }

  private draw(): void {
    this.relatedEl.empty();
    for (const note of this.relatedNotes) this.drawRelated(note);
    this.drawFreshness();
    this.arrange();
  }

  private arrange(): void {
    const has = this.relatedNotes.length > 0;
    const name = nameOf(this.besideFile?.path ?? "");
    this.noteEl.hidden = this.besideFile === null;
    this.nameEl.setText(has ? `Near ${name}` : name);
    this.foldEl.disabled = !has;
    this.relatedEl.hidden = !has || !this.isIdle || !(this.isUnfolded ?? !this.hasTurns);
    this.foldEl.setAttr("aria-expanded", !this.relatedEl.hidden);
  }

  private drawFreshness(): void {
    this.drawLater.cancel();
    this.freshnessEl.empty();
    if (this.besideFile === null || !this.isKnown) return;
    const { fresh, text } = freshnessOf(this.noteKnown, this.besideFile.stat, Date.now(), this.includePersonal());
    this.freshnessEl.setText(text);
    this.freshnessEl.toggleAttribute("data-fresh", fresh);
    this.drawLater.in(TICK);
  }

  private drawRelated(note: RelatedNote): void {
    const link = add(add(this.relatedEl, "li", ""), "a", "related-note place");
    words(link, "span", "related-title", note.title);
    if (note.personal) icon(link, "lock");
    add(link, "span", "because", why(note.because));
    const place = { ...note, heading_path: note.heading === null ? [] : [note.heading] };
    this.linkKeeper.mark(link, () => ({ kind: "place", place }));
  }
}

/** The strongest reason why a note is near. */
function why(because: RelatedNote["because"]): string {
  const isLinked = because.includes("link");
  if (because.includes("backlink")) return isLinked ? "linked both ways" : "links here";
  return isLinked ? "linked from here" : "similar";
}

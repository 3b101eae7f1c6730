// The question box: what is asked, what it is about, and whether personal notes take part.
import type { StatusResponse } from "../wire";
import type { Asked } from "./asking";
import { add, div, icon, iconButton, words } from "./parts";
import { PersonalSwitch } from "./personal-switch";
import { nameOf } from "./words";

/** What fits the wire beside a selection. */
const LONGEST_QUESTION = 5_500;
/** What browsers give as the code of a key that went to an input method. */
const COMPOSING = 229;

interface Doings {
  readonly send: (asked: Asked) => void;
  readonly stop: () => void;
  readonly setPersonal: (on: boolean) => void;
}

export class Composer {
  private readonly aboutEl: HTMLElement;
  private readonly growerEl: HTMLElement;
  private readonly boxEl: HTMLTextAreaElement;
  private readonly sendEl: HTMLButtonElement;
  private readonly stopEl: HTMLButtonElement;
  private readonly personalSwitch: PersonalSwitch;
  private aboutNote: string | null = null;
  private aboutWords: string | null = null;
  private isBusy = true;

  constructor(
    parent: HTMLElement,
    private readonly doings: Doings,
  ) {
    const composer = div(parent, "composer");
    const card = div(composer, "card");
    this.aboutEl = div(card, "chips");
    this.growerEl = div(card, "grower");
    this.boxEl = add(this.growerEl, "textarea", "box");
    this.boxEl.setAttrs({ dir: "auto", maxlength: LONGEST_QUESTION, "aria-label": "Question", enterkeyhint: "send" });
    const row = div(card, "row");
    this.personalSwitch = new PersonalSwitch(row, composer, doings.setPersonal);
    this.sendEl = iconButton(row, "send", "arrow-up", "Send", () => {
      this.sendQuestion();
    });
    this.stopEl = iconButton(row, "stop", "square", "Stop", doings.stop);
    this.boxEl.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || isComposing(event)) return;
      event.preventDefault();
      this.sendQuestion();
    });
    this.boxEl.addEventListener("input", () => {
      this.onInput();
    });
    this.about(null, null);
    this.setBusy(false);
  }

  /** Whether the switch is on as it is shown: what goes over the wire. */
  get isPersonal(): boolean {
    return this.personalSwitch.isChecked;
  }

  focus(): void {
    this.boxEl.focus();
  }

  setBusy(isBusy: boolean): void {
    if (isBusy === this.isBusy) return;
    const hadFocus = this.sendEl.isActiveElement() || this.stopEl.isActiveElement();
    this.isBusy = isBusy;
    this.sendEl.hidden = isBusy;
    this.stopEl.hidden = !isBusy;
    this.onInput();
    // A button that is hidden would take the focus with it.
    if (hadFocus) this.focus();
  }

  showPersonal(on: boolean, status: StatusResponse | null): void {
    this.personalSwitch.show(on, status);
  }

  /** Put words into the box, below what is there already. */
  fill(text: string): void {
    const draft = this.boxEl.value.trim();
    this.boxEl.value = (draft === "" ? text : `${draft}\n\n${text}`).slice(0, LONGEST_QUESTION);
    this.onInput();
  }

  /** Ask about a note, or about words selected in it; null for neither. */
  about(note: string | null, selection: string | null): void {
    this.aboutNote = note;
    this.aboutWords = selection;
    this.aboutEl.empty();
    this.boxEl.placeholder = note === null ? "Ask your vault" : "Ask about this note";
    if (note !== null) {
      this.drawAbout("note-chip", "file-text", nameOf(note), "Do not ask about this note", null);
    }
    if (selection !== null) {
      this.drawAbout("selection-chip", "text-select", selection, "Leave the selection out", note);
    }
  }

  /** The note that a question is about has another name now, or none. */
  renamed(from: string, to: string | null): void {
    if (this.aboutNote === from) this.about(to, to && this.aboutWords);
  }

  private onInput(): void {
    // The box is as tall as a hidden copy of its words behind it.
    this.growerEl.dataset.words = this.boxEl.value;
    this.sendEl.disabled = this.boxEl.value.trim() === "";
  }

  private sendQuestion(): void {
    const question = this.boxEl.value.trim();
    if (question === "" || this.isBusy) return;
    const asked = { question, note: this.aboutNote, selection: this.aboutWords };
    this.boxEl.value = "";
    this.onInput();
    // The next question is about the note still; the selected words were meant once.
    this.about(this.aboutNote, null);
    this.doings.send(asked);
  }

  private drawAbout(cls: string, name: string, text: string, label: string, noteLeft: string | null): void {
    const chip = words(this.aboutEl, "span", `about ${cls}`, "");
    icon(chip, name);
    words(chip, "span", "about-words", text);
    iconButton(chip, "remove", "x", label, () => {
      this.about(noteLeft, null);
      this.focus();
    });
  }
}

/** Whether an input method composes: Enter then chooses a word. Safari says so by the key code alone. */
function isComposing(event: KeyboardEvent): boolean {
  const { keyCode } = event as { keyCode: number };
  return event.isComposing || keyCode === COMPOSING;
}

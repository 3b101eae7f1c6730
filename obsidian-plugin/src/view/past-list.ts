// Earlier conversations of this vault, kept on this device.
import type { Conversation } from "../conversation";
import type { History } from "../history";
import { add, button, div, iconButton, words } from "./parts";
import { count } from "./words";

export class PastList {
  private readonly pastEl: HTMLElement;

  constructor(
    parent: HTMLElement,
    private readonly keptHistory: History,
    private readonly onChosen: (conversation: Conversation) => void,
    /** Before one is forgotten, or all (null). */
    private readonly onForget: (id: string | null) => void,
  ) {
    this.pastEl = div(parent, "history");
    this.show(false);
  }

  get isShown(): boolean {
    return !this.pastEl.hidden;
  }

  show(isShown: boolean): void {
    this.pastEl.hidden = !isShown;
    if (isShown) this.drawPast();
  }

  private drawPast(): void {
    const past = this.keptHistory.all();
    this.pastEl.empty();
    const head = div(this.pastEl, "history-head");
    add(head, "div", "heading", "Earlier questions");
    if (past.length === 0) {
      add(this.pastEl, "div", "hint", "Nothing was asked yet. Conversations stay on this device.");
      return;
    }
    button(head, "quiet-button", "Forget all", () => {
      this.onForget(null);
      this.keptHistory.clear();
      this.drawPast();
    });
    const list = add(this.pastEl, "ul", "past-list");
    for (const conversation of past) this.drawConversation(add(list, "li", "past"), conversation);
  }

  private drawConversation(row: HTMLElement, conversation: Conversation): void {
    const { id, turns } = conversation;
    const open = button(row, "past-open", "", () => {
      this.onChosen(conversation);
    });
    words(open, "span", "past-question", turns[0]?.question ?? "");
    const many = turns.length > 1 ? ` · ${count(turns.length, "question")}` : "";
    add(open, "span", "past-when", dayOf(turns.at(-1)?.askedAt ?? 0) + many);
    iconButton(row, "forget", "x", "Forget", () => {
      this.onForget(id);
      this.keptHistory.forget(id);
      this.drawPast();
    });
  }
}

function dayOf(time: number): string {
  return new Date(time).toLocaleString([], { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
}

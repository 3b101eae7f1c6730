// The conversation on the screen. It follows a growing answer only for a reader who is at its end already.
import { Component } from "obsidian";
import type { Conversation, Turn } from "../conversation";
import { add, button, div } from "./parts";
import { hasEnded, TurnView, type TurnParts } from "./turn-view";

/** How far from the end still counts as being there, in pixels. */
const NEAR = 24;
/** What is kept free below the newest words, in pixels. */
const MARGIN = 12;

export class TurnList extends Component {
  private readonly scrollerEl: HTMLElement;
  private readonly emptyEl: HTMLElement;
  private readonly newestEl: HTMLButtonElement;
  private readonly turnViews = new Map<string, TurnView>();
  private shownNow: Conversation | null = null;
  private isFollowing = true;
  private lastTop = 0;
  private askedLast: number | undefined;

  constructor(
    private readonly turnParts: TurnParts,
    parent: HTMLElement,
  ) {
    super();
    const frame = div(parent, "frame");
    this.scrollerEl = div(frame, "turns");
    this.scrollerEl.setAttrs({ tabindex: "0", role: "region", "aria-label": "Conversation" });
    this.emptyEl = div(this.scrollerEl, "empty");
    add(this.emptyEl, "div", "empty-title", "What would you like to know?");
    add(this.emptyEl, "div", "", "Answers come from your own notes, with the passages they rest on.");
    this.newestEl = button(frame, "newest", "Newest", () => {
      this.toEnd();
    });
    this.newestEl.hidden = true;
  }

  override onload(): void {
    this.registerDomEvent(this.scrollerEl, "scroll", () => {
      this.onScroll();
    });
  }

  show(conversation: Conversation): void {
    if (conversation.id !== this.shownNow?.id) this.clear();
    this.shownNow = conversation;
    const last = conversation.turns.at(-1);
    for (const turn of conversation.turns) this.viewOf(turn).show(turn, turn === last);
    this.emptyEl.hidden = last !== undefined;
    // To ask is to want to see the answer.
    if (last?.askedAt !== this.askedLast) this.toEnd();
    this.askedLast = last?.askedAt;
  }

  /** Draw what is new until a time of performance.now(); say whether all is drawn. */
  async draw(until: number): Promise<boolean> {
    let isDone = true;
    for (const view of this.turnViews.values()) {
      isDone = await view.draw(until);
      if (!isDone) break;
    }
    this.settle();
    return isDone;
  }

  /** Keep a reader who is at the end there: at the newest words, not past them among the sources. */
  settle(): void {
    // A reader may have gone up whose event has not come yet.
    this.onScroll();
    if (this.isFollowing) this.scrollToTop(this.scrollerEl.scrollTop + Math.max(0, this.below()));
    this.showNewest();
  }

  toEnd(): void {
    this.isFollowing = true;
    this.scrollToTop(this.scrollerEl.scrollHeight);
    this.newestEl.hidden = true;
  }

  private scrollToTop(top: number): void {
    this.scrollerEl.scrollTop = top;
    // Known at once: a reader may go up before the event of this comes.
    this.lastTop = this.scrollerEl.scrollTop;
  }

  private viewOf(turn: Turn): TurnView {
    const present = this.turnViews.get(turn.id);
    if (present !== undefined) return present;
    const view = this.addChild(new TurnView(this.turnParts, this.scrollerEl, turn));
    this.turnViews.set(turn.id, view);
    return view;
  }

  private clear(): void {
    for (const view of this.turnViews.values()) {
      view.el.remove();
      this.removeChild(view);
    }
    this.turnViews.clear();
  }

  private onScroll(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.scrollerEl;
    const left = scrollHeight - scrollTop - clientHeight;
    // Growth alone takes nobody away from the end, and what became shorter pushes up to it; a reader who goes up by a
    // little begins to go further.
    if (scrollTop < this.lastTop && left > 1) this.isFollowing = false;
    else if (scrollTop > this.lastTop && left <= NEAR) this.isFollowing = true;
    this.lastTop = scrollTop;
    this.showNewest();
  }

  private showNewest(): void {
    this.newestEl.hidden = this.isFollowing || this.below() <= NEAR;
  }

  /** How far below the fold the newest words end, in pixels. */
  private below(): number {
    const last = this.shownNow?.turns.at(-1);
    const view = last && this.turnViews.get(last.id);
    if (!view) return 0;
    const end = (hasEnded(last) ? view.end : view.el).getBoundingClientRect().bottom;
    return end + MARGIN - this.scrollerEl.getBoundingClientRect().bottom;
  }
}

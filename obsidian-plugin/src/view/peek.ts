// The passage behind a citation, shown at once where Obsidian's page preview takes a moment. Words only, no markup.
import type { Target } from "./links";
import { add, div, Later, words } from "./parts";
import { bodyOf, trailOf } from "./words";

/** How long a pointer may be on its way from a link into the peek, in milliseconds. */
const GRACE = 200;
const GAP = 6;

let made = 0;

export class Peek {
  private readonly peekEl: HTMLElement;
  private anchorEl: HTMLElement | null = null;
  private readonly hideLater = new Later(() => {
    this.hide();
  });

  constructor(private readonly paneRootEl: HTMLElement) {
    this.peekEl = div(paneRootEl, "peek");
    this.peekEl.id = `vault-ask-peek-${++made}`;
    this.peekEl.setAttr("role", "tooltip");
    this.peekEl.hidden = true;
    this.peekEl.addEventListener("mouseenter", () => {
      this.hideLater.cancel();
    });
    this.peekEl.addEventListener("mouseleave", () => {
      this.leave();
    });
  }

  get isShown(): boolean {
    return this.anchorEl !== null;
  }

  show(anchor: HTMLElement, target: Target, isGone: boolean): void {
    this.hide();
    this.fill(target, isGone);
    this.anchorEl = anchor;
    anchor.setAttr("aria-describedby", this.peekEl.id);
    this.peekEl.hidden = false;
    this.putBeside(anchor);
  }

  /** Hide in a moment, unless the pointer comes into the peek. */
  leave(): void {
    this.hideLater.in(GRACE);
  }

  hide(): void {
    this.hideLater.cancel();
    this.anchorEl?.removeAttribute("aria-describedby");
    this.anchorEl = null;
    this.peekEl.hidden = true;
  }

  private fill(target: Target, isGone: boolean): void {
    this.peekEl.empty();
    const [title, trail, quote] =
      target.kind === "place"
        ? [target.place.title, trailOf(target.place), bodyOf(target.place.quote)]
        : [target.page.title, target.page.url, target.page.snippet];
    words(this.peekEl, "div", "title", title);
    words(this.peekEl, "div", "trail", trail);
    if (isGone) add(this.peekEl, "div", "gone", "This note is gone. It said:");
    words(this.peekEl, "div", "quote", quote);
  }

  /** Above the link, so that Obsidian's own preview has the room below it; below where there is none. */
  private putBeside(anchor: HTMLElement): void {
    const root = this.paneRootEl.getBoundingClientRect();
    const link = anchor.getBoundingClientRect();
    const height = this.peekEl.offsetHeight;
    const above = link.top - root.top - height - GAP;
    const below = Math.min(link.bottom - root.top + GAP, root.height - height);
    this.peekEl.setCssProps({ "--vault-ask-peek-top": `${above >= 0 ? above : Math.max(below, 0)}px` });
  }
}

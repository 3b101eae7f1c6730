// Every link in the pane: one handler for click, middle click, hover and focus. Obsidian wires none in a view of ours.
import { Component, type HoverParent, type UserEvent } from "obsidian";
import { linktext, type Place } from "../citations";
import type { Places } from "../host";
import type { Passage } from "../locate";
import type { WebResult } from "../wire";
import { linkOf } from "./chips";
import type { Peek } from "./peek";

/** What a link of ours stands for. */
export type Target = { kind: "place"; place: Place & Passage } | { kind: "page"; page: WebResult };

export class Links extends Component {
  /** Asked anew each time: an answer's places change while it is checked, and notes are renamed. */
  private readonly targetOfLink = new WeakMap<Element, () => Target | null>();
  private overEl: HTMLElement | null = null;

  constructor(
    private readonly paneRootEl: HTMLElement,
    private readonly places: Places,
    private readonly peeker: Peek,
    private readonly popoverOwner: HoverParent,
  ) {
    super();
  }

  override onload(): void {
    const on = <K extends keyof HTMLElementEventMap>(type: K, act: (event: HTMLElementEventMap[K]) => void): void => {
      this.registerDomEvent(this.paneRootEl, type, act);
    };
    const follow = (event: MouseEvent): void => {
      if (event.button < 2) this.follow(event);
    };
    on("click", follow);
    on("auxclick", follow);
    on("mouseover", (event) => {
      this.enter(event);
    });
    on("mouseout", (event) => {
      this.leave(event);
    });
    on("focusin", (event) => {
      const link = linkAt(event);
      if (link?.matches(":focus-visible")) this.peekFrom(link);
    });
    on("focusout", () => {
      this.peeker.hide();
    });
  }

  /** Make an element a link to what `target` gives. */
  mark(el: HTMLElement, target: () => Target | null): void {
    this.targetOfLink.set(el, target);
    this.settle(el);
  }

  leads(link: string): boolean {
    return this.places.linked(link) !== null;
  }

  /** See again which notes are there. */
  refresh(): void {
    for (const el of this.paneRootEl.querySelectorAll<HTMLElement>(".vault-ask-place")) this.settle(el);
  }

  private settle(el: HTMLElement): void {
    const target = this.targetOfLink.get(el)?.() ?? null;
    if (target?.kind !== "place") return;
    const isGone = this.isGone(target);
    el.setAttrs({ href: isGone ? null : "#", tabindex: "0", role: isGone ? "link" : null });
    el.setAttrs({ "aria-disabled": isGone ? "true" : null, "data-gone": isGone ? "" : null });
    el.closest(".vault-ask-source")?.toggleAttribute("data-gone", isGone);
  }

  private isGone(target: Target): boolean {
    return target.kind === "place" && this.places.find(target.place.path) === null;
  }

  private follow(event: MouseEvent): void {
    const link = linkAt(event);
    if (link === null || isOfTheWeb(link)) return;
    // Whatever else is a link here must not take the app away from its page.
    event.preventDefault();
    this.peeker.hide();
    const target = this.targetOfLink.get(link)?.() ?? null;
    if (target?.kind === "place" && !this.isGone(target)) void this.places.open(target.place, event);
    else if (link.hasClass("internal-link")) void this.places.openLink(linkOf(link), event);
  }

  private enter(event: MouseEvent): void {
    const link = linkAt(event);
    if (link === null || link === this.overEl) return;
    this.overEl = link;
    this.peekFrom(link);
    const preview = this.previewOf(link);
    if (preview !== null) this.places.preview(preview, event, this.popoverOwner, link);
  }

  private leave(event: MouseEvent): void {
    const to = event.relatedTarget as Node | null;
    if (this.overEl === null || this.overEl.contains(to)) return;
    this.overEl = null;
    this.peeker.leave();
  }

  private peekFrom(link: HTMLElement): void {
    const target = this.targetOfLink.get(link)?.() ?? null;
    if (target !== null) this.peeker.show(link, target, this.isGone(target));
  }

  private previewOf(link: HTMLElement): string | null {
    const target = this.targetOfLink.get(link)?.() ?? null;
    if (target === null) return link.hasClass("internal-link") ? linkOf(link) : null;
    if (target.kind === "page") return null;
    const file = this.places.find(target.place.path);
    return file === null ? null : linktext({ ...target.place, path: file.path });
  }
}

function linkAt(event: UserEvent | FocusEvent): HTMLElement | null {
  return (event.target as Element | null)?.closest<HTMLElement>("a") ?? null;
}

/** Links into the web are the app's to open. */
function isOfTheWeb(link: HTMLElement): boolean {
  return /^https?:/i.test(link.getAttribute("href") ?? "");
}

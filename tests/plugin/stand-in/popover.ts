// Page preview: a popover that shows a note at its heading while one hovers, for sources that were registered.
import type { App } from "./app";
import { Component } from "./events";
import { MarkdownRenderer } from "./markdown";
import { parseLinktext, type TFile } from "./vault";

const WAIT = 300;

interface HoverParent {
  hoverPopover: HoverPopover | null;
}

export class HoverPopover extends Component {
  hoverEl: HTMLElement;
  private timer: number;

  constructor(
    private readonly parent: HoverParent,
    private readonly targetEl: HTMLElement,
    wait = WAIT,
  ) {
    super();
    this.hoverEl = targetEl.doc.createElement("div");
    this.hoverEl.className = "popover hover-popover";
    parent.hoverPopover?.benchHide();
    parent.hoverPopover = this;
    this.timer = window.setTimeout(() => this.benchShow(), wait);
    this.register(() => window.clearTimeout(this.timer));
    this.registerDomEvent(targetEl, "mouseleave", () => this.leave());
    this.registerDomEvent(this.hoverEl, "mouseleave", () => this.leave());
    this.load();
  }

  private benchShow(): void {
    if (!this.targetEl.matches(":hover") || !this.targetEl.isConnected) return this.benchHide();
    this.targetEl.doc.body.appendChild(this.hoverEl);
    const { left, bottom } = this.targetEl.getBoundingClientRect();
    const room = this.targetEl.doc.documentElement.clientWidth;
    this.hoverEl.setCssStyles({ left: `${Math.max(4, Math.min(left, room - 460))}px`, top: `${bottom + 4}px` });
  }

  private leave(): void {
    window.setTimeout(() => {
      if (!this.targetEl.matches(":hover") && !this.hoverEl.matches(":hover")) this.benchHide();
    }, 50);
  }

  benchHide(): void {
    this.unload();
    this.hoverEl.remove();
    if (this.parent.hoverPopover === this) this.parent.hoverPopover = null;
  }
}

export interface HoverLink {
  event: MouseEvent;
  source: string;
  hoverParent: HoverParent;
  targetEl: HTMLElement;
  linktext: string;
  sourcePath?: string;
}

/** Show the page preview for a hovered link: nothing for an unknown source, a missing note, or a key not held. */
export function previewLink(app: App, sources: Map<string, { defaultMod: boolean }>, link: HoverLink): void {
  const source = sources.get(link.source);
  if (!source || (source.defaultMod && !(link.event.ctrlKey || link.event.metaKey))) return;
  const { path, subpath } = parseLinktext(link.linktext);
  const file = app.metadataCache.getFirstLinkpathDest(path, link.sourcePath ?? "");
  if (!file) return;
  const popover = new HoverPopover(link.hoverParent, link.targetEl);
  popover.hoverEl.dataset.path = file.path;
  const page = popover.hoverEl.createDiv("markdown-preview-view markdown-rendered");
  void MarkdownRenderer.render(app, partOf(app, file, subpath), page, file.path, popover);
}

/** The text from a heading to the next one, or the whole note. */
export function partOf(app: App, file: TFile, subpath: string): string {
  const lines = app.vault.benchText(file.path).split("\n");
  const from = subpath ? app.metadataCache.benchLineOf(file, subpath) : null;
  if (from === null) return lines.join("\n");
  if (subpath.startsWith("#^")) return lines[from] ?? "";
  const next = lines.findIndex((line, at) => at > from && /^#{1,6} /.test(line));
  return lines.slice(from, next < 0 ? undefined : next).join("\n");
}

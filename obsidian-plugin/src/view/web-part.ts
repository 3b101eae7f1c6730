// What the web added to an answer: its own heading, its own words, its own list. Never mixed with the vault's sources.
import { Component } from "obsidian";
import type { WebShare } from "../conversation";
import type { WebResult } from "../wire";
import type { AnswerText } from "./answer-text";
import type { Links } from "./links";
import { add, Changes, div, icon } from "./parts";
import { drawPassage } from "./passage";

export class WebPart extends Component {
  private readonly webEl: HTMLElement;
  private readonly webMessageEl: HTMLElement;
  private readonly resultsEl: HTMLElement;
  private readonly webText: AnswerText;
  private readonly changes = new Changes();
  private share: WebShare | null = null;

  constructor(
    parent: HTMLElement,
    private readonly linkKeeper: Links,
    private readonly ids: string,
    textIn: (el: HTMLElement) => AnswerText,
  ) {
    super();
    this.webEl = div(parent, "web");
    icon(add(this.webEl, "div", "heading", "From the web"), "globe");
    this.webMessageEl = div(this.webEl, "web-message");
    this.webText = this.addChild(textIn(div(this.webEl, "web-answer")));
    this.resultsEl = add(this.webEl, "ol", "source-list");
  }

  show(share: WebShare | null): void {
    this.share = share;
    this.webEl.hidden = share === null;
    this.webText.write(share?.text ?? "");
    this.changes.on([share?.results], () => {
      this.webMessageEl.setText(share?.message ?? "");
      this.resultsEl.empty();
      for (const page of share?.results ?? []) this.drawPage(page);
    });
  }

  draw(until: number): Promise<boolean> {
    return this.webText.draw(until);
  }

  find(n: number): WebResult | undefined {
    return this.share?.results.find((page) => page.n === n);
  }

  chip(n: number): HTMLElement {
    const chip = createEl("a", { cls: "vault-ask-webchip", text: String(n) });
    const page = this.find(n);
    chip.setAttrs({ "data-n": n, "aria-labelledby": this.labelId(n) });
    if (page) this.lead(chip, page);
    return chip;
  }

  private labelId(n: number): string {
    return `${this.ids}-page-${n}`;
  }

  private drawPage(page: WebResult): void {
    const { n, title, snippet } = page;
    const row = add(this.resultsEl, "li", "web-result");
    const label = `Web page ${n}: ${title}`;
    const { link } = drawPassage(row, { n, title, trail: page.url, quote: snippet, label, labelId: this.labelId(n) });
    this.lead(link, page);
  }

  /** Make a link open a page in the browser; an address that is none of the web's leads nowhere. */
  private lead(link: HTMLAnchorElement, page: WebResult): void {
    const href = /^https?:\/\//i.test(page.url) ? page.url : null;
    link.setAttrs({ href, target: "_blank", rel: "noopener noreferrer" });
    this.linkKeeper.mark(link, () => ({ kind: "page", page }));
  }
}

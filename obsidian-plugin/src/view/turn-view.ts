// One question and what came of it, drawn from the turn as it is.
import { Component, type App } from "obsidian";
import type { Turn } from "../conversation";
import { AnswerText } from "./answer-text";
import { putChips, settleLinks } from "./chips";
import type { Links } from "./links";
import { add, Changes, div, icon, iconButton, words } from "./parts";
import { SourceList } from "./source-list";
import { WebPart } from "./web-part";
import { count, generatorOf, nameOf } from "./words";

/** What can be done with an answer. */
export interface TurnActions {
  readonly retry: () => void;
  readonly copy: (turn: Turn) => void;
  readonly copyCited: (turn: Turn) => void;
  readonly insert: (turn: Turn) => void;
}

export interface TurnParts {
  readonly app: App;
  readonly links: Links;
  readonly actions: TurnActions;
}

let drawn = 0;

export class TurnView extends Component {
  readonly el: HTMLElement;
  /** Where the answer's words end, so that the reader is not carried past them. */
  readonly end: HTMLElement;
  private readonly badgesEl: HTMLElement;
  private readonly noticesEl: HTMLElement;
  private readonly workingEl: HTMLElement;
  private readonly answerEl: HTMLElement;
  private readonly troubleEl: HTMLElement;
  private readonly answerText: AnswerText;
  private readonly sourceList: SourceList;
  private readonly webPart: WebPart;
  private readonly turnChanges = new Changes();

  constructor(
    private readonly turnParts: TurnParts,
    parent: HTMLElement,
    private turnShown: Turn,
  ) {
    super();
    const ids = `vault-ask-${++drawn}`;
    const el = (this.el = add(parent, "article", "turn"));
    words(el, "div", "question", turnShown.question);
    if (turnShown.selection !== null) words(el, "div", "asked-selection", turnShown.selection);
    this.badgesEl = div(el, "badges");
    this.noticesEl = div(el, "notices");
    this.workingEl = div(el, "working");
    this.answerEl = div(el, "answer");
    this.troubleEl = div(el, "error");
    this.end = div(el, "actions");
    const web = div(el, "web-place");
    this.sourceList = new SourceList(el, turnParts.links, ids);
    this.answerText = this.addChild(this.textIn(this.answerEl, (n) => this.chip(n)));
    this.webPart = this.addChild(
      new WebPart(web, turnParts.links, ids, (webEl) =>
        this.textIn(webEl, (n) => (this.webPart.find(n) ? this.webPart.chip(n) : null)),
      ),
    );
  }

  /** Take the turn as it is now; `isLast` where it may be asked again. */
  show(turn: Turn, isLast: boolean): void {
    this.turnShown = turn;
    this.el.dataset.state = turn.state;
    this.answerText.write(turn.text);
    this.webPart.show(turn.web);
    // While an answer grows its words alone change.
    const { text, web: _, ...others } = turn;
    this.turnChanges.on([isLast, text === "", ...Object.values(others)], () => {
      const isEnded = hasEnded(turn);
      this.drawHead();
      this.sourceList.show(turn, isEnded);
      this.drawEnd(isEnded, isLast);
    });
  }

  /** Draw what is new of the words until a time of performance.now(); say whether all is drawn. */
  async draw(until: number): Promise<boolean> {
    const isDrawn = (await this.answerText.draw(until)) && (await this.webPart.draw(until));
    this.answerEl.setAttr("aria-busy", !isDrawn || !hasEnded(this.turnShown));
    return isDrawn;
  }

  private textIn(el: HTMLElement, chip: (n: number) => HTMLElement | null): AnswerText {
    el.addClass("markdown-rendered");
    const { app, links } = this.turnParts;
    return new AnswerText(app, el, (made) => {
      settleLinks(made, (link) => links.leads(link));
      putChips(made, chip);
    });
  }

  private chip(n: number): HTMLElement | null {
    if (this.sourceList.targetOf(n) === null) return null;
    const chip = createEl("a", { cls: "vault-ask-chip vault-ask-place", text: String(n) });
    chip.setAttrs({ "data-n": n, "aria-labelledby": this.sourceList.labelId(n) });
    this.turnParts.links.mark(chip, () => this.sourceList.targetOf(n));
    return chip;
  }

  private drawHead(): void {
    drawBadges(this.badgesEl, this.turnShown);
    this.noticesEl.empty();
    for (const said of noticesOf(this.turnShown)) words(this.noticesEl, "div", "notice", said);
  }

  private drawEnd(isEnded: boolean, isLast: boolean): void {
    const { state, error } = this.turnShown;
    this.workingEl.setText(workingOn(this.turnShown));
    this.workingEl.hidden = isEnded;
    const trouble = error?.message ?? (state === "stopped" ? "Stopped." : "");
    this.troubleEl.setText(trouble);
    this.troubleEl.hidden = trouble === "";
    this.end.empty();
    if (isEnded) this.drawActions(isLast);
  }

  private drawActions(isLast: boolean): void {
    const { actions } = this.turnParts;
    const offer = (cls: string, name: string, label: string, act: (turn: Turn) => void): void => {
      iconButton(this.end, cls, name, label, () => {
        act(this.turnShown);
      });
    };
    if (this.turnShown.text !== "") {
      offer("copy", "copy", "Copy", actions.copy);
      offer("copy-cited", "quote", "Copy with citations", actions.copyCited);
      offer("insert", "text-cursor-input", "Insert into note", actions.insert);
    }
    if (isLast) offer("retry", "refresh-cw", "Ask again", actions.retry);
  }
}

export function hasEnded({ state }: Pick<Turn, "state">): boolean {
  return state !== "asking" && state !== "streaming";
}

function workingOn({ sources, text }: Turn): string {
  if (sources.length === 0) return "Searching your notes";
  return text === "" ? `Reading ${count(sources.length, "passage")}` : "Writing";
}

function drawBadges(el: HTMLElement, { personal, personalIncluded, note, generator, silent }: Turn): void {
  el.empty();
  const badge = (kind: string, text: string, name?: string): void => {
    const made = words(el, "span", "badge", text);
    made.dataset.kind = kind;
    if (name !== undefined) icon(made, name);
  };
  if (!personal) badge("open", "Open notes");
  else if (personalIncluded === false) badge("left-out", "Personal notes left out", "lock");
  else badge("personal", "Personal notes included", "lock");
  if (note !== null) badge("note", nameOf(note), "file-text");
  if (generator !== null && !silent) badge("generator", `By ${generatorOf(generator)}`);
}

function noticesOf({ notices, unstreamed, removed, finish, personal, personalIncluded }: Turn): string[] {
  const said = [...notices];
  if (personal && personalIncluded === false && said.length === 0) said.push("The daemon left personal notes out.");
  if (unstreamed !== null) said.push(unstreamed);
  if (removed > 0) said.push(`${count(removed, "citation")} of no source removed.`);
  if (finish === "length") said.push("The answer was cut short: the model reached its limit.");
  return said;
}

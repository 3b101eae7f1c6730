// The passages an answer rests on, with where they come from: the cited ones open, the rest behind a line.
import { chipLabel, placeOf } from "../citations";
import type { Turn } from "../conversation";
import type { Source } from "../wire";
import type { Links, Target } from "./links";
import { add, div, icon, words } from "./parts";
import { drawPassage } from "./passage";
import { bodyOf, count, nameOf, trailOf } from "./words";

export class SourceList {
  private readonly sourcesEl: HTMLElement;
  private turnShown: Turn | null = null;
  private isRestOpen = false;

  constructor(
    parent: HTMLElement,
    private readonly linkKeeper: Links,
    private readonly ids: string,
  ) {
    this.sourcesEl = div(parent, "sources");
  }

  show(turn: Turn, isEnded: boolean): void {
    this.turnShown = turn;
    this.sourcesEl.empty();
    this.sourcesEl.hidden = turn.sources.length === 0;
    const cited = new Set(isEnded ? turn.citations.map(({ n }) => n) : []);
    if (cited.size > 0) add(this.sourcesEl, "div", "heading", "Sources");
    this.drawSources(this.sourcesEl, turn.sources, cited, true);
    this.drawRest(turn.sources, cited);
  }

  /** The element that says in words what a chip with this number leads to. */
  labelId(n: number): string {
    return `${this.ids}-source-${n}`;
  }

  targetOf(n: number): Target | null {
    const place = this.turnShown && placeOf(n, this.turnShown.sources, this.turnShown.citations);
    return place && { kind: "place", place };
  }

  private drawRest(sources: readonly Source[], cited: Set<number>): void {
    const many = sources.length - cited.size;
    if (many <= 0) return;
    const rest = add(this.sourcesEl, "details", "rest");
    rest.open = this.isRestOpen;
    rest.addEventListener("toggle", () => {
      this.isRestOpen = rest.open;
    });
    add(
      rest,
      "summary",
      "",
      cited.size > 0 ? `${count(many, "more passage")} read, not cited` : `${count(many, "passage")} read`,
    );
    this.drawSources(rest, sources, cited, false);
  }

  private drawSources(parent: HTMLElement, sources: readonly Source[], cited: Set<number>, isCited: boolean): void {
    const list = add(parent, "ol", "source-list");
    for (const source of sources) if (cited.has(source.n) === isCited) this.drawSource(list, source, isCited);
  }

  private drawSource(list: HTMLElement, source: Source, isCited: boolean): void {
    const { n } = source;
    const target = this.targetOf(n);
    const place = target?.kind === "place" ? target.place : source;
    const row = add(list, "li", "source");
    row.toggleAttribute("data-cited", isCited);
    const label = chipLabel(n, place);
    const passage = {
      n,
      title: place.title,
      trail: trailOf(place),
      quote: bodyOf(place.quote),
      label,
      labelId: this.labelId(n),
    };
    const { body, link } = drawPassage(row, passage);
    link.addClass("vault-ask-place");
    this.linkKeeper.mark(link, () => this.targetOf(n));
    if (source.personal) icon(add(body, "div", "tag", "Personal"), "lock");
    if (source.provenance === "expanded") {
      words(body, "div", "via", `Found by way of ${nameOf(source.via ?? "a link")}`);
    }
  }
}

// How the daemon stands: a quiet line while all is well, and what to do where it is not.
import { standingOf } from "../standing";
import type { Known } from "./follower";
import { add, div } from "./parts";

export class Strip {
  private readonly stripEl: HTMLElement;
  private readonly stripTitleEl: HTMLElement;
  private readonly progressEl: HTMLProgressElement;
  private readonly detailEl: HTMLElement;

  constructor(parent: HTMLElement) {
    this.stripEl = div(parent, "standing");
    this.stripTitleEl = div(this.stripEl, "standing-title");
    this.progressEl = add(this.stripEl, "progress", "progress");
    this.progressEl.setAttr("aria-label", "Indexing");
    this.detailEl = div(this.stripEl, "standing-detail");
    this.show({ status: null, index: null, trouble: null });
  }

  show(known: Known): void {
    const { level, title, detail, progress } = standingOf(known);
    this.stripEl.dataset.level = level;
    this.stripTitleEl.setText(title);
    this.progressEl.hidden = progress === null;
    this.progressEl.value = progress ?? 0;
    this.detailEl.setText(detail);
    this.detailEl.hidden = level === "good";
  }
}

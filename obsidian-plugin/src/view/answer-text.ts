// An answer's Markdown on the screen: finished blocks are drawn once, the last one again while it grows.
import { Component, MarkdownRenderer, type App } from "obsidian";
import { blocksOf } from "../blocks";
import { neutralise, scrub } from "../neutralise";
import { grow } from "./grow";

interface Block {
  text: string;
  el: HTMLElement;
  /** Owns what the renderer made for this block alone. */
  life: Component;
}

export class AnswerText extends Component {
  private readonly blocksDrawn: Block[] = [];
  private text = "";
  private isGone = false;

  /** `finish` puts chips and links in order before a block is shown. */
  constructor(
    private readonly app: App,
    private readonly el: HTMLElement,
    private readonly finishBlock: (made: HTMLElement) => void,
  ) {
    super();
  }

  override onunload(): void {
    this.isGone = true;
  }

  write(text: string): void {
    this.text = text;
  }

  /** Draw what is new until a time of performance.now(), at least one block; say whether all is drawn. */
  async draw(until: number): Promise<boolean> {
    const wanted = blocksOf(this.text);
    while (this.blocksDrawn.length > wanted.length) this.drop();
    for (const [at, text] of wanted.entries()) {
      if (this.blocksDrawn[at]?.text === text) continue;
      await this.drawBlock(at, text);
      if (this.isGone) return true;
      if (performance.now() > until) return at === wanted.length - 1;
    }
    return true;
  }

  private async drawBlock(at: number, text: string): Promise<void> {
    const life = this.addChild(new Component());
    const made = createDiv({ cls: "vault-ask-block", attr: { dir: "auto" } });
    try {
      await MarkdownRenderer.render(this.app, neutralise(text), made, "", life);
    } catch {
      // Another plugin's post-processor failed; the words are still worth reading.
      made.setText(text);
    }
    scrub(made);
    this.finishBlock(made);
    if (!this.isGone) this.place(at, { text, el: made, life });
  }

  private place(at: number, block: Block): void {
    const before = this.blocksDrawn[at];
    if (before === undefined) {
      this.el.appendChild(block.el);
    } else {
      if (grow(before.el, block.el)) block.el = before.el;
      else before.el.replaceWith(block.el);
      this.removeChild(before.life);
    }
    this.blocksDrawn[at] = block;
  }

  private drop(): void {
    const block = this.blocksDrawn.pop();
    if (block === undefined) return;
    block.el.remove();
    this.removeChild(block.life);
  }
}

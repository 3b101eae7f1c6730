// When to draw: on animation frames, one draw at a time, and never for more than a third of the time, so that reading,
// selecting and scrolling stay smooth however fast an answer comes in.

/** What one draw may take of a frame before it goes on in the next, in milliseconds. */
const SHARE = 12;
/** The longest pause after a draw that took long. */
const LONGEST_PAUSE = 250;

export class Painter {
  private nextFrameAsked: { win: Window; id: number } | null = null;
  private isDrawing = false;
  private isWanted = false;
  private isStopped = false;
  private notBefore = 0;

  /** `draw` works until a time of performance.now() and says whether all is drawn. */
  constructor(
    private readonly el: HTMLElement,
    private readonly draw: (until: number) => Promise<boolean>,
  ) {}

  request(): void {
    this.isWanted = true;
    if (this.nextFrameAsked === null && !this.isDrawing && !this.isStopped) this.askFrame();
  }

  /** The element stands in another window now; the frames of the one before may never come. */
  moved(): void {
    this.cancelFrame();
    this.goOn();
  }

  stop(): void {
    this.isStopped = true;
    this.cancelFrame();
  }

  private askFrame(): void {
    const { win } = this.el;
    this.nextFrameAsked = { win, id: win.requestAnimationFrame(() => void this.onFrame()) };
  }

  private cancelFrame(): void {
    this.nextFrameAsked?.win.cancelAnimationFrame(this.nextFrameAsked.id);
    this.nextFrameAsked = null;
  }

  private async onFrame(): Promise<void> {
    this.nextFrameAsked = null;
    const start = performance.now();
    if (start < this.notBefore) {
      this.askFrame();
      return;
    }
    const isDone = await this.drawOnce(start + SHARE);
    const end = performance.now();
    this.notBefore = end + Math.min(2 * (end - start), LONGEST_PAUSE);
    if (!isDone) this.isWanted = true;
    this.goOn();
  }

  private async drawOnce(until: number): Promise<boolean> {
    this.isDrawing = true;
    this.isWanted = false;
    try {
      return await this.draw(until);
    } finally {
      this.isDrawing = false;
    }
  }

  private goOn(): void {
    if (this.isWanted) this.request();
  }
}

// What happens around the pane: whether anybody can see it, which window it stands in, what the keyboard covers.
import { Component, Platform } from "obsidian";

export class Surroundings extends Component {
  private leaveWindow: () => void = () => undefined;
  private isSeen = false;
  private isInSight = false;

  constructor(
    private readonly paneEl: HTMLElement,
    private readonly tellSeen: (isSeen: boolean) => void,
    /** The pane stands in another window now. */
    private readonly tellMoved: () => void,
  ) {
    super();
  }

  override onload(): void {
    this.enterWindow();
    this.register(
      this.paneEl.onWindowMigrated(() => {
        this.leaveWindow();
        this.enterWindow();
        this.tellMoved();
      }),
    );
  }

  override onunload(): void {
    this.leaveWindow();
  }

  /** Watch from the window that the pane is in: another one's observers see nothing of it. */
  private enterWindow(): void {
    const { doc } = this.paneEl;
    const win = doc.defaultView;
    if (win === null) return;
    const leaving = new AbortController();
    const until = { signal: leaving.signal };
    const sight = new win.IntersectionObserver((entries) => {
      this.isInSight = entries.at(-1)?.isIntersecting ?? false;
      this.look();
    });
    sight.observe(this.paneEl);
    doc.addEventListener(
      "visibilitychange",
      () => {
        this.look();
      },
      until,
    );
    // Elsewhere a smaller visual viewport is a reader who zoomed in.
    if (Platform.isMobile)
      win.visualViewport?.addEventListener(
        "resize",
        () => {
          this.fit();
        },
        until,
      );
    this.leaveWindow = (): void => {
      sight.disconnect();
      leaving.abort();
    };
  }

  private look(): void {
    const isSeen = this.isInSight && this.paneEl.doc.visibilityState === "visible";
    if (isSeen === this.isSeen) return;
    this.isSeen = isSeen;
    this.tellSeen(isSeen);
  }

  /** Keep the question box above an on-screen keyboard that covers the pane. */
  private fit(): void {
    const viewport = this.paneEl.doc.defaultView?.visualViewport;
    if (!viewport) return;
    const covered = this.paneEl.getBoundingClientRect().bottom - (viewport.offsetTop + viewport.height);
    this.paneEl.setCssProps({ "--vault-ask-keyboard": `${Math.max(0, Math.round(covered))}px` });
  }
}

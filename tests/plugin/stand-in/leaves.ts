// Leaves and the splits that hold them: the main area, the two sides, and windows of their own.
import type { App } from "./app";
import { installDom, tellMigrated } from "./dom";
import { Events } from "./events";
import type { HoverPopover } from "./popover";
import type { TFile } from "./vault";
import { DeferredView, EmptyView, MarkdownView, type View } from "./views";

let made = 0;

/** A place with tabs. */
export class WorkspaceItem extends Events {
  constructor(
    public benchParent: WorkspaceItem | null,
    readonly benchEl: HTMLElement,
  ) {
    super();
  }

  /** What holds this item; asked of what something holds. */
  get parent(): WorkspaceItem {
    if (this.benchParent === null) throw new Error("this item of the workspace is held by none");
    return this.benchParent;
  }

  getRoot(): WorkspaceItem {
    return this.benchParent?.getRoot() ?? this;
  }

  getContainer(): WorkspaceContainer {
    return this.getRoot() as WorkspaceContainer;
  }
}

/** What fills a window, or a part of the main one. */
export class WorkspaceContainer extends WorkspaceItem {
  get doc(): Document {
    return this.benchEl.doc;
  }

  get win(): Window {
    return this.benchEl.win;
  }
}

export class WorkspaceSidedock extends WorkspaceItem {
  collapsed = true;

  /** The sides are in the main window. */
  override getContainer(): WorkspaceContainer {
    return window.bench.app.workspace.rootSplit;
  }

  expand(): void {
    this.collapsed = false;
    this.benchEl.removeClass("is-collapsed");
  }

  collapse(): void {
    this.collapsed = true;
    this.benchEl.addClass("is-collapsed");
  }

  toggle(): void {
    if (this.collapsed) this.expand();
    else this.collapse();
  }
}

/** A window of its own, with the app's styles and helpers. */
export function openWindow(app: App): WorkspaceContainer {
  const opened = window.open("about:blank", "_blank", "popup,width=420,height=700");
  if (!opened) throw new Error("the browser opened no window");
  const target = opened as Window & typeof globalThis;
  installDom(target);
  for (const style of document.head.querySelectorAll("style")) opened.document.head.append(style.cloneNode(true));
  opened.document.documentElement.lang = "en";
  opened.document.body.className = `${document.body.className} is-popout-window`;
  const holder = new WorkspaceContainer(null, opened.document.body.createDiv("workspace mod-root"));
  opened.addEventListener("pagehide", () => app.workspace.trigger("window-close", holder, opened));
  app.benchListen(opened);
  app.workspace.trigger("window-open", holder, opened);
  return holder;
}

export interface ViewState {
  type: string;
  state?: Record<string, unknown>;
  active?: boolean;
}

export class WorkspaceLeaf extends WorkspaceItem {
  readonly benchId = `leaf-${made++}`;
  view: View;
  hoverPopover: HoverPopover | null = null;
  private state: ViewState = { type: "empty" };

  constructor(
    readonly benchApp: App,
    parent: WorkspaceItem,
  ) {
    super(parent, parent.benchEl.createDiv({ cls: "workspace-leaf", attr: { "data-leaf": `leaf-${made}` } }));
    this.view = new EmptyView(this);
    this.benchEl.appendChild(this.view.containerEl);
    const active = () => benchApp.workspace.setActiveLeaf(this);
    this.benchEl.addEventListener("mousedown", active, true);
    this.benchEl.addEventListener("focusin", active);
  }

  get isDeferred(): boolean {
    return this.view instanceof DeferredView;
  }

  getViewState(): ViewState {
    return { type: this.view.getViewType(), state: this.view.getState() };
  }

  getDisplayText(): string {
    return this.view.getDisplayText();
  }

  getIcon(): string {
    return this.view.getIcon();
  }

  /** Show another view. A tab in the background is deferred: its view is made when it is revealed. */
  async setViewState(state: ViewState, ephemeral?: unknown): Promise<void> {
    this.state = state;
    const seen = state.active === true || this.benchShown();
    await this.benchShow(seen ? this.benchMake(state.type) : new DeferredView(this, state.type));
    if (seen) await this.benchFill(ephemeral);
    if (state.active) this.benchApp.workspace.setActiveLeaf(this, { focus: true });
  }

  async loadIfDeferred(): Promise<void> {
    if (!this.isDeferred) return;
    await this.benchShow(this.benchMake(this.state.type));
    await this.benchFill();
  }

  async openFile(file: TFile, how?: { eState?: Record<string, unknown>; active?: boolean }): Promise<void> {
    if (!(this.view instanceof MarkdownView)) await this.benchShow(new MarkdownView(this));
    await (this.view as MarkdownView).benchLoad(file);
    if (how?.active !== false) this.benchApp.workspace.setActiveLeaf(this, { focus: true });
    if (how?.eState) this.view.setEphemeralState(how.eState);
    this.benchApp.workspace.benchFileOpened();
  }

  async open(view: View): Promise<View> {
    await this.benchShow(view);
    return view;
  }

  setEphemeralState(state: unknown): void {
    this.view.setEphemeralState(state);
  }

  getEphemeralState(): unknown {
    return this.view.getEphemeralState();
  }

  detach(): void {
    void this.view.benchClose();
    this.benchEl.detach();
    this.benchApp.workspace.benchForget(this);
  }

  benchShown(): boolean {
    return this.parent instanceof WorkspaceSidedock
      ? !this.parent.collapsed && this.benchEl.hasClass("is-shown")
      : true;
  }

  benchMove(to: WorkspaceItem): void {
    this.benchParent = to;
    to.benchEl.appendChild(to.benchEl.doc.adoptNode(this.benchEl));
    tellMigrated(this.benchEl);
  }

  private benchMake(type: string): View {
    const make = this.benchApp.benchViews.get(type);
    if (make) return make(this);
    return type === "markdown" ? new MarkdownView(this) : new DeferredView(this, type);
  }

  private async benchShow(view: View): Promise<void> {
    await this.view.benchClose();
    this.view = view;
    await view.benchOpen(this.benchEl);
    this.benchApp.workspace.trigger("layout-change");
  }

  private async benchFill(ephemeral?: unknown): Promise<void> {
    await this.view.setState(this.state.state ?? {}, { history: false });
    if (ephemeral) this.view.setEphemeralState(ephemeral);
  }
}

// The workspace: which leaves there are, which is active, and how links open.
import type { PaneType, Side } from "obsidian";
import type { App } from "./app";
import { debounce } from "./debounce";
import { Events } from "./events";
import { openWindow, WorkspaceContainer, type WorkspaceItem, WorkspaceLeaf, WorkspaceSidedock } from "./leaves";
import { previewLink, type HoverLink } from "./popover";
import { parseLinktext, type TFile } from "./vault";
import { FileView, MarkdownView, type View } from "./views";

/** What openLinkText was asked, and where it landed. */
export interface OpenedLink {
  linktext: string;
  sourcePath: string;
  newLeaf: PaneType | boolean;
  path: string;
  line: number;
  created: boolean;
}

export class Workspace extends Events {
  activeLeaf: WorkspaceLeaf | null = null;
  layoutReady = false;
  containerEl = document.body.createDiv("workspace");
  leftSplit = new WorkspaceSidedock(null, this.containerEl.createDiv("workspace-split mod-left-split is-collapsed"));
  rootSplit = new WorkspaceContainer(null, this.containerEl.createDiv("workspace-split mod-root"));
  rightSplit = new WorkspaceSidedock(null, this.containerEl.createDiv("workspace-split mod-right-split is-collapsed"));
  requestSaveLayout = debounce(() => Promise.resolve(this.benchSaveLayout()), 500);
  readonly benchOpened: OpenedLink[] = [];
  readonly benchSources = new Map<string, { display: string; defaultMod: boolean }>();
  private leaves: WorkspaceLeaf[] = [];
  private recent: WorkspaceLeaf[] = [];
  private openFile: TFile | null = null;
  private waiting: (() => unknown)[] = [];

  constructor(private readonly app: App) {
    super();
  }

  onLayoutReady(callback: () => unknown): void {
    if (this.layoutReady) callback();
    else this.waiting.push(callback);
  }

  benchReady(): void {
    this.layoutReady = true;
    for (const callback of this.waiting.splice(0)) callback();
  }

  override trigger(name: string, ...data: unknown[]): void {
    super.trigger(name, ...data);
    if (name === "hover-link") previewLink(this.app, this.benchSources, data[0] as HoverLink);
  }

  get activeEditor(): MarkdownView | null {
    return this.activeLeaf?.view instanceof MarkdownView ? this.activeLeaf.view : null;
  }

  getActiveViewOfType<T extends View>(type: abstract new (...given: never[]) => T): T | null {
    return this.activeLeaf?.view instanceof type ? this.activeLeaf.view : null;
  }

  /** The file of the active view, or of the one that was active before a side view was. */
  getActiveFile(): TFile | null {
    const withFile = this.recent.find((leaf) => leaf.view instanceof FileView);
    return (withFile?.view as FileView | undefined)?.file ?? null;
  }

  getMostRecentLeaf(root: WorkspaceItem = this.rootSplit): WorkspaceLeaf | null {
    return (
      this.recent.find((leaf) => leaf.getRoot() === root) ?? this.leaves.find((leaf) => leaf.getRoot() === root) ?? null
    );
  }

  getLeavesOfType(type: string): WorkspaceLeaf[] {
    return this.leaves.filter((leaf) => leaf.view.getViewType() === type);
  }

  iterateAllLeaves(callback: (leaf: WorkspaceLeaf) => unknown): void {
    this.leaves.slice().forEach(callback);
  }

  iterateRootLeaves(callback: (leaf: WorkspaceLeaf) => unknown): void {
    this.leaves.filter((leaf) => leaf.getRoot() === this.rootSplit).forEach(callback);
  }

  detachLeavesOfType(type: string): void {
    for (const leaf of this.getLeavesOfType(type)) leaf.detach();
  }

  setActiveLeaf(leaf: WorkspaceLeaf, how?: { focus?: boolean } | boolean, focus?: boolean): void {
    if ((typeof how === "object" ? how.focus : focus) && leaf.view instanceof MarkdownView) leaf.view.editor.focus();
    this.recent = [leaf, ...this.recent.filter((other) => other !== leaf)];
    const view = leaf.benchEl.win as Window & typeof globalThis;
    Object.assign(window, { activeWindow: view, activeDocument: view.document });
    if (this.activeLeaf === leaf) return;
    this.activeLeaf = leaf;
    this.trigger("active-leaf-change", leaf);
    this.benchFileOpened();
  }

  /** What the app keeps of the layout: it may be synced, so no words of the user's belong into it. */
  benchSaveLayout(): void {
    const states = this.leaves.map((leaf) => leaf.getViewState());
    window.localStorage.setItem("bench-layout", JSON.stringify(states));
  }

  benchFileOpened(): void {
    const file = this.getActiveFile();
    if (file === this.openFile) return;
    this.openFile = file;
    this.trigger("file-open", file);
  }

  benchForget(leaf: WorkspaceLeaf): void {
    this.leaves = this.leaves.filter((other) => other !== leaf);
    this.recent = this.recent.filter((other) => other !== leaf);
    if (this.activeLeaf === leaf) this.activeLeaf = this.recent[0] ?? null;
    this.trigger("layout-change");
  }

  getLeaf(newLeaf?: PaneType | boolean): WorkspaceLeaf {
    if (newLeaf === "window") return this.openPopoutLeaf();
    const present = this.getMostRecentLeaf();
    return present && !newLeaf ? present : this.benchAdd(this.rootSplit);
  }

  openPopoutLeaf(): WorkspaceLeaf {
    return this.benchAdd(openWindow(this.app));
  }

  moveLeafToPopout(leaf: WorkspaceLeaf): WorkspaceContainer {
    const holder = openWindow(this.app);
    leaf.benchMove(holder);
    return holder;
  }

  /** The side's leaf of that type, made when there is none; shown unless `reveal` is false. */
  async ensureSideLeaf(
    type: string,
    side: Side,
    how: { active?: boolean; split?: boolean; reveal?: boolean; state?: Record<string, unknown> } = {},
  ): Promise<WorkspaceLeaf> {
    const dock = side === "right" ? this.rightSplit : this.leftSplit;
    const present = this.getLeavesOfType(type)[0];
    const leaf = present ?? this.benchAdd(dock);
    if (!present) await leaf.setViewState({ type, state: how.state ?? {} });
    if (how.reveal !== false) await this.revealLeaf(leaf);
    if (how.active) this.setActiveLeaf(leaf, { focus: true });
    return leaf;
  }

  async revealLeaf(leaf: WorkspaceLeaf): Promise<void> {
    if (leaf.parent instanceof WorkspaceSidedock) {
      leaf.parent.expand();
      for (const other of this.leaves) other.benchEl.toggleClass("is-shown", other === leaf);
    }
    await leaf.loadIfDeferred();
  }

  async openLinkText(
    linktext: string,
    sourcePath: string,
    newLeaf: PaneType | boolean = false,
    how: { eState?: Record<string, unknown>; active?: boolean } = {},
  ): Promise<void> {
    const { path, subpath } = parseLinktext(linktext);
    const present = this.app.metadataCache.getFirstLinkpathDest(path, sourcePath);
    // A link to a note that is not there makes it: whoever opens links must look first.
    const file = present ?? (await this.app.vault.create(/\.\w+$/.test(path) ? path : `${path}.md`, ""));
    const leaf = this.getLeaf(newLeaf);
    await leaf.openFile(file, { ...how, eState: { ...(subpath ? { subpath } : {}), ...how.eState } });
    const line = leaf.view instanceof MarkdownView ? leaf.view.editor.getCursor().line : 0;
    this.benchOpened.push({ linktext, sourcePath, newLeaf, path: file.path, line, created: !present });
  }

  benchAdd(parent: WorkspaceItem): WorkspaceLeaf {
    const leaf = new WorkspaceLeaf(this.app, parent);
    this.leaves.push(leaf);
    return leaf;
  }
}

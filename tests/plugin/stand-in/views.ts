// Views: what a leaf shows.
import type { App } from "./app";
import { Editor } from "./editor";
import { Component } from "./events";
import { setIcon, setTooltip } from "./icons";
import type { Scope } from "./keys";
import type { HoverPopover } from "./popover";
import type { TFile } from "./vault";
import type { WorkspaceLeaf } from "./leaves";

export abstract class View extends Component {
  app: App;
  icon = "file";
  navigation = false;
  scope: Scope | null = null;
  containerEl: HTMLElement = createDiv("workspace-leaf-content");

  constructor(public leaf: WorkspaceLeaf) {
    super();
    this.app = leaf.benchApp;
  }

  abstract getViewType(): string;
  abstract getDisplayText(): string;

  getIcon(): string {
    return this.icon;
  }

  protected async onOpen(): Promise<void> {}

  protected async onClose(): Promise<void> {}

  getState(): Record<string, unknown> {
    return {};
  }

  async setState(state: unknown, result: { history: boolean }): Promise<void> {
    // What a view without a state of its own is given is nothing to it.
    void [state, result];
    await Promise.resolve();
  }

  getEphemeralState(): Record<string, unknown> {
    return {};
  }

  setEphemeralState(state: unknown): void {
    void state;
  }

  onResize(): void {}

  async benchOpen(into: HTMLElement): Promise<void> {
    this.containerEl.dataset.type = this.getViewType();
    into.appendChild(this.containerEl);
    this.load();
    await this.onOpen();
  }

  async benchClose(): Promise<void> {
    await this.onClose();
    this.unload();
    this.containerEl.detach();
  }
}

export abstract class ItemView extends View {
  contentEl: HTMLElement;
  private readonly actionsEl: HTMLElement;

  constructor(leaf: WorkspaceLeaf) {
    super(leaf);
    const header = this.containerEl.createDiv("view-header");
    header.createDiv("view-header-title-container").createDiv("view-header-title");
    this.actionsEl = header.createDiv("view-actions");
    this.contentEl = this.containerEl.createDiv("view-content");
  }

  addAction(icon: string, title: string, callback: (event: MouseEvent) => unknown): HTMLElement {
    const button = this.actionsEl.createEl("button", "clickable-icon view-action");
    setIcon(button, icon);
    setTooltip(button, title);
    button.addEventListener("click", callback);
    return button;
  }
}

/** A tab that was not looked at yet holds this in place of its view. */
export class DeferredView extends View {
  constructor(
    leaf: WorkspaceLeaf,
    private readonly type: string,
  ) {
    super(leaf);
  }

  getViewType(): string {
    return this.type;
  }

  getDisplayText(): string {
    return this.type;
  }
}

export class EmptyView extends ItemView {
  getViewType(): string {
    return "empty";
  }

  getDisplayText(): string {
    return "New tab";
  }
}

export abstract class FileView extends ItemView {
  allowNoFile = false;
  file: TFile | null = null;
  override navigation = true;

  getDisplayText(): string {
    return this.file?.basename ?? "";
  }

  override getState(): Record<string, unknown> {
    return { file: this.file?.path ?? null };
  }
}

/** A note in its editor. */
export class MarkdownView extends FileView {
  editor: Editor;
  hoverPopover: HoverPopover | null = null;
  private readonly area: HTMLTextAreaElement;

  constructor(leaf: WorkspaceLeaf) {
    super(leaf);
    this.area = this.contentEl.createEl("textarea", { cls: "bench-editor", attr: { "aria-label": "Note" } });
    this.editor = new Editor(this.area);
    this.area.addEventListener("input", () => void this.save());
  }

  getViewType(): string {
    return "markdown";
  }

  getMode(): "source" | "preview" {
    return "source";
  }

  getViewData(): string {
    return this.area.value;
  }

  async benchLoad(file: TFile): Promise<void> {
    this.file = file;
    this.area.value = await this.app.vault.read(file);
    this.area.setSelectionRange(0, 0);
  }

  /** Go to a line: `{line}` counts from 0, `{subpath}` names a heading or a block. */
  override setEphemeralState(state: unknown): void {
    const { line, subpath } = (state ?? {}) as { line?: number; subpath?: string };
    const at = line ?? (this.file && subpath ? this.app.metadataCache.benchLineOf(this.file, subpath) : null);
    if (typeof at !== "number") return;
    this.editor.setCursor(at, 0);
    this.editor.scrollIntoView({ from: { line: at, ch: 0 }, to: { line: at, ch: 0 } });
  }

  override getEphemeralState(): Record<string, unknown> {
    return { line: this.editor.getCursor().line };
  }

  async save(): Promise<void> {
    if (this.file) await this.app.vault.modify(this.file, this.area.value);
    this.app.workspace.trigger("editor-change", this.editor, this);
  }
}

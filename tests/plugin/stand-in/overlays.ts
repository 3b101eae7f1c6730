// What lies over the window: notices, menus, modals.
import type { App } from "./app";
import { Component } from "./events";
import { setIcon } from "./icons";
import { Scope } from "./keys";

export class Notice {
  messageEl: HTMLElement;
  containerEl: HTMLElement;
  noticeEl: HTMLElement;

  constructor(message: string | DocumentFragment, duration?: number) {
    const doc = window.activeDocument;
    const holder = doc.body.find(".notice-container") ?? doc.body.createDiv("notice-container");
    this.containerEl = this.noticeEl = holder.createDiv("notice");
    this.messageEl = this.noticeEl.createDiv({ cls: "notice-message", text: message });
    this.noticeEl.addEventListener("click", () => this.hide());
    if (duration !== 0) window.setTimeout(() => this.hide(), duration ?? 5000);
  }

  setMessage(message: string | DocumentFragment): this {
    this.messageEl.setText(message);
    return this;
  }

  hide(): void {
    const holder = this.noticeEl.parentElement;
    this.noticeEl.remove();
    if (holder?.childElementCount === 0) holder.remove();
  }
}

export class MenuItem {
  benchClick: ((event: MouseEvent | KeyboardEvent) => unknown) | null = null;
  private readonly iconEl: HTMLElement;
  private readonly titleEl: HTMLElement;

  constructor(private readonly dom: HTMLElement) {
    this.iconEl = dom.createDiv("menu-item-icon");
    this.titleEl = dom.createDiv("menu-item-title");
  }

  setTitle(title: string | DocumentFragment): this {
    this.titleEl.setText(title);
    return this;
  }

  setIcon(icon: string | null): this {
    if (icon) setIcon(this.iconEl, icon);
    return this;
  }

  setChecked(checked: boolean | null): this {
    this.dom.toggleClass("mod-checked", checked === true);
    return this;
  }

  setDisabled(disabled: boolean): this {
    this.dom.toggleClass("is-disabled", disabled);
    return this;
  }

  setWarning(warning: boolean): this {
    this.dom.toggleClass("is-warning", warning);
    return this;
  }

  setIsLabel(label: boolean): this {
    this.dom.toggleClass("is-label", label);
    return this;
  }

  setSection(section: string): this {
    this.dom.dataset.section = section;
    return this;
  }

  onClick(callback: (event: MouseEvent | KeyboardEvent) => unknown): this {
    this.benchClick = callback;
    return this;
  }
}

export class Menu extends Component {
  private readonly dom = createDiv("menu");
  private hidden: (() => unknown) | null = null;

  addItem(fill: (item: MenuItem) => unknown): this {
    const dom = this.dom.createDiv("menu-item tappable");
    const item = new MenuItem(dom);
    fill(item);
    dom.addEventListener("click", (event) => {
      if (dom.hasClass("is-disabled")) return;
      this.hide();
      item.benchClick?.(event);
    });
    return this;
  }

  addSeparator(): this {
    this.dom.createDiv("menu-separator");
    return this;
  }

  setNoIcon(): this {
    this.dom.addClass("mod-no-icon");
    return this;
  }

  showAtMouseEvent(event: MouseEvent): this {
    return this.showAtPosition({ x: event.clientX, y: event.clientY }, event.doc);
  }

  showAtPosition(position: { x: number; y: number }, doc: Document = window.activeDocument): this {
    doc.body.appendChild(this.dom);
    const x = Math.min(position.x, doc.documentElement.clientWidth - this.dom.offsetWidth - 4);
    this.dom.setCssStyles({ left: `${x}px`, top: `${position.y}px` });
    const away = (event: Event) => {
      if (!this.dom.contains(event.target as Node)) this.hide();
    };
    doc.addEventListener("mousedown", away);
    this.register(() => doc.removeEventListener("mousedown", away));
    this.load();
    return this;
  }

  onHide(callback: () => unknown): void {
    this.hidden = callback;
  }

  hide(): this {
    this.unload();
    this.dom.remove();
    this.hidden?.();
    return this;
  }

  close(): void {
    this.hide();
  }

  static forEvent(event: MouseEvent): Menu {
    const menu = new Menu();
    window.setTimeout(() => menu.showAtMouseEvent(event));
    return menu;
  }
}

export class Modal {
  scope = new Scope();
  containerEl = createDiv("modal-container mod-dim");
  modalEl = this.containerEl.createDiv("modal");
  titleEl = this.modalEl.createDiv("modal-title");
  contentEl = this.modalEl.createDiv("modal-content");
  shouldRestoreSelection = true;

  constructor(public app: App) {
    this.modalEl.setAttrs({ role: "dialog", "aria-modal": "true" });
    this.modalEl
      .createDiv({ cls: "modal-close-button", attr: { "aria-label": "Close" } })
      .onClickEvent(() => this.close());
    this.containerEl.addEventListener("mousedown", (event) => {
      if (event.target === this.containerEl) this.close();
    });
    this.scope.register([], "Escape", () => {
      this.close();
      return false;
    });
  }

  setTitle(title: string): this {
    this.titleEl.setText(title);
    return this;
  }

  setContent(content: string | DocumentFragment): this {
    this.contentEl.setText(content);
    return this;
  }

  open(): void {
    window.activeDocument.body.appendChild(this.containerEl);
    this.app.keymap.pushScope(this.scope);
    void this.onOpen();
  }

  close(): void {
    if (!this.containerEl.isConnected) return;
    this.app.keymap.popScope(this.scope);
    this.containerEl.remove();
    this.onClose();
  }

  onOpen(): void | Promise<void> {}

  onClose(): void {}
}

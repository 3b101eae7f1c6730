// The helpers that Obsidian puts on every window's DOM prototypes and globals.
import type {} from "obsidian";

type Info = DomElementInfo | string | undefined;
type Prototype = Record<string, unknown>;

/** Put the helpers on a window: the app's, or a popped-out one, whose classes are its own. */
export function installDom(target: Window & typeof globalThis): void {
  define(target.Node.prototype, nodeHelpers, nodeGetters);
  define(target.Element.prototype, elementHelpers, {});
  define(target.DocumentFragment.prototype, { find: elementHelpers.find, findAll: elementHelpers.findAll }, {});
  define(target.HTMLElement.prototype, htmlHelpers, {});
  define(
    target.SVGElement.prototype,
    { setCssStyles: htmlHelpers.setCssStyles, setCssProps: htmlHelpers.setCssProps },
    {},
  );
  define(
    target.UIEvent.prototype,
    {},
    {
      doc: (event) => ((event as UIEvent).target as Node | null)?.ownerDocument ?? target.document,
      win: (event) => (event as UIEvent).view ?? target,
      targetNode: (event) => (event as UIEvent).target,
    },
  );
  define(target as never, globals(target), {});
  define(target.Array.prototype, arrayHelpers, {});
  define(target.String.prototype, { contains: String.prototype.includes }, {});
}

function define(prototype: object, methods: Prototype, getters: Record<string, (self: unknown) => unknown>): void {
  for (const [name, value] of Object.entries(methods)) {
    Object.defineProperty(prototype, name, { value, configurable: true, writable: true });
  }
  for (const [name, get] of Object.entries(getters)) {
    Object.defineProperty(prototype, name, {
      get(this: unknown) {
        return get(this);
      },
      configurable: true,
    });
  }
}

const nodeGetters = {
  doc: (self: unknown) => (self as Node).ownerDocument ?? (self as Document),
  win: (self: unknown) => ((self as Node).ownerDocument ?? (self as Document)).defaultView ?? window,
  constructorWin: (self: unknown) => ((self as Node).ownerDocument ?? (self as Document)).defaultView ?? window,
};

const nodeHelpers = {
  detach(this: Node) {
    this.parentNode?.removeChild(this);
  },
  empty(this: Node) {
    while (this.lastChild) this.removeChild(this.lastChild);
  },
  insertAfter(this: Node, node: Node, child: Node | null) {
    return this.insertBefore(node, child ? child.nextSibling : this.firstChild);
  },
  indexOf(this: Node, other: Node) {
    return Array.prototype.indexOf.call(this.childNodes, other);
  },
  setChildrenInPlace(this: Node, children: Node[]) {
    const kept = new Set(children);
    for (const child of [...this.childNodes]) if (!kept.has(child as Node)) child.remove();
    for (const child of children) this.appendChild(child);
  },
  appendText(this: Node, text: string) {
    this.appendChild(documentOf(this).createTextNode(text));
  },
  instanceOf(this: Node, type: { name: string }) {
    // True for the class of that name in whichever window the node lives.
    const theirs = (documentOf(this).defaultView as unknown as Record<string, unknown>)[type.name];
    return typeof theirs === "function" && this instanceof (theirs as new () => Node);
  },
  createEl(this: Node, tag: string, info?: Info, callback?: (el: HTMLElement) => void) {
    return make(documentOf(this), documentOf(this).createElement(tag), info, callback, this);
  },
  createDiv(this: Node, info?: Info, callback?: (el: HTMLElement) => void) {
    return this.createEl("div", info, callback);
  },
  createSpan(this: Node, info?: Info, callback?: (el: HTMLElement) => void) {
    return this.createEl("span", info, callback);
  },
  createSvg(this: Node, tag: string, info?: Info, callback?: (el: SVGElement) => void) {
    const el = documentOf(this).createElementNS("http://www.w3.org/2000/svg", tag);
    return make(documentOf(this), el as never, info, callback as never, this);
  },
};

function documentOf(node: Node): Document {
  return node.ownerDocument ?? (node as Document);
}

function make<T extends HTMLElement>(
  doc: Document,
  el: T,
  info: Info,
  callback: ((el: T) => void) | undefined,
  parent: Node | null,
): T {
  const how = typeof info === "string" ? { cls: info } : (info ?? {});
  if (how.cls) el.classList.add(...[how.cls].flat().flatMap((names) => names.split(" ").filter(Boolean)));
  if (how.text !== undefined) setText(el, how.text);
  if (how.attr) setAttrs(el, how.attr);
  if (how.title !== undefined) el.setAttribute("title", how.title);
  for (const name of ["value", "type", "placeholder", "href"] as const) {
    if (how[name] !== undefined) (el as unknown as Record<string, string>)[name] = how[name];
  }
  const into = how.parent ?? (parent === doc ? null : parent);
  if (into) into.insertBefore(el, how.prepend ? into.firstChild : null);
  callback?.(el);
  return el;
}

function setText(el: Element, text: string | DocumentFragment): void {
  el.replaceChildren(text);
}

function setAttrs(el: Element, attributes: Record<string, string | number | boolean | null>): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null) el.removeAttribute(name);
    else el.setAttribute(name, String(value));
  }
}

const elementHelpers = {
  getText(this: Element) {
    return this.textContent ?? "";
  },
  setText(this: Element, text: string | DocumentFragment) {
    setText(this, text);
  },
  addClass(this: Element, ...names: string[]) {
    this.classList.add(...names);
  },
  addClasses(this: Element, names: string[]) {
    this.classList.add(...names);
  },
  removeClass(this: Element, ...names: string[]) {
    this.classList.remove(...names);
  },
  removeClasses(this: Element, names: string[]) {
    this.classList.remove(...names);
  },
  toggleClass(this: Element, names: string | string[], on: boolean) {
    for (const name of [names].flat()) this.classList.toggle(name, on);
  },
  hasClass(this: Element, name: string) {
    return this.classList.contains(name);
  },
  setAttr(this: Element, name: string, value: string | number | boolean | null) {
    setAttrs(this, { [name]: value });
  },
  setAttrs(this: Element, attributes: Record<string, string | number | boolean | null>) {
    setAttrs(this, attributes);
  },
  getAttr(this: Element, name: string) {
    return this.getAttribute(name);
  },
  matchParent(this: Element, selector: string, last?: Element) {
    const found = this.closest(selector);
    return found && (!last || last.contains(found)) ? found : null;
  },
  getCssPropertyValue(this: Element, property: string, pseudo?: string) {
    return this.win.getComputedStyle(this, pseudo).getPropertyValue(property).trim();
  },
  isActiveElement(this: Element) {
    return this.doc.activeElement === this;
  },
  find(this: ParentNode, selector: string) {
    return this.querySelector(selector);
  },
  findAll(this: ParentNode, selector: string) {
    return [...this.querySelectorAll(selector)];
  },
  findAllSelf(this: Element, selector: string) {
    return [...(this.matches(selector) ? [this] : []), ...this.querySelectorAll(selector)];
  },
};

const migrations = new WeakMap<HTMLElement, Set<(win: Window) => void>>();

/** Tell those who asked that an element came to stand in another window. */
export function tellMigrated(root: HTMLElement): void {
  for (const el of [root, ...root.querySelectorAll<HTMLElement>("*")]) {
    for (const told of migrations.get(el) ?? []) told(el.win);
  }
}

const htmlHelpers = {
  show(this: HTMLElement) {
    this.style.display = "";
  },
  hide(this: HTMLElement) {
    this.style.display = "none";
  },
  toggle(this: HTMLElement, on: boolean) {
    this.style.display = on ? "" : "none";
  },
  toggleVisibility(this: HTMLElement, on: boolean) {
    this.style.visibility = on ? "" : "hidden";
  },
  isShown(this: HTMLElement) {
    return this.offsetParent !== null;
  },
  setCssStyles(this: HTMLElement, styles: Partial<CSSStyleDeclaration>) {
    Object.assign(this.style, styles);
  },
  setCssProps(this: HTMLElement, properties: Record<string, string>) {
    for (const [name, value] of Object.entries(properties)) this.style.setProperty(name, value);
  },
  onClickEvent(this: HTMLElement, listener: (event: MouseEvent) => void, options?: AddEventListenerOptions) {
    this.addEventListener("click", listener, options);
    this.addEventListener("auxclick", listener, options);
  },
  onWindowMigrated(this: HTMLElement, listener: (win: Window) => void) {
    const asked = migrations.get(this) ?? new Set();
    migrations.set(this, asked.add(listener));
    return () => void asked.delete(listener);
  },
  on(this: HTMLElement, type: string, selector: string, listener: (event: Event, target: HTMLElement) => void) {
    this.addEventListener(type, (event) => {
      const target = (event.target as Element | null)?.closest<HTMLElement>(selector);
      if (target && this.contains(target)) listener.call(this, event, target);
    });
  },
  trigger(this: HTMLElement, type: string) {
    this.dispatchEvent(new Event(type, { bubbles: true }));
  },
};

const arrayHelpers = {
  first(this: unknown[]) {
    return this[0];
  },
  last(this: unknown[]) {
    return this[this.length - 1];
  },
  contains(this: unknown[], value: unknown) {
    return this.includes(value);
  },
  remove(this: unknown[], value: unknown) {
    const at = this.indexOf(value);
    if (at >= 0) this.splice(at, 1);
  },
  unique(this: unknown[]) {
    return [...new Set(this)];
  },
};

function globals(target: Window & typeof globalThis): Prototype {
  const doc = target.document;
  return {
    createEl: (tag: string, info?: Info, callback?: (el: HTMLElement) => void) =>
      make(doc, doc.createElement(tag), info, callback, null),
    createDiv: (info?: Info, callback?: (el: HTMLElement) => void) =>
      make(doc, doc.createElement("div"), info, callback, null),
    createSpan: (info?: Info, callback?: (el: HTMLElement) => void) =>
      make(doc, doc.createElement("span"), info, callback, null),
    createFragment: (callback?: (el: DocumentFragment) => void) => {
      const fragment = doc.createDocumentFragment();
      callback?.(fragment);
      return fragment;
    },
    sleep: (ms: number) => new Promise((resolve) => target.setTimeout(resolve, ms)),
    nextFrame: () => new Promise((resolve) => target.requestAnimationFrame(resolve)),
    activeWindow: target,
    activeDocument: doc,
  };
}

// Events and Component: who is told, and what ends with whom.
import type { EventRef } from "obsidian";

type Callback = (...data: never[]) => unknown;

interface Ref extends EventRef {
  from: Events;
  name: string;
  callback: Callback;
  context: unknown;
}

/** References that were given out and not taken back, over all of the app; a plugin that unloaded leaves none. */
export const openRefs = new Set<EventRef>();

export class Events {
  private refs: Ref[] = [];

  on(name: string, callback: (...data: never[]) => unknown, context?: unknown): EventRef {
    const ref = { from: this, name, callback, context };
    this.refs.push(ref);
    openRefs.add(ref);
    return ref;
  }

  off(name: string, callback: (...data: never[]) => unknown): void {
    for (const ref of this.refs) if (ref.name === name && ref.callback === callback) this.offref(ref);
  }

  offref(ref: EventRef): void {
    openRefs.delete(ref);
    this.refs = this.refs.filter((other) => other !== ref);
  }

  trigger(name: string, ...data: unknown[]): void {
    for (const ref of this.refs.slice()) {
      if (ref.name === name) ref.callback.apply(ref.context, data as never[]);
    }
  }
}

/** What lives as long as something else: children, listeners and timers end with it. */
export class Component {
  private loaded = false;
  /** When onload has ended; the app waits for it with plugins. */
  benchLoaded = Promise.resolve();
  private children: Component[] = [];
  private ends: (() => unknown)[] = [];

  load(): void {
    if (this.loaded) return;
    this.loaded = true;
    this.benchLoaded = Promise.resolve(this.onload());
    for (const child of this.children.slice()) child.load();
  }

  onload(): void | Promise<void> {}

  unload(): void {
    if (!this.loaded) return;
    this.loaded = false;
    for (const child of this.children.splice(0).reverse()) child.unload();
    for (const end of this.ends.splice(0).reverse()) end();
    this.onunload();
  }

  onunload(): void {}

  addChild<T extends Component>(component: T): T {
    this.children.push(component);
    if (this.loaded) component.load();
    return component;
  }

  removeChild<T extends Component>(component: T): T {
    const at = this.children.indexOf(component);
    if (at >= 0) this.children.splice(at, 1);
    component.unload();
    return component;
  }

  register(end: () => unknown): void {
    this.ends.push(end);
  }

  registerEvent(ref: EventRef): void {
    this.register(() => (ref as Ref).from.offref(ref));
  }

  registerDomEvent(
    el: Window | Document | HTMLElement,
    type: string,
    callback: (event: never) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void {
    el.addEventListener(type, callback as EventListener, options);
    this.register(() => el.removeEventListener(type, callback as EventListener, options));
  }

  registerInterval(id: number): number {
    this.register(() => window.clearInterval(id));
    return id;
  }
}

// Small pieces of DOM and of timing that the parts of the pane are made of.
import { setIcon, type IconName } from "obsidian";

type Tags = HTMLElementTagNameMap;

/** Add an element; its classes are written without the plugin's name, which is put before each. */
export function add<K extends keyof Tags>(parent: Node, tag: K, cls: string, text = ""): Tags[K] {
  return parent.createEl(tag, { cls: cls.replace(/\S+/g, "vault-ask-$&"), text });
}

export function div(parent: Node, cls: string): HTMLElement {
  return add(parent, "div", cls);
}

/** Add words in whatever language and direction they are. */
export function words(parent: Node, tag: keyof Tags, cls: string, text: string): HTMLElement {
  const el = add(parent, tag, cls, text);
  el.dir = "auto";
  return el;
}

export function button(parent: Node, cls: string, text: string, act: () => void): HTMLButtonElement {
  const el = add(parent, "button", cls, text);
  el.type = "button";
  el.addEventListener("click", act);
  return el;
}

/** A button that shows an icon; Obsidian shows its label as a tooltip. */
export function iconButton(
  parent: Node,
  cls: string,
  icon: IconName,
  label: string,
  act: () => void,
): HTMLButtonElement {
  const el = button(parent, cls, "", act);
  el.addClass("clickable-icon");
  el.setAttr("aria-label", label);
  setIcon(el, icon);
  return el;
}

/** Add an icon that says nothing by itself. */
export function icon(parent: Node, name: IconName): void {
  const el = add(parent, "span", "icon");
  el.setAttr("aria-hidden", "true");
  setIcon(el, name);
}

/** Tells when something is another one than last time. */
export class Changes {
  private before: readonly unknown[] = [];

  /** Run `draw` unless each of `now` is the very same as the last time. */
  on(now: readonly unknown[], draw: () => void): void {
    const { before } = this;
    this.before = now;
    if (now.some((value, at) => at >= before.length || !Object.is(value, before[at]))) draw();
  }
}

/** Something to do in a while, once, however often it is asked for meanwhile. */
export class Later {
  private timer = 0;

  constructor(private readonly act: () => void) {}

  in(ms: number): void {
    this.cancel();
    this.timer = window.setTimeout(this.act, ms);
  }

  cancel(): void {
    window.clearTimeout(this.timer);
  }
}

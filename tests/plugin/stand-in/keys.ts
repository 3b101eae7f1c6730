// Keys, modifiers and what the app runs on.
import type { Modifier, PaneType, UserEvent } from "obsidian";

type Handler = (event: KeyboardEvent, context: { modifiers: string; key: string; vkey: string }) => boolean | void;

interface Registered {
  scope: Scope;
  modifiers: string | null;
  key: string | null;
  func: Handler;
}

export class Scope {
  private handlers: Registered[] = [];

  constructor(private readonly parent?: Scope) {}

  register(modifiers: Modifier[] | null, key: string | null, func: Handler): Registered {
    const handler = { scope: this, modifiers: modifiers && modifiers.map(plain).sort().join(","), key, func };
    this.handlers.push(handler);
    return handler;
  }

  unregister(handler: unknown): void {
    this.handlers = this.handlers.filter((other) => other !== handler);
  }

  /** Hand a key to the newest handler that wants it, else to the scope around this one. */
  benchHandle(event: KeyboardEvent): boolean {
    const modifiers = held(event).sort().join(",");
    for (const handler of this.handlers.slice().reverse()) {
      if (handler.key !== null && handler.key.toLowerCase() !== event.key.toLowerCase()) continue;
      if (handler.modifiers !== null && handler.modifiers !== modifiers) continue;
      if (handler.func(event, { modifiers, key: event.key, vkey: event.key }) === false) event.preventDefault();
      return true;
    }
    return this.parent?.benchHandle(event) ?? false;
  }
}

function plain(modifier: Modifier): string {
  return modifier === "Mod" ? "Ctrl" : modifier;
}

function held(event: MouseEvent | KeyboardEvent | TouchEvent): string[] {
  const names: [boolean, string][] = [
    [event.ctrlKey, "Ctrl"],
    [event.metaKey, "Meta"],
    [event.altKey, "Alt"],
    [event.shiftKey, "Shift"],
  ];
  return names.filter(([down]) => down).map(([, name]) => name);
}

/** Hands keys to the scope of the view one is in, or of the modal in front of it. */
export class Keymap {
  private readonly pushed: Scope[] = [];

  pushScope(scope: Scope): void {
    this.pushed.push(scope);
  }

  popScope(scope: Scope): void {
    const at = this.pushed.lastIndexOf(scope);
    if (at >= 0) this.pushed.splice(at, 1);
  }

  benchHandle(event: KeyboardEvent, view: Scope | null, app: Scope): boolean {
    return (this.pushed.at(-1) ?? view ?? app).benchHandle(event);
  }

  static isModifier(event: MouseEvent | TouchEvent | KeyboardEvent, modifier: Modifier): boolean {
    return held(event).includes(plain(modifier));
  }

  static isModEvent(event?: UserEvent | null): PaneType | boolean {
    if (!event) return false;
    const middle = "button" in event && event.button === 1;
    if (!middle && !Keymap.isModifier(event, "Mod")) return false;
    if (!event.altKey) return "tab";
    return event.shiftKey ? "window" : "split";
  }
}

export const Platform = {
  isDesktop: true,
  isDesktopApp: true,
  isMobile: false,
  isMobileApp: false,
  isIosApp: false,
  isAndroidApp: false,
  isPhone: false,
  isTablet: false,
  isMacOS: false,
  isWin: false,
  isLinux: true,
  isSafari: false,
  resourcePathPrefix: "app://local/",
};

/** Become a phone. */
export function becomePhone(): void {
  Object.assign(Platform, { isDesktop: false, isDesktopApp: false, isLinux: false });
  Object.assign(Platform, { isMobile: true, isMobileApp: true, isPhone: true, isAndroidApp: true });
}

// The page that hosts the plugin: makes the app, evaluates the built main.js as Obsidian does, and gives tests a handle.
import type { PluginManifest } from "obsidian";
import { App } from "./app";
import { installDom } from "./dom";
import { openRefs } from "./events";
import { unknownIcons } from "./icons";
import { becomePhone } from "./keys";
import { ran } from "./markdown";
import * as obsidian from "./obsidian";
import { Menu } from "./overlays";
import type { Plugin } from "./plugin";
import { strict } from "./strict";
import type { DiskChange, StoredFile } from "./vault";

export interface Start {
  files: StoredFile[];
  theme: "light" | "dark";
  phone: boolean;
  /** What data.json of the plugin holds. */
  data: string;
}

export interface PluginFiles {
  code: string;
  styles: string;
  manifest: PluginManifest;
}

/** What the page asks of the bench behind it. */
export type BridgeCall =
  | { to: "disk"; change: DiskChange }
  | { to: "saveData"; text: string }
  | {
      to: "request";
      request: { url: string; method?: string; body?: string | undefined; headers?: Record<string, string> };
    };

declare global {
  interface Window {
    bench: Bench;
    benchBridge(call: BridgeCall): Promise<unknown>;
    PWN?: unknown;
  }
}

/** What tests do to the app, and see of it. */
export class Bench {
  readonly app: App;
  readonly ran = ran;
  readonly unknownIcons = unknownIcons;
  plugin: Plugin | null = null;
  private styleEl: HTMLStyleElement | null = null;

  constructor(start: Start) {
    document.body.className = `theme-${start.theme} ${start.phone ? "is-mobile is-phone" : "mod-linux"}`;
    if (start.phone) becomePhone();
    this.app = strict("App", new App(start.files));
    this.app.benchData = start.data;
  }

  /** Evaluate main.js and load the plugin; gives the milliseconds that each took. */
  async enable(files: PluginFiles): Promise<{ evaluate: number; onload: number }> {
    const began = performance.now();
    const made = evaluate(files.code);
    const evaluated = performance.now();
    this.styleEl = document.head.createEl("style", { text: files.styles });
    this.plugin = new made(this.app, files.manifest);
    this.plugin.load();
    await this.plugin.benchLoaded;
    const loaded = performance.now();
    return { evaluate: evaluated - began, onload: loaded - evaluated };
  }

  disable(): void {
    this.plugin?.unload();
    this.plugin = null;
    this.styleEl?.remove();
  }

  /** Run a command as the palette does; false where it is not offered. */
  async command(id: string, checking = false): Promise<boolean> {
    const command = this.app.benchCommands.get(id);
    if (!command) throw new Error(`no command ${id}`);
    const view = this.app.workspace.getActiveViewOfType(obsidian.MarkdownView);
    if (command.editorCheckCallback || command.editorCallback) {
      if (!view) return false;
      const offered = command.editorCheckCallback?.(true, view.editor as never, view as never) ?? true;
      if (!offered || checking) return Boolean(offered);
      await (command.editorCallback ?? command.editorCheckCallback?.bind(command, false))?.(
        view.editor as never,
        view as never,
      );
      return true;
    }
    const offered = command.checkCallback?.(true) ?? true;
    if (!offered || checking) return Boolean(offered);
    await (command.checkCallback?.(false) ?? (command.callback?.() as unknown));
    return true;
  }

  async openNote(path: string, how: { line?: number } = {}): Promise<void> {
    const file = this.app.vault.getFileByPath(path);
    if (!file) throw new Error(`no note ${path}`);
    await this.app.workspace.getLeaf(false).openFile(file, { eState: how });
  }

  get editor() {
    const leaf = this.app.workspace.getMostRecentLeaf();
    if (!(leaf?.view instanceof obsidian.MarkdownView)) throw new Error("no note is open");
    return leaf.view.editor;
  }

  /** Show the menu that a right click on a note or in its editor would show. */
  menu(kind: "file-menu" | "editor-menu", path?: string): void {
    const menu = new Menu();
    const view = this.app.workspace.getMostRecentLeaf()?.view;
    if (kind === "file-menu")
      this.app.workspace.trigger(kind, menu, this.app.vault.getAbstractFileByPath(path ?? ""), "file-explorer");
    else this.app.workspace.trigger(kind, menu, this.editor, view);
    menu.showAtPosition({ x: 100, y: 100 });
  }

  /** Open an obsidian:// address. */
  async protocol(address: string): Promise<void> {
    const url = new URL(address);
    const handler = this.app.benchProtocol.get(url.hostname);
    if (!handler) throw new Error(`nobody handles obsidian://${url.hostname}`);
    await handler({ action: url.hostname, ...Object.fromEntries(url.searchParams) });
  }

  /** Show a plugin's settings, as the settings window does. */
  settings(id: string): void {
    const tab = this.app.benchTabs.get(id);
    if (!tab) throw new Error(`no settings of ${id}`);
    const modal = document.body.createDiv("modal-container mod-settings").createDiv("modal");
    tab.benchDisplay(modal.createDiv("vertical-tab-content-container"));
  }

  closeSettings(id: string): void {
    this.app.benchTabs.get(id)?.hide();
    document.body.find(".mod-settings")?.remove();
  }

  /** All that a plugin can leave behind, counted. */
  leftovers(): Record<string, number> {
    return {
      commands: this.app.benchCommands.size,
      views: this.app.benchViews.size,
      tabs: this.app.benchTabs.size,
      protocol: this.app.benchProtocol.size,
      sources: this.app.workspace.benchSources.size,
      events: openRefs.size,
      ribbon: this.app.benchRibbon.childElementCount,
      statusBar: this.app.benchStatusBar.childElementCount,
      leaves: this.app.workspace.getLeavesOfType("vault-ask").length,
      elements: document.querySelectorAll("[class*=vault-ask]").length,
      overlays: document.querySelectorAll(".menu, .modal-container, .popover, .notice").length,
      styles: document.head.querySelectorAll("style").length,
    };
  }
}

/** Evaluate a plugin's code with `require` in scope. Only `obsidian` can be required, as on phones. */
function evaluate(code: string): new (app: App, manifest: PluginManifest) => Plugin {
  const module = { exports: {} as Record<string, unknown> };
  const require = (name: string) => {
    if (name === "obsidian") return strict("obsidian", obsidian);
    throw new Error(`require("${name}"): only obsidian can be required, on phones there is nothing else`);
  };
  const run = window.eval(
    `(function anonymous(require,module,exports){${code}\n})\n//# sourceURL=plugin:vault-ask\n`,
  ) as (...given: unknown[]) => void;
  run(require, module, module.exports);
  const made = module.exports["default"] ?? module.exports;
  if (typeof made !== "function") throw new Error("main.js exports no plugin");
  return made as new (app: App, manifest: PluginManifest) => Plugin;
}

installDom(window);
Object.assign(window, { startBench: (start: Start) => (window.bench = new Bench(start)) });

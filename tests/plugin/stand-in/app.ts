// The app: one of everything.
import type { Command } from "obsidian";
import { Events } from "./events";
import { Keymap, Scope } from "./keys";
import type { WorkspaceLeaf } from "./leaves";
import type { PluginSettingTab } from "./settings";
import { strict } from "./strict";
import { FileManager, MetadataCache, Vault, type DiskChange, type StoredFile } from "./vault";
import type { View } from "./views";
import { Workspace } from "./workspace";

const APP_ID = "bench";

export class SecretStorage extends Events {
  setSecret(id: string, secret: string): void {
    if (!/^[a-z0-9-]+$/.test(id)) throw new Error("Secret ID must be lowercase alphanumeric with optional dashes");
    window.localStorage.setItem(`${APP_ID}-secret-${id}`, secret);
    this.trigger("change", id);
  }

  getSecret(id: string): string | null {
    return window.localStorage.getItem(`${APP_ID}-secret-${id}`);
  }

  listSecrets(): string[] {
    const before = `${APP_ID}-secret-`;
    return Object.keys(window.localStorage)
      .filter((key) => key.startsWith(before))
      .map((key) => key.slice(before.length));
  }
}

export class App {
  keymap = strict("Keymap", new Keymap());
  scope = strict("Scope", new Scope());
  vault: Vault;
  metadataCache: MetadataCache;
  fileManager: FileManager;
  secretStorage = strict("SecretStorage", new SecretStorage());
  workspace: Workspace;
  readonly benchCommands = new Map<string, Command>();
  readonly benchViews = new Map<string, (leaf: WorkspaceLeaf) => View>();
  readonly benchTabs = new Map<string, PluginSettingTab>();
  readonly benchProtocol = new Map<string, (given: Record<string, string>) => unknown>();
  readonly benchRibbon = document.body.createDiv("workspace-ribbon");
  readonly benchStatusBar = document.body.createDiv("status-bar");

  /** What data.json of the plugin holds. */
  benchData = "null";

  constructor(files: StoredFile[]) {
    const toDisk = (change: DiskChange) => window.benchBridge({ to: "disk", change }) as Promise<{ mtime: number }>;
    this.vault = strict("Vault", new Vault(files, toDisk));
    this.metadataCache = strict("MetadataCache", new MetadataCache(this.vault));
    this.fileManager = strict("FileManager", new FileManager(this.vault, this.metadataCache));
    this.workspace = strict("Workspace", new Workspace(strict("App", this)));
    this.benchListen(window);
  }

  isDarkMode(): boolean {
    return document.body.hasClass("theme-dark");
  }

  loadLocalStorage(key: string): unknown {
    return JSON.parse(window.localStorage.getItem(`${APP_ID}-${key}`) ?? "null") as unknown;
  }

  saveLocalStorage(key: string, data: unknown): void {
    if (data === null) window.localStorage.removeItem(`${APP_ID}-${key}`);
    else window.localStorage.setItem(`${APP_ID}-${key}`, JSON.stringify(data));
  }

  /** Hand keys of a window to the scopes, after the page's own listeners had them. */
  benchListen(target: Window): void {
    target.addEventListener("keydown", (event) => {
      if (!event.defaultPrevented)
        this.keymap.benchHandle(event, this.workspace.activeLeaf?.view.scope ?? null, this.scope);
    });
  }
}

// A plugin, and what it puts into the app: all of it goes when it is unloaded.
import type { Command, PluginManifest } from "obsidian";
import type { App } from "./app";
import { Component } from "./events";
import { setIcon, setTooltip } from "./icons";
import type { WorkspaceLeaf } from "./leaves";
import type { PluginSettingTab } from "./settings";
import type { View } from "./views";

export abstract class Plugin extends Component {
  settings?: unknown;

  constructor(
    public app: App,
    public manifest: PluginManifest,
  ) {
    super();
  }

  private enter<K, V>(into: Map<K, V>, key: K, value: V): void {
    if (into.has(key)) throw new Error(`${String(key)} is registered already`);
    into.set(key, value);
    this.register(() => into.delete(key));
  }

  addRibbonIcon(icon: string, title: string, callback: (event: MouseEvent) => unknown): HTMLElement {
    const button = this.app.benchRibbon.createDiv("clickable-icon side-dock-ribbon-action");
    setIcon(button, icon);
    setTooltip(button, title);
    button.addEventListener("click", callback);
    this.register(() => button.remove());
    return button;
  }

  addStatusBarItem(): HTMLElement {
    const item = this.app.benchStatusBar.createDiv("status-bar-item");
    this.register(() => item.remove());
    return item;
  }

  addCommand(command: Command): Command {
    const named = {
      ...command,
      id: `${this.manifest.id}:${command.id}`,
      name: `${this.manifest.name}: ${command.name}`,
    };
    this.enter(this.app.benchCommands, named.id, named);
    return named;
  }

  addSettingTab(tab: PluginSettingTab): void {
    this.enter(this.app.benchTabs, this.manifest.id, tab);
    tab.settingItems = tab.getSettingDefinitions();
  }

  registerView(type: string, make: (leaf: WorkspaceLeaf) => View): void {
    this.enter(this.app.benchViews, type, make);
    // The app closes the views of a plugin that goes, and keeps their places for when it comes back.
    this.register(() => {
      for (const leaf of this.app.workspace.getLeavesOfType(type)) leaf.detach();
    });
  }

  registerHoverLinkSource(id: string, info: { display: string; defaultMod: boolean }): void {
    this.enter(this.app.workspace.benchSources, id, info);
  }

  registerObsidianProtocolHandler(action: string, handler: (given: Record<string, string>) => unknown): void {
    this.enter(this.app.benchProtocol, action, handler);
  }

  async loadData(): Promise<unknown> {
    await Promise.resolve();
    return JSON.parse(this.app.benchData) as unknown;
  }

  async saveData(data: unknown): Promise<void> {
    this.app.benchData = JSON.stringify(data);
    await window.benchBridge({ to: "saveData", text: this.app.benchData });
  }

  onUserEnable(): void {}
}

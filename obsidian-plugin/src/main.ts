// The plugin's life: what it registers when it is loaded, and what it lets go of. All else is in the pane.
import { Plugin } from "obsidian";
import { Daemon } from "./client";
import { addWaysIn, openViews } from "./commands";
import { History } from "./history";
import { drawerOf, HOVER_SOURCE, Places, tokenOf, transport, VIEW_TYPE } from "./host";
import { AskSettingTab } from "./settings-tab";
import { DEFAULTS, readSettings, type Settings } from "./settings";
import { AskView } from "./view/ask-view";
import type { Desk } from "./view/desk";

/** Where the switch was left in this vault on this device. */
const PERSONAL = "vault-ask-personal";
/** The address that is in use on this device. */
const ADDRESS = "vault-ask-address";

export default class VaultAskPlugin extends Plugin implements Desk {
  override settings: Settings = DEFAULTS;
  readonly history = new History(drawerOf(this.app));
  readonly places = new Places(this.app, () => this.settings.openIn);
  readonly daemon = new Daemon(transport, () => ({
    address: this.address,
    token: tokenOf(this.app, this.settings.tokenSecret),
  }));

  override async onload(): Promise<void> {
    this.settings = readSettings(await this.loadData());
    if (this.keptAddress === null) this.useAddress();
    this.registerView(VIEW_TYPE, (leaf) => new AskView(leaf, this));
    this.registerHoverLinkSource(HOVER_SOURCE, { display: this.manifest.name, defaultMod: false });
    addWaysIn(this, this);
    this.addSettingTab(
      new AskSettingTab(this.app, this, this, {
        save: (settings) => this.save(settings),
        useAddress: () => {
          this.useAddress();
        },
      }),
    );
  }

  override onunload(): void {
    for (const view of openViews(this.app)) view.rest();
  }

  /** The settings were changed on another device, or by hand. */
  override async onExternalSettingsChange(): Promise<void> {
    this.settings = readSettings(await this.loadData());
    this.tellViews();
  }

  /**
   * An address that is half typed, or that came with synced settings, is not used before the settings were looked at
   * here: the token and the open note's path would go to whoever answers there.
   */
  useAddress(): void {
    this.app.saveLocalStorage(ADDRESS, this.settings.address);
    this.tellViews();
  }

  private get address(): string {
    return this.keptAddress ?? this.settings.address;
  }

  private get keptAddress(): string | null {
    const kept: unknown = this.app.loadLocalStorage(ADDRESS);
    return typeof kept === "string" ? kept : null;
  }

  personal(): boolean {
    const left: unknown = this.app.loadLocalStorage(PERSONAL);
    return typeof left === "boolean" ? left : this.settings.personalByDefault;
  }

  setPersonal(on: boolean): void {
    this.app.saveLocalStorage(PERSONAL, on);
    this.tellViews();
  }

  private async save(settings: Settings): Promise<void> {
    this.settings = settings;
    await this.saveData(settings);
    this.tellViews();
  }

  private tellViews(): void {
    for (const view of openViews(this.app)) view.settingsChanged();
  }
}

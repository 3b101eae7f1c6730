// The plugin's settings, as Obsidian draws and searches them.
import { PluginSettingTab, SecretComponent, type App, type Plugin } from "obsidian";
import type { Setting, SettingDefinition, SettingDefinitionItem } from "obsidian";
import { DaemonError, type Daemon } from "./client";
import { checkAddress, checkLanguage, checkSources, DEFAULTS, readSettings, type Settings } from "./settings";
import { ICON } from "./view/ask-view";
import type { Desk } from "./view/desk";
import { count, generatorOf } from "./view/words";

type Key = keyof Settings;

export class AskSettingTab extends PluginSettingTab {
  override icon = ICON;

  constructor(
    app: App,
    plugin: Plugin,
    private readonly desk: Desk,
    private readonly keeper: { save(settings: Settings): Promise<void>; useAddress(): void },
  ) {
    super(app, plugin);
  }

  override getSettingDefinitions(): SettingDefinitionItem<Key>[] {
    return [
      { type: "group", heading: "Daemon", items: [ADDRESS, this.token(), this.test()] },
      { type: "group", heading: "Answers", items: [PERSONAL, LANGUAGE, SOURCES, OPEN_IN] },
    ];
  }

  override getControlValue(key: string): unknown {
    const value = this.desk.settings[key as Key];
    // Text fields hold text; no number is an empty field.
    return key === "sources" ? String(value ?? "") : value;
  }

  override async setControlValue(key: string, value: unknown): Promise<void> {
    const typed = key !== "sources" ? value : value === "" ? null : Number(value);
    await this.keeper.save(readSettings({ ...this.desk.settings, [key]: typed }));
  }

  override hide(): void {
    super.hide();
    this.keeper.useAddress();
  }

  private token(): SettingDefinition<Key> {
    return {
      name: "Token",
      desc: "The daemon's VAULTASK_API_TOKEN. It stays in this device's secret storage.",
      render: (setting) => {
        setting.addComponent((el) =>
          new SecretComponent(this.app, el)
            .setValue(this.desk.settings.tokenSecret)
            .onChange((name) => this.setControlValue("tokenSecret", name)),
        );
      },
    };
  }

  private test(): SettingDefinition<Key> {
    return {
      name: "Connection",
      desc: "Check the address and the token.",
      render: (setting) => {
        setting.addButton((button) => button.setButtonText("Test connection").onClick(() => this.testInto(setting)));
      },
    };
  }

  private async testInto(setting: Setting): Promise<void> {
    this.keeper.useAddress();
    setting.setErrorMessage(null).setDesc("Asking…");
    const found = await lookAt(this.desk.daemon);
    if ("wrong" in found) setting.setErrorMessage(found.wrong).setDesc("");
    else setting.setDesc(found.said);
  }
}

const ADDRESS: SettingDefinition<Key> = {
  name: "Address",
  desc: "Where your daemon listens. The plugin talks to nothing else.",
  control: {
    type: "text",
    key: "address",
    placeholder: DEFAULTS.address,
    validate: (typed) => {
      const checked = checkAddress(typed);
      return "wrong" in checked ? checked.wrong : undefined;
    },
  },
};

const PERSONAL: SettingDefinition<Key> = {
  name: "Include personal notes by default",
  desc: "Where the switch starts. It stays as you leave it in each vault on this device.",
  control: { type: "toggle", key: "personalByDefault" },
};

const LANGUAGE: SettingDefinition<Key> = {
  name: "Language of answers",
  desc: "A tag such as en or pt-BR. Leave it empty for the language of the question.",
  control: {
    type: "text",
    key: "language",
    placeholder: "As the question",
    validate: (typed) => checkLanguage(typed) ?? undefined,
  },
};

const SOURCES: SettingDefinition<Key> = {
  name: "Number of sources",
  desc: "The most passages an answer may rest on, 1 to 50. Leave it empty for the daemon's choice.",
  control: {
    type: "text",
    key: "sources",
    placeholder: "As configured",
    validate: (typed) => checkSources(typed) ?? undefined,
  },
};

const OPEN_IN: SettingDefinition<Key> = {
  name: "Open citations in",
  desc: "Ctrl, Cmd or a middle click always opens a new tab.",
  control: {
    type: "dropdown",
    key: "openIn",
    options: { current: "The current tab", tab: "A new tab", split: "A split", window: "A new window" },
  },
};

/** A sentence on who answers at the daemon's address. */
async function lookAt(daemon: Daemon): Promise<{ said: string } | { wrong: string }> {
  try {
    const { version, vault, notes, generation, personal_allowed } = await daemon.status();
    const found = `Connected to vault-ask ${version}: ${count(notes, "note")} in ${vault.name}, answers by `;
    const never = personal_allowed ? "" : " It never includes personal notes.";
    return { said: `${found}${generatorOf(generation.generator)}.${never}` };
  } catch (error) {
    if (error instanceof DaemonError) return { wrong: error.message };
    throw error;
  }
}

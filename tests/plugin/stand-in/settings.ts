// Rows of settings, and tabs of them that are declared (Obsidian 1.13).
import type {
  SettingControl,
  SettingDefinition,
  SettingDefinitionGroup,
  SettingDefinitionItem,
  SettingDefinitionPage,
} from "obsidian";
import type { App } from "./app";
import {
  ButtonComponent,
  DisplayValueComponent,
  DropdownComponent,
  ExtraButtonComponent,
  SearchComponent,
  SliderComponent,
  TextAreaComponent,
  TextComponent,
  ToggleComponent,
  type BaseComponent,
} from "./controls";
import { setTooltip } from "./icons";
import type { Plugin } from "./plugin";

export class Setting {
  settingEl: HTMLElement;
  infoEl: HTMLElement;
  nameEl: HTMLElement;
  descEl: HTMLElement;
  controlEl: HTMLElement;
  errorEl: HTMLElement | null = null;
  components: BaseComponent[] = [];

  constructor(containerEl: HTMLElement) {
    this.settingEl = containerEl.createDiv("setting-item");
    this.infoEl = this.settingEl.createDiv("setting-item-info");
    this.nameEl = this.infoEl.createDiv("setting-item-name");
    this.descEl = this.infoEl.createDiv("setting-item-description");
    this.controlEl = this.settingEl.createDiv("setting-item-control");
  }

  private add<T extends BaseComponent>(component: T, fill: (component: T) => unknown): this {
    this.components.push(component);
    fill(component);
    return this;
  }

  setName(name: string | DocumentFragment): this {
    this.nameEl.setText(name);
    return this;
  }

  setDesc(desc: string | DocumentFragment): this {
    this.descEl.setText(desc);
    return this;
  }

  setClass(name: string): this {
    this.settingEl.addClass(name);
    return this;
  }

  setTooltip(tooltip: string): this {
    setTooltip(this.nameEl, tooltip);
    return this;
  }

  setHeading(): this {
    return this.setClass("setting-item-heading");
  }

  setDisabled(disabled: boolean): this {
    for (const component of this.components) component.setDisabled(disabled);
    this.settingEl.toggleClass("is-disabled", disabled);
    return this;
  }

  setErrorMessage(message: string | null): this {
    this.errorEl?.remove();
    this.errorEl = message
      ? this.infoEl.createDiv({ cls: "setting-item-error", text: message, attr: { role: "alert" } })
      : null;
    this.settingEl.toggleClass("is-invalid", message !== null);
    return this;
  }

  addButton(fill: (component: ButtonComponent) => unknown): this {
    return this.add(new ButtonComponent(this.controlEl), fill);
  }

  addExtraButton(fill: (component: ExtraButtonComponent) => unknown): this {
    return this.add(new ExtraButtonComponent(this.controlEl), fill);
  }

  addToggle(fill: (component: ToggleComponent) => unknown): this {
    return this.add(new ToggleComponent(this.controlEl), fill);
  }

  addText(fill: (component: TextComponent) => unknown): this {
    return this.add(new TextComponent(this.controlEl), fill);
  }

  addSearch(fill: (component: SearchComponent) => unknown): this {
    return this.add(new SearchComponent(this.controlEl), fill);
  }

  addTextArea(fill: (component: TextAreaComponent) => unknown): this {
    return this.add(new TextAreaComponent(this.controlEl), fill);
  }

  addDropdown(fill: (component: DropdownComponent) => unknown): this {
    return this.add(new DropdownComponent(this.controlEl), fill);
  }

  addSlider(fill: (component: SliderComponent) => unknown): this {
    return this.add(new SliderComponent(this.controlEl), fill);
  }

  addComponent<T extends BaseComponent>(make: (el: HTMLElement) => T): this {
    return this.add(make(this.controlEl), () => {});
  }

  addDisplayValue(fill: (component: DisplayValueComponent) => unknown): this {
    fill(new DisplayValueComponent(this.controlEl));
    return this;
  }

  // A method of Obsidian's, not a promise's.
  then(callback: (setting: this) => unknown): this {
    callback(this);
    return this;
  }

  clear(): this {
    this.controlEl.empty();
    this.components = [];
    return this;
  }
}

export class SettingGroup {
  listEl: HTMLElement;
  private readonly groupEl: HTMLElement;
  private heading: Setting | null = null;

  constructor(containerEl: HTMLElement) {
    this.groupEl = containerEl.createDiv("setting-group");
    this.listEl = this.groupEl.createDiv("setting-items");
  }

  setHeading(text: string | DocumentFragment): this {
    this.heading ??= new Setting(this.groupEl).setHeading();
    this.heading.setName(text);
    this.groupEl.prepend(this.heading.settingEl);
    return this;
  }

  addClass(...names: string[]): this {
    this.groupEl.addClass(...names);
    return this;
  }

  addSetting(fill: (setting: Setting) => void): this {
    fill(new Setting(this.listEl));
    return this;
  }

  addExtraButton(fill: (component: ExtraButtonComponent) => unknown): this {
    (this.heading ?? this.setHeading("").heading)?.addExtraButton(fill);
    return this;
  }
}

const given = <T>(value: T | (() => T) | undefined, otherwise: T): T =>
  value === undefined ? otherwise : typeof value === "function" ? (value as () => T)() : value;

export abstract class SettingTab {
  icon = "settings";
  containerEl = createDiv("vertical-tab-content");
  settingItems: SettingDefinitionItem[] = [];
  private states: (() => void)[] = [];
  private ends: (() => void)[] = [];

  constructor(public app: App) {}

  getSettingDefinitions(): SettingDefinitionItem[] {
    return [];
  }

  abstract getControlValue(key: string): unknown;
  abstract setControlValue(key: string, value: unknown): void | Promise<void>;

  update(): void {
    this.settingItems = this.getSettingDefinitions();
    if (this.containerEl.isConnected) this.benchRender();
  }

  refreshDomState(): void {
    for (const state of this.states) state();
  }

  display(): void {}

  hide(): void {
    for (const end of this.ends.splice(0)) end();
    this.containerEl.empty();
    this.containerEl.detach();
  }

  /** Show the tab as the settings window does: declared settings win over display(). */
  benchDisplay(into: HTMLElement): void {
    into.appendChild(this.containerEl);
    this.settingItems = this.getSettingDefinitions();
    if (this.settingItems.length > 0) this.benchRender();
    else this.display();
  }

  private benchRender(): void {
    for (const end of this.ends.splice(0)) end();
    this.states = [];
    this.containerEl.empty();
    let loose: SettingGroup | null = null;
    for (const item of this.settingItems) {
      if ("type" in item && (item.type === "group" || item.type === "list")) {
        loose = null;
        this.renderGroup(item);
      } else {
        loose ??= new SettingGroup(this.containerEl);
        this.renderItem(item as SettingDefinition | SettingDefinitionPage, loose);
      }
    }
    this.refreshDomState();
  }

  private renderGroup(item: SettingDefinitionGroup): void {
    const group = new SettingGroup(this.containerEl);
    if (item.heading) group.setHeading(item.heading);
    if (item.cls) group.addClass(item.cls);
    for (const fill of item.extraButtons ?? []) group.addExtraButton(fill as never);
    for (const inner of item.items ?? []) this.renderItem(inner, group);
    this.states.push(() => group.listEl.parentElement?.toggle(given(item.visible, true)));
  }

  private renderItem(item: SettingDefinition | SettingDefinitionPage, group: SettingGroup): void {
    if ("type" in item) return this.renderPage(item, group);
    group.addSetting((setting) => {
      setting.setName(item.name);
      if (item.desc) setting.setDesc(item.desc);
      this.states.push(() => setting.settingEl.toggle(given(item.visible, true)));
      if (item.render) {
        const end = item.render(setting as never, group as never);
        if (end) this.ends.push(end);
      } else if (item.action) {
        const { action } = item;
        setting.settingEl.setAttrs({ role: "button", tabindex: 0 });
        setting.settingEl.addEventListener("click", () => action(setting.settingEl, 0));
      } else if (item.control) {
        this.renderControl(setting, item.control);
      }
    });
  }

  private renderPage(item: SettingDefinitionPage, group: SettingGroup): void {
    group.addSetting((setting) => {
      setting.setName(item.name);
      if (item.desc) setting.setDesc(item.desc);
      setting.settingEl.addEventListener("click", () => {
        this.settingItems = item.items ?? [];
        this.benchRender();
      });
    });
  }

  /** Check a value before it is kept; what is wrong stands below the name, and the old value stays. */
  private renderControl(setting: Setting, control: SettingControl): void {
    const take = async (value: unknown) => {
      const wrong = await control.validate?.(value as never);
      setting.setErrorMessage(wrong || null);
      if (!wrong) await this.setControlValue(control.key, value);
      this.refreshDomState();
    };
    const stored = this.getControlValue(control.key) ?? control.defaultValue;
    showControl(setting, control, stored, (value) => void take(value));
    for (const input of setting.controlEl.findAll("input, textarea, select"))
      setTooltip(input, setting.nameEl.getText());
    this.states.push(() => setting.setDisabled(given(control.disabled, false)));
  }
}

function showControl(setting: Setting, control: SettingControl, stored: unknown, take: (value: unknown) => void): void {
  switch (control.type) {
    case "toggle":
      setting.addToggle((toggle) => toggle.setValue(stored === true).onChange(take));
      return;
    case "dropdown":
      setting.addDropdown((list) => list.addOptions(control.options).setValue(asText(stored)).onChange(take));
      return;
    case "slider":
      setting.addSlider((slider) =>
        slider.setLimits(control.min, control.max, control.step).setValue(Number(stored)).onChange(take),
      );
      return;
    case "textarea":
      setting.addTextArea((text) =>
        text
          .setPlaceholder(control.placeholder ?? "")
          .setValue(asText(stored))
          .onChange(take),
      );
      return;
    case "number":
      setting.addText((text) => {
        text.inputEl.type = "number";
        text.setPlaceholder(control.placeholder ?? "").setValue(asText(stored));
        // An empty number field is no number: Obsidian hands NaN on only if the field is left with one.
        text.onChange((value) => take(value === "" ? Number.NaN : Number(value)));
      });
      return;
    case "text":
      setting.addText((text) =>
        text
          .setPlaceholder(control.placeholder ?? "")
          .setValue(asText(stored))
          .onChange(take),
      );
      return;
    default:
      throw new Error(`a setting of type ${control.type} is not in the stand-in of Obsidian`);
  }
}

function asText(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

export abstract class PluginSettingTab extends SettingTab {
  constructor(
    app: App,
    private readonly plugin: Plugin,
  ) {
    super(app);
  }

  /** By default a control's value is read from, and written to, the plugin's `settings`. */
  getControlValue(key: string): unknown {
    return (this.plugin.settings as Record<string, unknown> | undefined)?.[key];
  }

  async setControlValue(key: string, value: unknown): Promise<void> {
    this.plugin.settings = { ...(this.plugin.settings as object), [key]: value };
    await this.plugin.saveData(this.plugin.settings);
  }
}

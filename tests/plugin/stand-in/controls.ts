// The controls of settings.
import type { App } from "./app";
import { setIcon, setTooltip } from "./icons";

export abstract class BaseComponent {
  disabled = false;

  // A method of Obsidian's, not a promise's.
  then(callback: (component: this) => unknown): this {
    callback(this);
    return this;
  }

  setDisabled(disabled: boolean): this {
    this.disabled = disabled;
    return this;
  }
}

export abstract class ValueComponent<T> extends BaseComponent {
  abstract getValue(): T;
  abstract setValue(value: T): this;
}

/** A component that tells of changes by hand; setting its value is none. */
abstract class Changeable<T> extends ValueComponent<T> {
  protected changed: ((value: T) => unknown) | null = null;

  onChange(callback: (value: T) => unknown): this {
    this.changed = callback;
    return this;
  }
}

export class AbstractTextComponent<T extends HTMLInputElement | HTMLTextAreaElement> extends Changeable<string> {
  constructor(public inputEl: T) {
    super();
    inputEl.addEventListener("input", () => this.onChanged());
  }

  override setDisabled(disabled: boolean): this {
    this.inputEl.disabled = disabled;
    return super.setDisabled(disabled);
  }

  getValue(): string {
    return this.inputEl.value;
  }

  setValue(value: string): this {
    this.inputEl.value = value;
    return this;
  }

  setPlaceholder(placeholder: string): this {
    this.inputEl.placeholder = placeholder;
    return this;
  }

  onChanged(): void {
    this.changed?.(this.getValue());
  }
}

export class TextComponent extends AbstractTextComponent<HTMLInputElement> {
  constructor(containerEl: HTMLElement) {
    super(containerEl.createEl("input", { type: "text", attr: { spellcheck: false } }));
  }
}

export class SearchComponent extends AbstractTextComponent<HTMLInputElement> {
  clearButtonEl: HTMLElement;

  constructor(containerEl: HTMLElement) {
    super(containerEl.createEl("input", { type: "search" }));
    this.clearButtonEl = containerEl.createDiv("search-input-clear-button");
  }
}

export class TextAreaComponent extends AbstractTextComponent<HTMLTextAreaElement> {
  constructor(containerEl: HTMLElement) {
    super(containerEl.createEl("textarea"));
  }
}

export class ToggleComponent extends Changeable<boolean> {
  toggleEl: HTMLElement;
  private readonly box: HTMLInputElement;

  constructor(containerEl: HTMLElement) {
    super();
    this.toggleEl = containerEl.createEl("label", "checkbox-container");
    this.box = this.toggleEl.createEl("input", { type: "checkbox" });
    this.box.addEventListener("change", () => {
      this.setValue(this.box.checked);
      this.changed?.(this.box.checked);
    });
  }

  override setDisabled(disabled: boolean): this {
    this.box.disabled = disabled;
    return super.setDisabled(disabled);
  }

  getValue(): boolean {
    return this.box.checked;
  }

  setValue(on: boolean): this {
    this.box.checked = on;
    this.toggleEl.toggleClass("is-enabled", on);
    return this;
  }

  setTooltip(tooltip: string): this {
    setTooltip(this.box, tooltip);
    return this;
  }

  onClick(): void {
    this.box.click();
  }
}

export class DropdownComponent extends Changeable<string> {
  selectEl: HTMLSelectElement;

  constructor(containerEl: HTMLElement) {
    super();
    this.selectEl = containerEl.createEl("select", "dropdown");
    this.selectEl.addEventListener("change", () => this.changed?.(this.getValue()));
  }

  override setDisabled(disabled: boolean): this {
    this.selectEl.disabled = disabled;
    return super.setDisabled(disabled);
  }

  addOption(value: string, display: string): this {
    this.selectEl.createEl("option", { value, text: display });
    return this;
  }

  addOptions(options: Record<string, string>): this {
    for (const [value, display] of Object.entries(options)) this.addOption(value, display);
    return this;
  }

  getValue(): string {
    return this.selectEl.value;
  }

  setValue(value: string): this {
    this.selectEl.value = value;
    return this;
  }
}

export class SliderComponent extends Changeable<number> {
  sliderEl: HTMLInputElement;

  constructor(containerEl: HTMLElement) {
    super();
    this.sliderEl = containerEl.createEl("input", { type: "range", cls: "slider" });
    this.sliderEl.addEventListener("change", () => this.changed?.(this.getValue()));
  }

  setLimits(min: number | null, max: number | null, step: number | "any"): this {
    if (min !== null) this.sliderEl.min = String(min);
    if (max !== null) this.sliderEl.max = String(max);
    this.sliderEl.step = String(step);
    return this;
  }

  getValue(): number {
    return Number(this.sliderEl.value);
  }

  setValue(value: number): this {
    this.sliderEl.value = String(value);
    return this;
  }

  setDynamicTooltip(): this {
    return this;
  }
}

export class ButtonComponent extends BaseComponent {
  buttonEl: HTMLButtonElement;

  constructor(containerEl: HTMLElement) {
    super();
    this.buttonEl = containerEl.createEl("button");
  }

  override setDisabled(disabled: boolean): this {
    this.buttonEl.disabled = disabled;
    return super.setDisabled(disabled);
  }

  setCta(): this {
    return this.setClass("mod-cta");
  }

  removeCta(): this {
    this.buttonEl.removeClass("mod-cta");
    return this;
  }

  setWarning(): this {
    return this.setClass("mod-warning");
  }

  setDestructive(): this {
    return this.setClass("mod-destructive");
  }

  setTooltip(tooltip: string): this {
    setTooltip(this.buttonEl, tooltip);
    return this;
  }

  setButtonText(name: string): this {
    this.buttonEl.setText(name);
    return this;
  }

  setIcon(icon: string): this {
    setIcon(this.buttonEl, icon);
    return this;
  }

  setClass(name: string): this {
    this.buttonEl.addClass(name);
    return this;
  }

  onClick(callback: (event: MouseEvent) => unknown): this {
    this.buttonEl.addEventListener("click", callback);
    return this;
  }
}

export class ExtraButtonComponent extends BaseComponent {
  extraSettingsEl: HTMLElement;

  constructor(containerEl: HTMLElement) {
    super();
    this.extraSettingsEl = containerEl.createDiv({
      cls: "clickable-icon extra-setting-button",
      attr: { role: "button" },
    });
    this.setIcon("settings");
  }

  setTooltip(tooltip: string): this {
    setTooltip(this.extraSettingsEl, tooltip);
    return this;
  }

  setIcon(icon: string): this {
    setIcon(this.extraSettingsEl, icon);
    return this;
  }

  onClick(callback: () => unknown): this {
    this.extraSettingsEl.addEventListener("click", callback);
    return this;
  }
}

/** Shows a value that is changed elsewhere. */
export class DisplayValueComponent {
  valueEl: HTMLElement;

  constructor(containerEl: HTMLElement) {
    this.valueEl = containerEl.createDiv("setting-item-display-value");
  }

  setValue(value: string | null): this {
    this.valueEl.setText(value ?? "");
    return this;
  }

  setStatus(status: "warning" | null): this {
    this.valueEl.toggleClass("mod-warning", status === "warning");
    return this;
  }
}

/** Lets one choose a secret by its name, or make one. Its value is the name; the secret never passes through it. */
export class SecretComponent extends BaseComponent {
  private readonly nameEl: HTMLSelectElement;
  private changed: ((value: string) => unknown) | null = null;

  constructor(
    private readonly app: App,
    containerEl: HTMLElement,
  ) {
    super();
    this.nameEl = containerEl.createEl("select", { cls: "dropdown", attr: { "aria-label": "Secret" } });
    this.fill("");
    this.nameEl.addEventListener("change", () => this.changed?.(this.nameEl.value));
  }

  private fill(value: string): void {
    this.nameEl.empty();
    for (const name of new Set(["", value, ...this.app.secretStorage.listSecrets()])) {
      this.nameEl.createEl("option", { value: name, text: name || "Choose a secret" });
    }
    this.nameEl.value = value;
  }

  setValue(value: string): this {
    this.fill(value);
    return this;
  }

  override setDisabled(disabled: boolean): this {
    this.nameEl.disabled = disabled;
    return super.setDisabled(disabled);
  }

  onChange(callback: (value: string) => unknown): this {
    this.changed = callback;
    return this;
  }
}

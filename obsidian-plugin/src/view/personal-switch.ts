// The switch "include personal notes", with its consequence in one line.
import type { StatusResponse } from "../wire";
import { add, button, div } from "./parts";

let made = 0;

export class PersonalSwitch {
  private readonly switchEl: HTMLButtonElement;
  private readonly lineEl: HTMLElement;

  constructor(parent: HTMLElement, lineParent: HTMLElement, onChange: (on: boolean) => void) {
    this.switchEl = button(parent, "personal", "", () => {
      onChange(!this.isChecked);
    });
    add(this.switchEl, "span", "track");
    add(this.switchEl, "span", "", "Include personal notes");
    this.lineEl = div(lineParent, "personal-line");
    this.lineEl.id = `vault-ask-personal-line-${++made}`;
    this.switchEl.setAttrs({ role: "switch", "aria-describedby": this.lineEl.id });
  }

  /** Whether personal notes are to be asked: what the switch shows, and what goes over the wire. */
  get isChecked(): boolean {
    return this.switchEl.getAttr("aria-checked") === "true";
  }

  show(isOn: boolean, status: StatusResponse | null): void {
    const isAllowed = status?.personal_allowed !== false;
    this.switchEl.disabled = !isAllowed;
    this.switchEl.setAttr("aria-checked", isOn && isAllowed);
    this.lineEl.setText(consequence(isOn, status));
  }
}

function consequence(isOn: boolean, status: StatusResponse | null): string {
  if (status?.personal_allowed === false) return "Open notes only: this daemon never includes others.";
  if (isOn) {
    const without = status?.generation.local === false ? " Without one they stay out." : "";
    return `Personal notes take part: no web, local model only.${without}`;
  }
  if (status === null) return "Open notes only.";
  const { enabled, provider, keeps_question_home } = status.web;
  if (!enabled) return "Open notes only; the web is off.";
  const leaves = provider !== null && !keeps_question_home;
  return `Open notes only; the web may help where they say little.${leaves ? ` Your words then go to ${provider}.` : ""}`;
}

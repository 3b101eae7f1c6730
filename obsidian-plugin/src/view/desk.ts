// What a pane is given to work with. The plugin is one; the pane never sees more of it.
import type { App } from "obsidian";
import type { Daemon } from "../client";
import type { History } from "../history";
import type { Places } from "../host";
import type { Settings } from "../settings";

export interface Desk {
  readonly app: App;
  readonly daemon: Daemon;
  readonly history: History;
  readonly places: Places;
  readonly settings: Settings;
  /** Whether the switch is on: as left in this vault on this device. */
  personal(): boolean;
  setPersonal(on: boolean): void;
}

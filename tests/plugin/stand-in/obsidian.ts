// The module `obsidian`, as far as it is stood in for; types.ts holds it against the published types.
export { SecretStorage, App } from "./app";
export {
  AbstractTextComponent,
  BaseComponent,
  ButtonComponent,
  DisplayValueComponent,
  DropdownComponent,
  ExtraButtonComponent,
  SearchComponent,
  SecretComponent,
  SliderComponent,
  TextAreaComponent,
  TextComponent,
  ToggleComponent,
  ValueComponent,
} from "./controls";
export { debounce } from "./debounce";
export { Editor } from "./editor";
export { Component, Events } from "./events";
export { setIcon, setTooltip } from "./icons";
export { Keymap, Platform, Scope } from "./keys";
export { WorkspaceContainer, WorkspaceItem, WorkspaceLeaf, WorkspaceSidedock } from "./leaves";
export { MarkdownRenderChild, MarkdownRenderer } from "./markdown";
export { Menu, MenuItem, Modal, Notice } from "./overlays";
export { Plugin } from "./plugin";
export { HoverPopover } from "./popover";
export { requestUrl } from "./request";
export { PluginSettingTab, Setting, SettingGroup, SettingTab } from "./settings";
export {
  FileManager,
  getLinkpath,
  MetadataCache,
  normalizePath,
  parseLinktext,
  stripHeadingForLink,
  TAbstractFile,
  TFile,
  TFolder,
  Vault,
} from "./vault";
export { FileView, ItemView, MarkdownView, View } from "./views";
export { Workspace } from "./workspace";

export const apiVersion = "1.13.1";

export function requireApiVersion(version: string): boolean {
  const [ours, wanted] = [apiVersion, version].map((text) => text.split(".").map(Number));
  for (const at of [0, 1, 2])
    if ((ours?.[at] ?? 0) !== (wanted?.[at] ?? 0)) return (ours?.[at] ?? 0) > (wanted?.[at] ?? 0);
  return true;
}

export function getLanguage(): string {
  return "en";
}

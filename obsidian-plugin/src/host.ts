// The few things we ask of Obsidian besides drawing: ways to the daemon, a drawer, a secret, an editor, and opening
// places of the vault. Knows no questions and no answers.
import { getLinkpath, Keymap, MarkdownView, Notice, requestUrl, type App, type TFile } from "obsidian";
import type { HoverParent, PaneType, UserEvent } from "obsidian";
import { isLinkable, linktext, type Place } from "./citations";
import type { Transport } from "./client";
import type { Drawer } from "./history";
import { lineOf, type Passage } from "./locate";
import type { OpenIn } from "./settings";

export const VIEW_TYPE = "vault-ask";
/** What Obsidian's page preview knows our links by. */
export const HOVER_SOURCE = "vault-ask";

export const transport: Transport = {
  fetch: (url, init) => window.fetch(url, init),
  request: async (url, init) => {
    const { status, text } = await requestUrl({ url, ...init, throw: false });
    return { status, text };
  },
};

export function drawerOf(app: App): Drawer {
  return {
    load: (key): unknown => app.loadLocalStorage(key),
    save: (key, value) => {
      app.saveLocalStorage(key, value);
    },
  };
}

/** The token, from the app's own store; the settings hold no more than its name. */
export function tokenOf(app: App, name: string): string | null {
  return name === "" ? null : app.secretStorage.getSecret(name);
}

/** The note that is open, or was last. */
export function openNote(app: App): TFile | null {
  const file = app.workspace.getActiveFile();
  return file?.extension === "md" ? file : null;
}

/** Put text at the cursor of the note edited last; false where none is open for editing. */
export function insertAtCursor(app: App, text: string): boolean {
  const view = lastMarkdownView(app);
  if (view === null || view.getMode() !== "source") return false;
  // After a selection, not in its place: inserting takes nothing away.
  const at = view.editor.getCursor("to");
  view.editor.replaceRange(text, at);
  view.editor.setCursor(view.editor.offsetToPos(view.editor.posToOffset(at) + text.length));
  return true;
}

function lastMarkdownView(app: App): MarkdownView | null {
  const active = app.workspace.getActiveViewOfType(MarkdownView);
  const recent = active ?? app.workspace.getMostRecentLeaf()?.view;
  return recent instanceof MarkdownView ? recent : null;
}

/** Finds and opens places of the vault. Never opens a note that is not there, since Obsidian would create it. */
export class Places {
  constructor(
    private readonly app: App,
    private readonly openIn: () => OpenIn,
  ) {}

  /** The note that stands at a path, or the only one of its name where it was moved meanwhile. */
  find(path: string): TFile | null {
    return this.app.vault.getFileByPath(path) ?? this.moved(path);
  }

  /** The note that a link leads to. */
  linked(link: string): TFile | null {
    const path = getLinkpath(link);
    return path === "" ? null : this.app.metadataCache.getFirstLinkpathDest(path, "");
  }

  /** Open a note where the passage is now: at its line, else at its heading or block. */
  async open(place: Place & Passage, event: UserEvent): Promise<void> {
    const where = this.leafFor(event);
    const file = this.find(place.path);
    if (file === null) {
      new Notice(`${place.title} is not in this vault any more.`);
      return;
    }
    const text = await this.app.vault.cachedRead(file);
    const eState = { line: lineOf(text, place) };
    if (!isLinkable(file.path)) {
      await this.app.workspace.getLeaf(where).openFile(file, { eState });
      return;
    }
    const lines = text.split(/\r\n|\r|\n/);
    // Obsidian prefers a heading in the link to a line beside it, so only a passage that begins with one names it.
    const isExact = place.block !== null || /^\s*#/.test(lines[eState.line] ?? "");
    const exact = { ...place, path: file.path, ...(!isExact && { heading: null, heading_path: [] }) };
    const headings = lines.flatMap((line) => /^#+\s+(.*)$/.exec(line)?.[1] ?? []);
    await this.app.workspace.openLinkText(linktext(exact, headings), "", where, { eState });
  }

  async openLink(link: string, event: UserEvent): Promise<void> {
    if (this.linked(link) !== null) await this.app.workspace.openLinkText(link, "", this.leafFor(event));
  }

  /** Have Obsidian's page preview show a place, where the user has it on. */
  preview(link: string, event: MouseEvent, hoverParent: HoverParent, targetEl: HTMLElement): void {
    this.app.workspace.trigger("hover-link", {
      event,
      source: HOVER_SOURCE,
      hoverParent,
      targetEl,
      linktext: link,
      sourcePath: "",
    });
  }

  private moved(path: string): TFile | null {
    const name = path.slice(path.lastIndexOf("/") + 1).replace(/\.md$/i, "");
    const file = this.app.metadataCache.getFirstLinkpathDest(name, "");
    if (file === null) return null;
    const alike = this.app.vault.getMarkdownFiles().filter(({ basename }) => basename === file.basename);
    return alike.length === 1 ? file : null;
  }

  private leafFor(event: UserEvent): PaneType | boolean {
    const asked = Keymap.isModEvent(event);
    if (asked !== false) return asked;
    const usual = this.openIn();
    return usual === "current" ? false : usual;
  }
}

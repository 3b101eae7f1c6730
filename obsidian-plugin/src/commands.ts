// Every way to the pane from elsewhere in Obsidian: commands, menus, the ribbon, and obsidian:// addresses.
import { Notice, TFile, type App, type Menu, type ObsidianProtocolData, type Plugin } from "obsidian";
import { DaemonError } from "./client";
import { openNote, VIEW_TYPE } from "./host";
import { standingOf } from "./standing";
import { AskView, ICON } from "./view/ask-view";
import type { Desk } from "./view/desk";

const ABOUT_NOTE = "Ask about this note";
const ABOUT_SELECTION = "Ask about the selection";

/** The open panes; a tab that was not looked at yet has none. */
export function openViews(app: App): AskView[] {
  const views = app.workspace.getLeavesOfType(VIEW_TYPE).map(({ view }) => view);
  return views.filter((view) => view instanceof AskView);
}

/** All that the plugin adds to the app around the pane. */
export function addWaysIn(plugin: Plugin, desk: Desk): void {
  const { app } = desk;
  addQuestionCommands(plugin, app);
  addAnswerCommands(plugin, app);
  addDeskCommands(plugin, desk);
  addMenus(plugin, app);
  plugin.addRibbonIcon(
    ICON,
    "Ask your vault",
    () =>
      void withPane(app, (view) => {
        view.focusBox();
      }),
  );
  // It fills the box, never sends, and never moves the switch: anybody can write such an address.
  plugin.registerObsidianProtocolHandler(
    VIEW_TYPE,
    (params) =>
      void withPane(app, (view) => {
        fill(view, params);
      }),
  );
}

function addQuestionCommands(plugin: Plugin, app: App): void {
  plugin.addCommand({
    id: "ask",
    name: "Ask",
    callback: () =>
      withPane(app, (view) => {
        view.focusBox();
      }),
  });
  plugin.addCommand({
    id: "new-question",
    name: "New question",
    callback: () =>
      withPane(app, (view) => {
        view.startNew();
      }),
  });
  addOffered(
    plugin,
    "ask-about-note",
    ABOUT_NOTE,
    () => openNote(app),
    (file) => {
      askAbout(app, file, null);
    },
  );
  plugin.addCommand({
    id: "ask-about-selection",
    name: ABOUT_SELECTION,
    editorCheckCallback: (checking, editor, { file }) => {
      if (file === null || !editor.somethingSelected()) return false;
      if (!checking) askAbout(app, file, editor.getSelection());
      return true;
    },
  });
}

function addAnswerCommands(plugin: Plugin, app: App): void {
  const answered = (): AskView | undefined => openViews(app).find((view) => view.lastAnswer !== null);
  addOffered(
    plugin,
    "stop",
    "Stop",
    () => openViews(app).find((view) => view.isBusy),
    (view) => {
      view.stop();
    },
  );
  addOffered(plugin, "insert-answer", "Insert answer", answered, (view) => {
    view.insert();
  });
  addOffered(plugin, "copy-answer", "Copy answer with citations", answered, (view) => {
    view.copyCited();
  });
}

function addDeskCommands(plugin: Plugin, desk: Desk): void {
  plugin.addCommand({
    id: "toggle-personal",
    name: "Toggle personal notes",
    callback: () => {
      const on = !desk.personal();
      desk.setPersonal(on);
      new Notice(`Personal notes ${on ? "take part" : "stay out"} from the next question on.`);
    },
  });
  plugin.addCommand({ id: "index-status", name: "Show index status", callback: () => tellStatus(desk) });
}

/** Add a command that is offered where there is something to do it with. */
function addOffered<T>(
  plugin: Plugin,
  id: string,
  name: string,
  find: () => T | null | undefined,
  act: (found: T) => void,
): void {
  plugin.addCommand({
    id,
    name,
    checkCallback: (checking) => {
      const found = find() ?? null;
      if (found !== null && !checking) act(found);
      return found !== null;
    },
  });
}

function addMenus(plugin: Plugin, app: App): void {
  const entry = (menu: Menu, title: string, act: () => void): void => {
    menu.addItem((item) => item.setTitle(title).setIcon(ICON).onClick(act));
  };
  plugin.registerEvent(
    app.workspace.on("editor-menu", (menu, editor, { file }) => {
      if (file === null || !editor.somethingSelected()) return;
      entry(menu, ABOUT_SELECTION, () => {
        askAbout(app, file, editor.getSelection());
      });
    }),
  );
  plugin.registerEvent(
    app.workspace.on("file-menu", (menu, file) => {
      if (!(file instanceof TFile) || file.extension !== "md") return;
      entry(menu, ABOUT_NOTE, () => {
        askAbout(app, file, null);
      });
    }),
  );
}

/** Bring a pane to the front, opening one in the right sidebar where there is none, and do something with it. */
async function withPane(app: App, act: (view: AskView) => void): Promise<void> {
  const { workspace } = app;
  const [present] = workspace.getLeavesOfType(VIEW_TYPE);
  const leaf = present ?? (await workspace.ensureSideLeaf(VIEW_TYPE, "right"));
  await workspace.revealLeaf(leaf);
  if (leaf.view instanceof AskView) act(leaf.view);
}

function askAbout(app: App, file: TFile, selection: string | null): void {
  void withPane(app, (view) => {
    view.askAbout(file.path, selection);
  });
}

function fill(view: AskView, { question, note }: ObsidianProtocolData): void {
  const file = note === undefined ? null : view.app.metadataCache.getFirstLinkpathDest(note, "");
  if (file?.extension === "md") view.askAbout(file.path, null);
  view.fill(question?.trim() ?? "");
}

async function tellStatus({ daemon }: Desk): Promise<void> {
  let standing;
  try {
    standing = standingOf({ status: await daemon.status(), index: null, trouble: null });
  } catch (trouble) {
    if (!(trouble instanceof DaemonError)) throw trouble;
    standing = standingOf({ status: null, index: null, trouble });
  }
  new Notice(`${standing.title}. ${standing.detail}`, 8_000);
}

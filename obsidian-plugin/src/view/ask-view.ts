// The pane: puts its parts together and tells each what the others did.
import { ItemView, type HoverParent, type HoverPopover, type ViewStateResult } from "obsidian";
import type { WorkspaceLeaf } from "obsidian";
import type { Turn, TurnState } from "../conversation";
import type { StatusResponse } from "../wire";
import { openNote, VIEW_TYPE } from "../host";
import { Asking } from "./asking";
import { Composer } from "./composer";
import type { Desk } from "./desk";
import { Follower, type Known } from "./follower";
import { Links } from "./links";
import { OpenNote } from "./open-note";
import { Painter } from "./painter";
import { div, iconButton } from "./parts";
import { PastList } from "./past-list";
import { Peek } from "./peek";
import { Strip } from "./strip";
import { Surroundings } from "./surroundings";
import { copy, insertAnswer, withCitations, withoutCitations } from "./taking";
import { TurnList } from "./turn-list";

export const ICON = "text-search";

/** What a screen reader is told; never the words as they come. */
const SAID: Record<TurnState, string> = {
  asking: "Answering",
  streaming: "Answering",
  done: "Answer complete",
  stopped: "Answer stopped",
  failed: "The answer failed",
};

export class AskView extends ItemView implements HoverParent {
  hoverPopover: HoverPopover | null = null;
  override icon = ICON;
  override navigation = false;
  private readonly asker: Asking;
  private readonly standing: Strip;
  private readonly turnList: TurnList;
  private readonly pastList: PastList;
  private readonly pastButton: HTMLElement;
  private readonly besideNote: OpenNote;
  private readonly composer: Composer;
  private readonly peeker: Peek;
  private readonly linkKeeper: Links;
  private readonly liveEl: HTMLElement;
  private readonly follower: Follower;
  private readonly painter: Painter;
  /** Whether notes came, went or moved since the links were drawn. */
  private hasVaultChanged = false;
  private statusKnown: StatusResponse | null = null;
  private isSeen = false;

  constructor(
    leaf: WorkspaceLeaf,
    private readonly desk: Desk,
  ) {
    super(leaf);
    const root = this.contentEl;
    root.addClass("vault-ask-view");
    const head = div(root, "head");
    this.standing = new Strip(head);
    this.pastButton = iconButton(head, "past-button", "history", "Earlier questions", () => {
      this.showPast(!this.pastList.isShown);
    });
    iconButton(head, "new", "plus", "New question", () => {
      this.startNew();
    });
    this.peeker = new Peek(root);
    this.linkKeeper = this.addChild(new Links(root, desk.places, this.peeker, this));
    this.turnList = this.addChild(new TurnList(this.turnParts(), root));
    this.pastList = new PastList(
      root,
      desk.history,
      (conversation) => {
        this.showPast(false);
        this.asker.open(conversation);
      },
      (id) => {
        this.asker.leave(id);
      },
    );
    const isPersonal = (): boolean => this.composer.isPersonal;
    this.besideNote = new OpenNote(root, desk, this.linkKeeper, isPersonal);
    this.composer = new Composer(root, this.composerDoings());
    this.liveEl = div(root, "live");
    this.liveEl.setAttr("aria-live", "polite");
    this.painter = new Painter(root, (until) => this.draw(until));
    this.asker = new Asking(desk, isPersonal, () => {
      this.onAnswerChange();
    });
    this.follower = new Follower(desk.daemon, isPersonal, {
      known: (known) => {
        this.onKnown(known);
      },
      notes: (event) => {
        this.besideNote.changed(event);
      },
    });
    const seen = (isSeen: boolean): void => {
      this.onSeen(isSeen);
    };
    const moved = (): void => {
      this.painter.moved();
    };
    this.addChild(new Surroundings(root, seen, moved));
  }

  getViewType(): string {
    return VIEW_TYPE;
  }

  getDisplayText(): string {
    return "Ask your vault";
  }

  override getState(): Record<string, unknown> {
    // No words: the workspace file may be synced.
    return { ...super.getState(), conversation: this.asker.conversation.id };
  }

  override async setState(state: unknown, result: ViewStateResult): Promise<void> {
    const id = (state as { conversation?: unknown } | null)?.conversation;
    const kept = this.desk.history.all().find((conversation) => conversation.id === id);
    if (kept !== undefined && !this.asker.busy) this.asker.open(kept);
    await super.setState(state, result);
  }

  override async onOpen(): Promise<void> {
    await super.onOpen();
    const { vault, workspace } = this.app;
    this.registerEvent(
      vault.on("rename", (file, from) => {
        this.onRenamed(from, file.path);
      }),
    );
    this.registerEvent(
      vault.on("delete", (file) => {
        this.onDeleted(file.path);
      }),
    );
    this.registerEvent(
      vault.on("create", () => {
        this.onVaultChange();
      }),
    );
    this.registerEvent(
      vault.on("modify", (file) => {
        this.besideNote.written(file.path);
      }),
    );
    this.registerEvent(
      workspace.on("file-open", () => {
        this.onFileOpen();
      }),
    );
    this.registerDomEvent(this.contentEl, "keydown", (event) => {
      this.onKey(event);
    });
    this.settingsChanged();
    this.onAnswerChange();
  }

  override async onClose(): Promise<void> {
    this.rest();
    this.contentEl.empty();
    await super.onClose();
  }

  override onResize(): void {
    this.turnList.settle();
  }

  /** Stop all that goes on by itself. */
  rest(): void {
    this.asker.stop();
    this.follower.stop();
    this.besideNote.stop();
    this.painter.stop();
    this.peeker.hide();
  }

  /** The address, the token or the switch is another one now. */
  settingsChanged(): void {
    this.composer.showPersonal(this.desk.personal(), this.statusKnown);
    if (!this.isSeen) return;
    this.follower.start();
    this.besideNote.refresh();
  }

  focusBox(): void {
    this.composer.focus();
  }

  /** Put a question into the box; it is sent by nobody but the user. */
  fill(question: string): void {
    if (question !== "") this.composer.fill(question);
    this.composer.focus();
  }

  askAbout(note: string, selection: string | null): void {
    this.composer.about(note, selection);
    this.composer.focus();
  }

  startNew(): void {
    this.showPast(false);
    this.asker.startNew();
    this.composer.about(null, null);
    this.composer.focus();
    void this.app.workspace.requestSaveLayout();
  }

  get isBusy(): boolean {
    return this.asker.busy;
  }

  stop(): void {
    this.asker.stop();
  }

  /** The last turn that has words to take away. */
  get lastAnswer(): Turn | null {
    return [...this.asker.conversation.turns].reverse().find(({ text }) => text !== "") ?? null;
  }

  insert(turn = this.lastAnswer): void {
    if (turn !== null) insertAnswer(this.app, turn);
  }

  copyCited(turn = this.lastAnswer): void {
    if (turn !== null) void copy(this.contentEl.win, withCitations(turn));
  }

  private turnParts(): ConstructorParameters<typeof TurnList>[0] {
    const actions = {
      retry: (): void => {
        this.asker.again();
      },
      copy: (turn: Turn): void => {
        void copy(this.contentEl.win, withoutCitations(turn));
      },
      copyCited: (turn: Turn): void => {
        this.copyCited(turn);
      },
      insert: (turn: Turn): void => {
        this.insert(turn);
      },
    };
    return { app: this.app, links: this.linkKeeper, actions };
  }

  private composerDoings(): ConstructorParameters<typeof Composer>[1] {
    return {
      send: (asked) => {
        this.showPast(false);
        this.asker.ask(asked);
      },
      stop: () => {
        this.asker.stop();
      },
      setPersonal: (on) => {
        this.desk.setPersonal(on);
      },
    };
  }

  private showPast(isShown: boolean): void {
    this.pastList.show(isShown);
    this.contentEl.toggleClass("vault-ask-shows-past", isShown);
    this.pastButton.setAttr("aria-expanded", isShown);
  }

  private onAnswerChange(): void {
    this.composer.setBusy(this.asker.busy);
    const state = this.asker.last?.state;
    const said = state === undefined ? "" : SAID[state];
    if (this.liveEl.textContent !== said) this.liveEl.setText(said);
    this.painter.request();
  }

  private async draw(until: number): Promise<boolean> {
    const { conversation } = this.asker;
    this.turnList.show(conversation);
    if (this.hasVaultChanged) this.linkKeeper.refresh();
    this.hasVaultChanged = false;
    this.besideNote.arrangeFor({ turns: conversation.turns.length > 0, idle: !this.asker.busy });
    return this.turnList.draw(until);
  }

  private onKnown(known: Known): void {
    this.statusKnown = known.status;
    this.standing.show(known);
    this.composer.showPersonal(this.desk.personal(), known.status);
  }

  private onSeen(isSeen: boolean): void {
    this.isSeen = isSeen;
    if (isSeen) {
      this.follower.start();
      this.onFileOpen();
    } else {
      this.follower.stop();
      this.besideNote.stop();
    }
  }

  private onFileOpen(): void {
    // A pane that nobody looks at asks nothing.
    if (this.isSeen) this.besideNote.show(openNote(this.app));
  }

  private onRenamed(from: string, to: string): void {
    this.asker.renamed(from, to);
    // At once: a click before the next frame would find the old path, where no note is any more.
    this.turnList.show(this.asker.conversation);
    this.composer.renamed(from, to);
    this.onFileOpen();
    this.onVaultChange();
  }

  private onVaultChange(): void {
    this.hasVaultChanged = true;
    this.painter.request();
  }

  private onDeleted(path: string): void {
    this.composer.renamed(path, null);
    this.onVaultChange();
  }

  private onKey(event: KeyboardEvent): void {
    if (event.key !== "Escape" || event.isComposing) return;
    if (this.peeker.isShown) this.peeker.hide();
    else if (this.asker.busy) this.asker.stop();
    else if (this.pastList.isShown) this.showPast(false);
    else return;
    event.preventDefault();
  }
}

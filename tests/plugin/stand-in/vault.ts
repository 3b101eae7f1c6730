// The vault as the app sees it. Files are loaded at the start; every change goes to the disk behind the page as well.
import type { CachedMetadata, HeadingCache } from "obsidian";
import { Events } from "./events";

export interface StoredFile {
  path: string;
  text: string;
  ctime: number;
  mtime: number;
}

/** A change to the vault on the disk, as the page reports it to the bench. */
export interface DiskChange {
  kind: "write" | "rename" | "delete";
  path: string;
  to?: string;
  text?: string;
}

export class TAbstractFile {
  vault!: Vault;
  path = "";
  name = "";
  parent: TFolder | null = null;
}

export class TFolder extends TAbstractFile {
  children: TAbstractFile[] = [];

  isRoot(): boolean {
    return this.path === "/";
  }
}

export class TFile extends TAbstractFile {
  stat = { ctime: 0, mtime: 0, size: 0 };
  basename = "";
  extension = "";
}

export class Vault extends Events {
  configDir = ".obsidian";
  private readonly files = new Map<string, TFile>();
  private readonly texts = new Map<string, string>();
  private readonly root = Object.assign(new TFolder(), { path: "/" });

  constructor(
    stored: StoredFile[],
    private readonly toDisk: (change: DiskChange) => Promise<{ mtime: number }>,
  ) {
    super();
    for (const file of stored) this.place(file);
  }

  private place(stored: StoredFile): TFile {
    const file = this.files.get(stored.path) ?? new TFile();
    file.vault = this;
    this.name(file, stored.path);
    file.stat = { ctime: stored.ctime, mtime: stored.mtime, size: new TextEncoder().encode(stored.text).length };
    this.files.set(stored.path, file);
    this.texts.set(stored.path, stored.text);
    return file;
  }

  private name(file: TFile, path: string): void {
    file.path = path;
    file.name = path.split("/").pop() ?? path;
    file.extension = file.name.includes(".") ? (file.name.split(".").pop() ?? "") : "";
    file.basename = file.extension ? file.name.slice(0, -file.extension.length - 1) : file.name;
    file.parent = this.folder(path.split("/").slice(0, -1).join("/"));
  }

  private folder(path: string): TFolder {
    return path ? Object.assign(new TFolder(), { path, name: path.split("/").pop(), vault: this }) : this.root;
  }

  getName(): string {
    return "vault";
  }

  getRoot(): TFolder {
    return this.root;
  }

  getFileByPath(path: string): TFile | null {
    return this.files.get(path) ?? null;
  }

  getAbstractFileByPath(path: string): TAbstractFile | null {
    return this.getFileByPath(path) ?? this.getFolderByPath(path);
  }

  getFolderByPath(path: string): TFolder | null {
    return [...this.files.keys()].some((known) => known.startsWith(`${path}/`)) ? this.folder(path) : null;
  }

  getFiles(): TFile[] {
    return [...this.files.values()];
  }

  getMarkdownFiles(): TFile[] {
    return this.getFiles().filter((file) => file.extension === "md");
  }

  async read(file: TFile): Promise<string> {
    await Promise.resolve();
    const text = this.texts.get(file.path);
    if (text === undefined) throw new Error(`ENOENT: no such file or directory, open '${file.path}'`);
    return text;
  }

  cachedRead(file: TFile): Promise<string> {
    return this.read(file);
  }

  async create(path: string, text: string): Promise<TFile> {
    if (this.files.has(path)) throw new Error("File already exists.");
    const { mtime } = await this.toDisk({ kind: "write", path, text });
    const file = this.place({ path, text, ctime: mtime, mtime });
    this.trigger("create", file);
    return file;
  }

  async modify(file: TFile, text: string): Promise<void> {
    const { mtime } = await this.toDisk({ kind: "write", path: file.path, text });
    this.place({ path: file.path, text, ctime: file.stat.ctime, mtime });
    this.trigger("modify", file);
  }

  async rename(file: TAbstractFile, path: string): Promise<void> {
    const from = file.path;
    await this.toDisk({ kind: "rename", path: from, to: path });
    const text = this.texts.get(from) ?? "";
    this.files.delete(from);
    this.texts.delete(from);
    this.files.set(path, file as TFile);
    this.texts.set(path, text);
    this.name(file as TFile, path);
    this.trigger("rename", file, from);
  }

  async delete(file: TAbstractFile): Promise<void> {
    await this.toDisk({ kind: "delete", path: file.path });
    this.files.delete(file.path);
    this.texts.delete(file.path);
    this.trigger("delete", file);
  }

  /** The text at once, for the parts of the app that have it in memory. */
  benchText(path: string): string {
    return this.texts.get(path) ?? "";
  }
}

/** Split `Note#Heading` as Obsidian does. */
export function parseLinktext(linktext: string): { path: string; subpath: string } {
  const at = linktext.indexOf("#");
  return at < 0 ? { path: linktext, subpath: "" } : { path: linktext.slice(0, at), subpath: linktext.slice(at) };
}

export function getLinkpath(linktext: string): string {
  return parseLinktext(linktext).path;
}

export function normalizePath(path: string): string {
  return (
    path
      .replace(/ /g, " ")
      .replace(/\\/g, "/")
      .replace(/\/+/g, "/")
      .replace(/^\/|\/$/g, "")
      .normalize("NFC") || "/"
  );
}

/** A heading as Obsidian compares it: without the characters that a link cannot hold. */
export function stripHeadingForLink(heading: string): string {
  return heading
    .replace(/([:#|^\\\r\n]|%%|\[\[|]])/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}

export class MetadataCache extends Events {
  constructor(private readonly vault: Vault) {
    super();
  }

  getFirstLinkpathDest(linkpath: string, sourcePath: string): TFile | null {
    if (!linkpath) return this.vault.getFileByPath(sourcePath);
    const wanted = linkpath.toLowerCase().replace(/^\//, "");
    const fits = this.vault.getFiles().filter((file) => {
      const path = file.path.toLowerCase();
      return [path, path.replace(/\.md$/, "")].some((known) => known === wanted || known.endsWith(`/${wanted}`));
    });
    const exact = fits.find((file) => file.path.toLowerCase().replace(/\.md$/, "") === wanted.replace(/\.md$/, ""));
    return exact ?? fits.sort((a, b) => a.path.length - b.path.length)[0] ?? null;
  }

  getFileCache(file: TFile): CachedMetadata | null {
    return file.extension === "md" ? { headings: headingsOf(this.vault.benchText(file.path)) } : null;
  }

  getCache(path: string): CachedMetadata | null {
    const file = this.vault.getFileByPath(path);
    return file ? this.getFileCache(file) : null;
  }

  fileToLinktext(file: TFile, _sourcePath: string, omitMdExtension = true): string {
    const single = this.vault.getFiles().filter((other) => other.name === file.name).length === 1;
    const text = single ? file.name : file.path;
    return omitMdExtension ? text.replace(/\.md$/, "") : text;
  }

  /** The line (0-based) that `#Heading`, `#A#B` or `#^block` names in a note; null where it names none. */
  benchLineOf(file: TFile, subpath: string): number | null {
    const text = this.vault.benchText(file.path);
    if (subpath.startsWith("#^")) {
      const at = text.split("\n").findIndex((line) => line.trimEnd().endsWith(subpath.slice(1)));
      return at < 0 ? null : at;
    }
    const wanted = subpath
      .split("#")
      .filter(Boolean)
      .map((name) => stripHeadingForLink(name).toLowerCase());
    let line: number | null = null;
    for (const heading of headingsOf(text)) {
      if (stripHeadingForLink(heading.heading).toLowerCase() !== wanted[0]) continue;
      line = heading.position.start.line;
      wanted.shift();
      if (wanted.length === 0) return line;
    }
    return null;
  }
}

function headingsOf(text: string): HeadingCache[] {
  let fence: string | null = null;
  return text.split("\n").flatMap((row, line) => {
    const mark = /^\s{0,3}(`{3,}|~{3,})/.exec(row)?.[1];
    if (mark && (fence === null || row.trim().startsWith(fence))) fence = fence === null ? mark : null;
    const found = fence === null ? /^(#{1,6})\s+(.*?)(?:\s+#+)?\s*$/.exec(row) : null;
    if (!found) return [];
    const place = { line, col: 0, offset: 0 };
    return [{ heading: found[2] ?? "", level: found[1]?.length ?? 1, position: { start: place, end: place } }];
  });
}

export class FileManager {
  constructor(
    private readonly vault: Vault,
    private readonly cache: MetadataCache,
  ) {}

  renameFile(file: TAbstractFile, path: string): Promise<void> {
    return this.vault.rename(file, path);
  }

  trashFile(file: TAbstractFile): Promise<void> {
    return this.vault.delete(file);
  }

  generateMarkdownLink(file: TFile, sourcePath: string, subpath = "", alias = ""): string {
    return `[[${this.cache.fileToLinktext(file, sourcePath)}${subpath}${alias ? `|${alias}` : ""}]]`;
  }
}

import { describe, expect, it } from "vitest";
import { indexEventOf } from "../../../obsidian-plugin/src/answers";
import { DaemonError, type TroubleKind } from "../../../obsidian-plugin/src/client";
import { freshnessOf, standingOf } from "../../../obsidian-plugin/src/standing";
import type { IndexEvent, IndexProgress, NoteResponse, StatusResponse } from "../../../obsidian-plugin/src/wire";
import { status } from "./support";

function progress(values: Partial<IndexProgress>): IndexProgress {
  return { phase: "indexing", done: 0, total: 0, rate: 0, seconds_left: null, ...values };
}

function known(values: { status?: StatusResponse | null; index?: IndexEvent | null; trouble?: DaemonError | null }) {
  return standingOf({ status: status(), index: null, trouble: null, ...values });
}

function working(values: Partial<IndexProgress>) {
  return known({ index: { ...indexEventOf(status()), progress: progress(values) } });
}

describe("How the daemon stands", () => {
  it.each<[TroubleKind, string, RegExp]>([
    ["unreachable", "bad", /cannot be reached/],
    ["token", "bad", /token is missing or wrong/],
    ["not_ours", "bad", /No vault-ask/],
    ["refused", "warning", /refused/],
    ["broken", "warning", /broke off/],
  ])("tells %s before all else, with the sentence of the trouble", (kind, level, title) => {
    const standing = known({ trouble: new DaemonError(kind, "code", "What to do.", true) });
    expect(standing).toMatchObject({ level, progress: null });
    expect(standing.title).toMatch(title);
    expect(standing.detail).toContain("What to do.");
  });

  it("does not call a daemon ready whose vault went away while nothing was to be done", () => {
    const away = { ...indexEventOf(status()), mode: "waiting", message: "The folder is gone." };
    expect(known({ index: away })).toMatchObject({ level: "warning", title: "The vault cannot be read just now" });
    expect(known({ index: { ...away, mode: "watching" } })).toMatchObject({ level: "good" });
  });

  it("is connecting while nothing is known", () => {
    expect(standingOf({ status: null, index: null, trouble: null })).toMatchObject({
      level: "busy",
      title: "Connecting",
    });
  });

  it.each([
    [{ done: 120, total: 4_000, seconds_left: 106.3 }, "Indexing notes: 120 of 4,000", /About 1 min left\./, 0.03],
    [{ done: 1, total: 2, seconds_left: 3 }, "Indexing notes: 1 of 2", /About 3 s left/, 0.5],
    [{ done: 1, total: 2, seconds_left: 31 }, "Indexing notes: 1 of 2", /About 31 s left/, 0.5],
    [{ done: 1, total: 2, seconds_left: 60 }, "Indexing notes: 1 of 2", /About 1 min left/, 0.5],
    [{ done: 1, total: 2, seconds_left: 3_500 }, "Indexing notes: 1 of 2", /About 58 min left/, 0.5],
    [{ done: 1, total: 2, seconds_left: 9_000 }, "Indexing notes: 1 of 2", /About 2 h left/, 0.5],
    [{ done: 0, total: 9, seconds_left: null }, "Indexing notes: 0 of 9", /so far\.$/, 0],
    [{ done: 0, total: 0 }, "Indexing notes", /so far\.$/, null],
    [{ phase: "listing" }, "Reading the vault", /so far/, null],
    [{ phase: "rebuilding", done: 5, total: 10 }, "Rebuilding the index: 5 of 10", /the old one/, 0.5],
    [{ phase: "embedding", done: 5, total: 10 }, "Learning what passages mean: 5 of 10", /words alone/, 0.5],
    [{ phase: "embedding" }, "Learning what passages mean", /words alone/, null],
  ] as const)("tells the work that goes on: %j", (values, title, detail, share) => {
    const standing = working(values);
    expect(standing).toMatchObject({ level: "busy", title, progress: share });
    expect(standing.detail).toMatch(detail);
  });

  it("tells a vault that cannot be read, and an index that failed, in the daemon's words", () => {
    expect(working({ phase: "waiting" })).toMatchObject({
      level: "warning",
      title: "The vault cannot be read just now",
    });
    expect(working({ phase: "failed" })).toMatchObject({ level: "bad", title: "Indexing failed" });
    for (const phase of ["waiting", "failed"] as const) {
      expect(working({ phase }).detail).toContain("Watching 14 folders for changes.");
    }
  });

  it("takes an event for newer than the status before it", () => {
    const before = status({ progress: progress({ done: 1, total: 2 }) });
    expect(known({ status: before }).title).toContain("Indexing");
    expect(known({ status: before, index: indexEventOf(status()) }).title).toBe("Ready: 58 notes");
  });

  it("tells what keeps meaning from being searched", () => {
    const { embedding } = status();
    const rebuild = known({
      status: status({ embedding: { ...embedding, rebuild_needed: "Run `vault-ask index`." } }),
    });
    expect(rebuild).toMatchObject({
      level: "warning",
      title: "The index must be rebuilt",
      detail: "Run `vault-ask index`.",
    });
    const down = { ...embedding, ready: false, waiting: 88, last_error: "Ollama is away.", next_try_seconds: 95 };
    const away = known({ status: status({ embedding: down }) });
    expect(away).toMatchObject({ level: "warning", title: "The embedding model is away" });
    expect(away.detail).toBe("Ollama is away. Next try in 1 min. Until then they are found by words alone.");
  });

  it("tells notes that wait for their rest, or for their vectors", () => {
    const index = indexEventOf(status());
    expect(known({ index: { ...index, freshness: { ...index.freshness, waiting: 1 } } }).title).toBe(
      "Waiting for the rest of 1 note",
    );
    expect(known({ index: { ...index, waiting: 3 } }).title).toBe("Learning what 3 notes mean");
  });

  it("tells who words the answers, and what leaves the owner's machines", () => {
    const by = (generator: string, local: boolean, offered: string[] = []) =>
      known({ status: status({ generation: { generator, local, offered } }) });
    expect(by("extractive", true)).toMatchObject({ level: "good", title: "Ready: 58 notes" });
    expect(by("extractive", true).detail).toMatch(/quotes.*until a model is configured/);
    expect(by("extractive", true, ["ollama_chat/qwen3:4b"]).detail).toContain("ollama_chat/qwen3:4b");
    expect(by("ollama_chat/qwen3:4b", true).detail).toContain("own machines");
    expect(by("openai/gpt", false).detail).toMatch(/openai\/gpt.*leaves your machines/);
  });

  it("does not call an empty index ready", () => {
    expect(known({ status: status({ notes: 0 }) })).toMatchObject({ level: "warning", title: "No notes" });
  });
});

describe("How fresh the open note is", () => {
  const NOW = Date.parse("2026-11-30T12:00:00Z");

  function note(values: Partial<NoteResponse["index"]> = {}): NoteResponse {
    const index = {
      state: "indexed" as const,
      indexed_at: "2026-11-30T11:59:57+00:00",
      modified_at: "2026-11-30T11:59:50+00:00",
      message: "",
      ...values,
    };
    return { path: "a.md", title: "a", personal: false, line_start: 1, line_end: 1, line_count: 1, text: "", index };
  }

  function file(text: string) {
    return { mtime: Date.parse(text) };
  }

  it.each([
    ["2026-11-30T11:59:57+00:00", "Indexed 3 s ago"],
    ["2026-11-30T12:00:05+00:00", "Indexed just now"],
    ["2026-11-30T11:55:30+00:00", "Indexed 4 min ago"],
    ["2026-11-30T09:00:00+00:00", "Indexed 3 h ago"],
    ["2026-11-29T12:00:00+00:00", "Indexed 1 day ago"],
    ["2026-11-20T12:00:00+00:00", "Indexed 10 days ago"],
  ])("says that a note was indexed at %s: %s", (indexed_at, text) => {
    expect(freshnessOf(note({ indexed_at }), file("2026-11-30T11:59:50Z"), NOW, true)).toEqual({ fresh: true, text });
  });

  it("waits where the file here is newer than the indexed version, but for parts of seconds", () => {
    expect(freshnessOf(note(), file("2026-11-30T11:59:51.900Z"), NOW, true).fresh).toBe(true);
    expect(freshnessOf(note(), file("2026-11-30T11:59:52.100Z"), NOW, true)).toEqual({
      fresh: false,
      text: "Waiting: this version is not indexed yet",
    });
  });

  it("waits for a version that has not arrived whole, and says what is found by words alone", () => {
    expect(freshnessOf(note({ state: "incomplete" }), file("2026-11-30T11:00:00Z"), NOW, true)).toMatchObject({
      fresh: false,
      text: "Waiting: the newest version has not arrived whole",
    });
    expect(freshnessOf(note({ state: "words_only" }), file("2026-11-30T11:00:00Z"), NOW, true)).toEqual({
      fresh: true,
      text: "Indexed 3 s ago, found by words alone so far",
    });
  });

  it("does not tell a personal note from one that is not indexed", () => {
    const hidden = freshnessOf(null, file("2026-11-30T11:00:00Z"), NOW, false);
    expect(hidden).toEqual({ fresh: false, text: "Not included: personal, or not in the index" });
    expect(freshnessOf(null, file("2026-11-30T11:00:00Z"), NOW, true).text).toBe("Not included: not in the index");
  });
});

import { describe, expect, it } from "vitest";
import { emptyConversation, reduce, type Conversation } from "../../../obsidian-plugin/src/conversation";
import { History, type Drawer } from "../../../obsidian-plugin/src/history";
import { source } from "./support";

/** A drawer of limited room that keeps values as text, as the device does. */
class Box implements Drawer {
  text: string | null = null;

  constructor(private readonly room = Infinity) {}

  load(key: string): unknown {
    expect(key).toBe("vault-ask-history");
    return this.text === null ? null : JSON.parse(this.text);
  }

  save(_key: string, value: unknown): void {
    const text = JSON.stringify(value);
    if (text.length > this.room) throw new DOMException("The quota has been exceeded.", "QuotaExceededError");
    this.text = text;
  }
}

function conversation(id: string, text = "an answer", questions = 1): Conversation {
  let now = emptyConversation(id);
  for (let n = 0; n < questions; n += 1) {
    const turn = { id: `${id}-${n}`, question: `q${n}`, note: null, selection: null, personal: true, askedAt: n };
    now = reduce(now, { type: "asked", turn });
    const sources = [source(1)];
    now = reduce(now, {
      type: "event",
      event: {
        type: "sources",
        sources,
        silent: false,
        personal_included: true,
        generator: "m",
        notices: ["n"],
        understood: null,
      },
    });
    now = reduce(now, { type: "event", event: { type: "delta", text, part: "vault" } });
    now = reduce(now, { type: "event", event: { type: "done", seconds: 1, finish: "stop" } });
  }
  return now;
}

function ids(history: History): string[] {
  return history.all().map(({ id }) => id);
}

describe("The history", () => {
  it("gives back what was kept, newest first, each once in its newest state", () => {
    const history = new History(new Box());
    for (const id of ["a", "b", "c"]) history.keep(conversation(id));
    history.keep(conversation("a", "a later answer", 2));
    expect(ids(history)).toEqual(["a", "c", "b"]);
    expect(history.all()[0]).toEqual(conversation("a", "a later answer", 2));
  });

  it("keeps no conversation in which nothing was asked", () => {
    const box = new Box();
    new History(box).keep(emptyConversation("a"));
    expect(box.text).toBeNull();
  });

  it("forgets one, and all", () => {
    const history = new History(new Box());
    for (const id of ["a", "b", "c"]) history.keep(conversation(id));
    history.forget("b");
    expect(ids(history)).toEqual(["c", "a"]);
    history.clear();
    expect(ids(history)).toEqual([]);
  });

  it("holds thirty, and half a megabyte", () => {
    const box = new Box();
    const history = new History(box);
    for (let n = 0; n < 35; n += 1) history.keep(conversation(String(n)));
    expect(ids(history)).toHaveLength(30);
    expect(ids(history)[0]).toBe("34");
    for (let n = 0; n < 9; n += 1) history.keep(conversation(`long ${n}`, "x".repeat(100_000)));
    expect(ids(history)).toEqual(["long 8", "long 7", "long 6", "long 5"]);
    expect(box.text?.length).toBeLessThan(500_100);
  });

  it("keeps the newest turns of a conversation that is too long alone", () => {
    const history = new History(new Box());
    history.keep(conversation("long", "x".repeat(150_000), 5));
    expect(history.all()[0]?.turns.map(({ question }) => question)).toEqual(["q2", "q3", "q4"]);
    history.keep(conversation("huge", "x".repeat(600_000)));
    expect(ids(history)).toEqual(["long"]);
  });

  it("keeps the newest that there is room for on the device, and is never an error", () => {
    const size = JSON.stringify(conversation("0")).length;
    const history = new History(new Box(size * 3));
    for (let n = 0; n < 9; n += 1) history.keep(conversation(String(n)));
    expect(ids(history)[0]).toBe("8");
    const shut = new History(new Box(0));
    shut.keep(conversation("a"));
    expect(ids(shut)).toEqual([]);
  });

  it("shows one of an unknown state as stopped", () => {
    const box = new Box();
    const one = conversation("a");
    box.text = JSON.stringify([{ ...one, turns: [change(one, { state: "dreaming" })] }]);
    expect(new History(box).all()[0]?.turns[0]?.state).toBe("stopped");
  });

  it("shows one that was cut off by the app's end as stopped", () => {
    const box = new Box();
    const turn = { id: "t", question: "q", note: null, selection: null, personal: false, askedAt: 1 };
    new History(box).keep(reduce(emptyConversation("a"), { type: "asked", turn }));
    expect(new History(box).all()[0]?.turns[0]?.state).toBe("stopped");
  });

  it.each([
    ["nothing of it", () => "garbage"],
    ["no list", () => ({})],
    ["no turns", (one: object) => [{ ...one, turns: [] }]],
    ["a turn of another kind", (one: object) => [{ ...one, turns: [7, null] }]],
    ["a turn without its sources", (one: object) => [{ ...one, turns: [change(one, { sources: null })] }]],
    ["a source without its lines", (one: object) => [{ ...one, turns: [change(one, { sources: [{ n: 1 }] })] }]],
    ["a note that is no path", (one: object) => [{ ...one, turns: [change(one, { note: 7 })] }]],
    ["notices that are no words", (one: object) => [{ ...one, turns: [change(one, { notices: [{}] })] }]],
    ["a broken web part", (one: object) => [{ ...one, turns: [change(one, { web: { text: "x" } })] }]],
    ["a broken error", (one: object) => [{ ...one, turns: [change(one, { error: {} })] }]],
  ])("reads %s without failing, and what is whole beside it", (_, damage) => {
    const box = new Box();
    const good = conversation("good");
    const damaged = damage(conversation("bad"));
    box.text = JSON.stringify(Array.isArray(damaged) ? [...(damaged as unknown[]), good] : damaged);
    expect(ids(new History(box))).toEqual(Array.isArray(damaged) ? ["good"] : []);
    new History(box).keep(conversation("new"));
    expect(ids(new History(box))[0]).toBe("new");
  });

  it("survives a drawer that cannot be opened", () => {
    const stuck: Drawer = {
      load: () => {
        throw new Error("stuck");
      },
      save: () => {
        throw new Error("stuck");
      },
    };
    const history = new History(stuck);
    history.keep(conversation("a"));
    expect(ids(history)).toEqual([]);
  });
});

function change(one: object, values: object): object {
  return { ...(one as Conversation).turns[0], ...values };
}

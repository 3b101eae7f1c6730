import { describe, expect, it } from "vitest";
import {
  emptyConversation,
  historyFor,
  reduce,
  type Action,
  type Conversation,
  type Turn,
} from "../../../obsidian-plugin/src/conversation";
import type { ClientEvent } from "../../../obsidian-plugin/src/events";
import { citation, source } from "./support";

const ASKED: Extract<Action, { type: "asked" }> = {
  type: "asked",
  turn: { id: "t1", question: "How many?", note: null, selection: null, personal: true, askedAt: 1 },
};
const SOURCES: ClientEvent = {
  type: "sources",
  sources: [source(1), source(2)],
  silent: false,
  personal_included: true,
  generator: "m",
  notices: ["A notice."],
  understood: null,
};
const UNSTREAMED: ClientEvent = { type: "unstreamed", message: "In one piece." };
const GROUNDING: ClientEvent = { type: "grounding", citations: [citation(1)], removed: 2, refused: false };
const WEB: ClientEvent = {
  type: "web",
  results: [{ n: 1, title: "T", url: "https://x.example", snippet: "s" }],
  provider: "P",
  message: "The web was asked.",
};
const DONE: ClientEvent = { type: "done", seconds: 2.5, finish: "length" };
const ERROR: ClientEvent = { type: "error", code: "model_busy", message: "Busy.", retry: true };
const TROUBLE = { code: "broken", message: "Broken off.", retry: true };

function delta(text: string, part: "vault" | "web" = "vault"): ClientEvent {
  return { type: "delta", text, part };
}

function run(actions: (Action | ClientEvent)[], from: Conversation = emptyConversation("c")): Conversation {
  const kinds = ["asked", "event", "stopped", "failed", "again", "renamed"];
  return actions.reduce<Conversation>(
    (now, each) =>
      reduce(now, kinds.includes(each.type) ? (each as Action) : { type: "event", event: each as ClientEvent }),
    from,
  );
}

function last(conversation: Conversation): Turn {
  const turn = conversation.turns.at(-1);
  if (turn === undefined) throw new Error("There is no turn.");
  return turn;
}

describe("A turn", () => {
  it("grows from the question to the whole answer", () => {
    expect(last(run([ASKED]))).toMatchObject({
      question: "How many?",
      state: "asking",
      personalIncluded: null,
      text: "",
    });
    expect(last(run([ASKED, SOURCES]))).toMatchObject({
      state: "streaming",
      personalIncluded: true,
      generator: "m",
      notices: ["A notice."],
    });
    const whole = last(run([ASKED, SOURCES, delta("31 "), delta("kg [1]"), GROUNDING, DONE]));
    expect(whole).toMatchObject({ state: "done", text: "31 kg [1]", removed: 2, seconds: 2.5, finish: "length" });
    expect(whole.citations).toEqual([citation(1)]);
  });

  it("tells first how the question was read, where it was more than its words", () => {
    const days = { first: "2026-03-09", last: "2026-03-15", words: "last week" };
    const understood = { text: "rent last week", filters: ["tag:#flat"], days, order: null };
    expect(last(run([ASKED, { ...SOURCES, understood }])).notices).toEqual([
      "Read as: rent last week · tag:#flat · 2026-03-09 to 2026-03-15",
      "A notice.",
    ]);
  });

  it("keeps the web's words apart from the vault's, in any order of events", () => {
    const vault = [delta("a"), delta("b"), GROUNDING];
    const web = [WEB, delta("x", "web"), delta("y", "web")];
    for (const events of [
      [...vault, ...web],
      [...web, ...vault],
      [delta("a"), WEB, delta("x", "web"), delta("b"), delta("y", "web"), GROUNDING],
      [delta("x", "web"), delta("a"), WEB, delta("b"), delta("y", "web"), GROUNDING],
    ]) {
      const turn = last(run([ASKED, SOURCES, ...events, DONE]));
      expect(turn.text).toBe("ab");
      expect(turn.web).toMatchObject({ provider: "P", message: "The web was asked.", text: "xy" });
      expect(turn.web?.results).toHaveLength(1);
    }
  });

  it("remembers why it did not come as a stream, and is still being asked", () => {
    expect(last(run([ASKED, UNSTREAMED]))).toMatchObject({ state: "asking", unstreamed: "In one piece." });
  });

  it("ends with an error, a failure or a stop, and keeps what had come", () => {
    const ends: [Action | ClientEvent, Partial<Turn>][] = [
      [ERROR, { state: "failed", error: { code: "model_busy", message: "Busy.", retry: true } }],
      [
        { type: "failed", trouble: TROUBLE },
        { state: "failed", error: TROUBLE },
      ],
      [{ type: "stopped" }, { state: "stopped", error: null }],
    ];
    for (const [end, expected] of ends) {
      expect(last(run([ASKED, end]))).toMatchObject({ ...expected, text: "" });
      expect(last(run([ASKED, SOURCES, delta("half"), end]))).toMatchObject({ ...expected, text: "half" });
    }
  });

  it("is deaf once it has ended", () => {
    const late = [delta("late"), SOURCES, WEB, GROUNDING, DONE, ERROR, UNSTREAMED];
    for (const end of [DONE, ERROR, { type: "stopped" }, { type: "failed", trouble: TROUBLE }] as (
      Action | ClientEvent
    )[]) {
      const ended = run([ASKED, delta("a"), end]);
      expect(run([...late, { type: "stopped" }, { type: "failed", trouble: TROUBLE }], ended)).toBe(ended);
    }
  });

  it("is nothing where nothing was asked", () => {
    const empty = emptyConversation("c");
    expect(run([SOURCES, { type: "stopped" }, { type: "again", personal: true, askedAt: 1 }], empty)).toBe(empty);
  });

  it("is asked again from nothing, under the switch as it is then", () => {
    const failed = run([ASKED, UNSTREAMED, SOURCES, delta("half"), WEB, GROUNDING, ERROR]);
    const again = run([{ type: "again", personal: false, askedAt: 9 }], failed);
    expect(again).toEqual(run([{ ...ASKED, turn: { ...ASKED.turn, personal: false, askedAt: 9 } } as Action]));
    expect(last(run([delta("new"), DONE], again))).toMatchObject({ text: "new", state: "done", id: "t1" });
  });

  it("never loses that personal notes were asked for, or took part", () => {
    const events = [SOURCES, { ...SOURCES, personal_included: false } as ClientEvent, delta("a"), GROUNDING, DONE];
    for (let n = 0; n <= events.length; n += 1) {
      const turn = last(run([ASKED, ...events.slice(0, n)]));
      expect(turn.personal).toBe(true);
      expect(turn.personalIncluded).toBe(n === 0 ? null : true);
    }
    const hidden = { ...SOURCES, personal_included: false, sources: [source(1, { personal: true })] } as ClientEvent;
    expect(last(run([ASKED, hidden])).personalIncluded).toBe(true);
    const left = { ...SOURCES, personal_included: false } as ClientEvent;
    expect(last(run([ASKED, left])).personalIncluded).toBe(false);
  });

  it("is one of many, and only the last hears events", () => {
    const first = run([ASKED, SOURCES, delta("one"), DONE]);
    const both = run([{ ...ASKED, turn: { ...ASKED.turn, id: "t2" } } as Action, delta("two")], first);
    expect(both.turns.map(({ id, text, state }) => [id, text, state])).toEqual([
      ["t1", "one", "done"],
      ["t2", "two", "streaming"],
    ]);
    expect(both.turns[0]).toBe(first.turns[0]);
    expect(first.turns).toHaveLength(1);
  });
});

describe("A renamed note", () => {
  const about: Action = { ...ASKED, turn: { ...ASKED.turn, note: "A/b.md" } } as Action;
  const found = { ...SOURCES, sources: [source(1, { path: "A/b.md", via: "A/c.md" }), source(2, { path: "Ab.md" })] };
  const cited: ClientEvent = { ...GROUNDING, citations: [citation(1, { path: "A/b.md" })] } as ClientEvent;
  const turns = run([about, found as ClientEvent, cited, DONE]);

  it("is followed wherever it is named, with its folder too, and nothing else is", () => {
    const note = last(run([{ type: "renamed", from: "A/b.md", to: "Z/new.md" }], turns));
    expect([note.note, note.sources[0]?.path, note.sources[0]?.via, note.citations[0]?.path]).toEqual([
      "Z/new.md",
      "Z/new.md",
      "A/c.md",
      "Z/new.md",
    ]);
    const folder = last(run([{ type: "renamed", from: "A", to: "B/A" }], turns));
    expect([folder.note, ...folder.sources.flatMap(({ path, via }) => [path, via])]).toEqual([
      "B/A/b.md",
      "B/A/b.md",
      "B/A/c.md",
      "Ab.md",
      null,
    ]);
  });

  it("that nothing names changes nothing", () => {
    expect(run([{ type: "renamed", from: "Other.md", to: "New.md" }], turns)).toBe(turns);
  });
});

describe("What goes back as history", () => {
  function answered(n: number, values: Partial<Turn> = {}): Turn {
    const turn = last(run([{ ...ASKED, turn: { ...ASKED.turn, id: `t${n}`, question: `q${n}` } } as Action]));
    return { ...turn, state: "done", text: `a${n}`, personal: false, personalIncluded: false, ...values };
  }

  function historyOf(...turns: Turn[]) {
    return historyFor({ id: "c", turns });
  }

  it("is question and answer of finished turns, oldest first", () => {
    expect(historyOf(answered(1), answered(2, { state: "stopped", text: "half" }))).toEqual([
      { role: "user", text: "q1", personal: false },
      { role: "assistant", text: "a1", personal: false },
      { role: "user", text: "q2", personal: false },
      { role: "assistant", text: "half", personal: false },
    ]);
  });

  it("leaves out what failed, what is being asked and what has no answer", () => {
    const states: Partial<Turn>[] = [{ state: "failed" }, { state: "asking" }, { state: "streaming" }, { text: " \n" }];
    expect(historyOf(...states.map((values) => answered(1, values)), answered(2)).map(({ text }) => text)).toEqual([
      "q2",
      "a2",
    ]);
  });

  it("marks personal turns, and those of which nobody knows", () => {
    const marks = [true, null, false].map((personalIncluded, n) => answered(n, { personalIncluded }));
    expect(historyOf(...marks).map(({ personal }) => personal)).toEqual([true, true, true, true, false, false]);
    const leftOut = answered(1, { personal: true, personalIncluded: false });
    expect(historyOf(leftOut).map(({ personal }) => personal)).toEqual([true, true]);
  });

  it("takes the web's words where the vault had none", () => {
    const web = { provider: "P", message: "m", results: [], text: "from the web" };
    expect(historyOf(answered(1, { text: "", web })).map(({ text }) => text)).toEqual(["q1", "from the web"]);
  });

  it("stays within what the wire and a model can hold, newest first, pairs whole", () => {
    const many = historyOf(...Array.from({ length: 90 }, (_, n) => answered(n)));
    expect(many).toHaveLength(40);
    expect(many.at(-1)?.text).toBe("a89");
    expect(many[0]).toMatchObject({ role: "user", text: "q70" });
    const long = historyOf(...Array.from({ length: 9 }, (_, n) => answered(n, { text: "x".repeat(150_000) })));
    expect(long).toHaveLength(4);
    expect(Math.max(...long.map(({ text }) => text.length))).toBe(20_000);
  });

  it("tears no character apart", () => {
    const [, answer] = historyOf(answered(1, { text: `${"x".repeat(19_999)}🫖` }));
    expect(answer?.text).toBe("x".repeat(19_999));
  });
});

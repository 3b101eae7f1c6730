import { describe, expect, it } from "vitest";
import { lineOf } from "../../../obsidian-plugin/src/locate";

const NOTE = [
  "---",
  "tags: [home]",
  "---",
  "# Rent",
  "",
  "The notice period is three months to the end of a month.",
  "It has to be in writing, signed by hand. ^signed",
  "",
  "## Costs #",
  "Heating is 120 a month.",
  "",
  "## Costs",
  "Water is 40 a month.",
];
const QUOTE = `${NOTE[5] ?? ""}\n${NOTE[6] ?? ""}`;

function passage(values: Partial<Parameters<typeof lineOf>[1]>) {
  return { heading: null, block: null, line_start: 6, quote: QUOTE, ...values };
}

describe("A passage", () => {
  it("is where it was, frontmatter counted", () => {
    expect(lineOf(NOTE.join("\n"), passage({}))).toBe(5);
    expect(lineOf(NOTE.join("\r\n"), passage({}))).toBe(5);
  });

  it("is found where it moved to, up or down", () => {
    expect(lineOf(["new", "new", ...NOTE].join("\n"), passage({}))).toBe(7);
    expect(lineOf(NOTE.slice(3).join("\n"), passage({}))).toBe(2);
    expect(lineOf(NOTE.join("\n"), passage({ line_start: 900 }))).toBe(5);
  });

  it("is found by a part of its line", () => {
    expect(lineOf(["new", ...NOTE].join("\n"), passage({ quote: "three months to the end" }))).toBe(6);
  });

  it("is the nearest of those that read alike, and the one at its line before all", () => {
    const twice = ["same words here", "x", "x", "x", "same words here", "x", "same words here"].join("\n");
    expect(lineOf(twice, passage({ line_start: 4, quote: "same words here" }))).toBe(4);
    expect(lineOf(twice, passage({ line_start: 1, quote: "same words here" }))).toBe(0);
    expect(lineOf(twice, passage({ line_start: 9, quote: "same words here" }))).toBe(6);
  });

  it("is found by its first line of its own where the rest was rewritten", () => {
    const changed = ["a", ...NOTE].join("\n").replace("by hand", "with ink");
    expect(lineOf(changed, passage({ quote: `---\n- a\n${QUOTE}` }))).toBe(6);
  });

  it("is where its block's id is, then where its heading is, when its words are gone", () => {
    const gone = passage({ quote: "Words that nobody finds any more.", block: "signed", heading: "Costs" });
    expect(lineOf(NOTE.join("\n"), gone)).toBe(6);
    expect(lineOf(NOTE.join("\n"), { ...gone, block: "other", line_start: 10 })).toBe(8);
    expect(lineOf(NOTE.join("\n"), { ...gone, block: null, line_start: 13 })).toBe(11);
  });

  it("finds a heading as Obsidian reads it", () => {
    const lines = ["text", "Costs: all", "# Costs: [[all]] | of it #"].join("\n");
    expect(lineOf(lines, passage({ quote: "gone from here now", heading: "costs: [[all]] | of it" }))).toBe(2);
  });

  it("is at the top when nothing of it is left", () => {
    expect(lineOf(NOTE.join("\n"), passage({ quote: "Gone for good, all of it.", heading: "Nowhere" }))).toBe(0);
    expect(lineOf("", passage({}))).toBe(0);
    expect(lineOf(NOTE.join("\n"), passage({ quote: " \n", line_start: 3 }))).toBe(0);
  });
});

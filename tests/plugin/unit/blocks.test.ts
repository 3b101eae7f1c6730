import { describe, expect, it } from "vitest";
import { blocksOf, isCodeBlock, openFence } from "../../../obsidian-plugin/src/blocks";
import { effort } from "./support";

/** Each block of these stands alone on purpose: the concatenation is the document. */
const DOCUMENTS: Record<string, string[]> = {
  paragraphs: ["One.\nStill one.\n\n", "Two.\n  \n\n", "Three."],
  headings: ["# A\n\n", "Text\n", "## B\n", "More\n#tag is no heading\n\n", "####### nor this\n"],
  fence: ["Before:\n", "```js\nlet a = `x`;\n\n# no heading\n> no quote\n- no item\n```\n", "After."],
  "tilde fence": ["~~~\n```\n\n~~\n~~~ no end\n~~~~\n\n", "After\n"],
  "longer fence": ["````md\n```js\n\n```\n\nstill code\n````\n", "After."],
  "unclosed fence": ["Text\n\n", "```py\na\n\nb\n\n# c\n\n- d"],
  "indented fence": ["   ```\na\n\nb\n   ```\n", "After."],
  "inline code at a line's start": ["``` is a fence, ```this``` is none\n\n", "Next\n\n", "Last"],
  "loose list": ["- a\n\n- b\n\n  more of b\n\n    - c\n\n* d\n\n", "After the list.\n"],
  "numbered list": ["1. a\n\n2. b\n\n10) c\n\n", "12 apples\n\n", "1.5 is a number"],
  "fence in an item": ["1. Do:\n\n   ```sh\n   ls\n\n   ls\n   ```\n\n2. Then\n\n", "Text"],
  "sloppy fence after an item": ["1. Do:\n", "```sh\nls\n\nls\n```\n", "2. Then\n"],
  "fence beside an item": ["- a\n10. b\n", "  ```\nx\n\ny\n  ```\n", "End"],
  "list after a paragraph": ["Intro:\n- a\n\n- b\n\n", "End"],
  "strong text after a list": ["- a\n\n", "**Strong**\n\n", "-5 degrees"],
  table: ["Text\n\n", "| a | b |\n|---|---|\n| 1 | 2 |\n\n", "After"],
  "quote and callout": ["Text\n", "> [!note] Title\n> more\nlazy\n>\n> end\n\n", "> another\n\n", "Text"],
  "fence in a quote": ["> ```\n> a\n>\n> b\n> ```\n\n", "Text"],
  math: ["Before\n\n", "$$\na\n\n# b\n$$\n", "After\n\n", "$$x$$ in a line\n\n", "and $$y\nz$$ on"],
  html: ["<div>\n<b>x</b>\n\n", "text\n\n", "</div>\n\n", "<!-- a\n\n", "b -->"],
  "indented code": ["Text\n\n    code\n\n    more\n\n", "Text"],
  rules: ["a\n\n", "---\n\n", "***\n\n", "b\n---\nc"],
  "line ends of Windows": ["a\r\nb\r\n\r\n", "```\r\nx\r\n\r\ny\r\n```\r\n", "- a\r\n\r\n- b\r\n\r\n", "c"],
  "blank beginnings": ["\n\n  \nText\n\n", "More"],
  "right to left": ["مرحبا [1]\n\n", "# عنوان\n", "中文。\n\n", "終わり"],
  empty: [],
};

describe("Blocks", () => {
  it.each(Object.entries(DOCUMENTS))("are cut where they end: %s", (_, blocks) => {
    expect(blocksOf(blocks.join(""))).toEqual(blocks);
  });

  it.each(Object.entries(DOCUMENTS))("never change but for the last while the text grows: %s", (_, blocks) => {
    expectStable(blocks.join(""));
  });

  it("never change but for the last in texts of any lines", () => {
    const lines = [
      ...["", " ", "a", "# b", "#", "- c", "-", "1.", "12", "  d", "    e", "\tf", "> g", ">", "```", "```js", "````"],
      ...[
        "~~~",
        "  ```",
        "   ~~~",
        "$$",
        "$$x$$",
        "x$$",
        "| h |",
        "|---|",
        "---",
        "===",
        "* * *",
        "<div>",
        "\r",
        "[1]: x",
      ],
    ];
    const random = generator(7);
    for (let round = 0; round < 400; round += 1) {
      const text = Array.from({ length: 1 + random(9) }, () => lines[random(lines.length)]).join("\n");
      expectStable(text);
    }
  });

  it("are found in a long answer in no time", () => {
    const text = Object.values(DOCUMENTS).flat().join("\n\n").repeat(400);
    expect(effort(() => blocksOf(text))).toBeLessThan(1_500);
    expect(effort(() => blocksOf("`".repeat(500_000) + "\n" + "- ".repeat(300_000)))).toBeLessThan(1_500);
    expect(blocksOf(text).join("")).toBe(text);
  });
});

describe("A block of code", () => {
  it("is one from its first line to its last", () => {
    for (const block of ["```js\na\n```\n\n", "~~~\n~~~", "````\n```\n````"])
      expect(isCodeBlock(block), block).toBe(true);
    for (const block of ["```js\na\n", "text\n```\n```", "```\na\n``` b", "```a``` b\n```", "$$\na\n$$", "a", ""]) {
      expect(isCodeBlock(block), block).toBe(false);
    }
  });

  it("tells what would close it where it is open", () => {
    expect(openFence("````js\na\n```\n")).toBe("````");
    expect(openFence("$$\nx")).toBe("$$");
    for (const block of ["```\na\n```", "text", ""]) expect(openFence(block)).toBeNull();
  });
});

/** At every length: nothing is lost, and what is finished stays when more comes. */
function expectStable(text: string): void {
  let before: string[] = [];
  for (let length = 0; length <= text.length; length += 1) {
    const blocks = blocksOf(text.slice(0, length));
    expect(blocks.join("")).toBe(text.slice(0, length));
    const finished = before.slice(0, -1);
    expect(blocks.slice(0, finished.length), JSON.stringify(text.slice(0, length))).toEqual(finished);
    before = blocks;
  }
}

/** Numbers that look random and are the same each time. */
function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * below);
  };
}

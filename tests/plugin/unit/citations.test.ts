import { describe, expect, it } from "vitest";
import {
  answerWithLinks,
  chipLabel,
  cutAtCitations,
  isLinkable,
  linktext,
  placeOf,
} from "../../../obsidian-plugin/src/citations";
import { citation, effort, source } from "./support";

function place(path: string, heading: string | null = null, above: string[] = [], block: string | null = null) {
  return source(1, { path, heading, heading_path: heading === null ? above : [...above, heading], block });
}

describe("A link's text", () => {
  it.each([
    [place("Home/Rent.md"), "Home/Rent"],
    [place("v1.2 release.md"), "v1.2 release"],
    [place("Board.canvas"), "Board.canvas"],
    [place("Home/Rent.md", "Notice", ["Rent"]), "Home/Rent#Notice"],
    [place("a.md", "Notice", [], "b1"), "a#^b1"],
    [place("a.md", "C# | part ^2: [[x]] \\ 100%% of  it"), "a#C part 2 x 100 of it"],
    [place("a.md", "#|^"), "a"],
    [place("ملاحظات/إيجار.md", "إشعار"), "ملاحظات/إيجار#إشعار"],
  ])("names the note, and the place as Obsidian finds it", (where, expected) => {
    expect(linktext(where)).toBe(expected);
  });

  it("names the headings above where the note has another of that name", () => {
    const where = place("a.md", "Costs", ["Flat: old", ""]);
    expect(linktext(where, ["Flat", "Costs", "House", "Costs"])).toBe("a#Flat old#Costs");
    expect(linktext(where, ["Flat", "Costs"])).toBe("a#Costs");
  });

  it.each(["C# notes.md", "a^b.md", "a[b].md", "a|b.md", "a%%b.md", "a\\b.md"])("is the path alone for %s", (path) => {
    expect(isLinkable(path)).toBe(false);
    expect(linktext(place(path, "Heading"))).toBe(path);
    expect(isLinkable("Ordinary (1), 100% & more.md")).toBe(true);
  });
});

describe("A chip", () => {
  it("says its number, its note and the heading, once", () => {
    expect(chipLabel(3, { title: "Rent", heading: "Notice" })).toBe("Source 3: Rent, under Notice");
    expect(chipLabel(3, { title: "Rent", heading: "Rent" })).toBe("Source 3: Rent");
    expect(chipLabel(3, { title: "Rent", heading: null })).toBe("Source 3: Rent");
  });
});

describe("A text cut at its citations", () => {
  const known = (n: number) => n >= 1 && n <= 3;

  it.each<[string, (string | number)[]]>([
    ["", []],
    ["no citation", ["no citation"]],
    ["31 kg [1].", ["31 kg ", 1, "."]],
    ["[1][2] and [3]", [1, 2, " and ", 3]],
    ["a [1, 2;3] b", ["a ", 1, 2, 3, " b"]],
    ["a [1, 9] b", ["a ", 1, "[9] b"]],
    ["a [9] [0] [01] b", ["a [9] [0] ", 1, " b"]],
    ["- [\u20601] b", ["- ", 1, " b"]],
    ["[x] [^1] [1] [1a] [1-2] [ ]", ["[x] [^1] ", 1, " [1a] [1-2] [ ]"]],
    ["عربي [2] 中文[3]。", ["عربي ", 2, " 中文", 3, "。"]],
    ["[1234]", ["[1234]"]],
  ])("%j", (text, pieces) => {
    expect(cutAtCitations(text, known)).toEqual(pieces);
  });

  it("is cut in no time, whatever it is", () => {
    for (const piece of ["[", "[1", "[1,", "[1 ,", "[1]", " "]) {
      expect(effort(() => cutAtCitations(piece.repeat(200_000), known))).toBeLessThan(1_500);
    }
  });
});

describe("The place of a number", () => {
  it("is the lines that grounding found, with what only the source knows", () => {
    const narrowed = citation(1, { line_start: 2, line_end: 2, quote: "says" });
    expect(placeOf(1, [source(1, { personal: true })], [narrowed])).toMatchObject({
      line_start: 2,
      quote: "says",
      personal: true,
    });
    expect(placeOf(2, [source(1), source(2)], [narrowed])).toEqual(source(2));
    expect(placeOf(3, [source(1)], [citation(3)])).toBeNull();
  });
});

describe("An answer to paste", () => {
  const rent = source(1, { path: "Home/Rent.md", title: "Rent", heading: "Notice" });
  const odd = source(2, { path: "Odd/C# (1) [x].md", title: "C# [x]", heading: "A & B" });
  const sources = [rent, odd, source(3)];

  function paste(text: string, list = false): string {
    return answerWithLinks({ text, sources, citations: [] }, { list });
  }

  it("has a wikilink for each citation, or a Markdown link where a wikilink cannot hold the name", () => {
    expect(paste("Three months [1], in writing [1, 2]. [7]")).toBe(
      "Three months [[Home/Rent#Notice|1]], in writing " +
        "[[Home/Rent#Notice|1]][2](Odd/C%23%20%281%29%20%5Bx%5D.md#A%20%26%20B). [7]",
    );
  });

  it("keeps the cells of a table apart", () => {
    expect(paste("| a | b |\n|---|---|\n| 3 [1] | x |\n\nand [1]")).toBe(
      "| a | b |\n|---|---|\n| 3 [[Home/Rent#Notice\\|1]] | x |\n\nand [[Home/Rent#Notice|1]]",
    );
  });

  it("leaves code alone, in lines, between fences and in items", () => {
    const code = "`a[1]` and ``b`[1]`` and ` [x]\n\n```py\na[1]\n```\n\n- x\n  ```py\n  a[1]\n  ```\n";
    expect(paste(`${code}\nSee [1]`)).toBe(`${code}\nSee [[Home/Rent#Notice|1]]`);
  });

  it("lists the cited sources once, in the order of their numbers", () => {
    expect(paste("b [2] a [1] [2]\n", true)).toBe(
      `${paste("b [2] a [1] [2]")}\n\n**Sources**\n\n` +
        "- [[Home/Rent#Notice|Rent]] (1)\n" +
        "- [C\\# \\[x\\]](Odd/C%23%20%281%29%20%5Bx%5D.md#A%20%26%20B) (2)\n",
    );
    expect(paste("nothing cited", true)).toBe("nothing cited");
  });

  it("closes a code block that was stopped in the middle, so that what stands below stays outside", () => {
    expect(paste("```xml\n<b>a[1]</b>")).toBe("```xml\n<b>a[1]</b>\n```\n");
    expect(paste("See [1]\n\n````js\nlet a", true)).toBe(
      "See [[Home/Rent#Notice|1]]\n\n````js\nlet a\n````\n\n**Sources**\n\n- [[Home/Rent#Notice|Rent]] (1)\n",
    );
  });

  it("puts nothing into a note that would run, load or transclude there", () => {
    const text =
      "![x](http://evil.example/?q=1) ![[Secret]] <img src=x> `= dv.x` [a](javascript:x) %% [1]\n\n" +
      "```dataviewjs\ndv.x\n```\n\n```xml\n<b>&lt;</b> <% tp %>\n```\n";
    const pasted = paste(text);
    expect(pasted).not.toMatch(/!\[|<img|`\$?=|\]\(javascript|%%|```dataviewjs|<%/);
    expect(pasted.replaceAll("\u2060", "")).toBe(text.replace("[1]", "[[Home/Rent#Notice|1]]"));
    expect(pasted).toContain("\n<b>&lt;</b> ");
  });

  it("is made in no time, whatever the answer is", () => {
    for (const piece of ["|", "[1]|\n", "` ", " ", "](  ", "```\n", "[1] `a` ", "|\n-|\n"]) {
      expect(effort(() => paste(`${piece.repeat(20_000)}!`))).toBeLessThan(2_000);
    }
  });

  it("takes no title for more than words", () => {
    const named = [source(1, { path: "a.md", title: "x]] ![[Secret|y\n<b>`c`" })];
    const pasted = answerWithLinks({ text: "[1]", sources: named, citations: [] }, { list: true });
    expect(pasted).toContain("- [[a|x ! Secret y b c]] (1)");
  });
});

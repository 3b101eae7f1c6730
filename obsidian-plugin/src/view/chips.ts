// What is done to rendered Markdown before it is shown: citations become chips, links to nothing become words.
import { cutAtCitations } from "../citations";

/** Whose text is taken literally, or is a link already. */
const LEFT_ALONE = "code, pre, a, math, mjx-container, .math";

/** Put chips in the place of citations; `chip` makes none of an unknown number, which stays text. */
export function putChips(root: HTMLElement, chip: (n: number) => HTMLElement | null): void {
  for (const text of textsOf(root)) {
    const pieces = cutAtCitations(text.data, (n) => chip(n) !== null);
    text.replaceWith(...pieces.map((piece) => (typeof piece === "string" ? piece : (chip(piece) ?? ""))));
  }
}

/** Turn links to notes that are not there into their words: to open one would create it. */
export function settleLinks(root: HTMLElement, leads: (link: string) => boolean): void {
  for (const link of root.querySelectorAll("a.internal-link")) {
    if (!leads(linkOf(link))) link.replaceWith(...link.childNodes);
  }
}

/** The linktext of a link that Obsidian rendered. */
export function linkOf(link: Element): string {
  return link.getAttribute("data-href") ?? link.getAttribute("href") ?? "";
}

function textsOf(root: HTMLElement): Text[] {
  const walker = root.doc.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const text = node as Text;
    if (text.data.includes("[") && text.parentElement?.closest(LEFT_ALONE) === null) texts.push(text);
  }
  return texts;
}

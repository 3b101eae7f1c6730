// Takes out of rendered DOM what must not be there, in case a renderer made it after all.
const JOINER = /\u2060/g;

/** What Obsidian's renderer makes of Markdown that was made harmless. */
const TAGS = new RegExp(
  "^(?:mjx-[a-z-]+|a|abbr|b|blockquote|br|button|cite|code|d[dlt]|del|details|div|em|h[1-6]|hr|i|input|ins|kbd|li|mark|ol|p|" +
    "pre|q|s|section|small|span|strong|su[bp]|summary|t[dhr]|table|tbody|tfoot|thead|u|ul|wbr|" +
    "svg|g|path|line|rect|circle|ellipse|polyline|polygon)$",
);
/** Gone with all that is in them: it is no text for a reader. */
const DROPPED =
  /^(?:script|style|iframe|object|embed|template|noscript|audio|video|textarea|select|mjx-assistive-mml)$/;
const ATTRIBUTES = new RegExp(
  "^(?:aria-[a-z]+|data-(?!src)[a-z-]+|align|checked|class|colspan|dir|disabled|href|jax|lang|rel|role|rowspan|start|style|" +
    "tabindex|target|title|type|value|cx|cy|d|fill|height|points|r|rx|ry|stroke[a-z-]*|viewbox|width|x[12]?|y[12]?)$",
);
/** Style that loads, covers or hides something. */
const LOUD_STYLE = /url|image|expression|import|position\s*:\s*(?:fixed|absolute)|z-index|@|\\|behavior/i;
const WEB = /^https?:\/\//i;
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;

/** Strip what must not be there from rendered DOM, in case the renderer made it after all. */
export function scrub(root: HTMLElement): void {
  for (const el of root.querySelectorAll("*")) scrubElement(el);
  for (const code of root.querySelectorAll("code, pre")) restoreCode(code);
}

function scrubElement(el: Element): void {
  const tag = el.tagName.toLowerCase();
  // A button of another plugin's may run the code it stands in.
  if (DROPPED.test(tag) || (tag === "button" && !el.classList.contains("copy-code-button"))) el.remove();
  else if (!TAGS.test(tag)) el.replaceWith(el.getAttribute("alt") ?? "", ...el.childNodes);
  else scrubAttributes(el, tag);
}

function scrubAttributes(el: Element, tag: string): void {
  for (const { name, value } of [...el.attributes]) {
    const known = name.toLowerCase();
    const isOurs = ATTRIBUTES.test(known) && !(known === "style" && LOUD_STYLE.test(value));
    if (!isOurs || (known.endsWith("href") && !leadsSomewhereKnown(el, tag, value))) el.removeAttribute(name);
  }
  if (tag === "input") scrubInput(el);
}

/** A page of the web, or a note: where a link has neither it is words. */
function leadsSomewhereKnown(el: Element, tag: string, address: string): boolean {
  if (tag !== "a") return false;
  // Addresses drop control signs and blanks, so that a scheme may be disguised by them.
  if (el.classList.contains("internal-link")) return !SCHEME.test(address.replace(/[\s\p{Cc}]/gu, ""));
  return WEB.test(address) || address.startsWith("#");
}

/** The only input there is: a task's box, which nobody can tick here. */
function scrubInput(el: Element): void {
  if (el.getAttribute("type") === "checkbox") el.setAttribute("disabled", "");
  else el.remove();
}

/** Give code the words that were written, and no language that a plugin looks for. */
function restoreCode(code: Element): void {
  for (const name of [...code.classList]) if (name.includes("\u2060")) code.classList.remove(name);
  for (const text of textsOf(code)) {
    const plain = unpadded(text.data).replace(JOINER, "");
    if (plain !== text.data) text.data = plain;
  }
  const after = code.nextSibling;
  if (after?.nodeType === TEXT) (after as Text).data = (after as Text).data.replace(/^\u2060/, "");
}

/** Markdown drops a blank at both ends of inline code, but for the joiner at its beginning. */
function unpadded(code: string): string {
  const isPadded = code.startsWith("\u2060 ") && code.endsWith(" ") && code.trim() !== "\u2060";
  return isPadded ? code.slice(2, -1) : code;
}

const TEXT = 3;

function textsOf(el: Element): Text[] {
  return [...el.childNodes].flatMap((node) =>
    node.nodeType === TEXT ? [node as Text] : node.nodeType === 1 ? textsOf(node as Element) : [],
  );
}

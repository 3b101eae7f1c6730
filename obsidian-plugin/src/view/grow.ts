// A block that is still being written is drawn again and again; here what stands already stays, so that a selection in
// it, or a pointer over a chip, survives.

/** What carries listeners of its renderer's, which a grown copy would lose. */
const NOT_GROWN = "pre, button, input, svg, .callout, .math, mjx-container";

/** Make `old` look like `made` by adding what is new; false where that cannot be, and nothing was done. */
export function grow(old: HTMLElement, made: HTMLElement): boolean {
  return [old, made].every((el) => el.querySelector(NOT_GROWN) === null) && growNode(old, made);
}

function growNode(old: Node, made: Node): boolean {
  if (isText(old) && isText(made) && made.data.startsWith(old.data)) {
    // Appending leaves every range in the text as it is; replacing would end them.
    old.appendData(made.data.slice(old.length));
    return true;
  }
  if (!old.cloneNode().isEqualNode(made.cloneNode())) return false;
  const wanted = [...made.childNodes];
  for (const [at, node] of wanted.entries()) {
    const present = old.childNodes[at];
    if (present === undefined) old.appendChild(node);
    else if (!growNode(present, node)) present.replaceWith(node);
  }
  while (old.childNodes.length > wanted.length) old.lastChild?.remove();
  return true;
}

function isText(node: Node): node is Text {
  return node.nodeType === node.TEXT_NODE;
}

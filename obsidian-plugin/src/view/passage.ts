// A passage in a list: its number, what it is called, where it stands, and its words. Sources and web pages look alike.
import { add, div, words } from "./parts";

export interface Passage {
  n: number;
  title: string;
  trail: string;
  quote: string;
  /** What its number is called by someone who hears it. */
  label: string;
  labelId: string;
}

/** Draw a passage whose title links somewhere; the result holds all but the number, and the link. */
export function drawPassage(
  row: HTMLElement,
  { n, title, trail, quote, label, labelId }: Passage,
): {
  body: HTMLElement;
  link: HTMLAnchorElement;
} {
  row.dataset.n = String(n);
  add(row, "span", "number", String(n)).setAttr("aria-hidden", "true");
  const body = div(row, "source-body");
  const link = add(body, "a", "title", title);
  link.dir = "auto";
  const spoken = add(body, "span", "", label);
  spoken.id = labelId;
  spoken.hidden = true;
  if (trail !== "") words(body, "div", "trail", trail);
  drawQuote(body, quote);
  return { body, link };
}

/** A passage, word for word; a long one opens on a click. */
function drawQuote(body: HTMLElement, text: string): void {
  if (text === "") return;
  const quote = words(body, "div", "quote clamped", text);
  quote.addEventListener("click", () => {
    // Selecting words of it is no click on it.
    if (quote.win.getSelection()?.isCollapsed !== false) quote.classList.toggle("vault-ask-clamped");
  });
}

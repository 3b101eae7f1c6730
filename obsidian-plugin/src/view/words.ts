// Sentences and names that several parts of the pane say in the same way.
import type { Place } from "../citations";

/** Where in its note a passage stands, such as "Costs › Rent". A first heading that is the title says nothing new. */
export function trailOf({ title, heading_path, heading }: Pick<Place, "title" | "heading_path" | "heading">): string {
  const trail = heading_path.length > 0 ? heading_path : [heading ?? ""];
  return trail.filter((each, at) => at > 0 || each !== title).join(" › ");
}

/** A passage as it is shown: without the headings it begins with, which the trail names. */
export function bodyOf(quote: string): string {
  return quote.replace(/^(?:\s*#{1,6}\s.*(?:\n|$))+\s*/, "") || quote;
}

/** What a note is called: its file's name. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1).replace(/\.md$/i, "");
}

/** A number with its noun: "1 passage", "3 passages". */
export function count(n: number, noun: string): string {
  return `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
}

/** Who words the answers, as a reader would say it. */
export function generatorOf(generator: string): string {
  return generator === "extractive" ? "quotes, no model" : generator.slice(generator.indexOf("/") + 1);
}

// An editor over a text area: cursor, selection and replacement are the real ones of that element.

interface Position {
  line: number;
  ch: number;
}

export class Editor {
  constructor(private readonly area: HTMLTextAreaElement) {}

  getDoc(): this {
    return this;
  }

  getValue(): string {
    return this.area.value;
  }

  setValue(text: string): void {
    this.area.value = text;
    this.changed();
  }

  getLine(line: number): string {
    return this.lines()[line] ?? "";
  }

  lineCount(): number {
    return this.lines().length;
  }

  lastLine(): number {
    return this.lineCount() - 1;
  }

  getSelection(): string {
    return this.area.value.slice(this.area.selectionStart, this.area.selectionEnd);
  }

  somethingSelected(): boolean {
    return this.area.selectionStart !== this.area.selectionEnd;
  }

  getRange(from: Position, to: Position): string {
    return this.area.value.slice(this.posToOffset(from), this.posToOffset(to));
  }

  replaceSelection(text: string): void {
    this.area.setRangeText(text, this.area.selectionStart, this.area.selectionEnd, "end");
    this.changed();
  }

  replaceRange(text: string, from: Position, to: Position = from): void {
    this.area.setRangeText(text, this.posToOffset(from), this.posToOffset(to), "preserve");
    this.changed();
  }

  getCursor(side: "from" | "to" | "head" | "anchor" = "head"): Position {
    const first = side === "from" || (side === "anchor") !== (this.area.selectionDirection === "backward");
    return this.offsetToPos(first ? this.area.selectionStart : this.area.selectionEnd);
  }

  setCursor(at: Position | number, ch = 0): void {
    this.setSelection(typeof at === "number" ? { line: at, ch } : at);
  }

  setSelection(anchor: Position, head: Position = anchor): void {
    const [from, to] = [this.posToOffset(anchor), this.posToOffset(head)];
    this.area.setSelectionRange(Math.min(from, to), Math.max(from, to), from > to ? "backward" : "forward");
  }

  scrollIntoView(range: { from: Position; to: Position }): void {
    this.area.scrollTop = (this.area.scrollHeight * range.from.line) / Math.max(1, this.lineCount());
  }

  focus(): void {
    this.area.focus();
  }

  blur(): void {
    this.area.blur();
  }

  hasFocus(): boolean {
    return this.area.doc.activeElement === this.area;
  }

  posToOffset(at: Position): number {
    const before = this.lines().slice(0, at.line);
    return before.reduce((sum, line) => sum + line.length + 1, 0) + at.ch;
  }

  offsetToPos(offset: number): Position {
    const before = this.area.value.slice(0, offset).split("\n");
    return { line: before.length - 1, ch: before.at(-1)?.length ?? 0 };
  }

  private lines(): string[] {
    return this.area.value.split("\n");
  }

  private changed(): void {
    this.area.dispatchEvent(new Event("input"));
  }
}

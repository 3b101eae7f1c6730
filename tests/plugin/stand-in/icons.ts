// A few icons, drawn plainly. A name that stands for no icon draws nothing, as in Obsidian.

const SHAPES: Record<string, string> = {
  "arrow-down": "M12 5v14M5 12l7 7 7-7",
  "arrow-up": "M12 19V5M5 12l7-7 7 7",
  "chevron-down": "M6 9l6 6 6-6",
  "chevron-right": "M9 6l6 6-6 6",
  "circle-alert": "M12 3a9 9 0 1 0 .01 0M12 8v5M12 16v.5",
  "circle-check": "M12 3a9 9 0 1 0 .01 0M8 12l3 3 5-6",
  "circle-help": "M12 3a9 9 0 1 0 .01 0M9.5 9a2.5 2.5 0 1 1 3.5 2.4c-1 .4-1 1.1-1 1.9M12 16.5v.5",
  "circle-stop": "M12 3a9 9 0 1 0 .01 0M9 9h6v6H9z",
  "external-link": "M14 4h6v6M20 4l-9 9M18 14v6H4V6h6",
  "file-text": "M6 2h9l4 4v16H6zM9 12h6M9 16h6",
  "folder-open": "M3 19V5h6l2 3h9v3M3 19l3-8h16l-3 8z",
  "message-circle": "M12 4a8 8 0 1 1-4 15l-5 2 2-5a8 8 0 0 1 7-12",
  "message-circle-question": "M12 4a8 8 0 1 1-4 15l-5 2 2-5a8 8 0 0 1 7-12M10 10a2 2 0 1 1 2 2.5M12 15v.5",
  "message-square": "M4 4h16v12H8l-4 4z",
  "refresh-cw": "M20 8a8 8 0 1 0 .5 5M20 3v5h-5",
  "rotate-ccw": "M4 8a8 8 0 1 1-.5 5M4 3v5h5",
  "text-cursor-input": "M12 4v16M9 4h6M9 20h6M4 9h4v6H4M16 9h4v6h-4",
  "trash-2": "M4 6h16M9 6V3h6v3M6 6l1 15h10l1-15",
  "triangle-alert": "M12 4l9 16H3zM12 10v4M12 17v.5",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  check: "M5 12l5 5 9-10",
  "corner-down-left": "M20 5v6H5M9 7l-4 4 4 4",
  eye: "M2 12s4-7 10-7 10 7 10 7-4 7-10 7-10-7-10-7M12 9a3 3 0 1 0 .01 0",
  globe: "M12 3a9 9 0 1 0 .01 0M3 12h18M12 3c-5 5-5 13 0 18M12 3c5 5 5 13 0 18",
  history: "M4 12a8 8 0 1 1 2 5M4 20v-5h5M12 8v5l3 2",
  info: "M12 3a9 9 0 1 0 .01 0M12 11v6M12 7.5v.5",
  link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
  loader: "M12 3v4M12 17v4M3 12h4M17 12h4",
  lock: "M5 11h14v10H5zM8 11V7a4 4 0 0 1 8 0v4",
  plus: "M12 5v14M5 12h14",
  quote: "M4 6h6v6c0 4-2 5-4 6M14 6h6v6c0 4-2 5-4 6",
  search: "M10 4a6 6 0 1 0 .01 0M15 15l6 6",
  send: "M3 11l18-8-8 18-2-8z",
  settings: "M12 9a3 3 0 1 0 .01 0M12 2v4M12 18v4M2 12h4M18 12h4M5 5l3 3M16 16l3 3M5 19l3-3M16 8l3-3",
  square: "M5 5h14v14H5z",
  star: "M12 3l3 6 6 1-4.500 4 1 7-5.500-3-5.500 3 1-7L3 10l6-1z",
  text: "M4 6h16M4 12h16M4 18h10",
  "text-select": "M4 4h2M10 4h4M18 4h2v2M20 10v4M20 18v2h-2M14 20h-4M6 20H4v-2M4 14v-4M8 12h8",
  "user-lock": "M8 4a4 4 0 1 0 .01 0M2 20c0-5 8-6 10-3M14 15h8v6h-8zM16 15v-2h4v2",
  user: "M12 4a4 4 0 1 0 .01 0M4 21c0-8 16-8 16 0",
  x: "M6 6l12 12M18 6L6 18",
};

/** Names that were asked for and are drawn by none of the above: a plain dot stands for them. */
export const unknownIcons = new Set<string>();

export function setIcon(parent: HTMLElement, icon: string): void {
  parent.empty();
  const name = icon.replace(/^lucide-/, "");
  if (!/^[a-z0-9-]+$/.test(name)) return;
  if (!SHAPES[name]) unknownIcons.add(name);
  const svg = parent.createSvg("svg", {
    cls: ["svg-icon", `lucide-${name}`],
    attr: { width: 24, height: 24, viewBox: "0 0 24 24", fill: "none", stroke: "currentColor", "stroke-width": 2 },
  });
  svg.setAttribute("stroke-linecap", "round");
  svg.setAttribute("stroke-linejoin", "round");
  svg.createSvg("path", { attr: { d: SHAPES[name] ?? "M12 8a4 4 0 1 0 .01 0" } });
}

/** Names a thing for those who hear and, after a moment, for those who point. */
export function setTooltip(el: HTMLElement, tooltip: string): void {
  if (tooltip) el.setAttribute("aria-label", tooltip);
  else el.removeAttribute("aria-label");
}

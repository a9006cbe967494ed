import { escapeXml } from "./terminal-svg.ts";
import type { TimelineRow } from "./timeline.ts";

const size = { width: 760, names: 200, row: 24, bar: 16, head: 62, foot: 34, margin: 12 };

/** Fill of a bar by its label, light and dark. Each bar has its label as a title, too, so no meaning is in a color alone. */
const fills: Readonly<Record<string, readonly [light: string, dark: string]>> = {
  "Create VM": ["#b6d3f7", "#1f4f87"],
  Join: ["#9edcf0", "#14586c"],
  "In service": ["#a6e3b0", "#1d5f2e"],
  Drain: ["#f5dc8e", "#6b5210"],
  Detach: ["#f7c49a", "#74400f"],
  "Delete VM": ["#f5b5b0", "#7a2622"],
  Remove: ["#d9c8f5", "#4b3580"],
  "Pod runs": ["#8fd3c4", "#1b6b5c"],
  "Pod terminates": ["#c9d1d9", "#57606a"],
};

/** Distances of marks on the axis, seconds. */
const scales = [10, 15, 30, 60, 120, 300, 600];

const minutes = (seconds: number): string => {
  const rest = seconds % 60;
  return `${Math.floor(seconds / 60)}:${String(rest).padStart(2, "0")}`;
};

/** A timeline as a picture: a row for each object, and what each color means, in this order of the labels. */
export function timelineSvg(title: string, rows: readonly TimelineRow[], order: readonly string[]): string {
  const labels = order.filter((label) => rows.some(({ bars }) => bars.some((bar) => bar.label === label)));
  const end = Math.max(...rows.flatMap(({ bars }) => bars.map(({ to }) => to)));
  const height = size.head + rows.length * size.row + size.foot;
  const x = (seconds: number): number =>
    Math.round(size.names + (seconds / end) * (size.width - size.names - 2 * size.margin));
  const step = scales.find((each) => end / each <= 10) ?? 1_200;
  const bottom = size.head + rows.length * size.row;
  const marks = Array.from({ length: Math.floor(end / step) + 1 }, (_, index) => index * step).map(
    (at) =>
      `<path class="g" d="M${x(at)} ${size.head - 6}V${bottom}"/><text x="${x(at)}" y="${bottom + 18}" text-anchor="middle">${minutes(at)}</text>`,
  );
  const legend = labels.map((label, index) => {
    const left = size.margin + labels.slice(0, index).reduce((sum, each) => sum + 30 + each.length * 7.2, 0);
    return `<rect class="k${index}" x="${left}" y="32" width="14" height="14" rx="3"/><text x="${left + 19}" y="44">${escapeXml(label)}</text>`;
  });
  const drawn = rows.flatMap(({ name, bars }, index) => {
    const top = size.head + index * size.row;
    return [
      `<text x="${size.margin}" y="${top + 13}">${escapeXml(name)}</text>`,
      ...bars.map(({ label, from, to }) => {
        const kind = labels.indexOf(label);
        const width = Math.max(2, x(to) - x(from));
        return `<rect class="k${kind}" x="${x(from)}" y="${top}" width="${width}" height="${size.bar}" rx="3"><title>${escapeXml(`${name}: ${label}`)}</title></rect>`;
      }),
    ];
  });
  const style = (scheme: 0 | 1, [background, text, line]: readonly [string, string, string]): string =>
    `.bg{fill:${background}}text{fill:${text}}.g{stroke:${line}}${labels.map((label, index) => `.k${index}{fill:${fills[label]?.[scheme] ?? "none"}}`).join("")}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${height}" width="${size.width}" role="img" aria-label="${escapeXml(title)}">`,
    `<title>${escapeXml(title)}</title>`,
    `<style>text{font:13px system-ui,sans-serif}.t{font-weight:bold}`,
    style(0, ["#ffffff", "#1f2328", "#d1d9e0"]),
    `@media (prefers-color-scheme:dark){${style(1, ["#0d1117", "#e6edf3", "#3d444d"])}}</style>`,
    `<rect class="bg" width="100%" height="100%" rx="8"/>`,
    `<text class="t" x="${size.margin}" y="20">${escapeXml(title)}</text>`,
    ...legend,
    ...marks,
    ...drawn,
    `</svg>`,
    "",
  ].join("\n");
}

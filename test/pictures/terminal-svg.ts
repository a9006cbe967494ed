import type { Recording } from "./recording.ts";
import { type Run, type Screen, screensOf } from "./screens.ts";

/** Of a character and a line, pixels. */
const cell = { width: 8.4, height: 18, font: 14 };
const padding = 14;
const titleHeight = 30;

/** Colors of a terminal, each with a contrast of 4.5 or more on the background. */
const palette: Readonly<Record<number, string>> = {
  1: "#ff7b72",
  2: "#56d364",
  3: "#e3b341",
  4: "#79c0ff",
  5: "#d2a8ff",
  6: "#56d4dd",
  7: "#e6edf3",
};
const colors = { background: "#0d1117", bar: "#21262d", text: "#e6edf3", dim: "#9198a1" };

/** Text of XML. */
export const escapeXml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const round = (value: number): number => Math.round(value * 10) / 10;

function drawRun({ column, text, color, isBold, isDim, isInverse }: Run): string {
  const x = round(column * cell.width);
  const width = round(text.length * cell.width);
  const own = color === undefined ? undefined : palette[color];
  const fill = isInverse ? colors.background : (own ?? (isDim ? colors.dim : undefined));
  const box = isInverse
    ? `<rect x="${x}" y="-14" width="${width}" height="${cell.height}" fill="${colors.text}"/>`
    : "";
  const look = `${fill === undefined ? "" : ` fill="${fill}"`}${isBold ? ' class="b"' : ""}`;
  return `${box}<text x="${x}" textLength="${width}"${look}>${escapeXml(text)}</text>`;
}

const keyOf = ({ lines }: Screen): string => JSON.stringify(lines);

/** Screens that differ from the one before, and how long each is shown, seconds. */
function framesOf(screens: readonly Screen[], lastFor: number): readonly { screen: Screen; seconds: number }[] {
  const changed = screens.filter((screen, index) => {
    const before = screens[index - 1];
    return before === undefined || before.caption !== screen.caption || keyOf(before) !== keyOf(screen);
  });
  return changed.map((screen, index) => ({
    screen,
    seconds: (changed[index + 1]?.at ?? screen.at + lastFor) - screen.at,
  }));
}

/** Shows one frame after another, for ever; who wants less motion sees the last one. */
function animationOf(seconds: readonly number[]): string {
  const total = seconds.reduce((sum, each) => sum + each, 0);
  let start = 0;
  const rules = seconds.map((each, index) => {
    const [from, to] = [start, start + each].map((at) => `${round((at / total) * 1_000) / 10}%`);
    start += each;
    const before = index === 0 ? "" : `0%{visibility:hidden}`;
    const after = index === seconds.length - 1 ? "" : `${to}{visibility:hidden}`;
    return `@keyframes f${index}{${before}${from}{visibility:visible}${after}}.f${index}{animation-name:f${index}}`;
  });
  return [
    `.f{visibility:hidden;animation:${round(total)}s step-end infinite}`,
    ...rules,
    `@media (prefers-reduced-motion:reduce){.f{animation:none}.f${seconds.length - 1}{visibility:visible}}`,
  ].join("\n");
}

/** A recording as a picture: animated when it has more than one screen. Each line is drawn once, however often it is shown. */
export async function svgOf(recording: Recording): Promise<string> {
  const { title, columns, rows } = recording;
  const frames = framesOf(await screensOf(recording), 4);
  const [width, height] = [columns * cell.width + 2 * padding, rows * cell.height + 2 * padding + titleHeight];
  const lines = new Map<string, number>();
  const drawFrame = ({ screen }: (typeof frames)[number], index: number): string => {
    const uses = screen.lines.flatMap((runs, row) => {
      if (runs.length === 0) return [];
      const drawn = runs.map(drawRun).join("");
      const id = lines.get(drawn) ?? lines.size;
      lines.set(drawn, id);
      return [`<use href="#l${id}" y="${row * cell.height + 14}"/>`];
    });
    const caption = screen.caption === "" ? title : screen.caption;
    const bar = `<text x="${padding + 60}" y="20" class="c">${escapeXml(caption)}</text>`;
    const body = `<g fill="${colors.text}" transform="translate(${padding} ${titleHeight + padding})">${uses.join("")}</g>`;
    return `<g class="f f${index}">${bar}${body}</g>`;
  };
  const drawn = frames.map(drawFrame);
  const animation = frames.length > 1 ? animationOf(frames.map(({ seconds }) => seconds)) : "";
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${round(width)} ${round(height)}" width="${round(width)}" role="img" aria-label="${escapeXml(title)}">`,
    `<title>${escapeXml(title)}</title>`,
    `<style>`,
    `text{white-space:pre;font:${cell.font}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}`,
    `.b{font-weight:bold}`,
    `.c{font-family:system-ui,sans-serif;fill:${colors.dim}}`,
    ...(animation === "" ? [] : [animation]),
    `</style>`,
    `<defs>`,
    ...[...lines].map(([line, id]) => `<g id="l${id}">${line}</g>`),
    `</defs>`,
    `<rect width="100%" height="100%" rx="8" fill="${colors.background}"/>`,
    `<path d="M0 ${titleHeight}V8a8 8 0 0 1 8-8H${round(width) - 8}a8 8 0 0 1 8 8V${titleHeight}z" fill="${colors.bar}"/>`,
    ...["#ff7b72", "#e3b341", "#56d364"].map(
      (fill, index) => `<circle cx="${18 + index * 18}" cy="15" r="5" fill="${fill}"/>`,
    ),
    ...drawn,
    `</svg>`,
    "",
  ].join("\n");
}

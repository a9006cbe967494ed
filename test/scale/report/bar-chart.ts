/** One bar. */
export interface Bar {
  /** Name of the series, which decides the color. */
  readonly series: string;
  readonly value: number;
  /** What is written beside the bar. */
  readonly text: string;
}

/** Horizontal bars in groups. */
export interface BarChart {
  readonly title: string;
  readonly groups: readonly { readonly name: string; readonly bars: readonly Bar[] }[];
}

const WIDTH = 760;
const NAMES = 210;
const VALUES = 110;
const MARGIN = 16;
const BAR = 18;
const GAP = 12;
const TITLE = 30;
const LEGEND = 24;
/** Distinguishable with every common form of color blindness (Okabe and Ito), dark enough on white. */
const colors = ["#0072b2", "#d55e00", "#009e73", "#cc79a7"];

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

const number = (value: number): string => String(Math.round(value * 10) / 10);

/** Draws the chart as SVG, with a white background, and with all texts as texts. Bars start at 0. */
export function drawBarChart({ title, groups }: BarChart): string {
  const series = [...new Set(groups.flatMap(({ bars }) => bars.map((bar) => bar.series)))];
  const highest = Math.max(...groups.flatMap(({ bars }) => bars.map(({ value }) => value)), Number.MIN_VALUE);
  const colorOf = (name: string): string => colors[series.indexOf(name) % colors.length] ?? "#000";
  const text = (x: number, y: number, content: string, more = ""): string =>
    `<text x="${number(x)}" y="${number(y)}"${more}>${escaped(content)}</text>`;
  const parts: string[] = [text(MARGIN, MARGIN + 10, title, ' font-weight="bold"')];
  let y = MARGIN + TITLE;
  if (series.length > 1) {
    for (const [index, name] of series.entries()) {
      const x = NAMES + index * 140;
      parts.push(
        `<rect x="${x}" y="${y - 12}" width="12" height="12" fill="${colorOf(name)}"/>`,
        text(x + 18, y - 2, name),
      );
    }
    y += LEGEND - 12;
  }
  for (const { name, bars } of groups) {
    parts.push(text(NAMES - 8, y + (bars.length * BAR) / 2 + 4, name, ' text-anchor="end"'));
    for (const bar of bars) {
      const width = ((WIDTH - NAMES - VALUES - MARGIN) * bar.value) / highest;
      parts.push(
        `<rect x="${NAMES}" y="${y + 2}" width="${number(width)}" height="${BAR - 4}" fill="${colorOf(bar.series)}"/>`,
        text(NAMES + width + 6, y + BAR / 2 + 4, bar.text),
      );
      y += BAR;
    }
    y += GAP;
  }
  const height = y + MARGIN - GAP;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="13" role="img" aria-label="${escaped(title)}">`,
    `<rect width="100%" height="100%" fill="#fff"/>`,
    ...parts,
    "</svg>",
    "",
  ].join("\n");
}

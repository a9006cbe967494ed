/** Width of a text on a screen. */
const widthOf = (text: string): number => text.length;

/** A cell as it stands in a table: on one line, and without bars that would end it. */
const cellOf = (text: string): string => text.replaceAll(/\s+/g, " ").replaceAll("|", "\\|");

/** A Markdown table with columns as wide as their content, which is how the formatter writes it. */
export function markdownTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [headings, ...rows].map((row) => row.map(cellOf));
  const widths = headings.map((_, column) => Math.max(3, ...cells.map((row) => widthOf(row[column] ?? ""))));
  const line = (row: readonly string[]): string =>
    `| ${widths.map((width, column) => (row[column] ?? "") + " ".repeat(width - widthOf(row[column] ?? ""))).join(" | ")} |`;
  const [head = [], ...body] = cells;
  return [line(head), `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...body.map(line)].join("\n");
}

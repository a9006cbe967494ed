import { toPrintable } from "@millwright/core/command-line";

/** Text from providers, nodes and users, without characters that a terminal interprets. */
export const plain = (text: string): string => toPrintable(text.replaceAll("\t", " "), " ");

/** Rows with columns as wide as their content; further lines of a cell go under its last column. */
export function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = rows.reduce<readonly number[]>(
    (all, row) => row.map((cell, index) => Math.max(all[index] ?? 0, cell.length)),
    [],
  );
  return rows.flatMap((row) => {
    const last = row.length - 1;
    const head = row.slice(0, last).map((cell, index) => cell.padEnd(widths[index] ?? 0));
    const [first = "", ...more] = (row[last] ?? "").split("\n");
    const indent = " ".repeat(head.reduce((sum, cell) => sum + cell.length + 2, 0));
    return [[...head, first].join("  ").trimEnd(), ...more.map((line) => `${indent}${line}`)];
  });
}

/** Lines under a title, indented; nothing when there are none. */
export const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `  ${line}`.trimEnd())];

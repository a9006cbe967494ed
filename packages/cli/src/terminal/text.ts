import { toPrintable } from "@millwright/base";
import { wrapText } from "./wrap-text.ts";

/** Text from providers, nodes and users, without characters that a terminal interprets. */
export const plain = (text: string): string => toPrintable(text.replaceAll("\t", " "), " ");

/** Columns that the last cell of a row needs beside the others; with fewer, it goes below them. */
const MIN_LAST = 24;

/** A text broken into lines, each with the indentation that it has. */
const wrapCell = (text: string, width: number): readonly string[] =>
  text.split("\n").flatMap((line) => {
    const [indent = ""] = /^ */.exec(line) ?? [];
    const [first = "", ...more] = wrapText(line, width - indent.length - 2);
    return [`${indent}${first}`, ...more.map((rest) => `${indent}  ${rest}`)];
  });

/**
 * Rows with columns as wide as their content; further lines of a cell go under its last column.
 *
 * @param width characters in a line: the last column is wrapped. Default: it is not
 */
export function table(rows: readonly (readonly string[])[], width = Number.POSITIVE_INFINITY): readonly string[] {
  const widths = rows.reduce<readonly number[]>(
    (all, row) => row.map((cell, index) => Math.max(all[index] ?? 0, cell.length)),
    [],
  );
  return rows.flatMap((row, index) => {
    const last = row.length - 1;
    const head = row.slice(0, last).map((cell, column) => cell.padEnd(widths[column] ?? 0));
    const indent = " ".repeat(head.reduce((sum, cell) => sum + cell.length + 2, 0));
    const text = row[last] ?? "";
    const room = width - indent.length;
    if (room < MIN_LAST) {
      // The title of the last column would be above nothing.
      const below = index === 0 || text === "" ? [] : wrapCell(text, width - 4).map((line) => `    ${line}`);
      return [head.join("  ").trimEnd(), ...below];
    }
    const [first = "", ...more] = Number.isFinite(room) ? wrapCell(text, room) : text.split("\n");
    return [[...head, first].join("  ").trimEnd(), ...more.map((line) => `${indent}${line}`)];
  });
}

/** By how much lines under a title are indented. */
export const SECTION_INDENT = 2;

/**
 * Texts broken at blanks into lines, each with the indentation that it has.
 *
 * @param width characters in a line. Default: they are not broken
 */
export const wrapLines = (texts: readonly string[], width: number | undefined): readonly string[] =>
  width === undefined ? texts : texts.flatMap((text) => wrapCell(text, width));

/**
 * Lines under a title, indented; nothing when there are none.
 *
 * @param width characters in a line of prose. Default: lines are not broken
 */
export const section = (title: string, lines: readonly string[], width?: number): readonly string[] =>
  lines.length === 0
    ? []
    : [
        `${title}:`,
        ...wrapLines(lines, width === undefined ? undefined : width - SECTION_INDENT).map((line) =>
          `  ${line}`.trimEnd(),
        ),
      ];

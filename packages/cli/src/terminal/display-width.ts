import { eastAsianWidth } from "get-east-asian-width";

const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Characters that a cell of a terminal may hold at most: marks on top of each other would make it arbitrarily long. */
const MAX_CELL_LENGTH = 8;

const isAscii = (text: string): boolean => /^[ -~]*$/.test(text);

const isEmoji = (cell: string): boolean => /^\p{RGI_Emoji}$/v.test(cell);

/** Columns that what looks like one character takes on a terminal. */
const widthOf = (cell: string): number => (isEmoji(cell) ? 2 : eastAsianWidth(cell.codePointAt(0) ?? 0x20));

/** What looks like one character each, with its columns. */
function* cellsOf(text: string): Iterable<readonly [cell: string, width: number]> {
  for (const { segment } of segmenter.segment(text)) yield [segment.slice(0, MAX_CELL_LENGTH), widthOf(segment)];
}

/** Columns that a text takes on a terminal. It has no control characters. */
export function displayWidth(text: string): number {
  if (isAscii(text)) return text.length;
  let width = 0;
  for (const [, each] of cellsOf(text)) width += each;
  return width;
}

/** The beginning of a text that takes at most `width` columns. */
function beginning(text: string, width: number): string {
  let kept = "";
  let taken = 0;
  for (const [cell, each] of cellsOf(text)) {
    if (taken + each > width) break;
    taken += each;
    kept += cell;
  }
  return kept;
}

/** A text of at most `width` columns: the rest of a longer one is cut, with an ellipsis. It has no control characters. */
export function cutToWidth(text: string, width: number): string {
  if (width <= 0) return "";
  // Of a megabyte, only what can be seen is measured.
  const seen = text.length > width * MAX_CELL_LENGTH ? text.slice(0, width * MAX_CELL_LENGTH) : text;
  if (seen.length === text.length && displayWidth(text) <= width) return text;
  return `${beginning(seen, width - 1)}…`;
}

/** As {@link cutToWidth}, filled with blanks up to the width. */
export function fitToWidth(text: string, width: number): string {
  const cut = cutToWidth(text, width);
  return `${cut}${" ".repeat(Math.max(0, width - displayWidth(cut)))}`;
}

/** As {@link fitToWidth}, but of a longer text the end is kept: names of machines differ there. */
export function fitEndToWidth(text: string, width: number): string {
  if (displayWidth(text) <= width) return fitToWidth(text, width);
  return fitToWidth(`…${text.slice(-(width - 1))}`, width);
}

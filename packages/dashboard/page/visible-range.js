/** Rows that are drawn above and below what is seen. */
const MARGIN = 8;

/**
 * Where the rows of a list begin, and behind the last one where it ends, pixels: a row that has a cause to show is higher.
 *
 * @param {readonly { readonly tone: string, readonly cause: string }[]} rows
 * @param {{ readonly plain: number, readonly withCause: number }} heights pixels
 * @returns {readonly number[]}
 */
export function topsOf(rows, { plain, withCause }) {
  const tops = [0];
  let top = 0;
  for (const row of rows) tops.push((top += showsCause(row) ? withCause : plain));
  return tops;
}

/** Whether the row of a machine shows its cause: nothing is to be explained of one in service. @param {{ readonly tone: string, readonly cause: string }} row */
export const showsCause = ({ tone, cause }) => tone !== "ok" && cause !== "";

/**
 * The last row that begins at or above a position.
 *
 * @param {readonly number[]} tops
 * @param {number} position
 */
function rowAt(tops, position) {
  let [low, high] = [0, Math.max(0, tops.length - 2)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((tops[middle] ?? 0) <= position) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * Which rows of a long list are drawn.
 *
 * @param {{ readonly scrollTop: number, readonly height: number, readonly tops: readonly number[] }} list pixels; see {@link topsOf}
 * @returns {{ readonly first: number, readonly end: number }} `end` is not drawn any more
 */
export function visibleRange({ scrollTop, height, tops }) {
  const count = tops.length - 1;
  // A list that has become shorter is scrolled too far until the browser has noticed.
  const top = Math.max(0, Math.min(scrollTop, (tops[count] ?? 0) - height));
  return {
    first: Math.max(0, rowAt(tops, top) - MARGIN),
    end: Math.min(count, rowAt(tops, top + height) + 1 + MARGIN),
  };
}

/**
 * Where to scroll so that a row is seen: as little as possible.
 *
 * @param {number} index of the row
 * @param {{ readonly scrollTop: number, readonly height: number, readonly tops: readonly number[] }} list pixels
 */
export function scrollToShow(index, { scrollTop, height, tops }) {
  const top = tops[index] ?? 0;
  const end = tops[index + 1] ?? top;
  if (top < scrollTop) return top;
  return end > scrollTop + height ? end - height : scrollTop;
}

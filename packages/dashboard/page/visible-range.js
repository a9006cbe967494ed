/** Rows that are drawn above and below what is seen. */
const MARGIN = 8;

/**
 * Which rows of a long list are drawn.
 *
 * @param {{ readonly scrollTop: number, readonly height: number, readonly rowHeight: number, readonly count: number }} list pixels, and number of rows
 * @returns {{ readonly first: number, readonly end: number }} `end` is not drawn any more
 */
export function visibleRange({ scrollTop, height, rowHeight, count }) {
  // A list that has become shorter is scrolled too far until the browser has noticed.
  const last = Math.max(0, count - Math.ceil(height / rowHeight));
  const top = Math.min(Math.floor(scrollTop / rowHeight), last);
  const first = Math.max(0, top - MARGIN);
  return { first, end: Math.min(count, top + Math.ceil(height / rowHeight) + 1 + MARGIN) };
}

/**
 * Where to scroll so that a row is seen: as little as possible.
 *
 * @param {number} index of the row
 * @param {{ readonly scrollTop: number, readonly height: number, readonly rowHeight: number }} list pixels
 */
export function scrollToShow(index, { scrollTop, height, rowHeight }) {
  const top = index * rowHeight;
  if (top < scrollTop) return top;
  return top + rowHeight > scrollTop + height ? top + rowHeight - height : scrollTop;
}

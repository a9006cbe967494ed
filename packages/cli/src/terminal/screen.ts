/** The part of a terminal that is needed. */
export type ScreenOutput = Pick<NodeJS.WriteStream, "write" | "columns" | "rows" | "on" | "off">;

/** The whole screen of a terminal. What was on it comes back at the end. */
export interface Screen {
  /** Its size now, in cells. */
  size(): { readonly columns: number; readonly rows: number };
  /** Shows these lines, from the top; each fits on a line. Only lines that have changed are written. */
  draw(lines: readonly string[]): void;
  /** Restores the terminal for a while; again, it does nothing. */
  leave(): void;
  /** Takes the screen again. */
  enter(): void;
  /** Restores the terminal. */
  close(): void;
}

/** Alternate screen, no cursor, no wrapping (xterm, "Control Sequences"). */
const ENTER = "\u001B[?1049h\u001B[?25l\u001B[?7l\u001B[2J";
const LEAVE = "\u001B[?7h\u001B[?25h\u001B[?1049l";

/**
 * Takes the whole screen of a terminal. It is restored at the latest when the process exits, an unexpected error included.
 *
 * @param onResize called when the size has changed; the screen is empty then
 */
export function openScreen(output: ScreenOutput, onResize: () => void): Screen {
  let shown: readonly string[] = [];
  let isTaken = false;
  const clear = (): void => {
    if (!isTaken) return;
    shown = [];
    output.write("\u001B[2J");
    onResize();
  };
  const leave = (): void => {
    if (isTaken) output.write(LEAVE);
    isTaken = false;
  };
  const take = (): void => {
    output.write(ENTER);
    isTaken = true;
  };
  process.on("exit", leave);
  output.on("resize", clear);
  take();
  return {
    size: () => ({ columns: Math.max(1, output.columns ?? 80), rows: Math.max(1, output.rows ?? 24) }),
    draw(lines) {
      if (!isTaken) return;
      const count = Math.max(lines.length, shown.length);
      let changes = "";
      for (let row = 0; row < count; row += 1) {
        const line = lines[row] ?? "";
        // Erased first: after a line of full width, the last cell would be erased.
        if (line !== shown[row]) changes += `\u001B[${row + 1};1H\u001B[2K${line}`;
      }
      shown = lines;
      if (changes !== "") output.write(changes);
    },
    leave,
    enter() {
      take();
      clear();
    },
    close() {
      leave();
      process.off("exit", leave);
      output.off("resize", clear);
    },
  };
}

import { styleText } from "node:util";

/** Characters in a line where the output is not a terminal. */
const DEFAULT_WIDTH = 80;

const colors = { ok: "green", waiting: "yellow", stuck: "red" } as const;

/** How text for people is laid out on an output: with colors on a terminal, unless `NO_COLOR` is set. */
export function outputStyle(output: NodeJS.WriteStream = process.stdout): {
  readonly width: number;
  /** Of lines that a file or pipe gets uncut; absent there. */
  readonly lineWidth?: number;
  readonly paint: (state: keyof typeof colors, text: string) => string;
} {
  return {
    width: Math.max(40, output.columns ?? DEFAULT_WIDTH),
    ...(output.columns === undefined ? {} : { lineWidth: Math.max(40, output.columns) }),
    paint: (state, text) => (state === "ok" ? text : styleText(colors[state], text, { stream: output })),
  };
}

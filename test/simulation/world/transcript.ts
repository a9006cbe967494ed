import { createHash } from "node:crypto";

/** How much a line of a transcript matters: `note` lines make up the timeline. */
export type LineWeight = "note" | "detail";

/** Everything that happened, in order. */
export interface Transcript {
  add(weight: LineWeight, who: string, what: string): void;
  /** Calls back with each line that is added. */
  subscribe(onLine: (who: string, what: string) => void): void;
  /** The lines that matter, as people read them. */
  readonly notes: readonly string[];
  /** Of all lines; equal for two runs that did the same. */
  digest(): string;
  readonly count: () => number;
}

/** Virtual time as `0d 01:02:03.004`. */
export function timeText(ms: number): string {
  const pad = (value: number, digits = 2): string => String(Math.floor(value)).padStart(digits, "0");
  const [days, hours, minutes, seconds] = [
    ms / 86_400_000,
    (ms / 3_600_000) % 24,
    (ms / 60_000) % 60,
    (ms / 1000) % 60,
  ];
  return `${pad(days, 1)}d ${pad(hours)}:${pad(minutes)}:${pad(seconds)}.${pad(ms % 1000, 3)}`;
}

/** Makes an empty {@link Transcript}. */
export function createTranscript(nowMs: () => number, onLine: (line: string) => void = () => undefined): Transcript {
  const notes: string[] = [];
  const hash = createHash("sha256");
  const listeners: ((who: string, what: string) => void)[] = [];
  let lines = 0;
  return {
    add(weight, who, what) {
      const line = `${timeText(nowMs())} ${who.padEnd(10)} ${what}`;
      lines++;
      hash.update(line).update("\n");
      if (weight === "note") notes.push(line);
      onLine(line);
      for (const listener of listeners) listener(who, what);
    },
    subscribe: (listener) => void listeners.push(listener),
    notes,
    digest: () => hash.copy().digest("hex"),
    count: () => lines,
  };
}

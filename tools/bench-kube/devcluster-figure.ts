/** One measured number, with its target, if any. */
export interface Figure {
  readonly name: string;
  /** Missing when it could not be measured; `why` has the reason. */
  readonly value?: number;
  readonly unit: string;
  readonly aim?: { readonly atMost: number } | { readonly atLeast: number };
  /** Each round that the value is the best of. */
  readonly rounds?: readonly number[];
  readonly why?: string;
}

/** False for a figure that was measured and misses its aim. */
export function isMet({ value, aim }: Figure): boolean {
  if (aim === undefined || value === undefined) return true;
  return "atMost" in aim ? value <= aim.atMost : value >= aim.atLeast;
}

/** A line of the table: a mark, the name, the value and its aim. */
export function lineOf(figure: Figure): string {
  const { name, value, unit, aim, why = "" } = figure;
  const mark = aim === undefined || value === undefined ? " " : isMet(figure) ? "✓" : "✗";
  const text = value === undefined ? `not measured: ${why}` : `${value} ${unit}`.trim().padStart(14);
  const aimText = aim === undefined ? "" : "atMost" in aim ? `at most ${aim.atMost}` : `at least ${aim.atLeast}`;
  return `${mark} ${name.padEnd(52)}${text}  ${aimText}`.trimEnd();
}

/** The best rate of several rounds: what the computer can do without other load. */
export function bestRate(name: string, rounds: readonly number[]): Figure & { readonly value: number } {
  const rounded = rounds.map(Math.round);
  return { name, value: Math.max(...rounded), unit: "/s", rounds: rounded };
}

import type { Deadline } from "./machine-report.ts";

/** `ok`: as desired. `waiting`: it changes by itself. `stuck`: not without a user, as far as is known. */
export type ExplainedState = "ok" | "waiting" | "stuck";

/** What the controllers recorded about an object that is not as desired. */
export interface Cause {
  /** One word: of a condition, or the code of a failed call. */
  readonly reason: string;
  readonly message: string;
  /** RFC 3339; absent when that is unknown. */
  readonly since?: string;
}

/** What was attempted. */
export interface Attempts {
  /** At least this many. */
  readonly count: number;
  /** RFC 3339. */
  readonly lastAt: string;
  /** RFC 3339; absent where only the last is recorded. */
  readonly firstAt?: string;
  /** RFC 3339, at the earliest: those that follow are not recorded one by one, and wait for others of the class. Absent where it is not recorded. */
  readonly nextAt?: string;
}

/** What a user can do. */
export interface Remedy {
  /** A sentence. */
  readonly text: string;
  /** Command lines that show more, or do it. */
  readonly commands: readonly string[];
}

/** An object, and what it waits for. */
export interface Explanation {
  readonly kind: "MachineDeployment" | "MachineSet" | "Machine" | "MachineClass" | "Namespace" | "Secret" | "Node";
  readonly name: string;
  /** Siblings in the same state, which are not listed by themselves. */
  readonly others: readonly string[];
  readonly state: ExplainedState;
  /** Sizes, or a phase. */
  readonly summary: string;
  /** Since when it has been in that phase, RFC 3339. */
  readonly since?: string;
  readonly causes: readonly Cause[];
  readonly attempts?: Attempts;
  /** What happens by itself, and when at the latest. */
  readonly deadline?: Deadline;
  /** What the controllers do next; absent for objects that are ok. */
  readonly next?: string;
  readonly remedy?: Remedy;
  /** What it has, or waits for. */
  readonly children: readonly Explanation[];
}

const ranks: Readonly<Record<ExplainedState, number>> = { ok: 0, waiting: 1, stuck: 2 };

/** The worst of some states; `ok` for none. */
export const worstOf = (states: readonly ExplainedState[]): ExplainedState =>
  states.reduce<ExplainedState>((worst, state) => (ranks[state] > ranks[worst] ? state : worst), "ok");

/** All explanations of a tree, those above others first. */
export const flatten = (explanation: Explanation): readonly Explanation[] => [
  explanation,
  ...explanation.children.flatMap(flatten),
];

/** An explanation without what only a controller does whose writes are accepted: times of attempts and deadlines do not come. */
export function withoutPromises(explanation: Explanation): Explanation {
  const { deadline: _deadline, next: _next, attempts, ...facts } = explanation;
  const { nextAt: _nextAt, ...past } = attempts ?? { count: 0, lastAt: "" };
  const children = explanation.children.map(withoutPromises);
  return { ...facts, ...(attempts === undefined ? {} : { attempts: past }), children };
}

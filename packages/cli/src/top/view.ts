import type { DeploymentRow, MachineRow } from "@millwright/dashboard/rows";

/** The machines as they are shown: those that match the filter, failing ones first. */
export interface TopView {
  readonly machines: readonly MachineRow[];
  /** Without the filter. */
  readonly total: number;
  /** Number of all machines by state, in the order of their lives; failing states first. */
  readonly states: readonly (readonly [state: string, count: number])[];
  /** Machines whose deletion is under way, without those that are held. */
  readonly deleting: number;
  /** Machines whose requested deletion the budget holds. */
  readonly held: number;
  /** What the controllers report about held deletions, per deployment. */
  readonly heldTexts: readonly string[];
}

/** The condition of a deployment whose deletions are held. */
const HELD_CONDITION = "DeletionsHeld";

const urgency = { bad: 0, warn: 1, busy: 2, ok: 3 } as const;

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The state of a machine in a word: its phase, or the step of its deletion. */
export function stateOf({ phase, step, isTerminating, isHeld }: MachineRow, steps: readonly string[]): string {
  if (isHeld) return "Held";
  return isTerminating ? (steps[step] ?? phase) : phase;
}

/** Whether all words are in the texts of a machine. */
function matches(machine: MachineRow, words: readonly string[], steps: readonly string[]): boolean {
  if (words.length === 0) return true;
  const { name, namespace, phase, node, set, vm, cause, step } = machine;
  const state = stateOf(machine, steps);
  const text = [name, namespace, phase, state, steps[step] ?? "", node, set, vm, cause].join(" ").toLowerCase();
  return words.every((word) => text.includes(word));
}

/** What is shown of the fleet. */
export function viewOf(
  machines: Iterable<MachineRow>,
  deployments: Iterable<DeploymentRow>,
  { filter, steps }: { readonly filter: string; readonly steps: readonly string[] },
): TopView {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const all = [...machines];
  const states = new Map<string, { readonly order: number; count: number }>();
  for (const machine of all) {
    const state = stateOf(machine, steps);
    const known = states.get(state) ?? { order: urgency[machine.tone] === 0 ? -1 : machine.step, count: 0 };
    known.count += 1;
    states.set(state, known);
  }
  return {
    machines: all
      .filter((machine) => matches(machine, words, steps))
      .toSorted((a, b) => urgency[a.tone] - urgency[b.tone] || byText(a.id, b.id)),
    total: all.length,
    states: [...states]
      .toSorted(([a, one], [b, other]) => one.order - other.order || byText(a, b))
      .map(([state, { count }]) => [state, count]),
    deleting: all.filter(({ isTerminating, isHeld }) => isTerminating && !isHeld).length,
    held: all.filter(({ isHeld }) => isHeld).length,
    heldTexts: [...deployments]
      .flatMap(({ name, attention }) =>
        attention.filter(({ type }) => type === HELD_CONDITION).map(({ message }) => `${name}: ${message}`),
      )
      .toSorted(byText),
  };
}

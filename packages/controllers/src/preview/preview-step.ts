/** What happens at one moment of a preview. Lists are empty where nothing of the sort happens. */
export interface PreviewStep {
  /** Milliseconds after the change, as far as durations are known; what is not known takes no time. */
  readonly afterMs: number;
  /** Sets that come to be, and the class of their machines. */
  readonly setsCreated: readonly { readonly name: string; readonly className: string }[];
  readonly setsDeleted: readonly string[];
  /** In the order in which they are asked for. */
  readonly machinesCreated: readonly { readonly set: string; readonly count: number }[];
  /** In the order in which they are given up. */
  readonly machinesDeleted: readonly DeletedMachine[];
  /** Machines that get fields of the template without being replaced. */
  readonly machinesChanged: readonly string[];
  /** Machines that are drained and updated in place. */
  readonly machinesUpdated: readonly string[];
  /** Nodes from which pods are steered away from now on, and to which they come again. */
  readonly nodesTainted: readonly string[];
  readonly nodesUntainted: readonly string[];
  /** What the controllers would say. */
  readonly says: readonly string[];
  /** Machines after this moment: of the current template, of older ones, on their way out; and how many of all serve. */
  readonly after: MachineCounts;
}

export interface DeletedMachine {
  readonly name: string;
  readonly set: string;
  /** The node that is drained; absent for a machine without one, or without a node that exists yet. */
  readonly node?: string;
}

export interface MachineCounts {
  readonly current: number;
  readonly old: number;
  readonly leaving: number;
  readonly serving: number;
}

/** Whether anybody would notice. */
export const isEventful = (step: PreviewStep): boolean =>
  [
    step.setsCreated,
    step.setsDeleted,
    step.machinesCreated,
    step.machinesDeleted,
    step.machinesChanged,
    step.machinesUpdated,
    step.nodesTainted,
    step.nodesUntainted,
    step.says,
  ].some((list) => list.length > 0);

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
  /** The machines after this moment. */
  readonly after: PreviewCounts;
}

/** A machine that a step deletes. */
export interface DeletedMachine {
  readonly name: string;
  /** Name of its MachineSet. */
  readonly set: string;
  /** The node that is drained; absent for a machine without one, or without a node that exists yet. */
  readonly node?: string;
}

/** How many machines there are of each sort. */
export interface PreviewCounts {
  /** Of the current template, not on their way out. */
  readonly current: number;
  /** Of older templates, not on their way out. */
  readonly old: number;
  /** On their way out, of whatever template. */
  readonly leaving: number;
  /** Of all these, those that serve: Running, or Available without a target cluster. */
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

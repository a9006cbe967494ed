/** What happens at one moment of a preview. Unused lists are empty. */
export interface PreviewStep {
  /** Milliseconds after the change; unknown durations count as zero. */
  readonly afterMs: number;
  /** New sets, and the class of their machines. */
  readonly setsCreated: readonly { readonly name: string; readonly className: string }[];
  readonly setsDeleted: readonly string[];
  /** In the order of creation. */
  readonly machinesCreated: readonly { readonly set: string; readonly count: number }[];
  /** In the order of deletion. */
  readonly machinesDeleted: readonly DeletedMachine[];
  /** Machines that get fields of the template without replacement. */
  readonly machinesChanged: readonly string[];
  /** Machines that are drained and updated in place. */
  readonly machinesUpdated: readonly string[];
  /** Nodes that the scheduler avoids from now on, and no longer avoids. */
  readonly nodesTainted: readonly string[];
  readonly nodesUntainted: readonly string[];
  /** Messages of the controllers. */
  readonly messages: readonly string[];
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

/** Numbers of machines by state. */
export interface PreviewCounts {
  /** Of the current template, not terminating. */
  readonly current: number;
  /** Of older templates, not terminating. */
  readonly old: number;
  /** Terminating, of any template. */
  readonly terminating: number;
  /** Of all these: Running, or Available without a target cluster. */
  readonly available: number;
}

/** Whether a step has a visible effect. */
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
    step.messages,
  ].some((list) => list.length > 0);

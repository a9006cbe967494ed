import { type Machine, machineResource, type MachineStatus } from "@millwright/core/machine-api";
import { keyOf, type ReconcileResult, type Refusal, refusalOf } from "@millwright/kube";
import { carryOut } from "../cluster/carry-out.ts";
import type { ControllerContext } from "../cluster/context.ts";
import { lastingRefusal, refusalText } from "../cluster/refused-writes.ts";
import { enterGuards } from "../guards/machine-guards.ts";
import type { Guard } from "../model/hold.ts";
import { isDeleting } from "../model/phase.ts";
import type { MachineExecutor } from "./act.ts";
import { decideMachine } from "./decide.ts";
import { decideRefused } from "./decide-refused.ts";
import { interruptedDeletion, interruption } from "./deletion/interrupted.ts";
import type { MachineMemory } from "./memory.ts";
import type { ObservedMachine } from "./observe.ts";
import type { MachineAction, MachineDecision } from "./state/decision.ts";
import type { MachineSnapshot } from "./state/snapshot.ts";
import type { MachineStatusWriter } from "./status-writer.ts";
import { statusWithConditions } from "./store-conditions.ts";

/** What a reconcile of a Machine works with. */
export interface MachineReconciler {
  readonly context: ControllerContext;
  /** Reads the machine of a key; `undefined` when there is none. */
  readonly observe: (key: string) => ObservedMachine | undefined;
  readonly guards: readonly Guard<Machine>[];
  readonly memory: MachineMemory;
  readonly executor: MachineExecutor;
  readonly statuses: MachineStatusWriter;
  readonly enqueue: (key: string) => void;
}

/** The status with its stored conditions, once the actions of a decision are done. */
type StatusAfter = (status: MachineStatus | undefined) => MachineStatus | undefined;

/** Maximum number of reads when the Secrets change while they are read. */
const MAX_READS = 3;

/** Records in the status of a machine that a write is refused of which its reconcile depends. Where the status is refused, the event of the refusal remains. */
async function recordRefusal(
  { context, executor, statuses, observe }: MachineReconciler,
  { snapshot, decision }: { readonly snapshot: MachineSnapshot; readonly decision: MachineDecision },
  error: unknown,
  statusAfter: StatusAfter,
): Promise<void> {
  const refusal = lastingRefusal(error);
  if (refusal === undefined || isStatusOf(snapshot.machine, refusal)) return;
  // Once more, and decided in the same turn of the event loop: the remediation budget may be used meanwhile.
  const seen = observe(keyOf(snapshot.machine));
  if (seen === undefined || seen.missing.length > 0) return;
  const { machine } = seen.snapshot;
  const refused = decideRefused(seen.snapshot, refusalText(refusal), context.clock.now(), decision.status?.conditions);
  const { events, log } = context;
  const subject = { object: machine, writer: statuses, events, log, statusAfter };
  await carryOut(refused, (action) => executor.act(machine, seen.resolved, action), subject).catch(() => undefined);
}

/** Whether the status of this machine is refused. */
const isStatusOf = ({ metadata }: Machine, { write: { type, ref, subresource } }: Refusal): boolean =>
  subresource === "status" && type.kind === machineResource.kind && ref.name === metadata.name;

/** Carries a decision out. Writes that fail are reported in its status. */
async function carryOutDecision(
  reconciler: MachineReconciler,
  { snapshot, resolved }: ObservedMachine,
  decision: MachineDecision,
  statusAfter: StatusAfter,
): Promise<ReconcileResult> {
  const { context, executor, statuses } = reconciler;
  const { machine } = snapshot;
  const { events, log, clock } = context;
  const subject = { object: machine, writer: statuses, events, log };
  let failing: MachineAction | undefined;
  const act = async (action: MachineAction): Promise<void> => {
    failing = action;
    await executor.act(machine, resolved, action);
    failing = undefined;
  };
  try {
    return await carryOut(decision, act, { ...subject, statusAfter });
  } catch (error) {
    if (!isDeleting(machine)) await recordRefusal(reconciler, { snapshot, decision }, error, statusAfter);
    const why = isDeleting(machine) ? interruption(error, failing) : undefined;
    if (why !== undefined) {
      const reported = interruptedDeletion(snapshot, decision, why, clock.now(), refusalOf(error) !== undefined);
      await carryOut(reported, act, subject).catch(() => undefined);
    }
    throw error;
  }
}

/**
 * Acknowledges the outcome of a driver call that the writes of a decision have stored. Before the status is stored, the driver would be called again for what is known.
 *
 * @returns whether the next decision does not see the call any more
 */
function acknowledgeStored(
  memory: MachineMemory,
  { machine, operation }: MachineSnapshot,
  { actions }: MachineDecision,
): boolean {
  if (!actions.some(({ kind }) => kind === "AcknowledgeOperation")) return false;
  memory.acknowledge(machine, operation);
  return operation?.state === "done";
}

/** One reconcile of the Machine of a key: observe, decide, act. */
export async function reconcileMachine(key: string, reconciler: MachineReconciler): Promise<ReconcileResult> {
  const { context, guards, memory, statuses } = reconciler;
  let seen = reconciler.observe(key);
  for (let reads = 0; seen !== undefined && seen.missing.length > 0; reads++) {
    if (reads === MAX_READS)
      throw new Error("Secrets of the MachineClass, or CustomResourceDefinitions, change faster than they can be read");
    for (const facts of seen.missing) await facts.read();
    // Observed and decided in one turn of the event loop: otherwise two machines could use the same remediation budget.
    seen = reconciler.observe(key);
  }
  memory.noteDrain(key, seen?.snapshot);
  if (seen === undefined) return { done: true };
  const { snapshot } = seen;
  const { machine } = snapshot;
  const now = context.clock.now();
  const decision = decideMachine(snapshot, now);
  const statusAfter: StatusAfter = (status) => statusWithConditions(context, snapshot, status, context.clock.now());
  // With its actions: a driver call whose outcome is not stored must not be acknowledged.
  const waitMs = statuses.waitMs(machine, () => statusAfter(decision.status));
  if (waitMs > 0) return { requeueAfterMs: waitMs };
  enterGuards(guards, machine, snapshot.hold?.by);
  const result = await carryOutDecision(reconciler, seen, decision, statusAfter);
  const { store } = context.caches.machines;
  const isUnchanged = store.getByRef(machine.metadata)?.metadata.resourceVersion === machine.metadata.resourceVersion;
  // Another process may have written the same: then no event of the writes brings the machine back.
  if (acknowledgeStored(memory, snapshot, decision) && isUnchanged) reconciler.enqueue(key);
  memory.reported.record(machine.metadata.uid ?? "", decision.because);
  return result;
}

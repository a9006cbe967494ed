import type { MachineErrorCode } from "@millwright/core";
import { annotationKeys, labelKeys, machineEventReasons } from "@millwright/core/machine-api";
import { type MachineDecision, nothing } from "../state/decision.ts";
import { isInitializationDue } from "../../model/initialization.ts";
import type { FailedOperation, OperationKind, OperationResult, OperationView } from "../../model/operation.ts";
import { msUntilRetry } from "../../model/retry.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { recordFailure } from "./record-failure.ts";
import { statusWithVm } from "./record-vm.ts";
import { rejectMachine } from "./reject-machine.ts";

/** The VM is initialized, and its id is stored: the machine waits for its node. Values that were not requested again are already on the object. */
export function settle(snapshot: MachineSnapshot, result: OperationResult, now: Date): MachineDecision {
  const nodeName = result.nodeName ?? snapshot.machine.metadata.labels?.[labelKeys.node];
  const known = nodeName === undefined ? result : { ...result, nodeName };
  return {
    actions: [{ kind: "AcknowledgeOperation" }],
    status: statusWithVm(snapshot, known, now),
    because: [],
  };
}

/** One step of an initialization, after a driver call or before the first. */
type Step<View extends OperationView | undefined> = (
  snapshot: MachineSnapshot,
  operation: View,
  now: Date,
) => MachineDecision;

/** A call that succeeded. */
type DoneOperation = Extract<OperationView, { readonly state: "done" }>;

/** The step after a call of one kind, by its state, and by what a successful or failed one reports of the VM. */
interface StepsAfter {
  /** Throttled, in progress, or accepted by the cloud. */
  readonly inProgress: Step<OperationView>;
  readonly initialized: Step<DoneOperation>;
  readonly uninitialized: Step<DoneOperation>;
  /** Failed with a code of {@link unknownVm}. */
  readonly unknownVm: Step<FailedOperation>;
  /** Failed with another code. */
  readonly failed: Step<FailedOperation>;
}

/**
 * Codes of a driver that does not know the VM. They do not override its id (MCM, `pkg/util/provider/machinecontroller/machine.go` triggerCreationFlow and triggerDeletionFlow): the cloud may list VMs late.
 * Initialization then runs, which is a no-op for initialized VMs and for drivers without such a step.
 */
const unknownVm: ReadonlySet<MachineErrorCode> = new Set(["NotFound", "Unimplemented"]);

/** A step that calls the driver needs the class. An invalid machine spec or invalid user data does not affect a VM that exists. */
const withClass =
  <View extends OperationView | undefined>(step: Step<View>): Step<View> =>
  (snapshot, operation, now) =>
    snapshot.classView.state === "unusable"
      ? rejectMachine(snapshot, snapshot.classView, now)
      : step(snapshot, operation, now);

/** Starts the first call. What is known to be due, also from an earlier process, needs no question: a driver may not report it. */
const begin = withClass(({ machine }, operation: OperationView | undefined) => {
  const next = isInitializationDue(machine, operation) ? "initialize" : "find";
  return { actions: [{ kind: "StartOperation", operation: next }], because: [] };
});

/** The look-up is evaluated: the VM is, or may be, uninitialized. */
const initialize = withClass<OperationView>(() => ({
  actions: [{ kind: "AcknowledgeOperation" }, { kind: "StartOperation", operation: "initialize" }],
  because: [],
}));

const complete: Step<DoneOperation> = (snapshot, { result }, now) => settle(snapshot, result, now);

const repeat = withClass(({ inputs, settings }, operation: FailedOperation, now) => {
  const waitMs = msUntilRetry(operation, inputs, now, settings.resourceExhaustedRetryMs);
  if (waitMs > 0) return { ...nothing, requeueAfterMs: waitMs };
  return { actions: [{ kind: "StartOperation", operation: operation.kind }], because: [] };
});

/** A VM that the driver does not find may never be found: what a person can do is part of the message. */
const withRemedy = (failed: FailedOperation): FailedOperation =>
  failed.code === "NotFound"
    ? { ...failed, message: `${failed.message}. Correct spec.providerID or the class, or delete the Machine` }
    : failed;

/** Records a failure once, and repeats the call after its backoff. */
const retry: Step<FailedOperation> = (snapshot, operation, now) =>
  operation.isAcknowledged ? repeat(snapshot, operation, now) : recordFailure(snapshot, withRemedy(operation), now);

/** After calls whose outcome does not show whether the VM is initialized. */
const beginAfterAny: StepsAfter = {
  inProgress: begin,
  initialized: begin,
  uninitialized: begin,
  unknownVm: begin,
  failed: begin,
};

const steps: Readonly<Record<OperationKind, StepsAfter>> = {
  find: {
    inProgress: begin,
    initialized: complete,
    uninitialized: initialize,
    unknownVm: initialize,
    failed: retry,
  },
  initialize: {
    inProgress: begin,
    initialized: complete,
    uninitialized: complete,
    unknownVm: retry,
    failed: retry,
  },
  create: beginAfterAny,
  delete: beginAfterAny,
};

/** Stores the name by which the driver finds a VM that was created for another Machine, before the next call. The operation stays until then. */
function recordVmName({ machine, operation }: MachineSnapshot): MachineDecision | undefined {
  const { uid, annotations = {} } = machine.metadata;
  const name = operation?.state === "done" ? operation.result.vmName : undefined;
  if (name === undefined || annotations[annotationKeys.vmName] === name) return undefined;
  const patch = { metadata: { ...(uid === undefined ? {} : { uid }), annotations: { [annotationKeys.vmName]: name } } };
  const message = `Found VM ${machine.spec.providerID}, which was created for Machine ${name}`;
  return {
    actions: [{ kind: "PatchMachine", patch }],
    because: [{ type: "Normal", reason: machineEventReasons.adoptedVm, message }],
  };
}

/**
 * Completes the creation of a machine whose VM has an id: {@link steps} has the step after each driver call. The process that stored the id may have crashed, so the driver reports whether the VM is initialized.
 */
export function decideInitialization(snapshot: MachineSnapshot, now: Date): MachineDecision {
  const { operation } = snapshot;
  if (operation === undefined) return begin(snapshot, operation, now);
  const named = recordVmName(snapshot);
  if (named !== undefined) return named;
  const after = steps[operation.kind];
  switch (operation.state) {
    case "waiting":
    case "running":
    case "pending":
      return after.inProgress(snapshot, operation, now);
    case "done":
      return operation.result.needsInitialization === true
        ? after.uninitialized(snapshot, operation, now)
        : after.initialized(snapshot, operation, now);
    case "failed":
      return unknownVm.has(operation.code)
        ? after.unknownVm(snapshot, operation, now)
        : after.failed(snapshot, operation, now);
  }
}

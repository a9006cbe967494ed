import { eventReasons, writeRefused } from "@millwright/core/machine-api";
import {
  type ApiObject,
  createRefusedWrites,
  cutText,
  type EventRecorder,
  isLasting,
  type ObjectWrite,
  type Refusal,
  type RefusedWrites,
  refusalOf,
  withTypeMeta,
} from "@millwright/kube";
import type { Reason } from "../model/decision.ts";
import type { ControllerContext } from "./context.ts";

/** A refused write, for people: verb, kind and name, and what the API server answered. */
export function refusalText({ write: { verb, type, ref, subresource }, answer }: Refusal): string {
  const object = `${subresource === undefined ? "" : `${subresource} of `}${type.kind} ${ref.name}`;
  const message = cutText(answer.message.replaceAll(/\s+/g, " ").trim());
  return writeRefused(`${verb} ${object}`, `${answer.status} ${answer.reason}: ${message}`);
}

/** The event of an object that a refused write concerns. */
const eventOf = (refusal: Refusal): Reason => ({
  type: "Warning",
  reason: eventReasons.writeRefused,
  message: refusalText(refusal),
});

/** The cached object that was to be written. */
function writtenObject({ caches, target }: ControllerContext, { type, ref }: ObjectWrite): ApiObject | undefined {
  const { machines, sets, deployments, classes, secrets } = caches;
  const stores: Readonly<Record<string, { getByRef(of: typeof ref): ApiObject | undefined } | undefined>> = {
    Machine: machines.store,
    MachineSet: sets.store,
    MachineDeployment: deployments.store,
    MachineClass: classes.store,
    Secret: secrets.store,
    Node: target?.caches.nodes.store,
  };
  const object = stores[type.kind]?.getByRef(ref);
  return object === undefined ? undefined : withTypeMeta(type, object);
}

/**
 * Makes the backoff of the writes of one controller. Every refused write of every controller passes through here: it is counted and, when it lasts, recorded as an event of the object that was to be
 * written. What else people see is an object whose reconcile failed: see {@link reportRefusal}.
 */
export function createReportedWrites(context: ControllerContext): RefusedWrites {
  return createRefusedWrites(context.clock, (refusal) => {
    const { write } = refusal;
    context.onRefusedWrite?.(write);
    const object = isLasting(refusal) ? writtenObject(context, write) : undefined;
    if (object !== undefined) context.events.record(object, eventOf(refusal));
  });
}

/** The refused write because of which a reconcile failed, once people have to know; `undefined` for any other error. */
export function lastingRefusal(error: unknown): Refusal | undefined {
  const refusal = refusalOf(error);
  return refusal !== undefined && isLasting(refusal) ? refusal : undefined;
}

/** Whether a write was one of this object. */
const isWriteOf = ({ kind, metadata }: ApiObject, { type, ref }: ObjectWrite): boolean =>
  (kind ?? type.kind) === type.kind && metadata.name === ref.name;

/** Records an event of the object whose reconcile failed, once for each write that was sent; the written object has its own. */
export function reportRefusal(object: ApiObject, refusal: Refusal, events: Pick<EventRecorder, "record">): void {
  if (!refusal.isRepeated && !isWriteOf(object, refusal.write)) events.record(object, eventOf(refusal));
}

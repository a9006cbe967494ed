import { parseGoDuration } from "@millwright/base";
import { annotationKeys, interruptionTaints, type Machine, type Taint, taintKeys } from "@millwright/core/machine-api";
import { apiTime } from "@millwright/kube";
import type { Node } from "./node-objects.ts";

/** The cloud will reclaim a VM. */
export interface InterruptionNotice {
  /** Key of the taint that shows it. */
  readonly taint: string;
  /** Milliseconds from the notice to the loss of the VM. */
  readonly noticeMs: number;
}

/** The notice of a taint without a valid duration: the shortest that a cloud gives, milliseconds. */
const SHORTEST_NOTICE_MS = 30_000;

function noticeMsOf({ key, value = "" }: Taint): number | undefined {
  if (key !== taintKeys.interruption)
    return Object.hasOwn(interruptionTaints, key) ? interruptionTaints[key] : undefined;
  const stated = parseGoDuration(value) ?? 0;
  return stated > 0 ? stated : SHORTEST_NOTICE_MS;
}

/** The notice that a node shows, the shortest one if there are several; `undefined` without one. */
export function interruptionOf(node: Node | undefined): InterruptionNotice | undefined {
  const notices = (node?.spec?.taints ?? []).flatMap((taint) => {
    const noticeMs = noticeMsOf(taint);
    return noticeMs === undefined ? [] : [{ taint: taint.key, noticeMs }];
  });
  return notices.toSorted((a, b) => a.noticeMs - b.noticeMs)[0];
}

/** The deadline of a notice that is observed now. Taints have no time, so it is stored with the machine: it survives a restart. */
export const interruptionDeadline = ({ noticeMs }: InterruptionNotice, now: Date): string =>
  apiTime(new Date(now.getTime() + noticeMs));

/** Stores the deadline on the machine. */
export const interruptionPatch = (deadline: string): object => ({
  metadata: { annotations: { [annotationKeys.interruptionDeadline]: deadline } },
});

/** When the VM of a machine may be lost that is drained since `startedAt`, both wall clock in milliseconds. `undefined` while its node shows no notice, and while the deadline is not stored, or is that of an earlier notice. */
export function storedInterruption(
  { metadata }: Machine,
  node: Node | undefined,
  startedAt: number,
): number | undefined {
  const deadline = Date.parse(metadata.annotations?.[annotationKeys.interruptionDeadline] ?? "");
  return deadline >= startedAt && interruptionOf(node) !== undefined ? deadline : undefined;
}

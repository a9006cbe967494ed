import {
  isStartupTaint,
  type Machine,
  phaseOf,
  type Taint,
  taintEffects,
  taintKeys,
} from "@millwright/core/machine-api";
import { readLastTemplate } from "./last-applied.ts";
import type { Node } from "./node-objects.ts";

/** Whether the machine has never joined: its creation has not been successful (MCM, `pkg/util/provider/machinecontroller/machine_util.go` reconcileMachineHealth). */
export const isFirstJoin = ({ status }: Machine): boolean =>
  status?.lastOperation?.type === "Create" && status.lastOperation.state !== "Successful";

/** Whether the scheduler puts no pods without a toleration on a node with this taint. */
const keepsPodsOff = ({ effect }: Taint): boolean =>
  effect === taintEffects.noSchedule || effect === taintEffects.noExecute;

/** A taint as kubectl writes it. */
export const taintText = ({ key, value = "", effect }: Taint): string =>
  `${key}${value === "" ? "" : `=${value}`}:${effect}`;

/** The startup taint that keeps pods off a node; `undefined` without one. */
const startupTaintOf = ({ metadata }: Machine, node: Node | undefined): Taint | undefined =>
  node?.spec?.taints?.find((taint) => keepsPodsOff(taint) && isStartupTaint(taint, metadata.annotations));

/** Taints of a template as they come to a node: what keeps pods off until then is not one of them. */
export const templateTaints = (taints: readonly Taint[] = []): readonly Taint[] =>
  taints.filter(({ key }) => key !== taintKeys.templatePending);

/** The startup taints of the template that were never set on this node, by the record on it. */
export function unsetStartupTaints({ metadata, spec }: Machine, node: Node): readonly Taint[] {
  const { value, isUnreadable } = readLastTemplate(node.metadata.annotations);
  if (isUnreadable) return [];
  const isSet = ({ key, effect }: Taint): boolean =>
    value.taints.some((taint) => taint.key === key && taint.effect === effect);
  const taints = templateTaints(spec.nodeTemplate?.spec?.taints);
  return taints.filter((taint) => isStartupTaint(taint, metadata.annotations) && !isSet(taint));
}

/**
 * Whether a startup taint keeps the machine from Running: before it serves for the first time, and after an update in place, a rollout that counted it would replace or update one in
 * service. Later the taint only shows that an agent restarts: its pods go on running, and the machine keeps its phase.
 */
const waitsForStartup = (machine: Machine): boolean =>
  isFirstJoin(machine) || phaseOf(machine) === "Pending" || phaseOf(machine) === "InPlaceUpdateSuccessful";

/** What has to happen to a startup taint before the machine is Running, such as `startup taint a:NoSchedule to be removed from Node b`; `undefined` without one. */
export function awaitedStartupOf(machine: Machine, node: Node | undefined): string | undefined {
  if (node === undefined || !waitsForStartup(machine)) return undefined;
  const { name } = node.metadata;
  const taint = startupTaintOf(machine, node);
  if (taint !== undefined) return `startup taint ${taintText(taint)} to be removed from Node ${name}`;
  const unset = isFirstJoin(machine) ? unsetStartupTaints(machine, node).find(keepsPodsOff) : undefined;
  return unset === undefined ? undefined : `startup taint ${taintText(unset)} to be set on Node ${name}`;
}

/** A taint that keeps pods off a node although its template does not. */
export interface ReportedTaint {
  /** As kubectl writes it: `key=value:effect`. */
  readonly taint: string;
  /** `Startup`: an agent removes it when it is ready. `Foreign`: the template of the machine does not have it. */
  readonly kind: "Startup" | "Foreign";
}

/** Taints that a report shows otherwise: a cordon, the condition Ready, a preservation. Source: kubernetes.io, "Well-Known Labels, Annotations and Taints". */
const shownOtherwise: ReadonlySet<string> = new Set([
  "node.kubernetes.io/unschedulable",
  "node.kubernetes.io/not-ready",
  "node.kubernetes.io/unreachable",
  taintKeys.preserved,
]);

/** The taints that keep pods off a node and need an explanation, those of its startup first. */
export function podRepellingTaints({ metadata, spec }: Machine, node: Node): readonly ReportedTaint[] {
  const template = spec.nodeTemplate?.spec?.taints ?? [];
  const isOfTemplate = (taint: Taint): boolean =>
    template.some(({ key, effect }) => key === taint.key && effect === taint.effect);
  const taints = (node.spec?.taints ?? []).filter((taint) => keepsPodsOff(taint) && !shownOtherwise.has(taint.key));
  const startup = taints.filter((taint) => isStartupTaint(taint, metadata.annotations));
  const foreign = taints.filter((taint) => !startup.includes(taint) && !isOfTemplate(taint));
  return [
    ...startup.map((taint) => ({ taint: taintText(taint), kind: "Startup" as const })),
    ...foreign.map((taint) => ({ taint: taintText(taint), kind: "Foreign" as const })),
  ];
}

import {
  annotationKeys,
  deletionsHeldConditionType,
  type MachineClass,
  machineClassResource,
  machineDeploymentResource,
  machineEventReasons,
  machineResource,
  machineSetResource,
} from "@millwright/core/machine-api";
import { judgePod, type PodVerdict } from "../../packages/controllers/src/drain/pod-verdict.ts";

const fence = (lines: readonly string[]): string => ["```mermaid", ...lines, "```"].join("\n");

const secretFields = ["secretRef", "credentialsSecretRef"] as const satisfies readonly (keyof MachineClass)[];

/** What owns, creates and names what. */
function objectsDiagram(): string {
  const [deployment, set, machine, machineClass] = [
    machineDeploymentResource,
    machineSetResource,
    machineResource,
    machineClassResource,
  ].map(({ kind }) => kind);
  return fence([
    "flowchart TD",
    `  deployment[${deployment}] -- "one for each template" --> set[${set}]`,
    `  set -- "replicas" --> machine[${machine}]`,
    `  machine -- "driver" --> vm[(VM)]`,
    `  vm -- "kubelet joins" --> node[Node]`,
    `  machine -. "names" .-> node`,
    `  machine -- "spec.class" --> machineClass[${machineClass}]`,
    `  machineClass -- "${secretFields.join(", ")}" --> secret[Secret]`,
  ]);
}

type Pod = Parameters<typeof judgePod>[0];

const owner = (kind: string) => ({
  ownerReferences: [{ apiVersion: "apps/v1", kind, name: "owner", uid: "owner", controller: true }],
});
const pod = (metadata: object, status: object = { phase: "Running" }): Pod => ({
  metadata: { name: "pod", namespace: "default", uid: "pod", ...metadata },
  spec: {},
  status,
});

/** Kinds of pods, in the words of the diagram. The function of the drain decides what happens to each. */
const pods: readonly (readonly [name: string, pod: Pod])[] = [
  ["mirror", pod({ annotations: { "kubernetes.io/config.mirror": "" } })],
  ["DaemonSet", pod(owner("DaemonSet"))],
  ["completed", pod({}, { phase: "Succeeded" })],
  ["rule Skip", pod({ ...owner("ReplicaSet"), namespace: "skipped" })],
  ["rule WaitCompleted", pod({ ...owner("Job"), namespace: "awaited" })],
  ["terminating", pod({ ...owner("ReplicaSet"), deletionTimestamp: "2026-01-01T00:00:30Z" })],
  ["everything else, by order", pod(owner("ReplicaSet"))],
];

/** The kinds of pods that a drain treats alike. */
function podsTreated(behavior: PodVerdict["behavior"]): string {
  const rules = [
    { behavior: "Skip", order: 0, namespaces: ["skipped"] },
    { behavior: "WaitCompleted", order: 0, namespaces: ["awaited"] },
  ] as const;
  const now = new Date("2026-01-01T00:00:00Z");
  return pods
    .filter(([, each]) => judgePod(each, rules, undefined, now).behavior === behavior)
    .map(([name]) => name)
    .join(", ");
}

/** What happens to the pods of a Node. */
const drainDiagram = (): string =>
  fence([
    "flowchart TD",
    "  start([machine is deleted]) --> cordon[Node is cordoned]",
    '  cordon --> kind{"pod: what is it?"}',
    `  kind -- "${podsTreated("skip")}" --> stays[stays]`,
    `  kind -- "${podsTreated("wait")}" --> waits[drain waits until it has ended]`,
    `  kind -- "${podsTreated("evict")}" --> budget{"PodDisruptionBudget allows it?"}`,
    '  budget -- "no" --> retry[retried]',
    "  retry --> budget",
    '  budget -- "yes" --> evicted[evicted]',
    '  evicted --> volumes{"has volumes?"}',
    '  volumes -- "yes" --> detach[wait until they are attached elsewhere]',
    '  volumes -- "no" --> empty',
    "  detach --> empty[Node is empty]",
    "  waits --> empty",
    "  stays --> empty",
    "  empty --> vm([VM is deleted])",
  ]);

/** The annotation without its domain. */
const protection = annotationKeys.deletionProtection.replace(/.*\//, "");

/** What a deletion passes before a VM is lost. */
const safetyDiagram = (): string =>
  fence([
    "flowchart TD",
    '  request([a machine is to be deleted]) --> protected{"annotation ' + protection + '?"}',
    '  protected -- "yes" --> kept[kept, until the annotation is removed]',
    '  protected -- "no" --> crd{"is its CRD being deleted?"}',
    `  crd -- "yes" --> paused[paused: ${machineEventReasons.deletionPaused}]`,
    '  crd -- "no" --> budget{"within the deletion budget?"}',
    `  budget -- "no" --> held[held: ${deletionsHeldConditionType}]`,
    '  held -- "a user approves" --> drain',
    '  budget -- "yes" --> drain[drain, with PodDisruptionBudgets]',
    "  drain --> vm[the driver deletes the VM]",
    '  vm --> confirmed{"cloud confirms?"}',
    '  confirmed -- "no" --> vm',
    '  confirmed -- "yes" --> finalizer[Node and finalizer are removed]',
  ]);

/** Diagrams of the pages in docs/concepts with the names and the decisions of the code. */
export const conceptDiagrams = (): readonly (readonly [string, string])[] => [
  ["objects-picture", objectsDiagram()],
  ["drain-picture", drainDiagram()],
  ["safety-picture", safetyDiagram()],
];

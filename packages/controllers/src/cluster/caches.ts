import type { Clock, Random } from "@millwright/base";
import { providerIdKey } from "@millwright/core/driver-host";
import {
  labelKeys,
  type Machine,
  type MachineClass,
  machineClassResource,
  type MachineDeployment,
  machineDeploymentResource,
  machineResource,
  type MachineSet,
  machineSetResource,
  readMachine,
  readMachineClass,
  readMachineDeployment,
  readMachineSet,
} from "@millwright/core/machine-api";
import {
  type ApiClient,
  type ApiObject,
  controllerRefOf,
  createInformer,
  type Informer,
  type Log,
  nodeResource,
  persistentVolumeClaimResource,
  persistentVolumeResource,
  podDisruptionBudgetResource,
  podResource,
  volumeAttachmentResource,
} from "@millwright/kube";
import { classNamesOf, secretNamesOf } from "../model/class-references.ts";
import { claimNames } from "../model/pod-claims.ts";
import { isUnhealthy, remediationGroupOf } from "../model/remediation-budget.ts";
import type { Budget, Claim, Node, Pod, Volume, VolumeAttachment } from "../model/node-objects.ts";
import { readInto } from "./readable.ts";
import { createSecretCache, type SecretCache } from "./secret-cache.ts";
import { trimNode } from "./trim-node.ts";
import { trimPod } from "./trim-pod.ts";

/** Caches of the control cluster: where machines are declared. All of one namespace. */
export interface ControlCaches {
  /** `providerId`: by {@link providerIdKey}; `unowned`: under "", machines without a controller; `group`, `unhealthyGroup`: all and the unhealthy ones, by {@link remediationGroupOf}. */
  readonly machines: Informer<
    Machine,
    "owner" | "unowned" | "class" | "node" | "providerId" | "group" | "unhealthyGroup"
  >;
  readonly sets: Informer<MachineSet, "owner">;
  readonly deployments: Informer<MachineDeployment>;
  readonly classes: Informer<MachineClass, "secret">;
  readonly secrets: SecretCache;
}

/** Caches of the target cluster: where machines join as nodes. */
export interface TargetCaches {
  /** `providerId`: by {@link providerIdKey}; `machine`: by the Machine that a label names. */
  readonly nodes: Informer<Node, "providerId" | "machine">;
  /** `claim`: by `namespace/name` of the claims that a pod uses. */
  readonly pods: Informer<Pod, "node" | "claim">;
  readonly budgets: Informer<Budget, "namespace">;
  readonly claims: Informer<Claim>;
  readonly volumes: Informer<Volume>;
  readonly attachments: Informer<VolumeAttachment, "node" | "volume">;
}

/** What every cache is made with. */
export interface CacheOptions {
  readonly api: ApiClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly log?: Log;
  /** How often every object triggers its controllers again, milliseconds. Default: never, only changes do. */
  readonly resyncMs?: number;
}

const owner = (object: ApiObject): string | undefined => controllerRefOf(object)?.uid;

/** Makes the caches of the control cluster, for one namespace. Nothing is read before they run. */
export function createControlCaches(options: CacheOptions & { readonly namespace: string }): ControlCaches {
  const classes = createInformer({
    ...options,
    type: machineClassResource,
    trim: readInto(readMachineClass, (metadata): MachineClass => ({ metadata, providerSpec: {} })),
    indexes: { secret: secretNamesOf },
  });
  return {
    machines: createInformer({
      ...options,
      type: machineResource,
      trim: readInto(readMachine, (metadata): Machine => ({ metadata, spec: {} })),
      indexes: {
        owner,
        unowned: (machine: Machine) => (owner(machine) === undefined ? "" : undefined),
        class: classNamesOf,
        node: (machine: Machine) => machine.metadata.labels?.[labelKeys.node],
        providerId: (machine: Machine) => providerIdKey(machine.spec.providerID),
        group: remediationGroupOf,
        unhealthyGroup: (machine: Machine) => (isUnhealthy(machine) ? remediationGroupOf(machine) : undefined),
      },
    }),
    sets: createInformer({
      ...options,
      type: machineSetResource,
      trim: readInto(readMachineSet, (metadata): MachineSet => ({ metadata, spec: { template: { spec: {} } } })),
      indexes: { owner },
    }),
    deployments: createInformer({
      ...options,
      type: machineDeploymentResource,
      trim: readInto(readMachineDeployment, (metadata): MachineDeployment => ({
        metadata,
        spec: { template: { spec: {} } },
      })),
    }),
    classes,
    secrets: createSecretCache({ ...options, classes }),
  };
}

/** Of a claim a drain reads to which volume it is bound, and nothing else. */
const trimClaim = ({ metadata, spec }: Claim): Claim => {
  const { name, namespace, uid, resourceVersion } = metadata;
  const volumeName = spec?.volumeName;
  return {
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
    spec: volumeName === undefined ? {} : { volumeName },
  };
};

/** Makes the caches of the target cluster, for all its namespaces. Nothing is read before they run. */
export function createTargetCaches(cacheOptions: CacheOptions): TargetCaches {
  // Machines are also created and deleted while the target cluster is unreachable.
  const options = { ...cacheOptions, isUsableWhileUnreachable: true };
  return {
    nodes: createInformer({
      ...options,
      type: nodeResource,
      trim: trimNode,
      indexes: {
        providerId: (node: Node) => providerIdKey(node.spec?.providerID),
        machine: (node: Node) => node.metadata.labels?.[labelKeys.machineName],
      },
    }),
    pods: createInformer({
      ...options,
      type: podResource,
      trim: trimPod,
      indexes: {
        node: (pod: Pod) => pod.spec?.nodeName,
        claim: (pod: Pod) => claimNames(pod).map((name) => `${pod.metadata.namespace ?? ""}/${name}`),
      },
    }),
    budgets: createInformer({
      ...options,
      type: podDisruptionBudgetResource,
      indexes: { namespace: (budget: Budget) => budget.metadata.namespace },
    }),
    claims: createInformer<Claim>({ ...options, type: persistentVolumeClaimResource, trim: trimClaim }),
    volumes: createInformer<Volume>({ ...options, type: persistentVolumeResource }),
    attachments: createInformer({
      ...options,
      type: volumeAttachmentResource,
      indexes: {
        node: (attachment: VolumeAttachment) => attachment.spec?.nodeName,
        volume: (attachment: VolumeAttachment) => attachment.spec?.source?.persistentVolumeName,
      },
    }),
  };
}

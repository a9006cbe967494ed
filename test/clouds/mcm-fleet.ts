import {
  type Machine,
  machineApiVersion,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
} from "@millwright/core/machine-api";
import { type ApiClient, type ApiObject, type KubeObject, nodeResource, type OwnerReference } from "@millwright/kube";
import { machineDeployment } from "../harness/installation.ts";
import { name, namespace } from "./cloud-installation.ts";
import type { MadeVm } from "./vm-cloud.ts";

/** A VM that MCM created for a machine. */
export interface McmVm extends MadeVm {
  /** Of the machine. */
  readonly name: string;
}

const hash = "2745962513";
const setName = `${name}-6f8d5`;
const joinedAt = "2026-01-01T00:05:00Z";

const ownedBy = (kind: string, { metadata }: Pick<ApiObject, "metadata">): readonly OwnerReference[] => [
  {
    apiVersion: machineApiVersion,
    kind,
    name: metadata.name ?? "",
    uid: metadata.uid ?? "",
    controller: true,
    blockOwnerDeletion: true,
  },
];

/**
 * Creates a deployment of the class `pool`, its set and its machines as MCM leaves them when it stops, and marks their Nodes. Sources, in
 * gardener/machine-controller-manager: pkg/controller/deployment_sync.go (`getNewMachineSet`) and deployment_util.go
 * (`SetNewMachineSetAnnotations`) for the set, controller_utils.go (`GetMachineFromTemplate`) and
 * pkg/util/provider/machinecontroller/machine.go (`triggerCreationFlow`) and machine_util.go (`reconcileMachineHealth`) for the machines.
 */
export async function declareAsMcm(api: ApiClient, vms: readonly McmVm[]): Promise<void> {
  const replicas = vms.length;
  const deployment = machineDeployment(name, "pool", replicas);
  const revision = { "deployment.kubernetes.io/revision": "1" };
  const owner = await api.create(machineDeploymentResource, {
    ...deployment,
    metadata: { ...deployment.metadata, annotations: revision },
  });
  const labels = { name, "machine-template-hash": hash };
  const machineSpec = { class: { kind: "MachineClass", name: "pool" } };
  const set = await api.create(machineSetResource, {
    apiVersion: machineApiVersion,
    kind: "MachineSet",
    metadata: {
      name: setName,
      namespace,
      labels,
      annotations: {
        ...revision,
        "deployment.kubernetes.io/desired-replicas": String(replicas),
        "deployment.kubernetes.io/max-replicas": String(replicas + 1),
      },
      ownerReferences: ownedBy("MachineDeployment", owner),
      finalizers: ["machine.sapcloud.io/machine-controller-manager"],
    },
    spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: machineSpec } },
  });
  for (const vm of vms) await declareMachine(api, vm, labels, set, machineSpec);
}

async function declareMachine(
  api: ApiClient,
  vm: McmVm,
  labels: Readonly<Record<string, string>>,
  set: ApiObject,
  spec: object,
): Promise<void> {
  await api.create(machineResource, {
    apiVersion: machineApiVersion,
    kind: "Machine",
    metadata: {
      name: vm.name,
      generateName: `${setName}-`,
      namespace,
      labels: { ...labels, node: vm.nodeName },
      ownerReferences: ownedBy("MachineSet", set),
      finalizers: ["machine.sapcloud.io/machine-controller-manager"],
    },
    spec: { ...spec, providerID: vm.providerId },
  });
  const node = await api.get<KubeObject & Pick<Machine, "status">>(nodeResource, { name: vm.nodeName });
  const status = {
    conditions: node.status?.conditions ?? [],
    currentStatus: { phase: "Running", lastUpdateTime: joinedAt },
    lastOperation: {
      description: `Machine ${vm.name} successfully joined the cluster in 1m30s`,
      lastUpdateTime: joinedAt,
      state: "Successful",
      type: "Create",
    },
  };
  await api.patch(machineResource, { namespace, name: vm.name }, { status }, { kind: "merge", subresource: "status" });
  const marks = { metadata: { labels: { "node.gardener.cloud/machine-name": vm.name } } };
  await api.patch(nodeResource, { name: vm.nodeName }, marks, { kind: "merge" });
}

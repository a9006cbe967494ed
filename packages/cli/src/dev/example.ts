import type { ResourceType } from "@millwright/base";
import { machineApiVersion, machineClassResource, machineDeploymentResource } from "@millwright/core/machine-api";
import { type ApiClient, secretResource } from "@millwright/kube";

/** Name of the example MachineDeployment, of its class and of its secret. */
export const exampleName = "example";

const namespace = "default";

/** What a node of a machine type looks like, for autoscaling from zero. */
const nodeTemplate = (instanceType: string, cpu: string, memory: string): object => ({
  capacity: { cpu, gpu: "0", memory },
  instanceType,
  region: "local",
  zone: "local-a",
});

const machineClass = (name: string, machineType: string, cpu: string, memory: string): object => ({
  apiVersion: machineApiVersion,
  kind: "MachineClass",
  metadata: { name, namespace },
  provider: "mock",
  providerSpec: { machineType, region: "local", zone: "local-a" },
  secretRef: { name: exampleName, namespace },
  nodeTemplate: nodeTemplate(machineType, cpu, memory),
});

/** The objects of the example: two classes to roll between, the secret with the address of the simulated cloud, and a deployment of three. */
export function exampleObjects(
  cloudUrl: string,
): readonly { readonly type: ResourceType; readonly object: object; readonly name: string }[] {
  const text = (value: string): string => Buffer.from(value).toString("base64");
  const secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: exampleName, namespace },
    data: {
      endpoint: text(cloudUrl),
      userData: text("#!/bin/sh\necho machine <<MACHINE_NAME>> joins with token <<BOOTSTRAP_TOKEN>>\n"),
    },
  };
  const deployment = {
    apiVersion: machineApiVersion,
    kind: "MachineDeployment",
    metadata: { name: exampleName, namespace },
    spec: {
      replicas: 3,
      selector: { matchLabels: { name: exampleName } },
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      template: {
        metadata: { labels: { name: exampleName } },
        spec: { class: { kind: "MachineClass", name: exampleName } },
      },
    },
  };
  return [
    { type: secretResource, object: secret, name: exampleName },
    { type: machineClassResource, object: machineClass(exampleName, "small", "2", "4Gi"), name: exampleName },
    {
      type: machineClassResource,
      object: machineClass(`${exampleName}-large`, "large", "8", "32Gi"),
      name: `${exampleName}-large`,
    },
    { type: machineDeploymentResource, object: deployment, name: exampleName },
  ];
}

/**
 * Applies the example. The address of the cloud is new with each start, so the secret is always applied; objects that users may have changed in a kept cluster
 * (the classes, the deployment) are only created when they do not exist.
 */
export async function applyExample(api: ApiClient, cloudUrl: string): Promise<void> {
  for (const { type, object, name } of exampleObjects(cloudUrl)) {
    if (type !== secretResource && (await exists(api, type, name))) continue;
    await api.patch(type, { namespace, name }, object, { kind: "apply", fieldManager: "millwright-dev", force: true });
  }
}

const exists = async (api: ApiClient, type: ResourceType, name: string): Promise<boolean> => {
  const { items } = await api.list(type, { namespace, fieldSelector: `metadata.name=${name}` });
  return items.length > 0;
};

import {
  annotationKeys,
  labelKeys,
  machineClassResource,
  machineDeploymentResource,
} from "@millwright/core/machine-api";
import { type KubeObject, namespaceResource, secretResource } from "@millwright/kube";
import { machineClass } from "../../harness/installation.ts";
import type { Stage } from "./scenario.ts";

const defaultNamespace = "default";
const HOUR_MS = 3_600_000;

type SecretObject = KubeObject & { readonly data: Readonly<Record<string, string>> };

/** Creates the two classes of the deployments. */
export async function createClasses({ api }: Stage): Promise<void> {
  for (const name of ["small", "large"]) await api.create(machineClassResource, machineClass(name));
}

/** Creates a namespace with the class `small` and its Secret. */
export async function createNamespace({ api }: Stage, namespace: string): Promise<void> {
  await api.create(namespaceResource, { metadata: { name: namespace } });
  const { data } = await api.get<SecretObject>(secretResource, { namespace: defaultNamespace, name: "cloud" });
  await api.create<SecretObject>(secretResource, { metadata: { namespace, name: "cloud" }, data });
  const small = machineClass("small");
  const secretRef = { name: "cloud", namespace };
  await api.create(machineClassResource, { ...small, metadata: { ...small.metadata, namespace }, secretRef });
}

/**
 * Creates a deployment with a rolling update of 10 %; MCM has no defaults for a strategy.
 *
 * @param zone of its nodes. Default: none
 */
export async function createDeployment(
  { api }: Stage,
  name: string,
  replicas: number,
  { zone, namespace = defaultNamespace }: { readonly zone?: string; readonly namespace?: string } = {},
): Promise<void> {
  const labels = { name };
  const nodeTemplate = zone === undefined ? undefined : { metadata: { labels: { [labelKeys.zone]: zone } } };
  await api.create(machineDeploymentResource, {
    metadata: { name, namespace },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "10%", maxUnavailable: "10%" } },
      template: { metadata: { labels }, spec: { class: { kind: "MachineClass", name: "small" }, nodeTemplate } },
    },
  });
}

const change = ({ api }: Stage, name: string, patch: object): Promise<unknown> =>
  api.patch(machineDeploymentResource, { namespace: defaultNamespace, name }, patch, { kind: "merge" });

/** Changes the class of a deployment's template. */
export const setClass = (stage: Stage, name: string, className: string): Promise<unknown> =>
  change(stage, name, { spec: { template: { spec: { class: { kind: "MachineClass", name: className } } } } });

/** Sets the replicas of a deployment. Deletions are approved in advance, as scripts do that delete whole fleets. */
export const scale = (stage: Stage, name: string, replicas: number): Promise<unknown> =>
  change(stage, name, {
    metadata: { annotations: { [annotationKeys.approveDeletions]: new Date(Date.now() + HOUR_MS).toISOString() } },
    spec: { replicas },
  });

/** Waits until exactly so many machines are there, all Running. */
export const untilRunning = (stage: Stage, count: number): Promise<void> =>
  stage.until(
    `${count} machines are Running`,
    () => stage.machines.size === count && stage.machines.phases().get("Running") === count,
  );

/** Whether all machines that are there have a class. */
export const allHaveClass = (stage: Stage, className: string): boolean =>
  stage.list().every((machine) => classOf(machine) === className);

function classOf(machine: KubeObject): string | undefined {
  const spec = machine["spec"] as { readonly class?: { readonly name?: string } } | undefined;
  return spec?.class?.name;
}

/** Creates the deployment `fleet` and waits until its machines are Running. */
export async function createFleet(stage: Stage): Promise<void> {
  await createClasses(stage);
  await createDeployment(stage, "fleet", stage.size.machines);
  await untilRunning(stage, stage.size.machines);
}

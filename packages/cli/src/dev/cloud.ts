import { readFile, rename, writeFile } from "node:fs/promises";
import { ConfigError, systemClock } from "@millwright/base";
import type { Vm } from "@millwright/provider-mock";
import type { Workspace } from "./workspace.ts";

/** The node of a VM. */
export interface WantedNode {
  readonly nodeName: string;
  readonly providerId: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: Vm["taints"];
  readonly addresses: Vm["addresses"];
  readonly capacity: Vm["capacity"];
}

/** The simulated cloud of a dev cluster. */
export interface Cloud {
  readonly url: string;
  /** Calls the listener, now and after each change, with the VMs that run a kubelet. Returns a function that stops this. */
  follow(listener: (nodes: readonly WantedNode[]) => void): () => void;
  close(): Promise<void>;
}

/** States in which a VM runs its kubelet. */
const runsKubelet = ({ state }: Vm): boolean => state === "running" || state === "stopping";

const toNode = ({
  nodeName,
  providerId,
  labels,
  taints,
  addresses,
  capacity,
  machineType,
  region,
  zone,
}: Vm): WantedNode => ({
  nodeName,
  providerId,
  labels: {
    ...labels,
    "node.kubernetes.io/instance-type": machineType,
    "topology.kubernetes.io/region": region,
    "topology.kubernetes.io/zone": zone,
  },
  taints,
  addresses,
  capacity,
});

/** The state of an earlier run in the data folder; `undefined` at the first start. */
async function readSnapshot(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw new ConfigError(
      `${file}: cannot be read: ${error instanceof Error ? error.message : String(error)}; remove it to start with an empty cloud`,
    );
  }
}

const unwritable = (file: string, cause: unknown): ConfigError =>
  new ConfigError(`${file}: cannot be written: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });

/** Starts the simulated cloud on its own port; in a permanent data folder its VMs are kept, and a failure to do so is reported. */
export async function startCloud(workspace: Workspace, onFailure: (error: unknown) => void): Promise<Cloud> {
  const { createCloudServer, createSimulatedCloud } = await import("@millwright/provider-mock");
  const file = workspace.isTemporary ? undefined : `${workspace.folder}/cloud.json`;
  const snapshot = file === undefined ? undefined : await readSnapshot(file);
  const cloud = createSimulatedCloud({ clock: systemClock, ...(snapshot === undefined ? {} : { snapshot }) });
  const server = createCloudServer(cloud);

  // Written after each change, one at a time and by rename, so that a kill leaves the last whole state.
  let saving = Promise.resolve();
  const save = async (): Promise<void> => {
    if (file === undefined) return;
    await writeFile(`${file}.new`, JSON.stringify(cloud.snapshot()), { mode: 0o600 });
    await rename(`${file}.new`, file);
  };
  const stopSaving = cloud.subscribe(() => {
    saving = saving.then(save).catch((cause: unknown) => onFailure(unwritable(file ?? "", cause)));
  });
  const { url } = await server.listen();
  return {
    url,
    follow(listener) {
      const notify = (): void => listener(cloud.vms().filter(runsKubelet).map(toNode));
      notify();
      return cloud.subscribe(notify);
    },
    async close() {
      stopSaving();
      await server.close();
      await saving;
      await save();
      cloud.close();
    },
  };
}

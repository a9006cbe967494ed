import {
  annotationKeys,
  type Machine,
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  phaseOf,
} from "@millwright/core/machine-api";
import { type KubeObject, nodeResource, podResource, secretResource } from "@millwright/kube";
import { expect } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { machineClass, machineDeployment } from "../harness/installation.ts";
import type { RealFleet } from "./real-fleet.ts";

const namespace = "default";
const LONG = 120_000;

/** One deployment, by name, in a fleet. */
export interface Stage {
  readonly fleet: Pick<RealFleet, "api" | "target" | "cloud" | "machines">;
  readonly name: string;
  /** Stops the kubelet of a node; the result starts it again. */
  readonly stopKubelet: (node: string) => { remove(): void };
}

/** A situation of one deployment in which one manager ends and the other one takes over. */
export interface Situation {
  /** Machines of the deployment before; default 2. */
  readonly replicas?: number;
  readonly className?: string;
  /** More of its spec. */
  readonly spec?: object;
  /** Phase of its machines before; default Running. */
  readonly phase?: string;
  /** Brings it into the situation; resolves while it lasts. Default: it stays as it is. */
  readonly enter?: (stage: Stage) => Promise<void>;
  /** It ends soon: it is entered last. */
  readonly isBrief?: boolean;
  /** What happens while no manager runs. Default: nothing. */
  readonly between?: (stage: Stage) => Promise<void>;
  /** Machines that stay as they are. Default: those without deletionTimestamp. */
  readonly isKept?: (machine: Machine) => boolean;
  /** Machines that are there no more in the end. Default: none that is checked. */
  readonly isReplaced?: (machine: Machine) => boolean;
  /** Lets it come to its end. Default: it does by itself. */
  readonly leave?: (stage: Stage) => Promise<void>;
  /** Machines in the end; default as before. */
  readonly replicasAfter?: number;
}

const ofDeployment = (machine: Machine, name: string): boolean => machine.metadata.labels?.["name"] === name;

/** The machines of a deployment. */
export const machinesOf = async ({ fleet, name }: Pick<Stage, "fleet" | "name">): Promise<readonly Machine[]> =>
  (await fleet.machines()).filter((machine) => ofDeployment(machine, name));

const isDeleting = ({ metadata }: Machine): boolean => metadata.deletionTimestamp !== undefined;
const stays = (machine: Machine): boolean => !isDeleting(machine);

const change =
  (spec: object) =>
  async ({ fleet, name }: Stage): Promise<void> => {
    await fleet.api.patch(machineDeploymentResource, { namespace, name }, { spec }, { kind: "merge" });
  };

const until = (stage: Pick<Stage, "fleet" | "name">, check: (machines: readonly Machine[]) => void): Promise<void> =>
  eventually(async () => check(await machinesOf(stage)), LONG);

const nameOf = ({ metadata }: KubeObject): string => metadata.name ?? "";

/** Puts a pod that does not end on the node of the first machine, and deletes the machine. */
async function enterDrain(stage: Stage): Promise<void> {
  const { fleet, name } = stage;
  const [machine] = await machinesOf(stage);
  await fleet.target.api.create(podResource, {
    metadata: { namespace, name, finalizers: ["example.com/slow"] },
    spec: {
      nodeName: machine?.metadata.labels?.["node"] ?? "",
      terminationGracePeriodSeconds: 0,
      containers: [{ name: "app", image: "pause" }],
    },
  });
  await fleet.api.delete(machineResource, { namespace, name: nameOf(machine ?? { metadata: {} }) });
  await eventually(async () => {
    const node = await fleet.target.api.get<KubeObject & { readonly spec?: { readonly unschedulable?: boolean } }>(
      nodeResource,
      { name: machine?.metadata.labels?.["node"] ?? "" },
    );
    expect(node.spec?.unschedulable).toBe(true);
  }, LONG);
}

/** Lets the pod end. */
async function leaveDrain({ fleet, name }: Stage): Promise<void> {
  await fleet.target.api.patch(podResource, { namespace, name }, { metadata: { finalizers: null } }, { kind: "merge" });
}

/** The status of restored objects is lost. */
async function loseStatus(stage: Stage): Promise<void> {
  for (const machine of await machinesOf(stage)) {
    const ref = { namespace, name: nameOf(machine) };
    await stage.fleet.api.patch(machineResource, ref, [{ op: "remove", path: "/status" }], {
      kind: "json",
      subresource: "status",
    });
  }
}

const freeze = async ({ fleet, name }: Stage): Promise<void> => {
  const metadata = { labels: { freeze: "True" } };
  await fleet.api.patch(machineDeploymentResource, { namespace, name }, { metadata }, { kind: "merge" });
};

const preserve = async (stage: Stage): Promise<void> => {
  const [machine] = await machinesOf(stage);
  const metadata = { annotations: { "node.machine.sapcloud.io/preserve": "now" } };
  const ref = { namespace, name: nameOf(machine ?? { metadata: {} }) };
  await stage.fleet.api.patch(machineResource, ref, { metadata }, { kind: "merge" });
};

/** Stops the kubelet of the first machine and labels the machine; resolves when it is Unknown, with what starts the kubelet. */
async function enterUnknown(stage: Stage): Promise<{ remove(): void }> {
  const [machine] = await machinesOf(stage);
  const stopped = stage.stopKubelet(machine?.metadata.labels?.["node"] ?? "");
  const ref = { namespace, name: nameOf(machine ?? { metadata: {} }) };
  await stage.fleet.api.patch(machineResource, ref, { metadata: { labels: silent } }, { kind: "merge" });
  await until(stage, (machines) => expect(machines.filter(isSilent).map(phaseOf)).toEqual(["Unknown"]));
  return stopped;
}

const silent = { silent: "1" };
const isSilent = ({ metadata }: Machine): boolean => metadata.labels?.["silent"] === "1";

/** The last write of a manager whose timeout of health has passed. */
async function fail(stage: Stage): Promise<void> {
  for (const machine of (await machinesOf(stage)).filter(isSilent)) {
    const status = {
      currentStatus: { phase: "Failed", lastUpdateTime: new Date().toISOString().replace(/\.\d+/, "") },
    };
    const ref = { namespace, name: nameOf(machine) };
    await stage.fleet.api.patch(machineResource, ref, { status }, { kind: "merge", subresource: "status" });
  }
}

/** A machine that is Unknown as the manager changes, is Unknown under the next one, and then runs again. */
function unknown(): Situation {
  let stopped: { remove(): void } | undefined;
  return {
    async enter(stage) {
      stopped = await enterUnknown(stage);
    },
    async leave(stage) {
      expect((await machinesOf(stage)).filter(isSilent).map(phaseOf)).toEqual(["Unknown"]);
      stopped?.remove();
    },
  };
}

/** A machine that is Failed as the manager changes: only this one is replaced. */
const failed: Situation = {
  async enter(stage) {
    await enterUnknown(stage);
  },
  between: fail,
  isKept: (machine) => !isSilent(machine),
  isReplaced: isSilent,
};

const template = (name: string, className: string) => ({
  template: { metadata: { labels: { name, roll: "1" } }, spec: { class: { kind: "MachineClass", name: className } } },
});

/** Starts a rollout; resolves when a new machine runs and an old one is left. */
const enterRollout =
  (className: string) =>
  async (stage: Stage): Promise<void> => {
    await change(template(stage.name, className))(stage);
    await until(stage, (machines) => {
      const isNew = ({ metadata }: Machine): boolean => metadata.labels?.["roll"] === "1";
      expect(machines.some((machine) => isNew(machine) && phaseOf(machine) === "Running")).toBe(true);
      expect(machines.some((machine) => !isNew(machine))).toBe(true);
    });
  };

const annotateSteps =
  (steps: string | null) =>
  async ({ fleet, name }: Stage): Promise<void> => {
    const metadata = { annotations: { [annotationKeys.canarySteps]: steps } };
    await fleet.api.patch(machineDeploymentResource, { namespace, name }, { metadata }, { kind: "merge" });
  };

/** The situations, by the names of their deployments. `many`: machines that are created while the manager changes. */
export const situations = (many: number): Readonly<Record<string, Situation>> => ({
  steady: {},
  creating: {
    replicas: 1,
    isBrief: true,
    async enter(stage) {
      await change({ replicas: many })(stage);
      await until(stage, (machines) => {
        expect(machines.length).toBeGreaterThan(1);
        expect(machines.some((machine) => phaseOf(machine) !== "Running")).toBe(true);
      });
    },
    replicasAfter: many,
  },
  draining: { replicas: 1, enter: enterDrain, isKept: stays, leave: leaveDrain },
  rollout: {
    replicas: 3,
    enter: enterRollout("small"),
    isKept: (machine) => stays(machine) && machine.metadata.labels?.["roll"] === "1",
    isReplaced: (machine) => machine.metadata.labels?.["roll"] !== "1",
  },
  // MCM knows no steps: it goes on at once, and Millwright finds what it did.
  canary: {
    replicas: 3,
    async enter(stage) {
      await annotateSteps("1/pause")(stage);
      await enterRollout("small")(stage);
    },
    isKept: (machine) => stays(machine) && machine.metadata.labels?.["roll"] === "1",
    isReplaced: (machine) => machine.metadata.labels?.["roll"] !== "1",
    leave: annotateSteps(null),
  },
  "scale-in": {
    replicas: 4,
    isBrief: true,
    async enter(stage) {
      await change({ replicas: 1 })(stage);
      // MCM chooses by phase, not by deletion timestamp, and machines of the same second at random (its ActiveMachines.Less).
      await until(stage, (machines) => {
        expect(machines.filter(stays)).toHaveLength(1);
        const phases = new Set(machines.filter((machine) => !stays(machine)).map(phaseOf));
        expect([...phases]).toEqual(["Terminating"]);
      });
    },
    replicasAfter: 1,
  },
  "in-place": {
    spec: {
      strategy: {
        type: "InPlaceUpdate",
        inPlaceUpdate: { maxSurge: 0, maxUnavailable: 1, orchestrationType: "Manual" },
      },
    },
  },
  unknown: unknown(),
  failed,
  preserved: { enter: preserve },
  frozen: { enter: freeze },
  "crash-loop": { replicas: 1, className: "impossible", phase: "CrashLoopBackOff" },
  "token-pending": {
    replicas: 1,
    isBrief: true,
    className: "token",
    enter: change({ replicas: 2 }),
    replicasAfter: 2,
  },
  "status-lost": { between: loseStatus },
});

/** Creates the classes of the situations, and a deployment for each; resolves when all machines are in their first phase. */
export async function createSituations(fleet: RealFleet, all: Readonly<Record<string, Situation>>): Promise<void> {
  const { api } = fleet;
  await api.create(machineClassResource, machineClass("small"));
  const cloudSecret = await api.get<KubeObject & { readonly data?: Readonly<Record<string, string>> }>(secretResource, {
    namespace,
    name: "cloud",
  });
  await api.create(secretResource, {
    metadata: { namespace, name: "token" },
    data: { ...cloudSecret.data, userData: Buffer.from("boot <<BOOTSTRAP_TOKEN>>").toString("base64") },
  });
  await api.create(machineClassResource, { ...machineClass("token"), secretRef: { namespace, name: "token" } });
  const unusable = { machineType: "none" };
  await api.create(machineClassResource, { ...machineClass("impossible"), providerSpec: unusable });
  const rollingUpdate = { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
  for (const [name, { replicas = 2, className = "small", spec = {} }] of Object.entries(all)) {
    const deployment = machineDeployment(name, className, replicas);
    const full = Object.assign({ strategy: rollingUpdate }, deployment["spec"], spec);
    await api.create(machineDeploymentResource, { ...deployment, spec: full });
  }
  await Promise.all(
    Object.entries(all).map(([name, { replicas = 2, phase = "Running" }]) =>
      until({ fleet, name }, (machines) =>
        expect(machines.map(phaseOf), name).toEqual(Array.from({ length: replicas }, () => phase)),
      ),
    ),
  );
}

import {
  type Machine,
  machineClassResource,
  type MachineDeployment,
  machineDeploymentResource,
  machineResource,
} from "@millwright/core/machine-api";
import type { RequestRecord } from "@millwright/devcluster";
import { type ApiClient, eventResource, type KubeObject, nodeResource } from "@millwright/kube";
import type { Vm } from "@millwright/provider-mock";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { eventually } from "./eventually.ts";
import { type Fleet, type Installation, machineClass, machineDeployment } from "./installation.ts";
import { type InvariantWatch, watchInvariants } from "./invariants.ts";
import type { MillwrightProcess } from "./millwright.ts";

/** The cluster and controllers that rollouts run on. */
export interface RolloutStage {
  readonly fleet: Fleet;
  /** Starts the controllers with these flags besides the connection flags. */
  run(...flags: readonly string[]): MillwrightProcess;
  /** Requests of the controllers to the API server; absent where they are not recorded. */
  requests?(): readonly RequestRecord[];
}

/** The stage on a devcluster API server, which records requests. */
export const stageOn = (installation: Installation): RolloutStage => ({
  fleet: installation,
  run: installation.runAlone,
  requests: () => installation.server.requests.filter(({ userAgent }) => userAgent.startsWith("millwright")),
});

const namespace = "default";
const ref = { namespace, name: "fleet" };

/** Replicas and maxSurge of the deployment, and the longest time for a rollout. */
export const REPLICAS = 4;
export const SURGE = 1;
export const ROLLOUT_MS = 90_000;

interface TaintedNode extends KubeObject {
  readonly spec?: { readonly taints?: readonly { readonly key: string }[] };
}

/** One MachineDeployment with four machines, its controllers, and the invariants, watched from the first start to the last check. */
export interface RolloutTrial {
  invariants(): InvariantWatch;
  api(): ApiClient;
  vms(): readonly Vm[];
  machines(): Promise<readonly Machine[]>;
  deployment(): Promise<MachineDeployment>;
  /** Reasons of all events. */
  reasons(): Promise<readonly unknown[]>;
  /** `True RollingOut Rolling out …`. */
  condition(type: string): Promise<string>;
  /** Running machines of a class. */
  ofClass(name: string): Promise<readonly Machine[]>;
  uids(): Promise<readonly string[]>;
  change(patch: object): Promise<unknown>;
  /** Sets the class of the template, together with other changes of the spec and of annotations. */
  changeClass(name: string, spec?: object, annotations?: Readonly<Record<string, string | null>>): Promise<unknown>;
  /** Waits until the controllers have reconciled the deployment again. */
  untilReconciled(): Promise<void>;
  /** Does `work` while at least that many machines have to run. */
  whileRunning(atLeast: number, work: () => Promise<void>): Promise<void>;
  start(): void;
  /** Kills the controllers with SIGKILL, and starts a new process. */
  kill(): Promise<void>;
  stop(): Promise<number>;
  /** Creates classes and deployment, starts the controllers, and waits until all machines run. */
  begin(): Promise<void>;
  /** Waits until a rollout is complete, by its conditions and by the machines, VMs and nodes. */
  untilRolledOut(name: string): Promise<void>;
}

/**
 * Creates a trial, which begins and ends with the suite that calls this.
 *
 * @param stage asked when the suite starts
 */
export function rolloutTrial(stage: () => RolloutStage): RolloutTrial {
  const started: MillwrightProcess[] = [];
  const killed = new Set<MillwrightProcess>();
  let invariants: InvariantWatch | undefined;
  const watch = (): InvariantWatch => {
    if (invariants === undefined) throw new Error("the suite has not started");
    return invariants;
  };
  const api = () => stage().fleet.api;
  const vms = () => stage().fleet.cloud.vms();
  const last = (): MillwrightProcess => {
    const process = started.at(-1);
    if (process === undefined) throw new Error("no controllers were started");
    return process;
  };
  const machines = async (): Promise<readonly Machine[]> =>
    (await api().list<Machine>(machineResource, { namespace })).items;
  const change = (patch: object): Promise<unknown> =>
    api().patch(machineDeploymentResource, ref, patch, { kind: "merge" });
  const deployment = (): Promise<MachineDeployment> => api().get<MachineDeployment>(machineDeploymentResource, ref);
  const condition = async (type: string): Promise<string> => {
    const { status } = await deployment();
    const found = status?.conditions?.find((each) => each.type === type);
    return `${found?.status} ${found?.reason} ${found?.message ?? ""}`.trim();
  };
  const start = (): void => void started.push(stage().run("--machine-creation-timeout=12s"));
  const ofClass = async (name: string): Promise<readonly Machine[]> =>
    (await machines()).filter(
      ({ spec, status }) => spec.class?.name === name && status?.currentStatus?.phase === "Running",
    );
  const untilRolledOut = (name: string): Promise<void> =>
    eventually(async () => {
      const { metadata, status } = await deployment();
      expect(status?.observedGeneration).toBe(metadata.generation);
      expect(await condition("RollingOut")).toBe("False NotRollingOut");
      expect(await condition("Progressing")).toContain("True NewMachineSetAvailable");
      expect((await machines()).map(({ spec }) => spec.class?.name)).toEqual(Array(REPLICAS).fill(name));
      expect(await ofClass(name)).toHaveLength(REPLICAS);
      expect(vms()).toHaveLength(REPLICAS);
      const nodes = await api().list<TaintedNode>(nodeResource);
      const marks = nodes.items.map((node) => JSON.stringify([node.metadata.annotations, node.spec?.taints]));
      expect(marks.filter((text) => /scale-down-disabled|prefer-no-schedule/.test(text))).toEqual([]);
    }, ROLLOUT_MS);

  beforeAll(() => {
    const { fleet, requests } = stage();
    invariants = watchInvariants({
      fleet: { ...fleet, ...(requests === undefined ? {} : { requests }) },
      maxVms: REPLICAS + SURGE,
      alive: () => started.filter((process) => !killed.has(process)),
      started: () => started,
    });
  });
  afterEach(() => watch().check());
  afterAll(() => invariants?.close());

  return {
    invariants: watch,
    api,
    vms,
    machines,
    deployment,
    condition,
    ofClass,
    start,
    change,
    untilRolledOut,
    reasons: async () => (await api().list(eventResource, { namespace })).items.map((event) => event["reason"]),
    changeClass: (name, spec = {}, annotations = {}) =>
      change({ metadata: { annotations }, spec: { template: { spec: { class: { name } } }, ...spec } }),
    async untilReconciled() {
      // A field that changes only the generation. The second reconcile runs after everything that the first one observed.
      for (let reconcile = 0; reconcile < 2; reconcile++) {
        const { spec } = await deployment();
        await change({ spec: { progressDeadlineSeconds: (spec.progressDeadlineSeconds ?? 3_600) + 1 } });
        await eventually(async () => {
          const { metadata, status } = await deployment();
          expect(status?.observedGeneration).toBe(metadata.generation);
        }, ROLLOUT_MS);
      }
    },
    async whileRunning(atLeast, work) {
      const release = watch().requireRunningMachines(atLeast);
      await work();
      // Later steps may do what was forbidden here: the watch has seen everything until now.
      await watch().check();
      release();
    },
    uids: async () => (await machines()).map(({ metadata: { uid = "" } }): string => uid).toSorted(),
    async kill() {
      killed.add(last());
      await last().stop("SIGKILL");
      start();
    },
    stop() {
      killed.add(last());
      return last().stop("SIGTERM");
    },
    async begin() {
      for (const [name, machineType] of [
        ["small", "small"],
        ["large", "large"],
        ["unlucky", "medium"],
      ] as const) {
        await api().create(machineClassResource, { ...machineClass(name), providerSpec: { machineType } });
      }
      await api().create(machineDeploymentResource, machineDeployment("fleet", "small", REPLICAS));
      await change({ spec: { strategy: { rollingUpdate: { maxSurge: SURGE, maxUnavailable: 0 } } } });
      start();
      await untilRolledOut("small");
    },
  };
}

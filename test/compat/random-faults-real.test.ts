import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { seededRandom } from "@millwright/base";
import {
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  phaseOf,
} from "@millwright/core/machine-api";
import { kubeconfigFor } from "@millwright/devcluster";
import { isNotFound, secretResource } from "@millwright/kube";
import { isLive } from "@millwright/provider-mock";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { machineClass, machineDeployment } from "../harness/installation.ts";
import { type InvariantWatch, watchInvariants } from "../harness/invariants.ts";
import { type MillwrightProcess, startMillwright } from "../harness/millwright.ts";
import { shortLeases } from "../harness/short-leases.ts";
import { type FaultyProxy, startFaultyProxy } from "./faulty-proxy.ts";
import { REAL_FLEET_MS, type RealFleet, startRealFleet } from "./real-fleet.ts";

/** For other faults: MILLWRIGHT_SEED=N. The order of faults repeats, not the moments of the processes. */
const seed = Number(process.env["MILLWRIGHT_SEED"] ?? 20);
const STEPS = 40;
/** The highest number of replicas that is asked for. */
const MOST = 8;
const canary = "canary-9c2e41";
const fleetRef = { namespace: "default", name: "fleet" };

/** A process, and its own way to the API server. */
interface Candidate {
  readonly proxy: FaultyProxy;
  readonly kubeconfig: string;
  process: MillwrightProcess;
}

/**
 * The faults of the simulation that a real API server and real processes can have, in an order that a seed decides: two processes, each behind a proxy that stalls,
 * cuts connections, hides outages and empties lists; processes that are killed; a cloud that fails before and after it has accepted a call; and people who scale, roll out and delete.
 */
describe(`random faults on a real kube-apiserver, seed ${seed}`, () => {
  const random = seededRandom(seed);
  const below = (count: number): number => Math.floor(random.next() * count);
  let fleet: RealFleet;
  let folder: string;
  let invariants: InvariantWatch | undefined;
  const candidates: Candidate[] = [];
  const started: MillwrightProcess[] = [];
  const met: string[] = [];

  const start = (kubeconfig: string): MillwrightProcess => {
    const process = startMillwright(["run", "--provider=mock", `--control-kubeconfig=${kubeconfig}`, ...shortLeases]);
    started.push(process);
    return process;
  };

  beforeAll(async () => {
    fleet = await startRealFleet({ heartbeatMs: 2_000, silenceMs: 30_000 }, { latencyMs: 50, bootDelayMs: 500 });
    folder = await mkdtemp(join(tmpdir(), "millwright-random-"));
    for (const name of ["one", "other"]) {
      const proxy = await startFaultyProxy(fleet.plane);
      const kubeconfig = join(folder, name);
      await writeFile(kubeconfig, kubeconfigFor(proxy.url, { token: fleet.controllersToken }), { mode: 0o600 });
      candidates.push({ proxy, kubeconfig, process: start(kubeconfig) });
    }
    const userData = Buffer.from(`boot <<MACHINE_NAME>> ${canary}`).toString("base64");
    await fleet.api.patch(
      secretResource,
      { namespace: "default", name: "cloud" },
      { data: { userData } },
      { kind: "merge" },
    );
    invariants = watchInvariants({
      fleet,
      // Machines that are being deleted are replaced at once, and their VMs live until the cloud answers again.
      maxVms: 3 * MOST,
      canary,
      alive: () => candidates.map(({ process }) => process),
      started: () => started,
    });
    await fleet.api.create(machineClassResource, machineClass("small"));
    await fleet.api.create(machineClassResource, machineClass("large"));
    await fleet.api.create(machineDeploymentResource, machineDeployment("fleet", "small", 4));
  }, REAL_FLEET_MS);

  afterAll(async () => {
    await invariants?.close();
    await Promise.all(started.map((process) => process.stop("SIGKILL")));
    await Promise.all(candidates.map(({ proxy }) => proxy.close()));
    await fleet.close();
    await rm(folder, { recursive: true, force: true });
  }, 120_000);

  const change = (spec: object): Promise<unknown> =>
    fleet.api.patch(machineDeploymentResource, fleetRef, { spec }, { kind: "merge" });

  /** Empties the next list of a process that has lists of its own: the first one of a process could only be believed. */
  const emptyList = async ({ process, proxy }: Candidate, resource: string): Promise<void> => {
    await process.waitFor(/"Ready"/);
    proxy.emptyLists(resource, 1);
    await eventually(async () => {
      // A watch that connects just then is ended the next time.
      if (proxy.listsToEmpty() > 0) proxy.emptyLists(resource, 1);
      expect(await Promise.resolve(proxy.listsToEmpty())).toBe(0);
    });
  };

  /** Each takes one of the processes. Faults that last are over when it resolves. */
  const faults: Readonly<Record<string, (candidate: Candidate) => Promise<unknown>>> = {
    async kill(candidate) {
      await candidate.process.stop("SIGKILL");
      await pause(below(2_000));
      candidate.process = start(candidate.kubeconfig);
    },
    async stall({ proxy }) {
      proxy.stall();
      await pause(200 + below(4_000));
      proxy.resume();
    },
    async hideOutage({ proxy }) {
      proxy.hideOutage();
      await pause(200 + below(3_000));
      proxy.endOutage();
    },
    cutConnections: ({ proxy }) => Promise.resolve(proxy.resume()),
    emptyMachines: (candidate) => emptyList(candidate, "machines"),
    emptyNodes: (candidate) => emptyList(candidate, "nodes"),
    refuseCreations: () => fleet.cloud.addFault({ operation: "create", code: "Unavailable", times: 2 }),
    loseAnswers: () => fleet.cloud.addFault({ operation: "*", code: "Unavailable", afterAcceptance: true, times: 2 }),
    exhaust: () => fleet.cloud.addFault({ operation: "create", code: "ResourceExhausted", times: 1 }),
    scale: () => change({ replicas: below(MOST + 1) }),
    rollOut: () =>
      change({ template: { spec: { class: { kind: "MachineClass", name: ["small", "large"][below(2)] } } } }),
    async deleteMachine() {
      const machines = await fleet.machines();
      const machine = machines[below(Math.max(1, machines.length))];
      const { namespace, name = "" } = machine?.metadata ?? {};
      if (machine === undefined) return;
      await fleet.api.delete(machineResource, { namespace, name }).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
    },
    restartOrderly: async (candidate) => {
      // One that has just started does not handle the signal yet.
      expect([0, 128]).toContain(await candidate.process.stop("SIGTERM"));
      candidate.process = start(candidate.kubeconfig);
    },
  };
  const names = Object.keys(faults);

  it("double, lose and forget no VM, and all is as declared when they are over", async () => {
    for (let step = 0; step < STEPS; step++) {
      const name = names[below(names.length)] ?? "";
      const candidate = candidates[below(candidates.length)];
      if (candidate === undefined) throw new Error("there are no processes");
      met.push(name);
      await faults[name]?.(candidate);
      await pause(below(1_500));
    }
    await fleet.cloud.clearFaults();
    await change({ replicas: 5 });
    await eventually(async () => {
      const machines = await fleet.machines();
      expect(machines.map(phaseOf)).toEqual(Array.from({ length: 5 }, () => "Running"));
      const live = fleet.cloud.vms().filter(isLive);
      expect(new Set(live.map(({ providerId }) => providerId))).toEqual(
        new Set(machines.map(({ spec }) => spec.providerID)),
      );
      expect(live).toHaveLength(5);
    }, 240_000);
    await invariants?.check();
    expect(new Set(met).size, met.join(" ")).toBeGreaterThan(8);
  }, 600_000);
});

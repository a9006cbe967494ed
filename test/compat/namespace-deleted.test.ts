import { setTimeout as pause } from "node:timers/promises";
import {
  type Machine,
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  phaseOf,
} from "@millwright/core/machine-api";
import {
  isNotFound,
  type KubeObject,
  leaseResource,
  namespaceResource,
  nodeResource,
  secretResource,
} from "@millwright/kube";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { createKubectl, type ForeignTool } from "../harness/foreign-tools.ts";
import { goPrograms, leaseHolders, startGoProgram } from "../harness/go-mcm.ts";
import { grantByClusterRole } from "../harness/grant-roles.ts";
import { machineClass, machineDeployment } from "../harness/installation.ts";
import { aBudget, aDeployment, listOf } from "../harness/manifests.ts";
import { type MillwrightProcess, startMillwright } from "../harness/millwright.ts";
import type { Program } from "../harness/program.ts";
import { type RunningWorkloads, startWorkloads } from "../harness/workloads.ts";
import { REAL_FLEET_MS, type RealFleet, startRealFleet } from "./real-fleet.ts";

/** Only catches hangs, milliseconds. */
const LONG = 120_000;
const LEASE_MS = 6_000;
const leaseFlags = [
  "--leader-elect=true",
  `--leader-elect-lease-duration=${LEASE_MS}ms`,
  "--leader-elect-renew-deadline=4s",
  "--leader-elect-retry-period=1s",
];

/** The namespace controller deletes the Leases with everything else, and no process can create them again. */
describe("a deleted namespace of machines on a real kube-apiserver", () => {
  let fleet: RealFleet;
  let kubectl: ForeignTool;
  let workloads: RunningWorkloads;
  const started: Program[] = [];
  const follow = <Running extends Program>(program: Running): Running => {
    started.push(program);
    return program;
  };
  const run = (namespace: string, ...flags: readonly string[]): MillwrightProcess =>
    follow(
      startMillwright([
        "run",
        "--provider=mock",
        `--namespace=${namespace}`,
        `--control-kubeconfig=${fleet.controllersKubeconfig}`,
        ...leaseFlags,
        ...flags,
      ]),
    );
  const startGo = async (namespace: string): Promise<void> => {
    for (const name of goPrograms)
      follow(await startGoProgram(name, fleet.kubeconfig, leaseFlags, fleet.kubeconfig, namespace));
  };
  const machinesOf = async (namespace: string): Promise<readonly Machine[]> =>
    (await fleet.api.list<Machine>(machineResource, { namespace })).items;

  beforeAll(async () => {
    // A VM outlives the Leases.
    fleet = await startRealFleet({}, { deleteDelayMs: 2 * LEASE_MS });
    workloads = startWorkloads(fleet.api);
    kubectl = await createKubectl(fleet.kubeconfig);
  }, REAL_FLEET_MS);

  afterAll(async () => {
    await Promise.all(started.map((program) => program.stop("SIGKILL")));
    await workloads.close();
    await fleet.close();
  }, 60_000);

  /** A namespace with a class and two machines to come; the rights of the controllers outlive it. */
  const declare = async (namespace: string): Promise<void> => {
    const { api } = fleet;
    await api.create(namespaceResource, { metadata: { name: namespace } });
    const { data } = await api.get<KubeObject & { data?: object }>(secretResource, {
      namespace: "default",
      name: "cloud",
    });
    await api.create(secretResource, { metadata: { name: "cloud", namespace }, data });
    const secretRef = { name: "cloud", namespace };
    const small = machineClass("small");
    await api.create(machineClassResource, { ...small, metadata: { name: "small", namespace }, secretRef });
    await grantByClusterRole(api, namespace);
    const deployment = machineDeployment("pool", "small", 2);
    await api.create(machineDeploymentResource, {
      ...deployment,
      metadata: { name: "pool", namespace },
      spec: {
        ...(deployment["spec"] as object),
        strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      },
    });
    // A terminating namespace gets no new objects: neither Leases nor Events.
    fleet.expectForbidden(new RegExp(`^create .*/namespaces/${namespace}/`));
  };
  const untilRunning = (namespace: string): Promise<void> =>
    eventually(async () => {
      expect((await machinesOf(namespace)).map(phaseOf)).toEqual(["Running", "Running"]);
    }, LONG);
  /** Pods on all nodes that no drain can evict, until {@link allowEvictions}. */
  const blockDrains = async (): Promise<void> => {
    await kubectl(["apply", "-f", "-"], listOf(aDeployment("web", 2), aBudget("web", { maxUnavailable: 0 })));
    await eventually(() => kubectl(["wait", "--for=jsonpath={.status.currentHealthy}=2", "pdb/web", "--timeout=30s"]));
  };
  const allowEvictions = (): Promise<string> => kubectl(["delete", "pdb,deployment", "web", "--timeout=30s"]);
  const deleteNamespace = async (namespace: string): Promise<void> => {
    await kubectl(["delete", "namespace", namespace, "--wait=false"]);
    await eventually(async () => {
      const leases = await fleet.api.list(leaseResource, { namespace });
      expect(leases.items).toEqual([]);
    }, LONG);
  };
  const untilNamespaceGone = async (name: string): Promise<void> => {
    await eventually(async () => {
      expect(await fleet.api.get(namespaceResource, { name }).then(() => false, isNotFound)).toBe(true);
    }, LONG);
    expect(fleet.cloud.vms()).toEqual([]);
    expect((await fleet.api.list(nodeResource)).items).toEqual([]);
  };
  const doctor = async (namespace: string): Promise<string> => {
    const access = `--control-kubeconfig=${fleet.kubeconfig}`;
    const command = follow(startMillwright(["doctor", "--clusters-only", `--namespace=${namespace}`, access]));
    await command.ended;
    return command.output().replaceAll(/\s+/g, " ");
  };

  it(
    "ends with its last leader, whose drains and VMs take longer than the Leases, while a Go MCM stands by",
    async () => {
      const namespace = "with-drains";
      await declare(namespace);
      const leader = run(namespace);
      await leader.waitFor(/"Leading"/);
      await untilRunning(namespace);
      await blockDrains();
      await startGo(namespace);
      await deleteNamespace(namespace);
      await leader.waitFor(/this process leads until the namespace is deleted/);
      await pause(3 * LEASE_MS);
      expect(await machinesOf(namespace)).toHaveLength(2);
      expect(fleet.cloud.vms()).toHaveLength(2);
      await allowEvictions();
      await untilNamespaceGone(namespace);
      expect(leader.output().match(/"Leading"/g)).toHaveLength(1);
    },
    REAL_FLEET_MS,
  );

  it(
    "reports in log and doctor how it ends after a kill of its last leader, and ends so",
    async () => {
      const namespace = "with-kill";
      await declare(namespace);
      const leader = run(namespace);
      await untilRunning(namespace);
      await blockDrains();
      await deleteNamespace(namespace);
      await leader.waitFor(/this process leads until the namespace is deleted/);
      await leader.stop("SIGKILL");
      const restarted = run(namespace);
      await restarted.waitFor(/--leader-elect=false until the namespace is deleted.*Cannot lead/);
      expect(restarted.output()).not.toContain('"Leading"');
      expect(await doctor(namespace)).toContain("run one with --leader-elect=false until the namespace is deleted");
      await restarted.stop("SIGKILL");
      // Killed once more in the middle of it.
      const alone = run(namespace, "--leader-elect=false");
      await alone.waitFor(/"Starting"/);
      await allowEvictions();
      await eventually(async () => {
        expect(fleet.cloud.vms().some(({ state }) => state === "terminating")).toBe(true);
      }, LONG);
      await alone.stop("SIGKILL");
      run(namespace, "--leader-elect=false");
      await untilNamespaceGone(namespace);
    },
    REAL_FLEET_MS,
  );

  it(
    "ends when a Go MCM was its last leader, which ends with its Leases",
    async () => {
      const namespace = "with-go";
      await declare(namespace);
      const before = started.length;
      await startGo(namespace);
      const programs = started.slice(before);
      await eventually(async () => expect(await leaseHolders(fleet.api, namespace)).toEqual(["Go", "Go"]), LONG);
      const standby = run(namespace);
      await untilRunning(namespace);
      await deleteNamespace(namespace);
      await Promise.all(programs.map(({ ended }) => ended));
      await standby.waitFor(/--leader-elect=false until the namespace is deleted.*Cannot lead/);
      await standby.stop("SIGTERM");
      run(namespace, "--leader-elect=false");
      await untilNamespaceGone(namespace);
    },
    REAL_FLEET_MS,
  );
});

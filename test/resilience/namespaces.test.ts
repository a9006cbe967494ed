import { isRecord } from "@millwright/base";
import {
  type Machine,
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  phaseOf,
} from "@millwright/core/machine-api";
import { leaseResource, namespaceResource, secretResource } from "@millwright/kube";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Installation, machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";
import { type InvariantWatch, watchInvariants } from "../harness/invariants.ts";
import { type MillwrightProcess, startMillwright } from "../harness/millwright.ts";
import { shortLeases } from "../harness/short-leases.ts";

const teams = ["team-a", "team-b", "team-c"] as const;
const leases = ["machine-controller-manager", "machine-controller"] as const;

describe("several processes over the namespaces of one cluster and one cloud", () => {
  let installation: Installation;
  let invariants: InvariantWatch;
  let unfollow: () => void;
  const started: MillwrightProcess[] = [];
  const ended = new Set<MillwrightProcess>();
  const vms = new Set<string>();

  const start = (...namespaces: readonly string[]): MillwrightProcess => {
    const process = startMillwright([
      "run",
      "--provider=mock",
      `--namespace=${namespaces.join(",")}`,
      `--control-kubeconfig=${installation.controllersKubeconfig}`,
      ...shortLeases,
    ]);
    started.push(process);
    return process;
  };
  const leadingIn = (namespace: string): RegExp => new RegExp(`"namespace":"${namespace}","msg":"Leading"`);
  const leads = (process: MillwrightProcess, namespace: string): Promise<unknown> =>
    process.waitFor(leadingIn(namespace));
  const end = async (process: MillwrightProcess, signal: NodeJS.Signals): Promise<number> => {
    ended.add(process);
    return process.stop(signal);
  };
  /** The holder of both leases of each namespace. */
  const holders = async (): Promise<readonly string[]> =>
    Promise.all(
      teams.map(async (namespace) => {
        const found = await Promise.all(leases.map((name) => installation.api.get(leaseResource, { namespace, name })));
        const [first, second] = found.map(({ spec }) => (isRecord(spec) ? String(spec["holderIdentity"]) : ""));
        expect(first).toBe(second);
        return first ?? "";
      }),
    );
  const scale = (namespace: string, replicas: number): Promise<unknown> =>
    installation.api.patch(
      machineDeploymentResource,
      { namespace, name: "fleet" },
      { spec: { replicas } },
      { kind: "merge" },
    );
  const untilRunning = (...counts: readonly number[]): Promise<void> =>
    eventually(async () => {
      const { items } = await installation.api.list<Machine>(machineResource);
      const running = teams.map(
        (team) => items.filter((item) => item.metadata.namespace === team && phaseOf(item) === "Running").length,
      );
      expect([running, items.length]).toEqual([counts, counts.reduce((sum, count) => sum + count, 0)]);
    });

  beforeEach(async () => {
    installation = await startInstallation({ latencyMs: 200 });
    const { api } = installation;
    vms.clear();
    unfollow = installation.cloud.subscribe(({ id }) => vms.add(id));
    invariants = watchInvariants({
      fleet: installation,
      maxVms: 14,
      alive: () => started.filter((process) => !ended.has(process)),
      started: () => started,
    });
    const { data } = await api.get(secretResource, { namespace: "default", name: "cloud" });
    for (const namespace of teams) {
      await api.create(namespaceResource, { metadata: { name: namespace } });
      await installation.grantNamespace(namespace);
      await api.create(secretResource, { metadata: { namespace, name: "cloud" }, data });
      const secretRef = { namespace, name: "cloud" };
      await api.create(machineClassResource, {
        ...machineClass("small"),
        metadata: { namespace, name: "small" },
        secretRef,
      });
      const deployment = machineDeployment("fleet", "small", 2);
      await api.create(machineDeploymentResource, { ...deployment, metadata: { namespace, name: "fleet" } });
    }
  });
  afterEach(async () => {
    unfollow();
    await invariants.close();
    await Promise.all(started.splice(0).map((process) => process.stop("SIGKILL")));
    await installation.close();
  });

  it("each lead their own, take over those of a killed one, and give some to one that is added", async () => {
    const first = start("team-a", "team-b");
    await Promise.all([leads(first, "team-a"), leads(first, "team-b")]);
    const second = start("team-c");
    await leads(second, "team-c");
    // Overlaps with both: it stands by for what they lead.
    const standby = start(...teams);
    await untilRunning(2, 2, 2);
    expect(standby.output()).not.toContain('"Leading"');

    await scale("team-a", 4);
    await scale("team-b", 4);
    await eventually(async () => expect(await Promise.resolve(vms.size)).toBeGreaterThan(6));
    await end(first, "SIGKILL");
    await Promise.all([leads(standby, "team-a"), leads(standby, "team-b")]);
    await untilRunning(4, 4, 2);
    expect(standby.output()).not.toMatch(leadingIn("team-c"));
    const [a = "-", b = "-", c = "-"] = await holders();
    expect(standby.output()).toMatch(new RegExp(`"namespace":"team-a".*"${a}","msg":"Acquired the lease"`));
    expect(standby.output()).toMatch(new RegExp(`"namespace":"team-b".*"${b}","msg":"Acquired the lease"`));
    expect(second.output()).toMatch(new RegExp(`"namespace":"team-c".*"${c}","msg":"Acquired the lease"`));

    // Scaled out: one more process per namespace. The one that leaves hands over in the middle of creations.
    const [onlyA, onlyB] = [start("team-a"), start("team-b")];
    await Promise.all([onlyA, onlyB].map((process) => process.waitFor(/"Ready"/)));
    await scale("team-a", 5);
    await scale("team-b", 5);
    await scale("team-c", 3);
    expect(await end(standby, "SIGTERM")).toBe(0);
    await Promise.all([leads(onlyA, "team-a"), leads(onlyB, "team-b")]);
    await untilRunning(5, 5, 3);
    expect(onlyA.output()).not.toContain('"namespace":"team-b"');

    await invariants.check();
    expect(vms.size).toBe(13);
  });
});

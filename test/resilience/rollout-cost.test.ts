import { machineClassResource, type MachineDeployment, machineDeploymentResource } from "@millwright/core/machine-api";
import type { RequestRecord } from "@millwright/devcluster";
import { type KubeObject, nodeResource } from "@millwright/kube";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Installation, machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";
import { untilQuiet } from "../harness/until-quiet.ts";

const FLEET = 100;

const isOurs = ({ userAgent }: RequestRecord): boolean =>
  userAgent.startsWith("millwright") && !userAgent.includes("kube");
const isWrite = ({ verb }: RequestRecord): boolean => !["get", "list", "watch"].includes(verb);

/**
 * The cost of a rolling update of a hundred machines with an instant driver under `millwright run`. MCM takes 175 to 336 s and 130 to 281 requests per machine.
 * Not counted: the lists and watches that fill the caches, and leases.
 */
describe("the cost of a rollout", () => {
  let installation: Installation;

  beforeEach(async () => {
    installation = await startInstallation({}, { requestLogLimit: 100_000 });
    await installation.api.create(machineClassResource, machineClass("small"));
    await installation.api.create(machineClassResource, machineClass("big"));
  });
  afterEach(async () => {
    await installation.close();
  });

  /** Waits until all machines of a class run and the deployment reports that the rollout is complete. */
  const reach = (name: string): Promise<void> =>
    eventually(async () => {
      const ref = { namespace: "default", name: "fleet" };
      const { status } = await installation.api.get<MachineDeployment>(machineDeploymentResource, ref);
      const progress = status?.conditions?.find(({ type }) => type === "Progressing");
      expect([status?.updatedReplicas, status?.replicas, progress?.reason]).toEqual([
        FLEET,
        FLEET,
        "NewMachineSetAvailable",
      ]);
      const found = (await installation.machines()).map(({ spec, status: { currentStatus } = {} }) => [
        spec.class?.name,
        currentStatus?.phase,
      ]);
      expect(found).toEqual(Array.from({ length: FLEET }, () => [name, "Running"]));
    }, 120_000);

  it("is under 20 s and 19 requests per machine, and leaves no annotation or taint on a node", async () => {
    const ref = { namespace: "default", name: "fleet" };
    const change = (spec: object): Promise<unknown> =>
      installation.api.patch(machineDeploymentResource, ref, { spec }, { kind: "merge" });
    await installation.api.create(machineDeploymentResource, machineDeployment("fleet", "small", FLEET));
    await change({ strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: "10%" } } });
    installation.runAlone();
    const declared = Date.now();
    await reach("small");
    // The duration of the creation reflects how busy the computer is.
    const limitS = Math.max(20, (3 * (Date.now() - declared)) / 1000);
    let seconds = Number.POSITIVE_INFINITY;
    let began = 0;
    // The best of a few, in both directions: other processes use the computer, too.
    for (const name of ["big", "small", "big"]) {
      await untilQuiet(
        () => installation.server.requests.filter((request) => isOurs(request) && isWrite(request)).length,
      );
      began = Date.now();
      await change({ template: { spec: { class: { name } } } });
      await reach(name);
      seconds = (Date.now() - began) / 1000;
      if (seconds < limitS) break;
    }
    const isClean = ({ metadata, spec }: KubeObject & { spec?: { taints?: readonly { key: string }[] } }): boolean =>
      !JSON.stringify([metadata.annotations, spec?.taints]).match(/scale-down-disabled|prefer-no-schedule/);
    await eventually(async () => {
      const nodes = await installation.api.list(nodeResource);
      expect(nodes.items).toHaveLength(FLEET);
      expect(nodes.items.filter((node) => !isClean(node))).toEqual([]);
    });

    const counts = new Map<string, number>();
    for (const { verb, resource, subresource, time } of installation.server.requests.filter(isOurs)) {
      if (time.getTime() < began) continue;
      if (verb === "list" || verb === "watch" || resource === "leases" || resource === "") continue;
      const what = `${verb} ${resource}${subresource === "" ? "" : `/${subresource}`}`;
      counts.set(what, (counts.get(what) ?? 0) + 1);
    }
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
    const text = JSON.stringify({ seconds, perMachine: total / FLEET, ...Object.fromEntries(counts) });
    if (process.env["SHOW_COST"] !== undefined) process.stdout.write(`${text}\n`);
    // An old machine: its deletion; its node's annotations, cordon, condition with finalizer, and deletion; one status update, the finalizer, one event (8). A new one:
    // its creation, its provider ID, two phases, its node's labels with the autoscaler's annotations, these off again, two events (8). The rest, about one: steps and status of sets
    // and deployment, which are written once a second, their events, which are aggregated, and conflicts.
    // About 16; on a slow computer the rollout takes more seconds, and with them more status updates and events.
    expect(total / FLEET, text).toBeLessThanOrEqual(19);
    // The old node: marks, cordon. The new one: labels and marks in one patch, which cannot conflict; marks off.
    expect((counts.get("patch nodes") ?? 0) / FLEET, text).toBeLessThanOrEqual(4.3);
    expect(seconds, text).toBeLessThan(limitS);
  });
});

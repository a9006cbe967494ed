import { machineClassResource, machineDeploymentResource } from "@millwright/core/machine-api";
import type { RequestRecord } from "@millwright/devcluster";
import { eventResource, secretResource } from "@millwright/kube";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Installation, machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";
import { untilQuiet } from "../harness/until-quiet.ts";

const FLEET = 20;
const uncounted = new Set([
  "leases",
  "customresourcedefinitions",
  "selfsubjectrulesreviews",
  "machinesets",
  "machinedeployments",
  "machineclasses",
]);

/**
 * Requests of `millwright run` to the API server for one machine, from its creation by a set to Running, counted in the server's request log. MCM needs 17.
 * Not counted: the lists and watches that fill the caches, whose number does not grow with the machines; leases; CRDs; the check of the permissions at the start; the status of sets and deployments, whose
 * changes are batched.
 */
describe("the cost of a machine in requests", () => {
  let installation: Installation;

  beforeEach(async () => {
    // Long enough for each machine to be Pending.
    installation = await startInstallation({ bootDelayMs: 3_000 });
    await installation.api.create(machineClassResource, machineClass("small"));
  });
  afterEach(async () => {
    await installation.close();
  });

  /** Requests per machine, by kind of request. */
  async function costs(): Promise<ReadonlyMap<string, number>> {
    installation.runAlone();
    // An intent that was recorded before the class got its node template would be written again.
    await eventually(async () => {
      const small = await installation.api.get(machineClassResource, { namespace: "default", name: "small" });
      expect(small).toHaveProperty("nodeTemplate");
    }, 60_000);
    const started = Date.now();
    await installation.api.create(machineDeploymentResource, machineDeployment("fleet", "small", FLEET));
    await eventually(async () => {
      const phases = (await installation.machines()).map(({ status }) => status?.currentStatus?.phase);
      expect(phases).toEqual(Array.from({ length: FLEET }, () => "Running"));
    }, 60_000);
    const isOurs = ({ userAgent, time }: RequestRecord): boolean =>
      userAgent.startsWith("millwright") && !userAgent.includes("kube") && time.getTime() >= started;
    const counted = (): readonly RequestRecord[] =>
      installation.server.requests
        .filter(isOurs)
        .filter(({ verb, resource }) => verb !== "list" && verb !== "watch" && resource !== "")
        .filter(({ resource }) => !uncounted.has(resource))
        .filter(({ resource, namespace }) => resource !== "secrets" || namespace === "kube-system");
    // Requests right after it, such as the deletion of a token and the last labels of a node.
    await untilQuiet(() => counted().length);
    return counted().reduce((sum, { verb, resource, subresource }) => {
      const what = `${verb} ${resource}${subresource === "" ? "" : `/${subresource}`}`;
      return sum.set(what, (sum.get(what) ?? 0) + 1);
    }, new Map<string, number>());
  }
  const isEvent = (what: string): boolean => what.endsWith(" events");
  const isNodePatch = (what: string): boolean => what === "patch nodes";
  /** Per machine. */
  const each = (counts: ReadonlyMap<string, number>, wanted: (what: string) => boolean): number =>
    [...counts].filter(([what]) => wanted(what)).reduce((sum, [, count]) => sum + count, 0) / FLEET;
  /** Events per machine; events of sets are not counted. */
  const eventsOfMachines = async (): Promise<number> =>
    (await installation.api.list(eventResource, { namespace: "default" })).items.filter((event) =>
      JSON.stringify(event["involvedObject"] ?? event["regarding"]).includes('"Machine"'),
    ).length / FLEET;
  it("is five writes of objects, including its creation, and seven requests with its events", async () => {
    const counts = await costs();
    const text = JSON.stringify(Object.fromEntries(counts));
    const own = each(counts, (what) => !isEvent(what) && !isNodePatch(what));
    const ofNode = each(counts, isNodePatch);
    // Creation; provider ID; Pending; Running.
    expect([counts.get("create machines"), own], text).toEqual([FLEET, 4]);
    // Its kubelet writes a node that has just joined, too: the patch does not depend on the version.
    expect(ofNode, text).toBe(1);
    const events = await eventsOfMachines();
    // Created; joined.
    expect(events, text).toBeLessThanOrEqual(2);
    expect([own + ofNode <= 6, own + ofNode + events <= 8], text).toEqual([true, true]);
  });

  it("is two more requests with a bootstrap token", async () => {
    const userData = Buffer.from("join <<BOOTSTRAP_TOKEN>> as <<MACHINE_NAME>>").toString("base64");
    const ref = { namespace: "default", name: "cloud" };
    await installation.api.patch(secretResource, ref, { data: { userData } }, { kind: "merge" });
    const counts = await costs();
    const text = JSON.stringify(Object.fromEntries(counts));
    expect([counts.get("create secrets"), counts.get("delete secrets")], text).toEqual([FLEET, FLEET]);
    const own = each(counts, (what) => !isEvent(what) && !isNodePatch(what));
    expect(own, text).toBe(6);
    const left = (await installation.api.list(secretResource, { namespace: "kube-system" })).items;
    expect(left).toEqual([]);
  });
});

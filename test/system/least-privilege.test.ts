import {
  labelKeys,
  machineDeploymentResource,
  machineResource,
  requiredPermissions,
} from "@millwright/core/machine-api";
import { type ApiClient, podDisruptionBudgetResource, podResource, secretResource } from "@millwright/kube";
import { afterEach, describe, expect, it } from "vitest";
import { type ControlledFleet, startControlledFleet } from "../harness/controlled-fleet.ts";
import { type DrainPod, isReady } from "../harness/draining-fleet.ts";
import { eventually } from "../harness/eventually.ts";
import { controllersUser } from "../harness/grant-roles.ts";
import { aBarePod, aBudget, aDeployment, aStatefulSet, type Manifest, storageClass } from "../harness/manifests.ts";
import { type RunningWorkloads, startWorkloads } from "../harness/workloads.ts";

const namespace = "default";

/**
 * Permissions that this scenario may not use: no object is adopted, no list lacks a known object, no event repeats, no volume stays attached, and no admission plugin checks finalizers.
 * `list` is for servers that cannot stream a list as a watch.
 */
const mayBeUnused =
  /^list |^get (mach|nodes|pods|pers|pod|vol)|^get secrets in kube-system|^patch events|^delete volumeattachments|^update machine\w+\/finalizers/;

/** Creates objects from manifests. kubectl sends no token without TLS. */
async function create(api: ApiClient, ...manifests: readonly Manifest[]): Promise<void> {
  for (const manifest of manifests) {
    const [version = "", group = ""] = String(manifest["apiVersion"]).split("/").toReversed();
    const kind = String(manifest["kind"]);
    const isClass = kind.endsWith("Class");
    const plural = `${kind.toLowerCase()}${isClass ? "es" : "s"}`;
    const metadata = { ...Object(manifest["metadata"]), ...(isClass ? {} : { namespace }) };
    await api.create({ group, version, kind, plural, namespaced: !isClass }, { ...manifest, metadata });
  }
}

describe("millwright run with the permissions that millwright roles prints", () => {
  let fleet: ControlledFleet;
  let workloads: RunningWorkloads;
  afterEach(async () => {
    await workloads.close();
    await fleet.close();
  });

  it("needs exactly these to create, roll, drain, force-delete and delete machines", async () => {
    fleet = await startControlledFleet();
    const { api } = fleet;
    workloads = startWorkloads(api, { clusterFaults: fleet.server.clusterFaults, attachMs: 50, detachMs: 50 });
    const ready = async (count: number): Promise<void> =>
      eventually(async () => {
        const { items } = await api.list<DrainPod>(podResource, { namespace });
        expect(items.filter(isReady)).toHaveLength(count);
      }, 60_000);
    const userData = btoa("boot <<BOOTSTRAP_TOKEN>> <<MACHINE_NAME>>");
    await api.patch(secretResource, { namespace, name: "cloud" }, { data: { userData } }, { kind: "merge" });

    // The volume of the last drain cannot be attached elsewhere.
    const controllers = fleet.run("--machine-pv-reattach-timeout=3s");
    await fleet.deploy(2);
    await fleet.untilRunning(2);

    // Pods to evict, one to delete by force, and volumes to detach.
    await create(
      api,
      storageClass,
      aStatefulSet("db", 1),
      aDeployment("web", 3),
      aBudget("web", { maxUnavailable: 1 }),
    );
    await ready(4);
    const template = {
      spec: {
        template: {
          metadata: { annotations: { roll: "1" } },
          spec: { nodeTemplate: { metadata: { labels: { roll: "1" } } } },
        },
      },
    };
    await api.patch(machineDeploymentResource, { namespace, name: "fleet" }, template, { kind: "merge" });
    const machines = () => fleet.machines();
    await eventually(async () => {
      const labels = (await machines()).map(({ spec }) => spec.nodeTemplate?.metadata?.labels?.["roll"]);
      expect(labels).toEqual(["1", "1"]);
    }, 90_000);
    await fleet.untilRunning(2);
    const [victim] = await machines();
    const ref = { namespace, name: victim?.metadata.name ?? "" };
    await create(
      api,
      aBudget("stray", { maxUnavailable: 0 }),
      aBarePod("stray", victim?.metadata.labels?.[labelKeys.node]),
    );
    await ready(5);
    await api.patch(machineResource, ref, { metadata: { labels: { "force-deletion": "True" } } }, { kind: "merge" });
    await api.delete(machineResource, ref);
    await eventually(async () =>
      expect((await machines()).map(({ metadata }) => metadata.name)).not.toContain(ref.name),
    );
    await fleet.untilRunning(2);
    await api.delete(podDisruptionBudgetResource, { namespace, name: "web" });
    await api.delete(machineDeploymentResource, { namespace, name: "fleet" });
    await fleet.untilGone();

    // A watch is logged when it ends.
    await controllers.stop("SIGTERM");
    const requests = fleet.requests().filter((request) => request.user === controllersUser);
    const forbidden = requests.filter(({ status }) => status === 403);
    expect(forbidden.map(({ verb, path }) => `${verb} ${path}`)).toEqual([]);
    const right = (verb: string, resource: string, group: string, isTokens: boolean): string =>
      `${verb} ${resource}${group === "" ? "" : `.${group}`}${isTokens ? " in kube-system" : ""}`;
    const used = new Set(
      requests.map(({ verb, resource, subresource, group, namespace }) =>
        right(verb, subresource === "" ? resource : `${resource}/${subresource}`, group, namespace === "kube-system"),
      ),
    );
    const granted = requiredPermissions.flatMap(({ verbs, resource, group, scope }) =>
      verbs.map((verb) => right(verb, resource, group, scope === "kube-system")),
    );
    expect(granted.filter((each) => !used.has(each) && !mayBeUnused.test(each))).toEqual([]);
  });
});

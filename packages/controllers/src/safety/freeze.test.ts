import { annotationKeys, machineDeploymentResource, machineResource } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { aMachine, inPhase, named, ownedBy, refOf } from "../testing/builders.ts";
import { conditionOf, deploymentOf, pool, setsOf, withDeployment } from "../testing/running-deployment.ts";

/** A deployment of three, and as many more machines that a user created for its set. */
async function withTooMany(extra: number) {
  const cluster = await withDeployment();
  const set = () => {
    const [only] = setsOf(cluster);
    if (only === undefined) throw new Error("there is no set");
    return only;
  };
  for (let index = 0; index < extra; index++) {
    const labels = set().spec.template.metadata?.labels ?? {};
    cluster.api.seed(
      machineResource,
      aMachine(named(`extra${index}`), inPhase("Running"), ownedBy(set()), { metadata: { labels } }),
    );
  }
  await cluster.settle(2_000);
  const deployment = () => deploymentOf(cluster);
  const frozen = () => conditionOf(cluster, "Frozen");
  const finishDeletions = async () => {
    for (const { metadata } of cluster.machines())
      if (metadata.deletionTimestamp !== undefined) cluster.api.remove(machineResource, refOf(metadata.name));
    await cluster.settle(2_000);
  };
  return { cluster, set, deployment, frozen, finishDeletions };
}

describe("protection against overshooting", () => {
  it("freezes deployment and set, and unfreezes both when the machines are gone", async () => {
    const { set, deployment, frozen, finishDeletions } = await withTooMany(3);
    expect(set().metadata.labels).toMatchObject({ freeze: "True" });
    expect(deployment()?.metadata.labels).toMatchObject({ freeze: "True" });
    expect(frozen()).toMatchObject({
      status: "True",
      reason: "OverShootingReplicaCount",
      message: `The number of machines backing MachineSet: ${set().metadata.name} is 6 >= 6 which is the Max-ScaleUp-Limit`,
    });
    await finishDeletions();
    expect([set().metadata.labels?.["freeze"], deployment()?.metadata.labels?.["freeze"]]).toEqual([
      undefined,
      undefined,
    ]);
    expect(frozen()).toBeUndefined();
  });

  it("leaves a deployment alone that comes near the limit", async () => {
    const { frozen, deployment } = await withTooMany(2);
    expect([frozen(), deployment()?.metadata.labels?.["freeze"]]).toEqual([undefined, undefined]);
  });

  it("lets a frozen deployment shrink, and grow only afterwards", async () => {
    const { cluster, set, finishDeletions } = await withTooMany(6);
    await cluster.api.patch(machineDeploymentResource, pool, { spec: { replicas: 5 } }, { kind: "merge" });
    await cluster.settle(2_000);
    expect(set().spec.replicas).toBe(3);
    await cluster.api.patch(machineDeploymentResource, pool, { spec: { replicas: 2 } }, { kind: "merge" });
    await cluster.settle(2_000);
    expect(set().spec.replicas).toBe(2);
    await cluster.api.patch(machineDeploymentResource, pool, { spec: { replicas: 5 } }, { kind: "merge" });
    await cluster.settle(2_000);
    expect(set().spec.replicas).toBe(2);
    await finishDeletions();
    expect(set().spec.replicas).toBe(5);
    expect(cluster.machines()).toHaveLength(5);
  });

  it("unfreezes on request, once, and does not freeze again for the same machines", async () => {
    const { cluster, set, deployment, frozen } = await withTooMany(3);
    const request = { metadata: { annotations: { [annotationKeys.unfreeze]: "" } } };
    await cluster.api.patch(machineDeploymentResource, pool, request, { kind: "merge" });
    await cluster.settle(60_000);
    expect(frozen()).toBeUndefined();
    for (const object of [set(), deployment()]) {
      expect(object?.metadata.labels ?? {}).not.toHaveProperty("freeze");
      expect(object?.metadata.annotations).not.toHaveProperty([annotationKeys.unfreeze]);
    }
  });

  it("removes a label that a user added to a deployment without frozen sets", async () => {
    const { cluster, deployment } = await withTooMany(0);
    await cluster.api.patch(
      machineDeploymentResource,
      pool,
      { metadata: { labels: { freeze: "True" } } },
      { kind: "merge" },
    );
    await cluster.settle(2_000);
    expect(deployment()?.metadata.labels ?? {}).not.toHaveProperty("freeze");
  });

  it("writes nothing more while it stays frozen", async () => {
    const { cluster } = await withTooMany(3);
    await cluster.settle(30_000);
    cluster.api.calls.length = 0;
    await cluster.settle(3_600_000);
    expect(cluster.api.writes().filter(({ subresource }) => subresource !== "status")).toEqual([]);
    expect(cluster.events.filter((event) => event.startsWith("FrozeMachineSet"))).toHaveLength(1);
  });
});

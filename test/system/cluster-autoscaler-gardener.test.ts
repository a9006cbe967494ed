import {
  annotationKeys,
  type Machine,
  machineClassResource,
  type MachineDeployment,
  machineDeploymentResource,
  machineResource,
} from "@millwright/core/machine-api";
import { nodeResource } from "@millwright/kube";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ControlledFleet, startControlledFleet } from "../harness/controlled-fleet.ts";
import { eventually } from "../harness/eventually.ts";
import { machineClass } from "../harness/installation.ts";
import { startMillwright } from "../harness/millwright.ts";

const ref = { namespace: "default", name: "fleet" };

let fleet: ControlledFleet;
beforeEach(async () => {
  fleet = await startControlledFleet();
  fleet.runAlone();
  await fleet.deploy(3);
  await fleet.untilRunning(3);
});
afterEach(() => fleet.close());

const deployment = () => fleet.api.get<MachineDeployment>(machineDeploymentResource, ref);
const names = async (): Promise<readonly string[]> =>
  (await fleet.machines()).map(({ metadata }) => metadata.name).toSorted();

/** Writes the whole object, as the autoscaler does; a conflict reads it again. */
const update = (change: (current: MachineDeployment) => MachineDeployment): Promise<unknown> =>
  eventually(async () => fleet.api.replace(machineDeploymentResource, change(await deployment())));

/** Marks of the nodes by which the autoscaler leaves them alone. */
const marks = async (): Promise<readonly (string | undefined)[]> =>
  (await fleet.api.list(nodeResource)).items.map(
    ({ metadata }) => metadata.annotations?.[annotationKeys.scaleDownDisabled],
  );

/** The condition by which the autoscaler decides whether it may lower the size. */
const progressing = async () =>
  (await deployment()).status?.conditions?.find(({ type }) => type === "Progressing")?.reason;

// gardener/autoscaler, cluster-autoscaler/cloudprovider/mcm/mcm_manager.go DeleteMachines.
describe("the cluster autoscaler of Gardener", () => {
  it("deletes the machine whose priority it has set to 1, before it lowers the size", async () => {
    const [, victim = "", ...rest] = await names();
    await eventually(async () => {
      const machine = await fleet.api.get<Machine>(machineResource, { ...ref, name: victim });
      const annotations = { ...machine.metadata.annotations, [annotationKeys.machinePriority]: "1" };
      await fleet.api.replace(machineResource, { ...machine, metadata: { ...machine.metadata, annotations } });
    });
    expect(await names()).toHaveLength(3);
    await update((current) => ({ ...current, spec: { ...current.spec, replicas: 2 } }));
    await fleet.untilRunning(2);
    expect(await names()).not.toContain(victim);
    expect(await names()).toEqual(expect.arrayContaining(rest));
  });

  it("deletes the machines that it names in one write with the size, once, also when it repeats the entries", async () => {
    const [first = "", second = "", kept] = await names();
    const write = (replicas: number, ...victims: readonly string[]) =>
      update((current) => {
        const time = new Date().toISOString().replace(/\.\d+/, "");
        const annotations = {
          ...current.metadata.annotations,
          [annotationKeys.triggerDeletion]: victims.map((name) => `${name}~${time}`).join(","),
          [annotationKeys.lastReplicaChangeByScaler]: time,
        };
        return { ...current, metadata: { ...current.metadata, annotations }, spec: { ...current.spec, replicas } };
      });
    await write(2, first);
    await write(1, first, second);
    await fleet.untilRunning(1);
    expect(await names()).toEqual([kept]);
    await eventually(async () =>
      expect((await deployment()).metadata.annotations).not.toHaveProperty([annotationKeys.triggerDeletion]),
    );
  });

  /** Changes annotations of the deployment, and its size. */
  const annotate = (annotations: Readonly<Record<string, string>>, replicas = 3) =>
    update(({ metadata, spec, ...rest }) => {
      const { [annotationKeys.triggerDeletion]: _, ...others } = metadata.annotations ?? {};
      return {
        ...rest,
        metadata: { ...metadata, annotations: { ...others, ...annotations } },
        spec: { ...spec, replicas },
      };
    });
  const inSeconds = (seconds: number): string =>
    new Date(Date.now() + seconds * 1_000).toISOString().replace(/\.\d+/, "");

  it("takes a mark back: a machine that it no longer names survives the next change of the size", async () => {
    const [, kept = ""] = await names();
    await annotate({
      [annotationKeys.triggerDeletion]: `${kept}~${inSeconds(600)}`,
      [annotationKeys.lastReplicaChangeByScaler]: inSeconds(0),
    });
    const marksOf = async () => {
      const { annotations = {} } = (await fleet.api.get<Machine>(machineResource, { ...ref, name: kept })).metadata;
      return [annotations[annotationKeys.machinePriority], annotations[annotationKeys.markedForDeletionTime]];
    };
    await eventually(async () => expect(await marksOf()).toEqual(["1", expect.any(String)]));
    const why = startMillwright(["why", `machine/${kept}`, "--kubeconfig", fleet.kubeconfig], { NO_COLOR: "1" });
    await why.ended;
    expect(why.output().replaceAll(/[\s│]+/g, " ")).toContain("The cluster autoscaler marked it for deletion");
    await annotate({});
    await eventually(async () => expect(await marksOf()).toEqual(["3", undefined]));
    await annotate({ [annotationKeys.lastReplicaChangeByScaler]: inSeconds(1_200) }, 4);
    await fleet.untilRunning(4);
    expect(await names()).toContain(kept);
  });

  it("counts a mark with a time where it recorded none of its change of the size, as MCM does", async () => {
    const [first = "", ...rest] = await names();
    await annotate({ [annotationKeys.triggerDeletion]: `${first}~${inSeconds(0)}` });
    await eventually(async () => expect(await names()).not.toContain(first));
    await fleet.untilRunning(3);
    expect(await names()).toEqual(expect.arrayContaining(rest));
  });

  it("sees the marks of a rollout on each node, and after it neither marks nor a rollout", async () => {
    await fleet.api.create(machineClassResource, machineClass("next"));
    await fleet.api.patch(
      machineDeploymentResource,
      ref,
      { spec: { progressDeadlineSeconds: 600 } },
      { kind: "merge" },
    );
    await fleet.cloud.addFault({ operation: "create", code: "Unavailable", times: 1_000 });
    await update((current) => {
      const { template } = current.spec;
      const next = { ...template, spec: { ...template.spec, class: { kind: "MachineClass", name: "next" } } };
      return { ...current, spec: { ...current.spec, template: next } };
    });
    await eventually(async () => {
      expect(await marks()).toEqual(["true", "true", "true"]);
      expect(["NewMachineSetAvailable", undefined]).not.toContain(await progressing());
    });
    await fleet.cloud.clearFaults();
    await eventually(async () => {
      expect((await fleet.machines()).map(({ spec }) => spec.class?.name)).toEqual(["next", "next", "next"]);
      expect(await marks()).toEqual([undefined, undefined, undefined]);
      expect(await progressing()).toBe("NewMachineSetAvailable");
    }, 90_000);
  });
});

import {
  annotationKeys,
  finalizers,
  machineApiVersion,
  machineDeploymentResource,
  machineResource,
} from "@millwright/core/machine-api";
import { namespace } from "../world/controller-process.ts";
import { poolName } from "../world/world.ts";
import {
  createClass,
  firstMachine,
  machinesOf,
  MINUTE,
  onlySet,
  patchPool,
  type Situations,
  type Stage,
  template,
} from "./staging.ts";

const annotate = (stage: Stage, annotations: Readonly<Record<string, string>>): Promise<void> =>
  patchPool(stage, { metadata: { annotations } });

/** Deployments and sets that stand. */
export const stuckGroups: Situations = {
  "no-controllers": {
    replicas: 2,
    async stage(stage) {
      for (const process of stage.world.processes) process.remove();
      await stage.run(5 * MINUTE);
      await patchPool(stage, { spec: { replicas: 3 } });
      await stage.run(3 * MINUTE);
      return undefined;
    },
  },
  "invalid-spec": {
    replicas: 2,
    async stage(stage) {
      await annotate(stage, { [annotationKeys.canarySteps]: "half" });
      await patchPool(stage, { spec: { replicas: 4 } });
      await stage.run(2 * MINUTE);
      return undefined;
    },
  },
  "closed-window": {
    replicas: 2,
    async stage(stage) {
      await createClass(stage, "big");
      await annotate(stage, { [annotationKeys.maintenanceWindows]: "0 22 * * 6 4h" });
      await patchPool(stage, template("big"));
      await stage.run(4 * MINUTE);
      return undefined;
    },
  },
  "deletion-protection": {
    replicas: 2,
    async stage(stage) {
      await annotate(stage, { [annotationKeys.deletionProtection]: "true" });
      await stage.run(MINUTE);
      await stage.settle(stage.world.people.delete(machineDeploymentResource, { namespace, name: poolName }));
      await stage.run(3 * MINUTE);
      return undefined;
    },
  },
  "held-deletion": {
    replicas: 12,
    async stage(stage) {
      await stage.settle(stage.world.people.delete(machineDeploymentResource, { namespace, name: poolName }));
      await stage.run(4 * MINUTE);
      return `machine/${firstMachine(stage).metadata.name}`;
    },
  },
  "without-replicas": {
    replicas: 2,
    async stage(stage) {
      const labels = { name: "unsized" };
      await stage.settle(
        stage.world.people.create(machineDeploymentResource, {
          apiVersion: machineApiVersion,
          kind: "MachineDeployment",
          metadata: { name: "unsized", namespace },
          spec: {
            selector: { matchLabels: labels },
            template: { metadata: { labels }, spec: { class: { kind: "MachineClass", name: "small" } } },
          },
        }),
      );
      await stage.run(3 * MINUTE);
      return "mcd/unsized";
    },
  },
  "cluster-api-pause": {
    replicas: 2,
    async stage(stage) {
      await createClass(stage, "big");
      await annotate(stage, { "cluster.x-k8s.io/paused": "" });
      const { name } = firstMachine(stage).metadata;
      const hook = { metadata: { annotations: { "pre-drain.delete.hook.machine.cluster.x-k8s.io/backup": "" } } };
      await stage.settle(stage.world.people.patch(machineResource, { namespace, name }, hook, { kind: "merge" }));
      await stage.run(MINUTE);
      return `machine/${name}`;
    },
  },
  "expected-machines-missing": {
    replicas: 14,
    async stage(stage) {
      const { world, settle, run } = stage;
      for (const process of world.processes) process.crash();
      for (const { metadata } of machinesOf(stage).slice(2)) {
        const ref = { namespace, name: metadata.name };
        const kept = (metadata.finalizers ?? []).filter((each) => each !== finalizers.machine);
        await settle(world.people.patch(machineResource, ref, { metadata: { finalizers: kept } }, { kind: "merge" }));
        await settle(world.people.delete(machineResource, ref));
      }
      await run(6 * MINUTE);
      return `machineset/${onlySet(stage).metadata.name}`;
    },
  },
};

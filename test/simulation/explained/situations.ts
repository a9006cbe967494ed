import { annotationKeys, labelKeys, machineResource } from "@millwright/core/machine-api";
import { podDisruptionBudgetResource } from "@millwright/kube";
import { applications } from "../world/applications.ts";
import { namespace } from "../world/controller-process.ts";
import { truthOf } from "../world/truth.ts";
import {
  createClass,
  deleteMachine,
  failCalls,
  firstMachine,
  machinesOf,
  MINUTE,
  patchPool,
  type Situations,
  template,
} from "./staging.ts";

/** What people see most, and what they need help with. */
export const situations: Situations = {
  healthy: { replicas: 3, stage: () => Promise.resolve(undefined) },
  rolling: {
    replicas: 3,
    async stage(stage) {
      await createClass(stage, "big");
      await patchPool(stage, template("big"));
      await stage.run(MINUTE / 4);
      return undefined;
    },
  },
  "stuck-drain": {
    replicas: 3,
    hasPods: true,
    async stage(stage) {
      const { people } = stage.world;
      const budget = { namespace, name: applications.stateless };
      await stage.settle(
        people.patch(
          podDisruptionBudgetResource,
          budget,
          { spec: { maxUnavailable: null, minAvailable: 4 } },
          { kind: "merge" },
        ),
      );
      const nodes = new Set(
        truthOf(stage.world)
          .pods()
          .filter(({ metadata }) => metadata.name.startsWith(applications.stateless))
          .map(({ spec }) => spec?.nodeName),
      );
      const name = machinesOf(stage).find(({ metadata }) => nodes.has(metadata.labels?.[labelKeys.node]))?.metadata
        .name;
      if (name === undefined) throw new Error("no machine has pods");
      await deleteMachine(stage, name);
      await stage.run(3 * MINUTE);
      return `machine/${name}`;
    },
  },
  quota: {
    replicas: 2,
    async stage(stage) {
      failCalls(stage, "createVm", "ResourceExhausted");
      await patchPool(stage, { spec: { replicas: 4 } });
      await stage.run(4 * MINUTE);
      return undefined;
    },
  },
  "missing-class": {
    replicas: 3,
    async stage(stage) {
      await patchPool(stage, template("gone"));
      await stage.run(4 * MINUTE);
      return undefined;
    },
  },
  "wrong-credentials": {
    replicas: 2,
    async stage(stage) {
      failCalls(stage, "createVm", "Unauthenticated");
      await patchPool(stage, { spec: { replicas: 3 } });
      await stage.run(4 * MINUTE);
      return undefined;
    },
  },
  "node-never-joins": {
    replicas: 2,
    async stage(stage) {
      stage.world.kubelets.preventJoins(60 * MINUTE);
      await patchPool(stage, { spec: { replicas: 3 } });
      await stage.run(4 * MINUTE);
      return undefined;
    },
  },
  paused: {
    replicas: 2,
    async stage(stage) {
      await createClass(stage, "big");
      await patchPool(stage, { spec: { paused: true } });
      await patchPool(stage, template("big"));
      await stage.run(4 * MINUTE);
      return undefined;
    },
  },
  frozen: {
    replicas: 3,
    async stage(stage) {
      // The controllers find all of them at once: else the first ones would be replaced before.
      for (const process of stage.world.processes) process.stall(MINUTE / 2);
      const patch = { metadata: { labels: { name: null } } };
      for (const { metadata } of machinesOf(stage)) {
        const ref = { namespace, name: metadata.name };
        await stage.settle(stage.world.people.patch(machineResource, ref, patch, { kind: "merge" }));
      }
      await stage.run(4 * MINUTE);
      return undefined;
    },
  },
  flapping: {
    replicas: 3,
    async stage(stage) {
      const { name } = firstMachine(stage).metadata;
      const vm = stage.world.cloud.vms().find((each) => each.name === name);
      for (let flap = 0; flap < 5; flap += 1) {
        stage.world.kubelets.makeUnready(vm?.nodeName ?? "", 20_000);
        await stage.run(40_000);
      }
      return `machine/${name}`;
    },
  },
  "canary-waiting": {
    replicas: 4,
    async stage(stage) {
      await createClass(stage, "big");
      await patchPool(stage, {
        metadata: { annotations: { [annotationKeys.canarySteps]: "1/pause" } },
        ...template("big"),
      });
      await stage.run(6 * MINUTE);
      return undefined;
    },
  },
  outage: {
    replicas: 10,
    async stage(stage) {
      for (const { nodeName } of stage.world.cloud.vms()) stage.world.kubelets.silence(nodeName, 60 * MINUTE);
      await stage.run(8 * MINUTE);
      return undefined;
    },
  },
  "over-budget": {
    replicas: 15,
    async stage(stage) {
      await patchPool(stage, { spec: { replicas: 0 } });
      await stage.run(3 * MINUTE);
      return undefined;
    },
  },
};

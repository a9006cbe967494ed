import { finalizers, labelKeys, machineClassResource, machineResource } from "@millwright/core/machine-api";
import { type KubeObject, secretResource } from "@millwright/kube";
import { applications } from "../world/applications.ts";
import { namespace } from "../world/controller-process.ts";
import { truthOf } from "../world/truth.ts";
import {
  deleteMachine,
  failCalls,
  firstMachine,
  machinesOf,
  HOUR,
  MINUTE,
  onlySet,
  type Situations,
  type Stage,
} from "./staging.ts";

/** A machine on whose node a pod of an application runs. */
function machineWithPod(stage: Stage, app: string): string {
  const pods = truthOf(stage.world).pods();
  const nodes = new Set(pods.filter(({ metadata }) => metadata.name.startsWith(app)).map(({ spec }) => spec?.nodeName));
  const found = machinesOf(stage).find(({ metadata }) => nodes.has(metadata.labels?.[labelKeys.node]));
  if (found === undefined) throw new Error(`no machine has pods of ${app}`);
  return found.metadata.name;
}

/** Machines and classes whose deletion does not end. */
export const stuckDeletions: Situations = {
  "secret-lost": {
    replicas: 2,
    async stage(stage) {
      const { world, settle } = stage;
      const secret = { namespace, name: "cloud" };
      await settle(world.people.delete(secretResource, secret));
      await settle(world.people.patch(secretResource, secret, { metadata: { finalizers: null } }, { kind: "merge" }));
      const { name } = firstMachine(stage).metadata;
      await deleteMachine(stage, name);
      await stage.run(4 * MINUTE);
      return `machine/${name}`;
    },
  },
  "class-in-use": {
    replicas: 2,
    async stage(stage) {
      const { world, settle } = stage;
      await settle(world.people.delete(machineClassResource, { namespace, name: "small" }));
      await stage.run(3 * MINUTE);
      return "machineclass/small";
    },
  },
  "foreign-finalizer": {
    replicas: 2,
    async stage(stage) {
      const { world, settle } = stage;
      const { name, finalizers: own = [] } = firstMachine(stage).metadata;
      const patch = { metadata: { finalizers: [...own, "example.com/inventory"] } };
      await settle(world.people.patch(machineResource, { namespace, name }, patch, { kind: "merge" }));
      await deleteMachine(stage, name);
      await stage.run(6 * MINUTE);
      return `machine/${name}`;
    },
  },
  "volume-not-detached": {
    replicas: 3,
    hasPods: true,
    async stage(stage) {
      const name = machineWithPod(stage, applications.stateful);
      stage.world.server.clusterFaults.add({ kind: "never-detaches" });
      await deleteMachine(stage, name);
      await stage.run(1.5 * MINUTE);
      return `machine/${name}`;
    },
  },
  "vm-not-deleted": {
    replicas: 2,
    async stage(stage) {
      failCalls(stage, "deleteVm", "PermissionDenied", "user millwright may not delete VMs");
      const { name } = firstMachine(stage).metadata;
      await deleteMachine(stage, name);
      await stage.run(4 * MINUTE);
      return `machine/${name}`;
    },
  },
  "lost-owner": {
    replicas: 2,
    async stage(stage) {
      const { world, settle } = stage;
      const machine = firstMachine(stage);
      const { resourceVersion: _, uid: __, ...metadata } = machine.metadata;
      const { name } = metadata;
      const owners = (metadata.ownerReferences ?? []).map((owner) => ({
        ...owner,
        uid: "00000000-0000-4000-8000-000000000000",
      }));
      for (const process of world.processes) process.stall(MINUTE);
      const ref = { namespace, name };
      await settle(world.people.patch(machineResource, ref, { metadata: { finalizers: null } }, { kind: "merge" }));
      await settle(world.people.delete(machineResource, ref));
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      const restored = {
        ...machine,
        metadata: { ...metadata, finalizers: [finalizers.machine], ownerReferences: owners },
      } as unknown as KubeObject;
      await settle(world.people.create(machineResource, restored));
      await stage.run(5 * MINUTE);
      return `machine/${name}`;
    },
  },
  overshoot: {
    replicas: 3,
    async stage(stage) {
      failCalls(stage, "deleteVm", "Internal", "the hypervisor does not respond");
      for (const { metadata } of machinesOf(stage)) await deleteMachine(stage, metadata.name);
      await stage.run(5 * MINUTE);
      return `machineset/${onlySet(stage).metadata.name}`;
    },
  },
  "vms-not-listed": {
    replicas: 1,
    async stage(stage) {
      failCalls(stage, "listVms", "PermissionDenied", "user millwright may not list VMs");
      await stage.run(1.5 * HOUR);
      return "machineclass/small";
    },
  },
};

import type { Driver } from "@millwright/core";
import { annotationKeys, labelKeys } from "@millwright/core/machine-api";
import { nodeResource, secretResource } from "@millwright/kube";
import { createAwsDriver } from "@millwright/provider-aws";
import { namespace } from "../world/controller-process.ts";
import {
  createClass,
  failCalls,
  firstMachine,
  HOUR,
  machinesOf,
  MINUTE,
  patchPool,
  type Situations,
  type Stage,
  template,
  vmNamed,
} from "./staging.ts";

const STARTUP_TAINT = "node.cilium.io/agent-not-ready";

/** The machine that a scale-up of two machines creates, whose Node people create. */
async function joinByHand(stage: Stage, taints: readonly object[]): Promise<string> {
  const { world, settle, run } = stage;
  const known = new Set(machinesOf(stage).map(({ metadata }) => metadata.name));
  world.kubelets.preventJoins(2 * HOUR);
  await patchPool(stage, { spec: { replicas: 3 } });
  await run(2 * MINUTE);
  const name = machinesOf(stage).find(({ metadata }) => !known.has(metadata.name))?.metadata.name ?? "";
  const { nodeName, providerId, labels } = vmNamed(stage, name);
  const time = world.outside.clock.now().toISOString();
  const conditionOf = (type: string) => ({
    type,
    status: type === "Ready" ? "True" : "False",
    reason: "Kubelet",
    message: "",
    lastTransitionTime: time,
  });
  const conditions = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"].map(conditionOf);
  await settle(
    world.people.create(nodeResource, {
      metadata: { name: nodeName, labels },
      spec: { providerID: providerId, taints },
      status: { capacity: { cpu: "4", memory: "16Gi", pods: "110" }, conditions },
    }),
  );
  return name;
}

/** The driver of a real cloud, of which only the schemas count: no machine of its class is created. */
function withoutCalls(): Driver {
  const { getNodeTemplate: _, checkClass: __, findDrift: ___, ...driver } = createAwsDriver();
  return { ...driver, listMachines: async () => ({ machines: [] }) };
}

const awsClass = (change: object): object => ({
  provider: "AWS",
  secretRef: { name: "aws", namespace },
  providerSpec: {
    ami: "ami-1",
    region: "eu-west-1",
    machineType: "m5.large",
    blockDevices: [{ ebs: { volumeSize: 50, volumeType: "gp3" } }],
    iam: { name: "nodes" },
    networkInterfaces: [{ subnetID: "subnet-a", securityGroupIDs: ["sg-1"] }],
    tags: { "kubernetes.io/cluster/test": "1", "kubernetes.io/role/node": "1" },
    ...change,
  },
});

async function createAwsClass(stage: Stage, change: object): Promise<void> {
  const { world, settle } = stage;
  const data = { accessKeyID: btoa("a"), secretAccessKey: btoa("b"), userData: btoa("boot") };
  await settle(world.people.create(secretResource, { metadata: { name: "aws", namespace }, data }));
  await createClass(stage, "spot", awsClass(change));
}

/** Machines that are not created, or do not become Running. */
export const stuckCreations: Situations = {
  "throttled-cloud": {
    replicas: 2,
    async stage(stage) {
      failCalls(stage, "createVm", "Unavailable", "429 Too Many Requests: rate limit of CreateVm exceeded");
      await patchPool(stage, { spec: { replicas: 3 } });
      await stage.run(4 * MINUTE);
      return undefined;
    },
  },
  "behind-another-machine": {
    replicas: 1,
    async stage(stage) {
      failCalls(stage, "createVm", "ResourceExhausted", "quota of 1 VMs is used up");
      await patchPool(stage, { spec: { replicas: 6 } });
      await stage.run(3 * MINUTE);
      return undefined;
    },
  },
  "misspelt-secret-key": {
    replicas: 2,
    async stage(stage) {
      const { world, settle } = stage;
      const metadata = { name: "big", namespace };
      await settle(world.people.create(secretResource, { metadata, data: { userdata: btoa("boot") } }));
      await createClass(stage, "big", { secretRef: metadata });
      await patchPool(stage, template("big"));
      await stage.run(4 * MINUTE);
      return undefined;
    },
  },
  "invalid-class": {
    replicas: 2,
    async stage(stage) {
      await createClass(stage, "big", { providerSpec: { machineTyp: "small" } });
      await patchPool(stage, template("big"));
      await stage.run(4 * MINUTE);
      return undefined;
    },
  },
  "unknown-provider-keys": {
    replicas: 1,
    driver: withoutCalls(),
    async stage(stage) {
      await createAwsClass(stage, {
        spotPrce: "0.1",
        fallbaks: [],
        fallbacks: [{ machineType: "m5a.large", zone: "b" }],
      });
      await stage.run(MINUTE);
      return "machineclass/spot";
    },
  },
  "empty-fallback": {
    replicas: 1,
    driver: withoutCalls(),
    async stage(stage) {
      await createAwsClass(stage, { fallbacks: [{}] });
      await patchPool(stage, template("spot"));
      await stage.run(4 * MINUTE);
      return undefined;
    },
  },
  "startup-taint-stays": {
    replicas: 2,
    async stage(stage) {
      const annotations = { [annotationKeys.startupTaints]: STARTUP_TAINT };
      await patchPool(stage, { spec: { template: { metadata: { annotations } } } });
      await stage.run(MINUTE);
      const name = await joinByHand(stage, [{ key: STARTUP_TAINT, effect: "NoSchedule" }]);
      await stage.run(3 * MINUTE);
      return `machine/${name}`;
    },
  },
  "node-without-startup-taint": {
    replicas: 2,
    async stage(stage) {
      const annotations = { [annotationKeys.autoscalerMinSize]: "1", [annotationKeys.autoscalerMaxSize]: "5" };
      const taints = [{ key: "pool", value: "gpu", effect: "NoSchedule" }];
      await patchPool(stage, {
        metadata: { annotations },
        spec: { template: { spec: { nodeTemplate: { spec: { taints } } } } },
      });
      await stage.run(MINUTE);
      const name = await joinByHand(stage, []);
      await stage.run(3 * MINUTE);
      return `machine/${name}`;
    },
  },
  "update-in-place-failed": {
    replicas: 2,
    async stage(stage) {
      const { world, settle, run } = stage;
      await createClass(stage, "big");
      await patchPool(stage, {
        spec: {
          strategy: {
            type: "InPlaceUpdate",
            rollingUpdate: null,
            inPlaceUpdate: { maxUnavailable: 1, maxSurge: 0, orchestrationType: "Auto" },
          },
        },
      });
      await patchPool(stage, template("big"));
      await run(2 * MINUTE);
      const selected = machinesOf(stage).find(({ status }) => status?.currentStatus?.phase === "InPlaceUpdating");
      const name = (selected ?? firstMachine(stage)).metadata.name;
      const patch = {
        metadata: {
          annotations: { [annotationKeys.updateFailedReason]: "disk is full" },
          labels: { [labelKeys.updateResult]: "failed" },
        },
      };
      await settle(world.people.patch(nodeResource, { name: vmNamed(stage, name).nodeName }, patch, { kind: "merge" }));
      await run(2 * MINUTE);
      return `machine/${name}`;
    },
  },
};

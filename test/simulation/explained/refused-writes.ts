import { nodeResource } from "@millwright/kube";
import { createClass, MINUTE, patchPool, type Situations, type Stage, template } from "./staging.ts";

const message = 'admission webhook "policy.example.com" denied the request: label "cost-center" is missing';

/** Lets the API server refuse writes of the controllers. */
function refuse({ world }: Stage, isRefused: (method: string, path: string) => boolean): void {
  world.networkFaults.add({
    ofRequest: ({ sender, method, path }) =>
      /^a\d/.test(sender) && method !== "GET" && isRefused(method, path.split("?")[0] ?? "")
        ? { kind: "refused", status: 403, reason: "Forbidden", message }
        : undefined,
  });
}

/** Writes that a webhook refuses. */
export const refusedWrites: Situations = {
  "machine-writes-refused": {
    replicas: 2,
    async stage(stage) {
      refuse(stage, (_, path) => /\/machines(\/[^/]+)?$/.test(path));
      await patchPool(stage, { spec: { replicas: 3 } });
      await stage.run(4 * MINUTE);
      return undefined;
    },
  },
  "machine-patches-refused": {
    replicas: 2,
    async stage(stage) {
      refuse(stage, (_, path) => /\/machines\/[^/]+$/.test(path));
      await patchPool(stage, { spec: { replicas: 3 } });
      await stage.run(4 * MINUTE);
      return undefined;
    },
  },
  "machine-status-refused": {
    replicas: 2,
    async stage(stage) {
      refuse(stage, (_, path) => /\/machines\/[^/]+(\/status)?$/.test(path));
      await patchPool(stage, { spec: { replicas: 3 } });
      await stage.run(4 * MINUTE);
      return undefined;
    },
  },
  "set-writes-refused": {
    replicas: 2,
    async stage(stage) {
      refuse(stage, (_, path) => /\/machinesets\/[^/]+$/.test(path));
      await patchPool(stage, { spec: { replicas: 3 } });
      await stage.run(4 * MINUTE);
      return undefined;
    },
  },
  "new-set-refused": {
    replicas: 2,
    async stage(stage) {
      await createClass(stage, "big");
      refuse(stage, (method, path) => method === "POST" && path.endsWith("/machinesets"));
      await patchPool(stage, template("big"));
      await stage.run(4 * MINUTE);
      return undefined;
    },
  },
  "node-writes-refused": {
    replicas: 2,
    async stage(stage) {
      refuse(stage, (_, path) => path.includes(`/${nodeResource.plural}/`));
      const taints = [{ key: "pool", value: "gpu", effect: "NoSchedule" }];
      await patchPool(stage, { spec: { template: { spec: { nodeTemplate: { spec: { taints } } } } } });
      await stage.run(6 * MINUTE);
      return undefined;
    },
  },
};

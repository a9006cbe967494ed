import {
  annotationKeys,
  labelKeys,
  machineClassResource,
  type MachineDeployment,
  machineDeploymentResource,
  type MachineSet,
  machineSetResource,
} from "@millwright/core/machine-api";
import { secretResource } from "@millwright/kube";
import { aMachineClass, aMachineDeployment, aMachineSet, refOf } from "../builders.ts";
import { aSecret, secretRef } from "../machine-process.ts";
import type { RandomEvents, Stage } from "./stage.ts";

/** What people may do with the deployment `pool`, a set without one, and classes and secrets. */
export function specChanges({ api, below, oneOf, chance, next }: Stage): RandomEvents {
  const pool = refOf("pool");
  const deployment = () => api.peek<MachineDeployment>(machineDeploymentResource, pool);
  const changePool = (patch: object): void => {
    const { generation = 1 } = deployment()?.metadata ?? {};
    if (deployment() === undefined) return;
    api.change(machineDeploymentResource, pool, { metadata: { generation: generation + 1 } });
    api.change(machineDeploymentResource, pool, patch);
  };
  const annotate = (key: string, value: string | null) => changePool({ metadata: { annotations: { [key]: value } } });
  // Labels of the node template would be no other template: they are synchronized in place.
  const roll = (): void => changePool({ spec: { template: { metadata: { labels: { version: String(next()) } } } } });
  const relabel = (): void =>
    changePool({
      spec: { template: { spec: { nodeTemplate: { metadata: { labels: { version: String(next()) } } } } } },
    });
  const holdInSteps = (): void =>
    annotate(annotationKeys.canarySteps, oneOf(["1/pause", "1/30s,60%/pause", "30%/1m", null]) ?? null);
  const holdInWindows = (): void =>
    annotate(annotationKeys.maintenanceWindows, oneOf(["0 * * * * 10m", "30 2 * * * 1h", null]) ?? null);
  return {
    scale: () => changePool({ spec: { replicas: below(6) } }),
    scaleMore: () => changePool({ spec: { replicas: 2 + below(4) } }),
    roll,
    relabel,
    rollInSteps: () => {
      holdInSteps();
      roll();
    },
    rollInWindows: () => {
      holdInWindows();
      roll();
    },
    pause: () => changePool({ spec: { paused: chance(0.4) } }),
    strategy: () =>
      changePool({
        spec: {
          strategy: oneOf([
            { type: "Recreate", rollingUpdate: null },
            { type: "RollingUpdate", rollingUpdate: { maxSurge: below(3), maxUnavailable: 1 } },
          ]),
        },
      }),
    inPlace: () =>
      changePool({
        spec: {
          strategy: {
            type: "InPlaceUpdate",
            rollingUpdate: null,
            inPlaceUpdate: { orchestrationType: oneOf(["Auto", "Manual"]), maxSurge: below(2), maxUnavailable: 1 },
          },
        },
      }),
    deadline: () => changePool({ spec: { progressDeadlineSeconds: 60 + below(600), minReadySeconds: below(100) } }),
    holdInSteps,
    onFailure: () => annotate(annotationKeys.canaryOnFailure, oneOf(["rollback", "stop", null]) ?? null),
    goOn: () => {
      const revision = deployment()?.metadata.annotations?.[annotationKeys.revision];
      return annotate(annotationKeys.canaryContinue, chance(0.8) ? `${revision}/${1 + below(2)}` : null);
    },
    onDelete: () => annotate(annotationKeys.onDelete, oneOf(["true", null, null]) ?? null),
    holdInWindows,
    minReady: () => annotate(annotationKeys.honorMinReadySeconds, oneOf(["true", null]) ?? null),
    gate: () => annotate(annotationKeys.maxInFlightRemediations, oneOf(["50%", "0", "3", null]) ?? null),
    rollBack: () => changePool({ spec: { rollbackTo: { revision: 0 } } }),
    autoPreserve: () => changePool({ spec: { autoPreserveFailedMachineMax: below(3) } }),
    refuse: () => changePool({ spec: { minReadySeconds: oneOf([-1, 0]) } }),
    pool: () => {
      if (deployment() === undefined) return api.seed(machineDeploymentResource, aMachineDeployment());
      return chance(0.3) ? api.delete(machineDeploymentResource, pool) : undefined;
    },
    solo: () => {
      const solo = api.peek<MachineSet>(machineSetResource, refOf("solo"));
      const labels = { name: "solo" };
      if (solo === undefined)
        return api.seed(
          machineSetResource,
          aMachineSet({
            metadata: { name: "solo", labels },
            spec: { replicas: below(4), selector: { matchLabels: labels }, template: { metadata: { labels } } },
          }),
        );
      if (chance(0.2)) return api.delete(machineSetResource, refOf("solo"));
      return api.change(machineSetResource, refOf("solo"), {
        metadata: { generation: (solo.metadata.generation ?? 1) + 1 },
        spec: { replicas: below(5) },
      });
    },
    freeze: () => {
      const set = oneOf(api.all<MachineSet>(machineSetResource));
      if (set !== undefined)
        api.change(
          machineSetResource,
          refOf(set.metadata.name),
          chance(0.5)
            ? { metadata: { labels: { [labelKeys.freeze]: "True" } } }
            : { metadata: { annotations: { [annotationKeys.unfreeze]: "True" } } },
        );
    },
    class: async () => {
      const known = api.peek(machineClassResource, refOf("small"));
      if (known === undefined) return api.seed(machineClassResource, aMachineClass());
      if (chance(0.3)) return api.delete(machineClassResource, refOf("small"));
      if (chance(0.3)) return api.remove(machineClassResource, refOf("small"));
      return api.change(machineClassResource, refOf("small"), {
        providerSpec: { version: next() },
        nodeTemplate: null,
      });
    },
    other: () => {
      const known = api.peek(machineClassResource, refOf("other"));
      return known === undefined
        ? api.seed(machineClassResource, aMachineClass({ metadata: { name: "other" } }))
        : api.remove(machineClassResource, refOf("other"));
    },
    otherClass: () => changePool({ spec: { template: { spec: { class: { name: oneOf(["other", "small"]) } } } } }),
    secret: () => {
      const known = api.peek(secretResource, secretRef);
      if (known === undefined) return api.seed(secretResource, aSecret({ userData: `#cloud-config ${next()}` }));
      return chance(0.4)
        ? api.remove(secretResource, secretRef)
        : api.change(secretResource, secretRef, { data: aSecret({ userData: `# ${next()}` }).data });
    },
  };
}

import {
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
} from "@millwright/core/machine-api";
import { expect, it } from "vitest";
import {
  aMachine,
  aMachineClass,
  aMachineDeployment,
  aMachineSet,
  annotated,
  named,
  refOf,
} from "../testing/builders.ts";
import { runControllers } from "../testing/running-controllers.ts";
import { createForeignAnnotationController } from "./controller.ts";

const start = (annotations: Readonly<Record<string, string>>) =>
  runControllers(
    (context) => [createForeignAnnotationController(context)],
    (api) => {
      api.seed(machineResource, aMachine(named("m"), annotated(annotations)));
      api.seed(machineResource, aMachine(named("plain")));
    },
  );

it.each<[string, string]>([
  ["pre-drain.delete.hook.machine.cluster.x-k8s.io/backup", "holds the whole deletion"],
  ["pre-terminate.delete.hook.machine.cluster.x-k8s.io/backup", "holds the whole deletion"],
  ["pre-drain.delete.hook.machine.cluster.x-k8s.io", "holds the whole deletion"],
  ["cluster.x-k8s.io/paused", "pauses its rollout"],
  ["cluster.x-k8s.io/remediate-machine", "delete the Machine"],
  ["cluster.x-k8s.io/skip-remediation", "keeps a Machine"],
  ["cluster.x-k8s.io/delete-machine", "for the next scale-down"],
  ["machine.cluster.x-k8s.io/exclude-node-draining", "without a drain"],
  ["machine.cluster.x-k8s.io/exclude-wait-for-node-volume-detach", "limits that wait"],
])("reports once that %s has no effect, and what has", async (key, advice) => {
  const { api, events, settle } = await start({ [key]: "" });
  expect(events).toEqual([expect.stringContaining(`Annotation ${key} of Cluster API has no effect here: `)]);
  expect(events[0]).toContain(advice);
  await settle(24 * 60 * 60_000);
  api.change(machineResource, refOf("m"), { metadata: { annotations: { other: "1" } } });
  await settle();
  expect(events).toHaveLength(1);
  expect(api.writes()).toEqual([]);
});

it.each([
  "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size",
  "cluster.x-k8s.io/drain",
  "machine.millwright.dev/deletion-protection",
  "other.example/paused",
])("reports nothing of %s", async (key) => {
  expect((await start({ [key]: "1" })).events).toEqual([]);
});

it("reports a key again where it was removed and came back, and on an object of the same name", async () => {
  const { api, events, settle } = await start({ "cluster.x-k8s.io/paused": "" });
  const set = async (value: string | null): Promise<void> => {
    api.change(machineResource, refOf("m"), { metadata: { annotations: { "cluster.x-k8s.io/paused": value } } });
    await settle();
  };
  await set(null);
  await set("true");
  expect(events).toHaveLength(2);
  api.remove(machineResource, refOf("m"));
  await settle();
  api.seed(machineResource, aMachine(named("m"), annotated({ "cluster.x-k8s.io/paused": "" })));
  await settle();
  expect(events).toHaveLength(3);
});

it("reports it of objects of all kinds", async () => {
  const paused = annotated({ "cluster.x-k8s.io/paused": "" });
  const { events } = await runControllers(
    (context) => [createForeignAnnotationController(context)],
    (api) => {
      api.seed(machineResource, aMachine(paused));
      api.seed(machineSetResource, aMachineSet(paused));
      api.seed(machineDeploymentResource, aMachineDeployment(paused));
      api.seed(machineClassResource, aMachineClass(paused));
    },
  );
  expect(events).toHaveLength(4);
});

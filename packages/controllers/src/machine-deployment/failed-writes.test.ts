import {
  annotationKeys,
  type Machine,
  type MachineDeployment,
  machineDeploymentResource,
  machineResource,
  type MachineSet,
  machineSetResource,
} from "@millwright/core/machine-api";
import { type ApiClient, type ApiObject, findCondition, isConflict } from "@millwright/kube";
import { conflictError, type FakeApi, serverError } from "@millwright/kube/testing";
import { describe, expect, it } from "vitest";
import { createMachineSetController } from "../machine-set/controller.ts";
import {
  aMachineDeployment,
  aMachineSet,
  annotated,
  type Change,
  inPhase,
  named,
  refOf,
  testNamespace,
} from "../testing/builders.ts";
import { runControllers, type RunningControllers } from "../testing/running-controllers.ts";
import { deploymentOf, pool, seedClasses } from "../testing/running-deployment.ts";
import { createMachineDeploymentController } from "./controller.ts";

const big: Change<MachineDeployment> = { spec: { template: { spec: { class: { name: "big" } } } } };

/** Both controllers with one worker each; `see` may look over the shoulder of their API client. */
const start = (
  prepare: (api: FakeApi) => void,
  see: (api: ApiClient) => ApiClient = (api) => api,
): Promise<RunningControllers> =>
  runControllers(
    (context) => {
      const seen = { ...context, control: see(context.control) };
      return [createMachineDeploymentController(seen, 1), createMachineSetController(seen, 1)];
    },
    (api) => {
      seedClasses(api);
      prepare(api);
    },
  );
type Patched = Parameters<ApiClient["patch"]>;
/** An API client that reports its patches before they are sent, and those that failed. */
const reportingPatches =
  (send: (...given: Patched) => void, fail: (error: unknown) => void) =>
  (api: ApiClient): ApiClient => ({
    ...api,
    async patch<T extends ApiObject>(...given: Patched): Promise<T> {
      try {
        send(...given);
        return await api.patch<T>(...given);
      } catch (error) {
        fail(error);
        throw error;
      }
    },
  });
const startDeployment = (...changes: readonly Change<MachineDeployment>[]) =>
  start((api) => void api.seed(machineDeploymentResource, aMachineDeployment(...changes)));
const setOfClass = ({ api }: RunningControllers, name: string): MachineSet | undefined =>
  api.all<MachineSet>(machineSetResource).find(({ spec }) => spec.template.spec.class?.name === name);

/** All machines run, and terminating ones are deleted. */
async function live(cluster: RunningControllers, rounds = 20): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    for (const { metadata } of cluster.machines()) {
      if (metadata.deletionTimestamp === undefined)
        cluster.api.change(machineResource, refOf(metadata.name), inPhase("Running"));
      else cluster.api.remove(machineResource, refOf(metadata.name));
    }
    await cluster.settle(1_000);
  }
}

describe("writes of sets and deployments", () => {
  it("leave no trace in the cache when they are refused: what was not handed down is handed down again", async () => {
    const cluster = await start((api) => void api.seed(machineSetResource, aMachineSet({ spec: { replicas: 1 } })));
    cluster.api.inject({ verb: "patch", type: machineResource, error: serverError(), times: 3 });
    const template = { spec: { nodeTemplate: { metadata: { labels: { a: "b" } } }, drainTimeout: "1h" } };
    cluster.api.change(machineSetResource, refOf("set"), { spec: { template } });
    await cluster.settle(30_000);
    expect(cluster.machines().map(({ spec }) => [spec.drainTimeout, spec.nodeTemplate?.metadata?.labels])).toEqual([
      ["1h", { a: "b" }],
    ]);
  });

  it("that meet conflicts are repeated with growing delays, and keep no worker from the others", async () => {
    const fresh = { metadata: { finalizers: null } };
    const cluster = await start((api) => {
      api.seed(machineDeploymentResource, aMachineDeployment(fresh));
      api.seed(machineDeploymentResource, aMachineDeployment(named("other"), fresh));
      const key = `${testNamespace}/pool`;
      api.inject({ verb: "patch", type: machineDeploymentResource, key, error: conflictError(), times: 1_000 });
    });
    await cluster.settle(60_000);
    const attempts = cluster.api.calls.filter(({ verb, key }) => verb === "patch" && key === `${testNamespace}/pool`);
    expect(attempts.length).toBeGreaterThan(1);
    expect(attempts.length).toBeLessThan(40);
    const sets = cluster.api.all<MachineSet>(machineSetResource);
    expect(sets.map(({ metadata }) => metadata.ownerReferences?.[0]?.name)).toEqual(["other"]);
  });

  it("of one reconcile never conflict with each other, and none of them is a whole object", async () => {
    const conflicts: unknown[] = [];
    const cluster = await start(
      (api) => void api.seed(machineDeploymentResource, aMachineDeployment({ metadata: { finalizers: null } })),
      reportingPatches(
        () => {},
        (error) => void (isConflict(error) && conflicts.push(error)),
      ),
    );
    await live(cluster);
    const change = (patch: Change<MachineDeployment>) =>
      cluster.api.patch(machineDeploymentResource, pool, patch, { kind: "merge" });
    for (const patch of [
      big,
      { spec: { paused: true } },
      { spec: { replicas: 5 } },
      { spec: { paused: false } },
      { spec: { rollbackTo: { revision: 0 } } },
      annotated({ [annotationKeys.triggerDeletion]: `${cluster.machines()[0]?.metadata.name}~2026-01-01T00:00:00Z` }),
    ]) {
      await change(patch);
      await live(cluster, 12);
    }
    expect(conflicts).toEqual([]);
    expect(cluster.api.writes().filter(({ verb }) => verb === "replace")).toEqual([]);
    // The revision is there, though it was given in the same reconciles as a status.
    const { annotations = {} } = deploymentOf(cluster)?.metadata ?? {};
    expect(annotations[annotationKeys.revision]).toBe(
      setOfClass(cluster, "small")?.metadata.annotations?.[annotationKeys.revision],
    );
    expect(cluster.machines().map(({ spec }) => spec.class?.name)).toEqual(Array(5).fill("small"));
  });

  it("overwrite nothing that the autoscaler or people have written since they were decided", async () => {
    // The change arrives at the API server just before the next patch of the deployment that is about the same, and the cache does not have it yet.
    let change: (() => void) | undefined;
    let about = "";
    const cluster = await start(
      (api) => void api.seed(machineDeploymentResource, aMachineDeployment({ spec: { replicas: 3 } })),
      reportingPatches(
        (type, _, patch) => {
          if (type !== machineDeploymentResource || change === undefined || !JSON.stringify(patch).includes(about))
            return;
          const now = change;
          change = undefined;
          now();
        },
        () => {},
      ),
    );
    await live(cluster, 3);
    // Of equal ones, a set would delete the first by name.
    const [first, third, second] = cluster
      .machines()
      .map(({ metadata: { name } }) => name)
      .toSorted();
    const deletes = (replicas: number, ...names: readonly (string | undefined)[]): void => {
      const time = "2026-01-01T00:00:00Z";
      cluster.api.change(machineDeploymentResource, pool, {
        ...annotated({
          [annotationKeys.lastReplicaChangeByScaler]: time,
          [annotationKeys.triggerDeletion]: names.map((name) => `${name}~${time}`).join(","),
        }),
        spec: { replicas },
      });
    };
    deletes(2, first);
    // The patch that drops the entry of the first machine, once that is terminating.
    about = annotationKeys.triggerDeletion;
    change = () => deletes(1, first, second);
    await live(cluster, 12);
    expect(change).toBeUndefined();
    expect(cluster.machines().map(({ metadata: { name } }) => name)).toEqual([third]);
    expect(deploymentOf(cluster)?.metadata.annotations).not.toHaveProperty([annotationKeys.triggerDeletion]);

    const template = deploymentOf(cluster)?.spec.template;
    cluster.api.change(machineDeploymentResource, pool, big);
    await live(cluster, 12);
    const other: Change<MachineDeployment> = { spec: { template: { spec: { drainTimeout: "1h" } } } };
    about = "rollbackTo";
    change = () => void cluster.api.change(machineDeploymentResource, pool, other);
    cluster.api.change(machineDeploymentResource, pool, { spec: { rollbackTo: { revision: 1 } } });
    await live(cluster, 12);
    expect(change).toBeUndefined();
    expect(deploymentOf(cluster)?.spec.rollbackTo).toBeUndefined();
    // Not a mixture of two templates.
    expect(deploymentOf(cluster)?.spec.template).toEqual(template);
  });

  it("follow every number, also that of failures which are preserved", async () => {
    const cluster = await startDeployment({ spec: { replicas: 2 } });
    await live(cluster, 3);
    const [kept] = cluster.machines();
    const name = refOf(kept?.metadata.name ?? "");
    cluster.api.change(machineResource, name, {
      ...annotated({ [annotationKeys.preserve]: "now" }),
      ...inPhase("Failed"),
    });
    await cluster.settle(5_000);
    const counted = () => [
      deploymentOf(cluster)?.status?.preservedFailedReplicas,
      setOfClass(cluster, "small")?.status?.preservedFailedReplicas,
    ];
    expect(counted()).toEqual([0, 0]);
    const preserveExpiryTime = "2027-01-01T00:00:00Z";
    cluster.api.change<Machine>(machineResource, name, { status: { currentStatus: { preserveExpiryTime } } });
    await cluster.settle(5_000);
    expect(counted()).toEqual([1, 1]);
  });

  it("that fail while an old set is scaled end the pass, which is repeated for as long as it takes", async () => {
    // More often than the events of the other objects bring a pass.
    let left = 16;
    const refuse = (...[type, , patch]: Patched): void => {
      const isShrinking = type.kind === "MachineSet" && JSON.stringify(patch).includes('"spec":{"replicas":2}');
      if (isShrinking && left-- > 0) throw serverError();
    };
    const cluster = await start(
      (api) => void api.seed(machineDeploymentResource, aMachineDeployment()),
      reportingPatches(refuse, () => {}),
    );
    await live(cluster, 3);
    await cluster.api.patch(machineDeploymentResource, pool, big, { kind: "merge" });
    await cluster.settle(2_000);
    for (const { metadata } of cluster.machines())
      cluster.api.change(machineResource, refOf(metadata.name), inPhase("Running"));
    // From here on nothing happens but time.
    await cluster.settle(2 * 3_600_000);
    expect(setOfClass(cluster, "small")?.spec.replicas).toBe(2);
    expect(left).toBeLessThan(0);
  });

  it("of the record of a rollout that are refused for an hour keep it from beginning, and not the scaling", async () => {
    let isRefused = false;
    const refuse = (...[type, , patch]: Patched): void => {
      if (isRefused && type.kind === "MachineDeployment" && JSON.stringify(patch).includes(annotationKeys.rollout))
        throw serverError();
    };
    const cluster = await start(
      (api) => void api.seed(machineDeploymentResource, aMachineDeployment()),
      reportingPatches(refuse, () => {}),
    );
    const to = (name: string, replicas: number): Promise<unknown> =>
      cluster.api.patch(
        machineDeploymentResource,
        pool,
        { spec: { replicas, template: { spec: { class: { name } } } } },
        { kind: "merge" },
      );
    await live(cluster, 3);
    await to("big", 3);
    await live(cluster, 12);
    isRefused = true;
    await to("small", 5);
    await live(cluster, 12);
    await cluster.settle(3_600_000);
    expect(cluster.machines().map(({ spec }) => spec.class?.name)).toEqual(Array(5).fill("big"));
    isRefused = false;
    await cluster.settle(600_000);
    await live(cluster, 20);
    expect(cluster.machines().map(({ spec }) => spec.class?.name)).toEqual(Array(5).fill("small"));
  });

  it("of a status that was refused do not undo what others wrote meanwhile", async () => {
    const cluster = await startDeployment();
    const name = setOfClass(cluster, "small")?.metadata.name ?? "";
    const theirs = { type: "Watched", status: "True", reason: "ByHand", message: "" };
    cluster.api.inject({
      verb: "patch",
      type: machineSetResource,
      subresource: "status",
      error: serverError(),
      times: 2,
    });
    // Counters and conditions change at once.
    for (const { metadata } of cluster.machines())
      cluster.api.change(machineResource, refOf(metadata.name), { spec: { providerID: "vm" }, ...inPhase("Running") });
    await cluster.settle();
    const status = cluster.api.peek<MachineSet>(machineSetResource, refOf(name))?.status;
    expect(status?.readyReplicas).toBe(0);
    cluster.api.change<MachineSet>(machineSetResource, refOf(name), {
      status: { machineSetCondition: [...(status?.machineSetCondition ?? []), theirs] },
    });
    await cluster.settle(30_000);
    const after = setOfClass(cluster, "small")?.status;
    expect(after?.readyReplicas).toBe(3);
    expect(findCondition(after?.machineSetCondition, "Watched")).toEqual(theirs);
  });

  it("and reads there are none of while nothing changes, however often that is looked at", async () => {
    const cluster = await startDeployment({ spec: { progressDeadlineSeconds: 60 } });
    await live(cluster, 5);
    await cluster.settle(20_000);
    cluster.api.calls.length = 0;
    for (let round = 0; round < 5; round++) {
      for (const { metadata } of cluster.machines())
        cluster.api.change<Machine>(machineResource, refOf(metadata.name), { status: { lastKnownState: `${round}` } });
      await cluster.settle(600_000);
    }
    expect(cluster.api.calls.filter(({ verb }) => verb !== "watch" && verb !== "list")).toEqual([]);
  });
});

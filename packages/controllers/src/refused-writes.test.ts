import {
  annotationKeys,
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
  phaseOf,
} from "@millwright/core/machine-api";
import { nodeResource, secretResource } from "@millwright/kube";
import { describe, expect, it } from "vitest";
import {
  type Cell,
  cellOf,
  HOUR,
  MINUTE,
  POOL,
  aRefusingPool,
  type RefusingPool,
  SECOND,
  TEMPLATE_LABEL,
  wholeCellOf,
} from "./testing/refusing-pool.ts";

const cells: readonly Cell[] = [
  cellOf("patch", machineResource),
  cellOf("patch", machineResource, "status"),
  cellOf("create", machineResource, "", "FailedCreate"),
  cellOf("delete", machineResource, "", "FailedDelete"),
  cellOf("patch", machineSetResource),
  cellOf("patch", machineSetResource, "status"),
  cellOf("create", machineSetResource, "", "MachineSetCreateError"),
  cellOf("delete", machineSetResource),
  cellOf("patch", machineDeploymentResource),
  cellOf("patch", machineDeploymentResource, "status"),
  cellOf("patch", machineClassResource),
  cellOf("patch", secretResource),
  cellOf("patch", nodeResource),
  cellOf("patch", nodeResource, "status"),
  cellOf("delete", nodeResource, "", "DeletionBlocked"),
  ...[machineResource, machineSetResource, machineDeploymentResource, nodeResource].map(wholeCellOf),
];

const titleOf = ({ verb, type, subresource }: Cell): string =>
  `${verb} ${type.plural}${subresource === undefined ? " and their status" : subresource && `/${subresource}`}`;

/** Lets the cell be refused for an hour. Resolves with whether that lasted, as far as anything was written: then its cause was shown within a minute. */
async function refusedForAnHour(pool: RefusingPool, cell: Cell, start: () => void): Promise<boolean> {
  pool.refuse();
  start();
  let attemptedAt: number | undefined;
  let shownAt: number | undefined;
  for (let at = 0; at < HOUR; at += 10 * SECOND) {
    await pool.pass(10 * SECOND);
    if (attemptedAt === undefined && pool.attempts().size > 0) attemptedAt = at;
    const isShown = pool.events.some(
      ({ reason, message }) =>
        cell.shownBy.includes(reason) && message.includes("admission webhook denied the request"),
    );
    if (shownAt === undefined && isShown) shownAt = at;
  }
  const most = Math.max(0, ...[...pool.attempts().values()].map(({ length }) => length));
  // What is gone after one or two attempts has nothing to show. Machines and sets have another name with each creation.
  if (attemptedAt === undefined || (cell.verb !== "create" && most < 3)) return false;
  expect(shownAt, titleOf(cell)).toBeDefined();
  expect((shownAt ?? 0) - attemptedAt).toBeLessThanOrEqual(MINUTE);
  // 0.2 s, 0.4 s and so on up to a minute.
  expect(most).toBeLessThan(75);
  pool.allow();
  return true;
}

function expectSettled(pool: RefusingPool, replicas: number): void {
  const { machines, nodes, driver, condition } = pool;
  expect(machines().map((each) => [phaseOf(each), each.status?.lastOperation?.state])).toEqual(
    Array.from({ length: replicas }, () => ["Running", "Successful"]),
  );
  expect(driver.vms.size).toBe(replicas);
  expect(nodes().map(({ metadata }) => metadata.labels?.[TEMPLATE_LABEL])).toEqual(
    Array.from({ length: replicas }, () => "a"),
  );
  expect(condition("WriteRefused")).toBeUndefined();
  expect(condition("ReplicaFailure")).toBeUndefined();
  expect(condition("Progressing")).toMatchObject({ status: "True", reason: "NewMachineSetAvailable" });
  for (const { status } of pool.sets())
    expect(status?.machineSetCondition?.some(({ type }) => type === "WriteRefused")).toBe(false);
}

describe("writes that the API server refuses for an hour", () => {
  it.each(cells.map((cell) => [titleOf(cell), cell] as const))(
    "shows within a minute that %s is refused, loses nothing, and completes everything afterwards",
    async (_, cell) => {
      const pool = await aRefusingPool(cell);
      const wasRefused: boolean[] = [];
      wasRefused.push(await refusedForAnHour(pool, cell, pool.seedPool));
      pool.allow();
      await pool.pass(HOUR, MINUTE);
      expectSettled(pool, 2);

      wasRefused.push(await refusedForAnHour(pool, cell, pool.rollOut));
      pool.allow();
      await pool.pass(HOUR, MINUTE);
      expectSettled(pool, 2);
      expect(pool.machines().map(({ spec }) => spec.class?.name)).toEqual(["other", "other"]);

      wasRefused.push(await refusedForAnHour(pool, cell, () => void pool.api.delete(machineDeploymentResource, POOL)));
      pool.allow();
      await pool.pass(HOUR, MINUTE);
      expect([pool.machines(), pool.sets(), pool.nodes(), pool.deployment()]).toEqual([[], [], [], undefined]);
      expect(pool.driver.vms.size).toBe(0);
      expect(wasRefused).toContain(true);
    },
  );
});

describe("what an operator sees of a refused write", () => {
  const description = /^Failed to patch Machine pool-\S+: 403 Forbidden: admission webhook denied the request$/;

  it("is the last operation of a machine, which becomes Failed after the creation timeout", async () => {
    const pool = await aRefusingPool(cellOf("patch", machineResource));
    pool.refuse();
    pool.seedPool();
    await pool.pass(MINUTE);
    const shown = pool.machines().map(({ status }) => status);
    expect(shown).toMatchObject(
      Array.from({ length: 2 }, () => ({
        currentStatus: { phase: "CrashLoopBackOff" },
        lastOperation: { state: "Failed", type: "Create", description: expect.stringMatching(description) },
      })),
    );
    await pool.pass(18 * MINUTE);
    // Written once: neither times nor history change with the attempts.
    expect(pool.machines().map(({ status }) => status)).toEqual(shown);
    const first = pool.machines().map(({ metadata }) => metadata.name);
    pool.api.calls.length = 0;
    await pool.pass(8 * MINUTE);
    const failed = pool.api.calls
      .filter(({ subresource, body }) => subresource === "status" && JSON.stringify(body).includes('"Failed"'))
      .map(({ key }) => key);
    for (const name of first) expect(failed).toContain(`${POOL.namespace}/${name}`);
    expect(pool.machines().map(({ metadata }) => metadata.name)).not.toEqual(first);
    // Their VMs are kept until their Nodes can be recorded and drained: one other is created, not as many as the limit of the set allows.
    await pool.pass(4 * HOUR, MINUTE);
    const many = pool.driver.vms.size;
    await pool.pass(8 * HOUR, MINUTE);
    expect([many, pool.driver.vms.size]).toEqual([3, 3]);
    const [set] = pool.sets();
    expect(set?.status?.machineSetCondition ?? []).toContainEqual(
      expect.objectContaining({ message: expect.stringContaining("the API server refuses to write Machine ") }),
    );
    pool.allow();
    await pool.pass(HOUR, MINUTE);
    expectSettled(pool, 2);
  });

  it("is an event of the machine where its status is refused", async () => {
    const pool = await aRefusingPool(cellOf("patch", machineResource, "status"), 422);
    pool.refuse();
    pool.seedPool();
    await pool.pass(MINUTE);
    for (const { metadata } of pool.machines())
      expect(pool.events).toContainEqual({
        type: "Warning",
        reason: "WriteRefused",
        message: `Failed to patch status of Machine ${metadata.name}: 422 Forbidden: admission webhook denied the request`,
        kind: "Machine",
        name: metadata.name,
      });
  });

  it("is a condition of a deployment whose sets cannot be scaled, which does not progress, and events of both", async () => {
    const pool = await aRefusingPool(cellOf("patch", machineSetResource));
    pool.seedPool();
    await pool.pass(5 * MINUTE);
    pool.refuse();
    pool.api.change(machineDeploymentResource, POOL, { spec: { replicas: 3 } });
    await pool.pass(MINUTE);
    const [set] = pool.sets();
    const message = `Failed to patch MachineSet ${set?.metadata.name}: 403 Forbidden: admission webhook denied the request`;
    const shown = pool.deployment()?.status;
    expect(pool.condition("WriteRefused")).toMatchObject({ status: "True", reason: "WriteRefused", message });
    expect(pool.condition("Progressing")).toMatchObject({ status: "False", reason: "WriteRefused", message });
    expect(pool.condition("Stalled")).toMatchObject({ status: "True", reason: "WriteRefused", message });
    const events = pool.events.filter((event) => event.message === message).map(({ kind }) => kind);
    expect(new Set(events)).toEqual(new Set(["MachineDeployment", "MachineSet"]));
    await pool.pass(HOUR, MINUTE);
    expect(pool.deployment()?.status).toEqual(shown);
    pool.allow();
    await pool.pass(10 * MINUTE);
    expectSettled(pool, 3);
    expect(pool.condition("Stalled")).toBeUndefined();
  });

  it("is an event of a Node without the labels of its template, whose machine is not Running, so that the rollout waits", async () => {
    const pool = await aRefusingPool(cellOf("patch", nodeResource));
    pool.refuse();
    pool.seedPool();
    await pool.pass(MINUTE);
    expect(pool.machines().map(phaseOf)).toEqual(["Pending", "Pending"]);
    for (const { metadata } of pool.nodes())
      expect(pool.events).toContainEqual(
        expect.objectContaining({ reason: "WriteRefused", kind: "Node", name: metadata.name }),
      );
    for (const { metadata, status } of pool.machines()) {
      expect(status?.lastOperation).toMatchObject({ state: "Failed", type: "Create" });
      expect(status?.lastOperation?.description).toMatch(/^Failed to patch Node /);
      expect(pool.events).toContainEqual(
        expect.objectContaining({ reason: "WriteRefused", kind: "Machine", name: metadata.name }),
      );
    }
  });

  it("is the last operation of a machine that runs, which stays in service and was created only once", async () => {
    const pool = await aRefusingPool(cellOf("patch", nodeResource));
    pool.seedPool();
    await pool.pass(5 * MINUTE);
    pool.refuse();
    const [machine] = pool.machines();
    const ref = { namespace: POOL.namespace, name: machine?.metadata.name ?? "" };
    const labels = { [TEMPLATE_LABEL]: "b" };
    // It is propagated to the machines, without a rollout.
    const nodeTemplate = { metadata: { labels } };
    pool.api.change(machineDeploymentResource, POOL, { spec: { template: { spec: { nodeTemplate } } } });
    const stored = () => pool.machines().find(({ metadata }) => metadata.name === ref.name)?.status;
    await pool.pass(MINUTE);
    expect(stored()).toMatchObject({
      currentStatus: { phase: "Running" },
      lastOperation: { state: "Failed", type: "Update", description: expect.stringMatching(/^Failed to patch Node /) },
      joinDuration: machine?.status?.joinDuration,
    });
    pool.allow();
    await pool.pass(6 * MINUTE);
    expect(stored()).toMatchObject({
      currentStatus: { phase: "Running" },
      lastOperation: {
        state: "Successful",
        type: "Update",
        description: expect.stringContaining("accepts the writes"),
      },
      joinDuration: machine?.status?.joinDuration,
    });
  });

  it("is nothing where an API server refuses two attempts, as while its webhook restarts", async () => {
    const pool = await aRefusingPool(cellOf("patch", machineResource), 500);
    pool.refuse(2);
    pool.seedPool();
    await pool.pass(2 * MINUTE);
    expect(pool.events.filter(({ reason }) => reason === "WriteRefused")).toEqual([]);
    expectSettled(pool, 2);
  });
});

describe("the size that a cluster autoscaler sets, while writes are refused for an hour", () => {
  const limits = { [annotationKeys.autoscalerMinSize]: "1", [annotationKeys.autoscalerMaxSize]: "5" };
  const names = ({ machines }: RefusingPool): readonly string[] => machines().map(({ metadata }) => metadata.name);
  /** A pool for an autoscaler, with three machines that are Running. */
  const scaledPool = async (cell: Cell): Promise<RefusingPool> => {
    const pool = await aRefusingPool(cell);
    pool.seedPool();
    pool.api.change(machineDeploymentResource, POOL, { metadata: { annotations: limits }, spec: { replicas: 3 } });
    await pool.pass(10 * MINUTE);
    expectSettled(pool, 3);
    return pool;
  };

  it.each([
    ["marks of machines", cellOf("patch", machineResource)],
    ["the list of the deployment", cellOf("patch", machineDeploymentResource)],
    ["the size of the set", cellOf("patch", machineSetResource)],
    ["the deletion of the machine", cellOf("delete", machineResource, "", "FailedDelete")],
  ])("deletes the machine that it named, and no other one, once these are accepted: %s", async (_, cell) => {
    const pool = await scaledPool(cell);
    const [first = "", victim = "", last = ""] = names(pool);
    const name = (): void => {
      const time = pool.clock.now().toISOString();
      const annotations = {
        [annotationKeys.triggerDeletion]: `${victim}~${time}`,
        [annotationKeys.lastReplicaChangeByScaler]: time,
      };
      pool.api.change(machineDeploymentResource, POOL, { metadata: { annotations }, spec: { replicas: 2 } });
    };
    expect(await refusedForAnHour(pool, cell, name)).toBe(true);
    expect(names(pool)).toEqual(expect.arrayContaining([first, last]));
    pool.allow();
    await pool.pass(HOUR, MINUTE);
    expect(names(pool)).toEqual([first, last]);
    expectSettled(pool, 2);
    expect(pool.deployment()?.metadata.annotations).not.toHaveProperty([annotationKeys.triggerDeletion]);
  });

  it("keeps all machines of a pool whose manifest no longer has the size, and shows why it has none", async () => {
    const cell = cellOf("patch", machineDeploymentResource);
    const pool = await scaledPool(cell);
    const before = names(pool);
    const omit = (): void => {
      const { generation = 1 } = pool.deployment()?.metadata ?? {};
      const spec = { replicas: null };
      pool.api.change(machineDeploymentResource, POOL, { metadata: { generation: generation + 1 }, spec });
    };
    expect(await refusedForAnHour(pool, cell, omit)).toBe(true);
    expect(names(pool)).toEqual(before);
    await pool.pass(HOUR, MINUTE);
    expect([names(pool), pool.deployment()?.spec.replicas]).toEqual([before, 3]);
    expectSettled(pool, 3);
  });
});

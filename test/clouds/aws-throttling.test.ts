import { eventResource, type KubeObject } from "@millwright/kube";
import { expect, it, onTestFinished } from "vitest";
import { namespace, patienceMs } from "./cloud-installation.ts";
import { startOnEc2 } from "./ec2-cloud.ts";

interface EventObject extends KubeObject {
  readonly type?: string;
  readonly message?: string;
}

/** The number of status writes per machine until it is Running, for a rate limit of launches per second. */
async function statusWritesWith(perSecond: number): Promise<readonly number[]> {
  const throttle = { burst: 5, perSecond, operations: ["RunInstances"] };
  const { ec2, installation, close } = await startOnEc2({ throttle });
  onTestFinished(close);
  installation.run();
  await installation.deploy(30);
  await installation.untilRunning(30, patienceMs);
  const { items } = await installation.api.list<EventObject>(eventResource, { namespace });
  expect(items.filter(({ type }) => type !== "Normal").map(({ message }) => message)).toEqual([]);
  expect(ec2.inventory().instances).toHaveLength(30);
  const refused = ec2.log.requests.filter(({ operation, end }) => operation === "RunInstances" && end === 503);
  expect(refused.length > 0).toBe(perSecond < 1_000);
  const writes = new Map<string, number>();
  for (const { verb, resource, subresource, name } of installation.server.requests) {
    if (resource !== "machines" || subresource !== "status" || verb === "get") continue;
    writes.set(name, (writes.get(name) ?? 0) + 1);
  }
  expect(writes.size).toBe(30);
  return [...writes.values()];
}

it("throttled creations cost no event and no status write, only time", { timeout: 600_000 }, async () => {
  const average = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0) / counts.length;
  const free = await statusWritesWith(10_000);
  const throttled = await statusWritesWith(2);
  // Without the wait each throttled request would be an error in the status, and another write.
  expect(average(throttled)).toBeLessThan(average(free) + 1);
});

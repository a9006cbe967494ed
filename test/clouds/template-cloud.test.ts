import { Secret } from "@millwright/core";
import { aContext, aMachine } from "@millwright/core/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import driver from "../../packages/create-driver/template/src/index.ts";
import { pageSize, startDataCenter } from "../../packages/create-driver/template/test/data-center.ts";

const token = "first-token";

async function aDataCenter(options: Parameters<typeof startDataCenter>[1] = {}) {
  const cloud = await startDataCenter(token, options);
  onTestFinished(cloud.close);
  const request = {
    machine: aMachine("m"),
    machineClass: { name: "pool", spec: { endpoint: cloud.url, cluster: "c", size: "small" } as const },
    secret: { token: Secret.of(token) },
    idempotencyToken: "token-of-m",
    userData: Secret.of("boot"),
  };
  return { ...cloud, request };
}

// The suite proves that the driver conforms; these, that the cloud does what makes that hard.
describe("the cloud of the template", () => {
  it("lists a new VM late: the driver ends a creation when it is listed", async () => {
    const { vms, request } = await aDataCenter();
    await driver.createMachine(request, aContext());
    const [vm] = vms.values();
    expect(vm?.listedAtMs).toBeGreaterThan(0);
    expect(performance.now()).toBeGreaterThanOrEqual(vm?.listedAtMs ?? Infinity);
  });

  it("lists a VM of an interrupted creation late: the driver looks again before it reports that there is none", async () => {
    const { vms, add, request } = await aDataCenter();
    const tags = { cluster: "c", machine: "m", namespace: request.machine.namespace, uid: request.machine.uid };
    add({ token: "token-of-m", size: "small", userData: "", tags }, performance.now() + 30);
    expect(await driver.deleteMachine(request, aContext())).toEqual({ vm: "ended" });
    expect(vms.size).toBe(0);
  });

  it("has pages: the driver lists the VMs of all", async () => {
    const { add, request } = await aDataCenter();
    const count = 2 * pageSize + 1;
    for (let i = 0; i < count; i++) add({ token: `${i}`, size: "small", userData: "", tags: { cluster: "c" } });
    expect((await driver.listMachines?.(request, aContext()))?.machines).toHaveLength(count);
  });

  it("limits its rate: the driver waits as long as the cloud requests", async () => {
    const { url, request } = await aDataCenter({ requestsPerSecond: 3 });
    const answers = await Promise.all(Array.from({ length: 10 }, () => fetch(`${url}/vms`)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401, 429]));
    await expect(driver.createMachine(request, aContext())).resolves.toMatchObject({ nodeName: "m" });
  });

  it("ends VMs late: the driver ends a deletion when the VM has ended", async () => {
    const { vms, request } = await aDataCenter();
    await driver.createMachine(request, aContext());
    await driver.deleteMachine(request, aContext());
    expect(vms.size).toBe(0);
  });
});

import { createSkippingClock } from "@millwright/core/testing";
import { describe, expect, it } from "vitest";
import { createAwsDriver } from "./driver.ts";
import { aCloud, aContext, aMachine, aRequest } from "./testing/aws-cloud.ts";

describe("deleting a machine", () => {
  it("resolves when the VM has ended, and leaves nothing of it", async () => {
    const { ec2, driver } = await aCloud({ shutdownMs: 60 });
    const { providerId } = await driver.createMachine(aRequest(), aContext());
    await expect(driver.deleteMachine(aRequest(aMachine("m", { providerId })), aContext())).resolves.toEqual({
      vm: "ended",
    });
    expect(ec2.inventory()).toEqual({ instances: [], volumes: [], networkInterfaces: [] });
    expect(ec2.world.state([...ec2.world.instances.values()][0] ?? never())).toBe("terminated");
  });

  it("finds the VM without its id", async () => {
    const { ec2, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    await driver.deleteMachine(aRequest(), aContext());
    expect(ec2.inventory().instances).toEqual([]);
  });

  it("counts a VM that is not there as deleted: again, and one that never was", async () => {
    const { ec2, driver } = await aCloud();
    const { providerId } = await driver.createMachine(aRequest(), aContext());
    const request = aRequest(aMachine("m", { providerId }));
    await driver.deleteMachine(request, aContext());
    await driver.deleteMachine(request, aContext());
    await driver.deleteMachine(aRequest(), aContext());
    await driver.deleteMachine(
      aRequest(aMachine("n", { providerId: "aws:///eu-west-1/i-0123456789abcdef0" })),
      aContext(),
    );
    expect(ec2.log.count("TerminateInstances")).toBe(1);
  });

  it("counts a VM as deleted that ends while it is asked to", async () => {
    const { ec2, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    const refusal = { code: "InvalidInstanceID.NotFound" };
    ec2.faults.add({ operation: "TerminateInstances", end: { kind: "refuse", refusal }, afterAcceptance: true });
    await expect(driver.deleteMachine(aRequest(), aContext())).resolves.toEqual({ vm: "ended" });
  });

  it("looks once more for a VM that was accepted a moment ago and cannot be seen yet", async () => {
    const { ec2, driver } = await aCloud({ visibilityMs: 50 }, { pollTimes: { lookAgainMs: 100 } });
    ec2.faults.add({ operation: "RunInstances", times: 3, end: { kind: "reset" }, afterAcceptance: true });
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({ code: "Unavailable" });
    await driver.deleteMachine(aRequest(), aContext());
    expect(ec2.inventory().instances).toEqual([]);
  });

  describe("without its id, after an earlier attempt whose VM has ended", () => {
    /** The VM of the second attempt was accepted, and is hidden. */
    const hiddenAfterEnded = async () => {
      const { ec2, driver } = await aCloud({}, { pollTimes: { lookAgainMs: 500 } });
      const first = aRequest();
      const { providerId } = await driver.createMachine(first, aContext());
      await driver.deleteMachine(aRequest(aMachine("m", { providerId })), aContext());
      ec2.faults.add({ operation: "RunInstances", times: 5, end: { kind: "reset" }, afterAcceptance: true });
      const second = driver.createMachine({ ...first, idempotencyToken: "second" }, aContext());
      await expect(second).rejects.toMatchObject({ code: "Unavailable" });
      const last = [...ec2.world.instances.values()].at(-1) ?? never();
      last.visibleAtMs = Number.POSITIVE_INFINITY;
      ec2.log.clear();
      return { ec2, driver, last };
    };

    it("does not take that end for the end of the VM that it cannot see yet", async () => {
      const { ec2, driver, last } = await hiddenAfterEnded();
      await expect(driver.deleteMachine(aRequest(), aContext())).resolves.toEqual({ vm: "missing" });
      expect([ec2.world.state(last), ec2.log.count("DescribeInstances")]).toEqual(["running", 2]);
    });

    it("looks once more, and ends the VM that it sees then", async () => {
      const { ec2, driver, last } = await hiddenAfterEnded();
      const deletion = driver.deleteMachine(aRequest(), aContext());
      await expect.poll(() => ec2.log.count("DescribeInstances"), { timeout: 10_000 }).toBe(1);
      last.visibleAtMs = 0;
      await expect(deletion).resolves.toEqual({ vm: "ended" });
      expect(ec2.inventory().instances).toEqual([]);
    });
  });

  it("ends a VM that is still being made", async () => {
    const { ec2, driver } = await aCloud({ pendingMs: 60_000 });
    await driver.createMachine(aRequest(), aContext());
    expect(ec2.inventory().instances).toMatchObject([{ state: "pending" }]);
    await driver.deleteMachine(aRequest(), aContext());
    expect(ec2.inventory().instances).toEqual([]);
  });

  it("keeps the volume that the class wants to keep", async () => {
    const { ec2, driver } = await aCloud();
    const blockDevices = [{ ebs: { volumeSize: 20, volumeType: "gp3", deleteOnTermination: false } }];
    await driver.createMachine(aRequest(aMachine("m"), { blockDevices }), aContext());
    await driver.deleteMachine(aRequest(), aContext());
    expect(ec2.inventory().volumes).toHaveLength(1);
  });

  it("looks once more for the VM with the id too, when it was asked for a moment ago", async () => {
    const { ec2, driver } = await aCloud({}, { pollTimes: { lookAgainMs: 500 } });
    const { providerId } = await driver.createMachine(aRequest(), aContext());
    const showFrom = (ms: number): void => {
      for (const vm of ec2.world.instances.values()) vm.visibleAtMs = ms;
    };
    showFrom(Number.POSITIVE_INFINITY);
    ec2.log.clear();
    const deletion = driver.deleteMachine(aRequest(aMachine("m", { providerId })), aContext());
    await expect.poll(() => ec2.log.count("DescribeInstances"), { timeout: 10_000 }).toBe(1);
    showFrom(0);
    await deletion;
    expect(ec2.inventory().instances).toEqual([]);
  });

  it("does not wait for a VM that cannot exist: EC2 got no recent request for it, or rejected it", async () => {
    const { ec2, driver } = await aCloud({}, { pollTimes: { visibleMs: 60_000 } });
    const clock = createSkippingClock();
    const context = { ...aContext(), clock };
    const looksFor = async (name: string): Promise<number> => {
      ec2.log.clear();
      await driver.deleteMachine(aRequest(aMachine(name)), context);
      return ec2.log.count("DescribeInstances");
    };
    // This process has only just begun: the one before it may have asked.
    expect(await looksFor("a")).toBe(2);
    clock.skip(60_000);
    expect(await looksFor("a")).toBe(1);

    const refusal = { code: "InvalidParameterValue" };
    ec2.faults.add({ operation: "RunInstances", end: { kind: "refuse", refusal } });
    await expect(driver.createMachine(aRequest(aMachine("a")), context)).rejects.toMatchObject({
      code: "InvalidArgument",
    });
    expect(await looksFor("a")).toBe(1);

    ec2.faults.add({ operation: "RunInstances", times: 3, end: { kind: "reset" } });
    await expect(driver.createMachine(aRequest(aMachine("a")), context)).rejects.toMatchObject({ code: "Unavailable" });
    expect(await looksFor("b")).toBe(1);
    expect(await looksFor("a")).toBe(2);
    clock.skip(60_000);
    expect(await looksFor("a")).toBe(1);
  });

  it("still knows its VM when the tags of the class have changed since", async () => {
    const { ec2, driver } = await aCloud();
    const tags = { "kubernetes.io/cluster/renamed": "1", "kubernetes.io/role/worker": "1" };
    const { providerId } = await driver.createMachine(aRequest(aMachine("a")), aContext());
    await driver.createMachine(aRequest(aMachine("b")), aContext());
    const a = aRequest(aMachine("a", { providerId }), { tags });
    const b = aRequest(aMachine("b"), { tags });
    await expect(driver.getMachineStatus(a, aContext())).resolves.toMatchObject({ providerId });
    await expect(driver.createMachine(b, aContext())).rejects.toMatchObject({ code: "AlreadyExists" });
    await driver.deleteMachine(a, aContext());
    await driver.deleteMachine(b, aContext());
    expect(ec2.inventory().instances).toEqual([]);
    expect(ec2.log.count("RunInstances")).toBe(2);
  });

  it.each<[string, (tags: Map<string, string>) => void]>([
    ["of another machine", (tags) => tags.set("Name", "other")],
    [
      "of a machine of the same name in another namespace",
      (tags) => tags.set("millwright.dev/machine-uid", "other").set("millwright.dev/namespace", "other"),
    ],
    [
      "of another cluster",
      (tags) => tags.set("millwright.dev/machine-uid", "other").delete("kubernetes.io/cluster/shoot"),
    ],
    ["MCM's, of another cluster", (tags) => asOfMcm(tags).delete("kubernetes.io/cluster/shoot")],
    ["MCM's, of another role", (tags) => asOfMcm(tags).delete("kubernetes.io/role/node")],
    ["without tags", (tags) => tags.clear()],
  ])("keeps a VM that is %s, with PermissionDenied", async (_, change) => {
    const { ec2, driver } = await aCloud();
    const { providerId } = await driver.createMachine(aRequest(), aContext());
    for (const { tags } of ec2.world.instances.values()) change(tags);
    await expect(driver.deleteMachine(aRequest(aMachine("m", { providerId })), aContext())).rejects.toMatchObject({
      code: "PermissionDenied",
      message: expect.stringContaining("kept"),
    });
    await driver.deleteMachine(aRequest(), aContext());
    expect(ec2.inventory().instances).toHaveLength(1);
    expect(ec2.log.count("TerminateInstances")).toBe(0);
  });

  it("deletes the VM that MCM's driver has made, which has no tags of ours", async () => {
    const { ec2, driver } = await aCloud();
    const { providerId } = await driver.createMachine(aRequest(), aContext());
    for (const { tags } of ec2.world.instances.values()) asOfMcm(tags);
    await driver.deleteMachine(aRequest(aMachine("m", { providerId })), aContext());
    expect(ec2.inventory().instances).toEqual([]);
  });

  it("deletes only the VM with the id where a machine has several", async () => {
    const { ec2, driver } = await aCloud();
    const { providerId } = await driver.createMachine(aRequest(), aContext());
    const [first] = ec2.world.instances.values();
    if (first === undefined) throw new Error("there is no VM");
    ec2.world.instances.set("i-0000000000000000f", { ...first, id: "i-0000000000000000f", sequence: 99 });
    await driver.deleteMachine(aRequest(aMachine("m", { providerId })), aContext());
    expect(ec2.inventory().instances.map(({ id }) => id)).toEqual(["i-0000000000000000f"]);
    await driver.deleteMachine(aRequest(), aContext());
    expect(ec2.inventory().instances).toEqual([]);
  });

  it("looks where the VM is, not where its class points to by now", async () => {
    const { ec2, driver } = await aCloud();
    const { providerId } = await driver.createMachine(aRequest(), aContext());
    await driver.deleteMachine(aRequest(aMachine("m", { providerId }), { region: "us-east-1" }), aContext());
    expect(ec2.inventory().instances).toEqual([]);
  });

  it.each(["aws:///eu-west-1/vm-1", "nonsense", "gce:///p/z/i-1x"])(
    "refuses the provider id %s",
    async (providerId) => {
      const { driver } = await aCloud();
      await expect(driver.deleteMachine(aRequest(aMachine("m", { providerId })), aContext())).rejects.toMatchObject({
        code: "InvalidArgument",
      });
    },
  );

  it("names the remedy for termination protection", async () => {
    const { ec2, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    const refusal = { code: "OperationNotPermitted", message: "The instance may not be terminated." };
    ec2.faults.add({ operation: "TerminateInstances", end: { kind: "refuse", refusal } });
    await expect(driver.deleteMachine(aRequest(), aContext())).rejects.toMatchObject({
      code: "FailedPrecondition",
      message: expect.stringContaining("termination protection"),
    });
  });

  it("is pending when the VM takes longer than a call waits, and goes on with the next call", async () => {
    const { ec2, url, driver } = await aCloud({ shutdownMs: 3_600_000 });
    const { providerId } = await driver.createMachine(aRequest(), aContext());
    const request = aRequest(aMachine("m", { providerId }));
    const clock = createSkippingClock();
    // Time passes while nothing happens.
    const sleep = async (ms: number): Promise<void> => clock.skip(ms);
    const context = { ...aContext(), clock: { ...clock, sleep } };
    const deleting = createAwsDriver({ endpoint: url });
    const [vm = never()] = ec2.world.instances.values();
    await expect(deleting.deleteMachine(request, context)).resolves.toEqual({
      pending: { message: expect.stringContaining(`VM ${vm.id} is shutting down in eu-west-1`), checkAfterMs: 15_000 },
    });
    vm.terminatedAtMs = ec2.world.nowMs() - 3_600_000;
    await expect(deleting.deleteMachine(request, context)).resolves.toEqual({ vm: "ended" });
    expect(ec2.inventory().instances).toEqual([]);
  });

  it("stops waiting when the deadline has passed, and goes on the next time", async () => {
    const { ec2, driver } = await aCloud({ shutdownMs: 60_000 });
    const { providerId } = await driver.createMachine(aRequest(), aContext());
    const request = aRequest(aMachine("m", { providerId }));
    await expect(driver.deleteMachine(request, aContext(AbortSignal.timeout(100)))).rejects.toMatchObject({
      code: "DeadlineExceeded",
    });
    for (const vm of ec2.world.instances.values()) vm.terminatedAtMs = ec2.world.nowMs() - 60_000;
    await driver.deleteMachine(request, aContext());
    expect(ec2.inventory().instances).toEqual([]);
  });
});

/** Takes away what MCM's driver does not write. */
function asOfMcm(tags: Map<string, string>): Map<string, string> {
  for (const key of tags.keys()) if (key.startsWith("millwright.dev/")) tags.delete(key);
  return tags;
}

const never = (): never => {
  throw new Error("there is no VM");
};

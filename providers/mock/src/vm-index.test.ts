import { secretOf } from "@millwright/core/testing";
import { Secret } from "@millwright/core";
import { describe, expect, it, onTestFinished } from "vitest";
import { createCloudServer } from "./cloud-server.ts";
import { createMockDriver } from "./driver.ts";
import { clusterTags } from "./owner-tags.ts";
import { aContext, aSpec, aVm, canary } from "./testing/mock-cloud.ts";
import { aStillCloud } from "./testing/still-cloud.ts";
import { createVmIndex } from "./vm-index.ts";
import type { VmRecord } from "./vm-record.ts";
import type { Vm } from "./vm.ts";

const count = 10_000;

const vmOf = (name: string, tags: Vm["tags"], state: Vm["state"] = "running"): Vm => ({
  id: `i-${name}`,
  name,
  providerId: `mock:///local/i-${name}`,
  nodeName: name,
  state,
  stateReason: "",
  machineType: "small",
  capacity: { cpu: "1", memory: "1Gi" },
  region: "local",
  zone: "local-a",
  image: "simulated",
  labels: {},
  taints: [],
  tags,
  volumes: [],
  addresses: [],
  createdAt: "2026-01-01T00:00:00Z",
  bootDelayMs: 0,
  userDataBytes: 0,
  revision: 1,
});

const recordOf = (vm: Vm): VmRecord => ({ token: `token-${vm.name}`, fingerprint: "", userData: new Uint8Array(), vm });

describe(`an index of ${count} VMs`, () => {
  /** Records that count how often their VM is looked at. */
  const countingIndex = () => {
    let looks = 0;
    const names = Array.from({ length: count }, (_, index) => `m-${index}`);
    const index = createVmIndex(new Map());
    for (const name of names) {
      const vm = vmOf(name, { cluster: "one", machine: name });
      index.put(Object.defineProperty({ ...recordOf(vm) }, "vm", { get: () => (looks++, vm) }));
    }
    const looksOf = (act: () => unknown): number => {
      looks = 0;
      act();
      return looks;
    };
    return { index, looksOf };
  };

  it("looks at the VMs that it finds and no others", () => {
    const { index, looksOf } = countingIndex();
    expect(looksOf(() => expect(index.withName("m-77")).toHaveLength(1))).toBeLessThanOrEqual(2);
    expect(looksOf(() => expect(index.withToken("token-m-77")).toHaveLength(1))).toBeLessThanOrEqual(2);
    expect(looksOf(() => expect(index.withProviderId("mock:///local/i-m-77")).toBeDefined())).toBeLessThanOrEqual(2);
    const tags = { cluster: "one", machine: "m-77" };
    expect(looksOf(() => expect(index.withTags(tags)).toHaveLength(1))).toBeLessThanOrEqual(4);
    expect(looksOf(() => expect(index.withTags({ cluster: "two" })).toEqual([]))).toBe(0);
    expect(looksOf(() => expect(index.existing).toBe(count))).toBe(0);
  });

  it("looks at each VM a bounded number of times for a list of all", () => {
    const { index, looksOf } = countingIndex();
    expect(looksOf(() => expect(index.withTags({ cluster: "one" })).toHaveLength(count))).toBeLessThanOrEqual(
      2 * count,
    );
  });
});

describe("an index of VMs", () => {
  const namesWith = (index: ReturnType<typeof createVmIndex>, tags: Vm["tags"]): readonly string[] =>
    index.withTags(tags).map(({ vm }) => vm.name);

  it("follows changed tags and states, and forgets VMs", () => {
    const index = createVmIndex(new Map([["i-a", recordOf(vmOf("a", { cluster: "one" }))]]));
    index.put(recordOf(vmOf("b", { cluster: "one" })));
    expect([namesWith(index, { cluster: "one" }), index.existing]).toEqual([["a", "b"], 2]);
    index.put(recordOf(vmOf("a", { cluster: "two" })));
    expect([namesWith(index, { cluster: "one" }), namesWith(index, { cluster: "two" })]).toEqual([["b"], ["a"]]);
    const [b] = index.withName("b");
    if (b !== undefined) index.put({ ...b, vm: { ...b.vm, state: "terminated" } });
    expect([namesWith(index, { cluster: "one" }), index.existing]).toEqual([["b"], 1]);
    index.delete("i-b");
    index.delete("i-a");
    expect([namesWith(index, {}), index.withToken("token-b"), index.existing]).toEqual([[], [], 0]);
  });
});

it(`lists ${count} VMs in one call`, { timeout: 120_000 }, async () => {
  const { cloud } = aStillCloud();
  const server = createCloudServer(cloud, { token: Secret.of(canary) });
  const { url } = await server.listen();
  onTestFinished(async () => {
    cloud.close();
    await server.close();
  });
  const tags = clusterTags("default");
  for (let index = 0; index < count; index++) await cloud.createVm(aVm(`m-${index}`, { tags }));
  const secret = secretOf({ endpoint: url, token: canary });
  const machineClass = { name: "pool", spec: aSpec() };
  const listed = await createMockDriver().listMachines?.({ machineClass, secret }, aContext());
  expect(new Set(listed?.machines.map(({ providerId }) => providerId)).size).toBe(count);
  expect((await cloud.countCalls()).list).toBe(1);
});

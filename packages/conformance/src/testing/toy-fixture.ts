import { systemClock } from "@millwright/base";
import type { Driver } from "@millwright/core";
import type { FixtureFactory, ProviderClass } from "../session/fixture.ts";
import { startToyCloud, stateOf, type ToyVm, type ToyWorld } from "./toy-cloud.ts";
import { createToyDriver, type ToyChange } from "./toy-driver.ts";
import { type ToySpec, tagKeys } from "./toy-steps.ts";

const classOf = (more: object = {}): ProviderClass => ({ providerSpec: { image: "linux", ...more } });

const nowMs = (): number => systemClock.monotonicMs();

/** VMs that have not ended. */
const liveVms = (world: ToyWorld): readonly ToyVm[] =>
  [...world.vms.values()].filter((vm) => !["terminated", undefined].includes(stateOf(world, vm, nowMs())));

function stagesOf({ world, nextId }: Awaited<ReturnType<typeof startToyCloud>>) {
  const vmOf = (machine: string): ToyVm => {
    const vm = liveVms(world).find(({ name }) => name === machine);
    if (vm === undefined) throw new Error(`the toy cloud has no VM of ${machine}`);
    return vm;
  };
  const add = (vm: Omit<ToyVm, "id">): ToyVm => {
    const added = { ...vm, id: `vm-${nextId()}` };
    world.vms.set(added.id, added);
    return added;
  };
  const plain = { token: "", image: "linux", size: "small", disk: "", userData: "", bootedAtMs: 0, tags: {} };
  const removing = (...vms: readonly ToyVm[]) => ({
    end: () => {
      for (const { id } of vms) world.vms.delete(id);
    },
  });
  return {
    async vmOfOtherOwner(name: string) {
      const vm = add({ ...plain, name, token: `other-${name}` });
      return { providerId: `toy:///${vm.id}`, ...removing(vm) };
    },
    secondVm: async (name: string) => removing(add({ ...vmOf(name), token: `second-${name}` })),
    async manyVms(count: number) {
      const tags = { [tagKeys.cluster]: "toy", [tagKeys.namespace]: "many", [tagKeys.uid]: "" };
      const names = Array.from({ length: count }, (_, index) => `many-${index}`);
      return removing(
        ...names.map((name) => add({ ...plain, name, token: name, tags: { ...tags, [tagKeys.machine]: name } })),
      );
    },
    async slowDeletion() {
      world.isSlow = true;
      return { end: () => void (world.isSlow = false) };
    },
    async quotaExhausted() {
      world.hasQuota = false;
      return { end: () => void (world.hasQuota = true) };
    },
    async terminationProtection(name: string) {
      const vm = vmOf(name);
      vm.isProtected = true;
      return { end: () => void (vm.isProtected = false) };
    },
    async attachedVolume(name: string) {
      const id = `disk-${nextId()}`;
      world.disks.set(id, { id, token: "", machine: name, vm: vmOf(name).id });
      return { exists: () => world.disks.has(id), end: () => void world.disks.delete(id) };
    },
    removeVmOnly: async (name: string) => void world.vms.delete(vmOf(name).id),
  };
}

/** The toy cloud for the suite, with a driver that may be broken. */
export const toyFixture =
  (
    change: ToyChange = {},
    onCreate: (driver: Driver<ToySpec>, url: string) => void = () => undefined,
  ): FixtureFactory =>
  async () => {
    const cloud = await startToyCloud(nowMs);
    const { world, url } = cloud;
    let token = "toy-token-first-123456";
    const driver = createToyDriver(url, change);
    return {
      driver,
      machineClass: classOf(),
      secret: { token },
      createDriver: () => {
        onCreate(driver, url);
        return createToyDriver(url, change);
      },
      otherClass: classOf({ image: "other" }),
      pendingClass: classOf({ bootMs: 60 }),
      otherClusterClass: classOf({ cluster: "other" }),
      missingReferences: { image: classOf({ image: "none" }) },
      withTags: (tags) => classOf({ tags }),
      rejectedSecret: { token: "toy-token-wrong-123456" },
      rotateSecret() {
        world.accessTokens.delete(token);
        token = "toy-token-second-123456";
        world.accessTokens.add(token);
        return { token };
      },
      endpoint: { url, through: (endpoint) => ({ driver: createToyDriver(endpoint, change), secret: { token } }) },
      ownVolume: { spec: { csi: { driver: "toy.csi.example", volumeHandle: "v-1" } }, id: "v-1" },
      inventory: () =>
        liveVms(world).map(({ id, name, tags, userData }) => ({
          id,
          machineName: name,
          tags,
          userData: Buffer.from(userData, "base64"),
        })),
      nodesOf(machineName) {
        const vm = liveVms(world).find(({ name }) => name === machineName);
        const node = { name: machineName, systemUuid: "", addresses: [] };
        return { "zonal id": { ...node, providerId: `toy://toy-a/${vm?.id}` } };
      },
      resources: () => [...liveVms(world).map(({ id }) => id), ...world.disks.keys()],
      stage: stagesOf(cloud),
      close: cloud.close,
    };
  };

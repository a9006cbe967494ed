import { defineFixture, type ProviderClass } from "@millwright/conformance";
import { type Clock, Secret, systemClock } from "@millwright/core";
import { createCloudServer } from "../cloud-server.ts";
import { createMockDriver, mockCsiDriver } from "../driver.ts";
import { ownerTagKeys } from "../owner-tags.ts";
import { createSimulatedCloud, type SimulatedCloud } from "../simulated-cloud.ts";
import type { Vm } from "../vm.ts";

const slowTimes = 400;

/** The system's clock, whose timers can be made slower. */
function createSlowableClock(): Clock & { slow: boolean } {
  const clock = {
    ...systemClock,
    slow: false,
    setTimer: (ms: number, run: () => void) => systemClock.setTimer(clock.slow ? ms * slowTimes : ms, run),
  };
  return clock;
}

const classOf = (more: object = {}): ProviderClass => ({ providerSpec: { machineType: "small", ...more } });

/** An unmanaged copy of a VM. */
const copyOf = (vm: Pick<Vm, "region" | "zone" | "image">, name: string, tags: Vm["tags"]) => ({
  name,
  token: `token-of-${name}`.replaceAll(/[^A-Za-z0-9-]/g, "-").slice(0, 64),
  machineType: "small" as const,
  region: vm.region,
  zone: vm.zone,
  image: vm.image,
  tags,
});

const named = (cloud: SimulatedCloud, machineName: string): Vm => {
  const vm = cloud.vms().find(({ tags }) => tags[ownerTagKeys.machineName] === machineName);
  if (vm === undefined) throw new Error(`the simulated cloud has no VM of ${machineName}`);
  return vm;
};

/** The states that only the cloud can reach. */
function stagesOf(cloud: SimulatedCloud, clock: { slow: boolean }) {
  return {
    async vmOfOtherOwner(machineName: string) {
      const place = { region: "local", zone: "local-a", image: "simulated" };
      const { id, providerId } = await cloud.createVm(copyOf(place, machineName, {}));
      return { providerId, end: async () => void (await cloud.powerVm(id, "kill")) };
    },
    async secondVm(machineName: string) {
      const first = named(cloud, machineName);
      const { id } = await cloud.createVm(copyOf(first, `${machineName}-second`, first.tags));
      return { end: async () => void (await cloud.powerVm(id, "kill")) };
    },
    slowDeletion() {
      clock.slow = true;
      return Promise.resolve({ end: () => void (clock.slow = false) });
    },
    async quotaExhausted() {
      await cloud.addFault({ operation: "create", code: "ResourceExhausted", times: 1_000 });
      return { end: () => cloud.clearFaults() };
    },
  };
}

/** A simulated cloud behind its server, for the conformance suite. */
export default defineFixture(async () => {
  const clock = createSlowableClock();
  const cloud = createSimulatedCloud({ clock, bootDelayMs: 10, deleteDelayMs: 1 });
  let token = "mock-token-first-0123456789";
  const server = createCloudServer(cloud, { token: () => Secret.of(token) });
  const { url } = await server.listen();
  return {
    driver: createMockDriver(),
    machineClass: classOf(),
    secret: { endpoint: url, token },
    publicSecretKeys: ["endpoint"],
    lacks: {
      pages: "lists are not paginated",
      parts: "a VM has no other resources",
      dataVolumes: "there are no volumes",
      terminationProtection: "VMs cannot be protected",
      references: "the class names nothing that can be missing",
      classTags: "the class has labels of nodes only",
    },
    createDriver: () => createMockDriver(),
    otherClass: classOf({ image: "other" }),
    otherClusterClass: classOf({ cluster: "other" }),
    pendingClass: classOf({ bootDelay: "300ms", checkAfter: "150ms" }),
    ownVolume: { spec: { csi: { driver: mockCsiDriver, volumeHandle: "vol-7" } }, id: "vol-7" },
    maxUserDataBytes: 256 * 1_024,
    rejectedSecret: { endpoint: url, token: "mock-token-wrong-0123456789" },
    rotateSecret() {
      token = "mock-token-second-0123456789";
      return { endpoint: url, token };
    },
    endpoint: { url, through: (endpoint: string) => ({ secret: { endpoint, token }, driver: createMockDriver() }) },
    inventory: () =>
      Promise.all(
        cloud.vms().map(async ({ id, name, tags, state }) => ({
          id,
          machineName: tags[ownerTagKeys.machineName] ?? name,
          tags,
          ...(state === "terminating" ? {} : { userData: await cloud.readUserData(id) }),
        })),
      ),
    nodesOf(machineName) {
      const { providerId } = named(cloud, machineName);
      const node = { name: machineName, providerId, systemUuid: "", addresses: [] };
      return {
        "id of the Machine": node,
        "zonal id": { ...node, providerId: providerId.replace("mock:///", "mock://zone/") },
      };
    },
    resources: () => cloud.vms().map(({ id }) => id),
    stage: stagesOf(cloud, clock),
    async close() {
      cloud.close();
      await server.close();
    },
  };
});

import { systemClock, systemRandom } from "@millwright/base";
import {
  machineClassResource,
  machineDeploymentResource,
  type Machine,
  machineResource,
} from "@millwright/core/machine-api";
import { type ApiServer, createApiServer, type Fault } from "@millwright/devcluster";
import {
  createApiClient,
  createInformer,
  leaseResource,
  loadKubeConfig,
  namespaceResource,
  nodeResource,
  persistentVolumeResource,
  podResource,
  secretResource,
} from "@millwright/kube";
import { createManager, loadDriver } from "@millwright/runtime";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Installation, machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";

/** Replicas: enough for bursts, and as few as may always be deleted at once. */
const FLEET = 10;

const userAgent = "manager-under-test";

/** Limits a fault to the manager, so that the test observes the real state. */
const strike = (fault: Fault): Fault => ({ ...fault, match: { ...fault.match, userAgent } });

const writes = ["create", "patch", "delete"];

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Faults of an API server, each active during the whole life of a fleet. */
const serverFaults: readonly (readonly [string, (server: ApiServer) => () => void])[] = [
  [
    "watches end with an error every few events",
    withFaults({ effect: { kind: "watch-error", code: 500 }, probability: 0.04 }),
  ],
  ["watches end with 410 repeatedly", withFaults({ effect: { kind: "watch-error", code: 410 }, probability: 0.04 })],
  [
    "watch events are duplicated, split or truncated",
    withFaults(
      { effect: { kind: "duplicate" }, probability: 0.5 },
      { effect: { kind: "pieces", count: 3 }, probability: 0.3 },
      { effect: { kind: "truncate" }, probability: 0.04 },
    ),
  ],
  [
    "writes fail with 409, 429 and 503",
    // Each failure doubles the wait of a machine: where four of ten fail, eight in a row are not rare, and take two minutes.
    withFaults(
      { match: { verbs: writes }, effect: { kind: "status", code: 409 }, probability: 0.15 },
      { match: { verbs: writes }, effect: { kind: "status", code: 429, retryAfterSeconds: 1 }, probability: 0.05 },
      { match: { verbs: writes }, effect: { kind: "status", code: 503 }, probability: 0.05 },
    ),
  ],
  [
    "connections are reset after patches and deletions succeeded",
    withFaults({
      match: { verbs: ["patch", "delete"] },
      effect: { kind: "reset", when: "after" },
      probability: 0.3,
    }),
  ],
];

/** Restarts the server repeatedly for `ms`. At the end it is up. */
async function restartFor(server: ApiServer, ms: number): Promise<void> {
  const until = performance.now() + ms;
  while (performance.now() < until) {
    await pause(400);
    await server.restart({ downMs: 200 });
  }
}

function withFaults(...faults: readonly Fault[]): (server: ApiServer) => () => void {
  return (server) => {
    for (const fault of faults) server.faults.add(strike(fault));
    return () => server.faults.clear();
  };
}

describe("a fleet while the API server fails", () => {
  let installation: Installation;
  let stopManager: () => Promise<void>;
  let mostVms = 0;

  beforeEach(async () => {
    installation = await startInstallation();
    mostVms = 0;
    installation.cloud.subscribe(() => {
      mostVms = Math.max(mostVms, installation.cloud.vms().length);
    });
    await installation.api.create(machineClassResource, machineClass("small"));
    const api = createApiClient(await loadKubeConfig({ file: installation.controllersKubeconfig }), { userAgent });
    const stop = new AbortController();
    const ended = createManager({
      control: api,
      target: api,
      namespace: "default",
      drivers: [await loadDriver("mock")],
      clock: systemClock,
    }).start(stop.signal);
    stopManager = async () => {
      stop.abort(new Error("the test ends"));
      await ended;
      await api.close();
    };
  });

  afterEach(async () => {
    await stopManager();
    await installation.close();
  });

  const running = async (): Promise<number> => {
    const { items } = await installation.api.list<Machine>(machineResource, { namespace: "default" });
    return items.filter(({ status }) => status?.currentStatus?.phase === "Running").length;
  };

  it.each(serverFaults)("has one VM per machine, and deletes all of them, while %s", async (_, begin) => {
    const end = begin(installation.server);
    await installation.api.create(machineDeploymentResource, machineDeployment("fleet", "small", FLEET));
    await eventually(async () => expect(await running()).toBe(FLEET), 100_000);
    expect(installation.cloud.vms()).toHaveLength(FLEET);
    await eventually(() => installation.api.delete(machineDeploymentResource, { namespace: "default", name: "fleet" }));
    await eventually(async () => {
      const { items } = await installation.api.list(machineDeploymentResource, { namespace: "default" });
      expect(items).toEqual([]);
    }, 100_000);
    end();
    expect(installation.cloud.vms()).toEqual([]);
    expect((await installation.api.list(nodeResource)).items).toEqual([]);
    expect(mostVms).toBe(FLEET);
  });

  it("never exceeds the desired VMs while the server restarts repeatedly, and converges once it stays up", async () => {
    const { api, cloud, server } = installation;
    const created = restartFor(server, 12_000);
    await eventually(() => api.create(machineDeploymentResource, machineDeployment("fleet", "small", FLEET)));
    // Progress meanwhile depends on the computer and is not checked.
    await created;
    await eventually(async () => expect(await running()).toBe(FLEET), 120_000);
    expect(cloud.vms()).toHaveLength(FLEET);
    const deleted = restartFor(server, 12_000);
    await eventually(() => api.delete(machineDeploymentResource, { namespace: "default", name: "fleet" }));
    await deleted;
    await eventually(async () => {
      expect((await api.list(machineDeploymentResource, { namespace: "default" })).items).toEqual([]);
    }, 60_000);
    expect(cloud.vms()).toEqual([]);
    expect((await api.list(nodeResource)).items).toEqual([]);
    expect(mostVms).toBe(FLEET);
  });

  it("deletes no VM when the server loses all objects, and continues when they are recreated", async () => {
    await installation.api.create(machineDeploymentResource, machineDeployment("fleet", "small", 3));
    await eventually(async () => expect(await running()).toBe(3));
    // The roles are lost, too. With them the controllers see empty lists, and kinds that are not served.
    installation.expectForbidden(/./);
    await installation.server.restart({ keepData: false });
    await installation.grantNamespace("default");
    await pause(3_000);
    expect(installation.cloud.vms()).toHaveLength(3);
    expect(installation.cloud.calls.filter(({ operation }) => operation === "delete")).toEqual([]);
    await installation.declareKinds();
    await installation.api.create(machineClassResource, machineClass("small"));
    await installation.api.create(machineDeploymentResource, machineDeployment("other", "small", 2));
    await eventually(async () => expect(await running()).toBe(2), 100_000);
    expect(installation.cloud.vms()).toHaveLength(5);
  });
});

describe("the caches of one process", () => {
  it("are all up to date with one more list at most within 15 s after the server was down for half a minute", async () => {
    const server = createApiServer();
    const { url } = await server.listen();
    const api = createApiClient({ server: url });
    const stop = new AbortController();
    const kinds = [
      nodeResource,
      podResource,
      secretResource,
      leaseResource,
      namespaceResource,
      persistentVolumeResource,
    ];
    // A cache without objects has no other proof than a list that the server was not restored.
    for (const type of kinds)
      await api.create(type, {
        metadata: { name: "old", ...(type.namespaced ? { namespace: "default" } : {}) },
        spec: {
          containers: [{ name: "any", image: "any" }],
          accessModes: ["ReadWriteOnce"],
          capacity: { storage: "1Gi" },
          hostPath: { path: "/any" },
        },
      });
    const caches = kinds.map((type) => createInformer({ api, type, clock: systemClock, random: systemRandom }));
    const running = Promise.all(caches.map((cache) => cache.run(stop.signal)));
    await Promise.all(caches.map((cache) => cache.synced()));
    // By then every backoff has reached its maximum.
    await server.restart({ downMs: 30_000 });
    await api.create(namespaceResource, { metadata: { name: "new" } });
    await eventually(async () => {
      expect(caches.filter((cache) => cache.connectivity.lostForMs() > 0)).toEqual([]);
      expect(caches.flatMap((cache) => cache.store.get("new") ?? [])).toHaveLength(1);
    }, 15_000);
    for (const { counts } of caches) {
      // A server that started again has no events from before to continue a proven watch with.
      expect(counts().lists).toBeLessThanOrEqual(2);
      expect(counts().watches).toBeLessThan(20);
    }
    stop.abort(new Error("the test ends"));
    await running;
    await api.close();
    await server.close();
  });
});

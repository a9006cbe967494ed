import {
  machineClassResource,
  machineDeploymentResource,
  type Machine,
  machineResource,
  systemClock,
} from "@millwright/core";
import type { ApiServer, Fault } from "@millwright/devcluster";
import { createApiClient, nodeResource } from "@millwright/kube";
import { createManager, loadDriver } from "@millwright/runtime";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Installation, machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";

/** Machines of the fleet: enough for bursts, few enough to be quick. */
const FLEET = 12;

const userAgent = "manager-under-test";

/** Only the manager suffers; the test sees the truth. */
const strike = (fault: Fault): Fault => ({ ...fault, match: { ...fault.match, userAgent } });

const writes = ["create", "patch", "delete"];

/** Troubles of an API server (shared/reference numbers of fault-scenarios: 2, 5, 6, 9, 13, 14, 15, 19), each kept up through a whole life of a fleet. */
const troubles: readonly (readonly [string, (server: ApiServer) => () => void])[] = [
  [
    "watches end with an error every few events",
    withFaults({ effect: { kind: "watch-error", code: 500 }, probability: 0.04 }),
  ],
  ["watches say 410 again and again", withFaults({ effect: { kind: "watch-error", code: 410 }, probability: 0.04 })],
  [
    "lines of watches come twice, in pieces, or cut off",
    withFaults(
      { effect: { kind: "duplicate" }, probability: 0.5 },
      { effect: { kind: "pieces", count: 3 }, probability: 0.3 },
      { effect: { kind: "truncate" }, probability: 0.04 },
    ),
  ],
  [
    "writes are refused with 409, 429 and 503",
    withFaults(
      { match: { verbs: writes }, effect: { kind: "status", code: 409 }, probability: 0.2 },
      { match: { verbs: writes }, effect: { kind: "status", code: 429, retryAfterSeconds: 1 }, probability: 0.1 },
      { match: { verbs: writes }, effect: { kind: "status", code: 503 }, probability: 0.1 },
    ),
  ],
  [
    "connections are reset after patches and deletions were carried out",
    withFaults({
      match: { verbs: ["patch", "delete"] },
      effect: { kind: "reset", when: "after" },
      probability: 0.3,
    }),
  ],
  [
    "the server restarts again and again",
    (server) => {
      const stop = new AbortController();
      void (async () => {
        while (!stop.signal.aborted) {
          await new Promise((resolve) => setTimeout(resolve, 400));
          if (!stop.signal.aborted) await server.restart({ downMs: 200 });
        }
      })();
      return () => stop.abort();
    },
  ],
];

function withFaults(...faults: readonly Fault[]): (server: ApiServer) => () => void {
  return (server) => {
    for (const fault of faults) server.faults.add(strike(fault));
    return () => server.faults.clear();
  };
}

describe("a fleet under an API server in trouble", () => {
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
    const api = createApiClient({ server: installation.url }, { userAgent });
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

  it.each(troubles)("has one VM for each machine, and leaves none behind, while %s", async (_, begin) => {
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

  it("deletes no VM when all objects vanish with the data of the server, and goes on when they are back", async () => {
    await installation.api.create(machineDeploymentResource, machineDeployment("fleet", "small", 3));
    await eventually(async () => expect(await running()).toBe(3));
    await installation.server.restart({ keepData: false });
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(installation.cloud.vms()).toHaveLength(3);
    expect(installation.cloud.calls.filter(({ operation }) => operation === "delete")).toEqual([]);
    await installation.declareKinds();
    await installation.api.create(machineClassResource, machineClass("small"));
    await installation.api.create(machineDeploymentResource, machineDeployment("other", "small", 2));
    await eventually(async () => expect(await running()).toBe(2), 100_000);
    expect(installation.cloud.vms()).toHaveLength(5);
  });
});

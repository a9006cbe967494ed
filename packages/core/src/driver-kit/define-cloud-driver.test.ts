import { describe, expect, it } from "vitest";
import * as z from "zod";
import { createVirtualClock } from "@millwright/base/testing";
import { Secret } from "@millwright/base";
import type { ApiCall } from "../driver/api-call.ts";
import { isMachineError, MachineError } from "../driver/machine-error.ts";
import { aContext, aMachine, failureOf, secretOf } from "../testing/driver-call.ts";
import { defineCloudDriver } from "./define-cloud-driver.ts";

const spec = z.strictObject({ zone: z.string(), tags: z.record(z.string(), z.string()).default({}) });
type TinySpec = z.infer<typeof spec>;

/** A cloud that keeps VMs in memory. What it throws is not of the driver contract. */
function aTinyCloud() {
  const vms = new Set<string>();
  const opened: string[] = [];
  const closed: string[] = [];
  const clock = createVirtualClock();
  const driver = defineCloudDriver(
    {
      name: "tiny",
      spec,
      credentialsOf: (secret) => ({ token: secret["token"]?.reveal() ?? "" }),
      placeOf: ({ machineClass }) => machineClass.spec.zone,
      openSession: (zone, { token }, { reportApiCall }) => {
        opened.push(`${zone} ${token}`);
        const request = (service: string) => reportApiCall({ service, outcome: "ok", seconds: 1 });
        return { zone, request, close: () => void closed.push(`${zone} ${token}`) };
      },
      clusterKeysOf: ({ tags }: TinySpec) => ({ cluster: tags["cluster"] ?? "", role: tags["role"] ?? "" }),
      async createMachine({ machine }, { session, keys, launches }) {
        session.request("vm_create");
        if (vms.has(machine.name)) throw new Error("name taken");
        launches.asked(machine);
        vms.add(machine.name);
        return { providerId: `tiny:///${session.zone}/${keys.cluster}/${machine.name}`, nodeName: machine.name };
      },
      async deleteMachine({ machine }) {
        vms.delete(machine.name);
        return {};
      },
      async getMachineStatus({ machine }, { launches, pollTimes }) {
        if (vms.has(machine.name)) return { providerId: "tiny:///a", nodeName: machine.name };
        const hint = launches.mayBeHidden(machine) ? `may show up within ${pollTimes.visibleMs} ms` : "does not exist";
        throw new MachineError("NotFound", `VM ${machine.name} ${hint}`);
      },
      volumeIdOf: ({ tiny }) => (typeof tiny === "string" ? tiny : undefined),
      toMachineError: (error, signal, attempt) =>
        isMachineError(error)
          ? error
          : new MachineError(signal.aborted ? "Aborted" : "Unavailable", `${attempt}: ${String(error)}`),
      requestIdsOf: ({ code }) => (code === "Unavailable" ? { requestId: "r-1" } : {}),
    },
    { clock, pollTimes: { visibleMs: 60_000 } },
  );
  return { driver, opened, closed };
}

const aRequest = (name = "m", { token = "t1", className = "pool", zone = "z1" } = {}) => ({
  machine: aMachine(name),
  machineClass: { name: className, spec: { zone, tags: { cluster: "shoot", role: "node" } } },
  secret: secretOf({ token }),
  idempotencyToken: "i",
  userData: Secret.of(""),
});

describe("defineCloudDriver", () => {
  it("gives each method the session of its place and credentials, and opens it once", async () => {
    const { driver, opened, closed } = aTinyCloud();
    await expect(driver.createMachine(aRequest("a"), aContext())).resolves.toEqual({
      providerId: "tiny:///z1/shoot/a",
      nodeName: "a",
    });
    await driver.createMachine(aRequest("b"), aContext());
    await driver.createMachine(aRequest("c", { className: "other", zone: "z2" }), aContext());
    expect(opened).toEqual(["z1 t1", "z2 t1"]);
    await driver.createMachine(aRequest("d", { token: "t2" }), aContext());
    expect(opened.slice(2)).toEqual(["z1 t2"]);
    expect(closed).toEqual(["z1 t1"]);
  });

  it("has the capabilities of the methods that are there", () => {
    expect(aTinyCloud().driver.capabilities).toEqual({
      listMachines: false,
      initializeMachine: false,
      volumeIds: true,
      drift: false,
      nodeTemplate: false,
      classChecks: false,
    });
  });

  it("translates volumes one by one", async () => {
    const answer = await aTinyCloud().driver.getVolumeIds({ volumes: [{ tiny: "v1" }, { csi: {} }] }, aContext());
    expect(answer).toEqual({ volumeIds: ["v1", undefined] });
  });

  it("turns what a method threw into an error of the contract that names the attempt, and logs the request ids", async () => {
    const { driver } = aTinyCloud();
    const context = aContext();
    await driver.createMachine(aRequest(), context);
    expect(await failureOf(driver.createMachine(aRequest(), context))).toMatchObject({
      code: "Unavailable",
      message: "creating the VM: Error: name taken",
    });
    expect(context.lines).toEqual(['warn The cloud rejected a request {"requestId":"r-1"}']);
  });

  it("does nothing once the signal has aborted", async () => {
    const { driver, opened } = aTinyCloud();
    const aborted = aContext(AbortSignal.abort());
    expect(await failureOf(driver.deleteMachine(aRequest(), aborted))).toMatchObject({ code: "Aborted" });
    expect(opened).toEqual([]);
  });

  it("reports requests to the context of the newest call", async () => {
    const { driver } = aTinyCloud();
    const calls: ApiCall[] = [];
    await driver.createMachine(aRequest("a"), aContext());
    await driver.createMachine(aRequest("b"), { ...aContext(), reportApiCall: (call) => void calls.push(call) });
    expect(calls).toEqual([{ service: "vm_create", outcome: "ok", seconds: 1 }]);
  });

  it("counts recent launches from the first call, by the clock of the call, and with the pollTimes of the driver", async () => {
    const { driver } = aTinyCloud();
    const clock = createVirtualClock();
    const context = { ...aContext(), clock };
    const status = (name: string) => failureOf(driver.getMachineStatus(aRequest(name), context));
    const hidden = { message: "VM a may show up within 60000 ms" };
    expect(await status("a")).toMatchObject(hidden);
    await clock.advance(60_000);
    expect(await status("a")).toMatchObject({ message: "VM a does not exist" });
    await driver.createMachine(aRequest("a"), context);
    await driver.deleteMachine(aRequest("a"), context);
    expect(await status("a")).toMatchObject(hidden);
  });
});

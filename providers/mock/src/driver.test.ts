import { createHash } from "node:crypto";
import {
  type ApiCall,
  type Clock,
  type CreateMachineRequest,
  type Driver,
  type DriverContext,
  type MachineIdentity,
  MachineError,
  Secret,
  type SecretData,
  isMachineError,
  systemClock,
} from "@millwright/core";
import { createVirtualClock, type VirtualClock } from "@millwright/core/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type CloudServer, createCloudServer } from "./cloud-server.ts";
import { createMockDriver } from "./driver.ts";
import defaultDriver, { type MockSpec, type SimulatedCloud, createSimulatedCloud, mockSpecSchema } from "./index.ts";
import { ownerTagKeys } from "./owner-tags.ts";

interface Subject {
  readonly driver: Driver<MockSpec>;
  readonly secret: SecretData;
}

const canary = "canary-c0ffee-token";
const bootDelayMs = 40;

const machineNamed = (name: string, given: Partial<MachineIdentity> = {}): MachineIdentity => ({
  name,
  namespace: "machines",
  uid: `uid-of-${name}`,
  ...given,
});

const specOf = (spec: object = {}): MockSpec => mockSpecSchema.parse({ machineType: "small", ...spec });

const context = (signal: AbortSignal = new AbortController().signal): DriverContext => ({
  signal,
  clock: systemClock,
  log: () => undefined,
});

const codeOf = async (call: Promise<unknown>): Promise<string> => {
  try {
    await call;
    return "OK";
  } catch (error) {
    return isMachineError(error) ? error.code : `not a MachineError: ${String(error)}`;
  }
};

describe.each(["in process", "over HTTP"] as const)("mock driver %s", (where) => {
  let cloud: SimulatedCloud;
  let server: CloudServer;
  let subject: Subject;

  const open = async (clock: Clock): Promise<void> => {
    cloud = createSimulatedCloud({ clock, bootDelayMs, deleteDelayMs: 60, maxVms: 40 });
    server = createCloudServer(cloud, { token: Secret.of(canary) });
    const { url } = await server.listen();
    subject =
      where === "in process"
        ? { driver: createMockDriver({ cloud }), secret: { userData: Secret.of("#!/bin/sh") } }
        : {
            driver: defaultDriver,
            secret: { endpoint: Secret.of(`${url}\n`), token: Secret.of(canary), userData: Secret.of("#!/bin/sh") },
          };
  };
  const close = async (): Promise<void> => {
    cloud.close();
    await server.close();
  };
  beforeEach(() => open(systemClock));
  afterEach(close);
  /** Another cloud, in which nothing happens before its clock goes on. */
  const standStill = async (): Promise<VirtualClock> => {
    await close();
    const clock = createVirtualClock();
    await open(clock);
    return clock;
  };

  const requestFor = (
    machine: MachineIdentity,
    spec: MockSpec = specOf(),
    userData: string | Uint8Array = "#!/bin/sh",
  ): CreateMachineRequest<MockSpec> => ({
    machine,
    machineClass: { name: "example", spec },
    secret: subject.secret,
    idempotencyToken: createHash("sha256").update(machine.uid).digest("hex"),
    userData: Secret.of(userData),
  });
  const create = (machine: MachineIdentity, spec?: MockSpec, userData?: string | Uint8Array) =>
    subject.driver.createMachine(requestFor(machine, spec, userData), context());
  const status = (machine: MachineIdentity) => subject.driver.getMachineStatus(requestFor(machine), context());
  const remove = (machine: MachineIdentity, signal?: AbortSignal) =>
    subject.driver.deleteMachine(requestFor(machine), context(signal));
  const list = (cluster: string) =>
    subject.driver.listMachines?.(
      { machineClass: { name: "x", spec: specOf({ cluster }) }, secret: subject.secret },
      context(),
    );
  const names = async (cluster: string): Promise<readonly string[] | undefined> =>
    (await list(cluster))?.machines.map((machine) => machine.machineName);
  const a = machineNamed("pool-a-1");

  describe("creating", () => {
    it("gives a provider id and a node name, and the VM is found and listed", async () => {
      const created = await create(a);
      expect(created.providerId).toMatch(/^mock:\/\/\/local\/i-[0-9a-f]{12}$/);
      expect(created.nodeName).toBe("pool-a-1");
      await expect(status(a)).resolves.toMatchObject(created);
      await expect(
        subject.driver.listMachines?.(
          { machineClass: { name: "example", spec: specOf() }, secret: subject.secret },
          context(),
        ),
      ).resolves.toEqual({
        machines: [{ providerId: created.providerId, machineName: "pool-a-1", machineUid: "uid-of-pool-a-1" }],
      });
    });

    it("answers the same request again with the same VM, also with renewed user data", async () => {
      const first = await create(a);
      await expect(create(a, specOf(), "#!/bin/sh with another token")).resolves.toEqual(first);
      expect(cloud.vms()).toHaveLength(1);
    });

    it("makes one VM out of twenty requests at once", async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => create(a)));
      expect(new Set(answers.map((answer) => answer.providerId)).size).toBe(1);
      expect(cloud.vms()).toHaveLength(1);
    });

    it("makes one VM when the reply was lost and the request comes again", async () => {
      await cloud.addFault({ operation: "create", code: "Unavailable", afterAcceptance: true });
      await expect(codeOf(create(a))).resolves.toBe("Unavailable");
      expect(cloud.vms()).toHaveLength(1);
      await create(a);
      expect(cloud.vms()).toHaveLength(1);
    });

    it("refuses another spec for the same machine and leaves its VM untouched", async () => {
      const { providerId } = await create(a);
      await expect(codeOf(create(a, specOf({ machineType: "large" })))).resolves.toBe("AlreadyExists");
      expect(cloud.vms()).toMatchObject([{ providerId, machineType: "small" }]);
    });

    it("refuses the name of an earlier machine whose VM is still there", async () => {
      await create(a);
      await expect(codeOf(create({ ...a, uid: "another" }))).resolves.toBe("AlreadyExists");
      expect(cloud.vms()).toHaveLength(1);
    });

    it("waits for a VM of the same machine that is still going", async () => {
      await create(a);
      await cloud.powerVm(a.name, "reclaim");
      await expect(codeOf(create(a))).resolves.toBe("Aborted");
      await expect(codeOf(create({ ...a, uid: "another" }))).resolves.toBe("Aborted");
      await cloud.powerVm(a.name, "kill");
      await create(a);
      expect(cloud.vms()).toHaveLength(1);
    });

    it("tags the VM with its owner from the first moment, whatever labels the spec has", async () => {
      await create(a, specOf({ labels: { [ownerTagKeys.cluster]: "stolen", tier: "web" }, cluster: "eu" }));
      expect(cloud.vms()[0]).toMatchObject({
        labels: { tier: "web" },
        tags: {
          [ownerTagKeys.managedBy]: "millwright",
          [ownerTagKeys.cluster]: "eu",
          [ownerTagKeys.namespace]: "machines",
          [ownerTagKeys.machineName]: "pool-a-1",
          [ownerTagKeys.machineUid]: "uid-of-pool-a-1",
          [ownerTagKeys.machineClass]: "example",
        },
      });
    });

    it.each<[string, Uint8Array]>([
      ["no byte", new Uint8Array()],
      ["binary and CRLF", Uint8Array.of(0, 255, 13, 10, 0, 254)],
      ["the largest size", new Uint8Array(256 * 1024).fill(7)],
    ])("delivers user data of %s byte for byte", async (_what, userData) => {
      await create(a, specOf(), userData);
      await expect(cloud.readUserData(a.name)).resolves.toEqual(userData);
    });

    it("refuses user data that is too large", async () => {
      await expect(codeOf(create(a, specOf(), new Uint8Array(256 * 1024 + 1)))).resolves.toBe("InvalidArgument");
    });

    it.each(["a", "a".repeat(253), "a.b-c.d"])("takes the machine name %s", async (name) => {
      await create(machineNamed(name));
      await expect(status(machineNamed(name))).resolves.toMatchObject({ nodeName: name });
    });

    it("reports a full quota as ResourceExhausted, with the delay that the cloud asks for", async () => {
      await cloud.addFault({
        operation: "create",
        code: "ResourceExhausted",
        message: "no small in a",
        retryAfterMs: 9000,
      });
      await expect(create(a)).rejects.toMatchObject({
        code: "ResourceExhausted",
        message: "no small in a",
        retryAfterMs: 9000,
      });
      await Promise.all(Array.from({ length: 40 }, (_, index) => create(machineNamed(`m-${index}`))));
      await expect(codeOf(create(a))).resolves.toBe("ResourceExhausted");
    });
  });

  describe("status", () => {
    it("answers NotFound for a machine without a VM", async () => {
      await expect(codeOf(status(a))).resolves.toBe("NotFound");
      await expect(codeOf(status({ ...a, providerId: "mock:///local/i-000000000000" }))).resolves.toBe("NotFound");
    });

    it("answers NotFound while the VM is going and when it is gone", async () => {
      await create(a);
      await cloud.deleteVm(a.name);
      await expect(codeOf(status(a))).resolves.toBe("NotFound");
    });

    it("does not take the VM of another cluster or another UID for its own", async () => {
      await create(a);
      const other = { ...a, uid: "other" };
      const elsewhere = requestFor(other, specOf({ cluster: "other" }));
      await expect(codeOf(subject.driver.getMachineStatus(elsewhere, context()))).resolves.toBe("NotFound");
      await expect(codeOf(status(other))).resolves.toBe("NotFound");
    });

    it("still knows its VM when its class was put into another cluster since", async () => {
      const { providerId } = await create(a);
      const moved = requestFor(a, specOf({ cluster: "other" }));
      await expect(subject.driver.getMachineStatus(moved, context())).resolves.toMatchObject({ providerId });
      await subject.driver.deleteMachine(moved, context());
      expect(cloud.vms()).toEqual([]);
    });

    it("answers OutOfRange with both ids when two VMs belong to one machine", async () => {
      const { providerId } = await create(a);
      const [vm] = cloud.vms();
      const twin = await cloud.createVm({
        name: a.name,
        token: "twin",
        machineType: "small",
        region: "local",
        zone: "z",
        image: "i",
        tags: vm?.tags ?? {},
      });
      await expect(status(a)).rejects.toMatchObject({ code: "OutOfRange" });
      await expect(status(a)).rejects.toThrow(providerId);
      await expect(status(a)).rejects.toThrow(twin.providerId);
    });

    it("is initialized after initializeMachine, as often as that is called", async () => {
      await create(a);
      await expect(status(a)).resolves.toMatchObject({ initialized: false });
      await subject.driver.initializeMachine?.(requestFor(a), context());
      await subject.driver.initializeMachine?.(requestFor(a), context());
      await expect(status(a)).resolves.toMatchObject({ initialized: true });
    });

    it("cannot initialize a VM that is not there", async () => {
      await expect(
        codeOf(subject.driver.initializeMachine?.(requestFor(a), context()) ?? Promise.resolve()),
      ).resolves.toBe("NotFound");
    });
  });

  describe("deleting", () => {
    it("resolves when the VM is gone, not before", async () => {
      await create(a);
      await remove(a);
      expect(cloud.vms()).toEqual([]);
      await expect(cloud.listVms({ states: ["terminated"] })).resolves.toHaveLength(1);
    });

    it("succeeds twice, and for machines that never had a VM", async () => {
      const { providerId } = await create(a);
      await remove({ ...a, providerId });
      await expect(remove({ ...a, providerId })).resolves.toEqual({});
      await expect(remove(a)).resolves.toEqual({});
      await expect(remove({ ...a, providerId: "mock:///local/i-000000000000" })).resolves.toEqual({});
    });

    it("ends with nothing left while the VM is still booting, without a provider id", async () => {
      await create(a, specOf({ bootDelay: "1h" }));
      expect(cloud.vms()[0]?.state).toBe("pending");
      await remove(a);
      expect(cloud.vms()).toEqual([]);
    });

    it("leaves a VM alone that carries other tags", async () => {
      const { providerId } = await create(machineNamed("other"));
      const foreign = await cloud.createVm({
        name: "pet",
        token: "pet",
        machineType: "large",
        region: "local",
        zone: "z",
        image: "i",
      });
      await expect(codeOf(remove({ ...a, providerId }))).resolves.toBe("PermissionDenied");
      await expect(codeOf(remove({ ...machineNamed("pet"), providerId: foreign.providerId }))).resolves.toBe(
        "PermissionDenied",
      );
      await remove(machineNamed("pet"));
      expect(cloud.vms()).toHaveLength(2);
    });

    it("deletes only the VM with the provider id when a machine has two, as for an orphan", async () => {
      const { providerId } = await create(a);
      const [vm] = cloud.vms();
      const orphan = await cloud.createVm({
        name: a.name,
        token: "twin",
        machineType: "small",
        region: "local",
        zone: "z",
        image: "i",
        tags: vm?.tags ?? {},
      });
      await remove({ name: a.name, namespace: a.namespace, uid: "", providerId: orphan.providerId });
      expect(cloud.vms()).toMatchObject([{ providerId }]);
    });

    it("ends with DeadlineExceeded at its deadline and goes on in the next call", async () => {
      const clock = await standStill();
      await create(a);
      const deadline = new AbortController();
      const late = codeOf(remove(a, deadline.signal));
      await expect.poll(() => cloud.vms()[0]?.state).toBe("terminating");
      deadline.abort(new DOMException("too late", "TimeoutError"));
      await expect(late).resolves.toBe("DeadlineExceeded");
      const removed = remove(a);
      await clock.advance(60);
      await removed;
      expect(cloud.vms()).toEqual([]);
    });

    it("stops at an abort and says so", async () => {
      await standStill();
      await create(a);
      const controller = new AbortController();
      const removed = codeOf(remove(a, controller.signal));
      await expect.poll(() => cloud.vms()[0]?.state).toBe("terminating");
      controller.abort();
      await expect(removed).resolves.toBe("Aborted");
    });

    it("passes on the code with which the cloud refuses", async () => {
      await create(a);
      await cloud.addFault({
        operation: "delete",
        code: "FailedPrecondition",
        message: "termination protection is on",
      });
      await expect(remove(a)).rejects.toMatchObject({
        code: "FailedPrecondition",
        message: "termination protection is on",
      });
      expect(cloud.vms()).toHaveLength(1);
    });
  });

  describe("a machine that was made anew under its old name", () => {
    const anew = (more: Partial<MachineIdentity>) => machineNamed(a.name, { uid: "new", ...more });

    it("keeps the VM that its provider id names: it has a status, is initialized, compared and deleted", async () => {
      const { providerId } = await create(a);
      const machine = anew({ providerId });
      await expect(status(machine)).resolves.toMatchObject({ providerId, initialized: false });
      await subject.driver.initializeMachine?.(requestFor(machine), context());
      await expect(status(machine)).resolves.toMatchObject({ providerId, initialized: true });
      await expect(subject.driver.findDrift?.(requestFor(machine), context())).resolves.toMatchObject({ providerId });
      expect(cloud.vms()).toMatchObject([{ tags: { [ownerTagKeys.machineUid]: a.uid } }]);
      await remove(machine);
      expect(cloud.vms()).toEqual([]);
      await expect(remove(machine)).resolves.toEqual({});
    });

    it("does not take that VM without the id: it has none, and deletes none", async () => {
      await create(a);
      await expect(codeOf(status(anew({})))).resolves.toBe("NotFound");
      await remove(anew({}));
      await expect(codeOf(create(anew({})))).resolves.toBe("AlreadyExists");
      expect(cloud.vms()).toHaveLength(1);
    });

    it("does not take the VM of a machine in another namespace or another cluster, whatever its id names", async () => {
      const { providerId } = await create(a);
      const elsewhere = requestFor(anew({ providerId }), specOf({ cluster: "other" }));
      for (const request of [requestFor(anew({ providerId, namespace: "other" })), elsewhere]) {
        await expect(codeOf(subject.driver.getMachineStatus(request, context()))).resolves.toBe("NotFound");
        await expect(codeOf(subject.driver.deleteMachine(request, context()))).resolves.toBe("PermissionDenied");
      }
      expect(cloud.vms()).toMatchObject([{ state: expect.not.stringContaining("terminat") }]);
    });
  });

  describe("listing", () => {
    it("has the VMs of this cluster and none of another or untagged", async () => {
      await create(a);
      await create(machineNamed("b"), specOf({ cluster: "other" }));
      await cloud.createVm({ name: "pet", token: "pet", machineType: "small", region: "local", zone: "z", image: "i" });
      await expect(names("default")).resolves.toEqual(["pool-a-1"]);
      await expect(names("other")).resolves.toEqual(["b"]);
      await expect(names("none")).resolves.toEqual([]);
    });

    it("fails rather than give a list that is cut short", async () => {
      await cloud.addFault({ operation: "list", code: "Internal", afterAcceptance: true });
      await expect(codeOf(list("default") ?? Promise.resolve())).resolves.toBe("Internal");
    });
  });

  describe("comparing a VM with its class", () => {
    const drift = async (spec: MockSpec) =>
      (await subject.driver.findDrift?.(requestFor(a, spec), context()))?.differences;

    it("finds nothing right after a creation, nor in labels that the class does not name", async () => {
      const spec = specOf({ labels: { tier: "web" } });
      await create(a, spec);
      await expect(drift(spec)).resolves.toEqual([]);
      await expect(drift(specOf())).resolves.toEqual([]);
    });

    it("names each field that differs, in the words of the spec", async () => {
      await create(a);
      await expect(drift(specOf({ machineType: "large", image: "new", labels: { tier: "web" } }))).resolves.toEqual([
        { field: "image", wanted: "new", found: "simulated" },
        { field: "labels.tier", wanted: "web", found: "" },
        { field: "machineType", wanted: "large", found: "small" },
      ]);
    });

    it("answers NotFound without a VM", async () => {
      await expect(codeOf(drift(specOf()))).resolves.toBe("NotFound");
    });
  });

  it("says what a node of a class will have", async () => {
    const machineClass = { name: "x", spec: specOf({ machineType: "medium", zone: "local-b" }) };
    await expect(
      subject.driver.getNodeTemplate?.({ machineClass, secret: subject.secret }, context()),
    ).resolves.toEqual({
      nodeTemplate: {
        capacity: { cpu: "2", memory: "8Gi", gpu: 0 },
        instanceType: "medium",
        region: "local",
        zone: "local-b",
      },
    });
  });

  it("reports every request, with its outcome", async () => {
    const calls: ApiCall[] = [];
    const reported = { ...context(), reportApiCall: (call: ApiCall) => void calls.push(call) };
    await subject.driver.createMachine(requestFor(a), reported);
    await cloud.addFault({ operation: "delete", code: "Unavailable" });
    await expect(codeOf(subject.driver.deleteMachine(requestFor(a), reported))).resolves.toBe("Unavailable");
    expect(calls.map(({ service, outcome }) => [service, outcome])).toEqual([
      ["instance_list", "ok"],
      ["instance_create", "ok"],
      ["instance_list", "ok"],
      ["instance_delete", "Unavailable"],
    ]);
    expect(calls.every(({ seconds }) => seconds >= 0 && seconds < 10)).toBe(true);
  });

  it("never prints a secret value in an error", async () => {
    const userData = "bootstrap-token-abcdef.0123456789abcdef";
    for (const operation of ["create", "list"] as const) {
      await cloud.addFault({ operation, code: "Internal" });
      const error = await create(a, specOf(), userData).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(MachineError);
      const printed = `${String(error)} ${JSON.stringify(error)} ${error instanceof Error ? String(error.stack) + String(error.cause) : ""}`;
      expect(printed).not.toContain(canary);
      expect(printed).not.toContain(userData);
      expect(printed).not.toContain(Buffer.from(userData).toString("base64"));
    }
  });

  it("keeps user data out of tags, labels and lists", async () => {
    await create(a, specOf(), "bootstrap-token-abcdef");
    expect(JSON.stringify(cloud.vms())).not.toContain("bootstrap-token");
    expect(JSON.stringify(cloud.calls)).not.toContain("bootstrap-token");
  });
});

import { Secret } from "@millwright/base";
import { type CreateMachineRequest, type Driver, MachineError } from "@millwright/core";
import type { CreateVmCall } from "@millwright/controllers";
import { describe, expect, it, vi } from "vitest";
import { schema } from "../testing/fake-driver.ts";
import {
  aCall,
  host,
  machine,
  machineClass,
  nodeTemplate,
  secret,
  theVm,
  token,
  unaborted,
} from "../testing/hosted-driver.ts";

describe("what the driver is asked", () => {
  it("gets machine, class and secret, and nothing of the API objects besides", async () => {
    const createMachine = vi.fn<Driver["createMachine"]>(theVm);
    await host({ createMachine }).ensureVm(aCall({ machineClass: { ...machineClass, nodeTemplate } }), unaborted);
    const [request] = createMachine.mock.calls[0] ?? [];
    expect(request).toEqual({
      machine: {
        name: "m-1",
        namespace: "shoot",
        uid: "uid-1",
        labels: { name: "pool" },
        annotations: { a: "b" },
      },
      machineClass: { name: "small", spec: { size: 1 }, nodeTemplate },
      secret,
      idempotencyToken: "uid-1-1",
      userData: Secret.of("#cloud-config of m-1"),
    });
    expect(request?.userData.reveal()).toBe("#cloud-config of m-1");
  });

  it("gets the id of a VM that is known, and not an empty one", async () => {
    const seen: (string | undefined)[] = [];
    const deleteMachine: Driver["deleteMachine"] = async ({ machine: asked }) => {
      seen.push(asked.providerId);
      return {};
    };
    const { deleteVm } = host({ deleteMachine });
    for (const providerID of ["vm-1", ""]) {
      const spec = { ...machine.spec, providerID };
      expect(await deleteVm(aCall({ machine: { ...machine, spec } }), unaborted)).toEqual({ ok: true, value: {} });
    }
    expect(seen).toEqual(["vm-1", undefined]);
  });

  it("is asked with the same token for every attempt, also by another process", async () => {
    const tokens: string[] = [];
    const createMachine = async ({ idempotencyToken }: CreateMachineRequest<unknown>) => {
      tokens.push(idempotencyToken);
      return theVm();
    };
    await host({ createMachine }).ensureVm(aCall(), unaborted);
    await host({ createMachine }).ensureVm(aCall(), unaborted);
    expect(tokens).toEqual(["uid-1-1", "uid-1-1"]);
  });

  it("gets what its schema makes of the spec", async () => {
    const seen: unknown[] = [];
    const { findVm } = host({
      spec: schema(() => ({ value: { size: 42 } })),
      getMachineStatus: async ({ machineClass: { spec } }) => {
        seen.push(spec);
        return theVm();
      },
    });
    await findVm(aCall(), unaborted);
    expect(seen).toEqual([{ size: 42 }]);
  });

  it("is not asked when its schema refuses spec or secret, whose values stay secret", async () => {
    const getMachineStatus = vi.fn<Driver["getMachineStatus"]>(theVm);
    const badSpec = schema(() => ({ issues: [{ message: "must be large", path: ["size"] }] }));
    const badSecret = schema(() => ({ issues: [{ message: `${token} is expired`, path: ["token"] }] }));
    expect(await host({ spec: badSpec, getMachineStatus }).ensureVm(aCall(), unaborted)).toMatchObject({
      ok: false,
      error: { code: "InvalidArgument", message: 'MachineClass "small": providerSpec.size: must be large' },
    });
    expect(await host({ secret: badSecret, getMachineStatus }).ensureVm(aCall(), unaborted)).toMatchObject({
      ok: false,
      error: {
        code: "InvalidArgument",
        message: 'Secret of MachineClass "small": secret.token: [redacted] is expired',
      },
    });
    expect(getMachineStatus).not.toHaveBeenCalled();
  });

  it.each([
    ["no user data", {}],
    ["empty user data", { userData: Secret.of("") }],
  ])("finds, deletes and lists VMs with a secret that has %s, and makes none", async (_, userData) => {
    const needed = schema((value) =>
      Reflect.get(Object(value), "userData") ? { value } : { issues: [{ message: "is required", path: ["userData"] }] },
    );
    const createMachine = vi.fn<Driver["createMachine"]>(theVm);
    const hosted = host({
      secret: needed,
      createMachine,
      getMachineStatus: theVm,
      deleteMachine: async () => ({ vm: "ended" }),
      listMachines: async () => ({ machines: [] }),
      getNodeTemplate: async () => ({ nodeTemplate }),
    });
    const call = aCall({ secret: { token: Secret.of(token), ...userData } });
    expect(await hosted.findVm(call, unaborted)).toMatchObject({ ok: true });
    expect(await hosted.deleteVm(call, unaborted)).toMatchObject({ ok: true });
    expect(await hosted.listVms(call, unaborted)).toMatchObject({ ok: true });
    expect(await hosted.capacityOf(call, unaborted)).toMatchObject({ ok: true });
    const message = 'Secret of MachineClass "small": secret.userData: is required';
    expect(await hosted.ensureVm(call, unaborted)).toMatchObject({
      ok: false,
      error: { code: "InvalidArgument", message },
    });
    expect(await hosted.rejectionOf(machineClass, call.secret)).toEqual({ reason: "InvalidSecret", problem: message });
    expect(createMachine).not.toHaveBeenCalled();
  });

  it("bears a machine without namespace and UID, and a secret without user data", async () => {
    const createMachine = vi.fn<Driver["createMachine"]>(theVm);
    const bare = { metadata: { name: "m-1" }, spec: {} };
    await host({ createMachine }).ensureVm(aCall({ machine: bare, secret: {} }), unaborted);
    expect(createMachine.mock.calls[0]?.[0]).toMatchObject({ machine: { name: "m-1", namespace: "", uid: "" } });
  });
});

describe("user data", () => {
  const joins = { userData: Secret.of("join --token=<<BOOTSTRAP_TOKEN>> as <<MACHINE_NAME>>") };
  const bootstrapToken = () => Promise.resolve(Secret.of("abc123.0123456789abcdef"));
  const userDataOf = async (change: Partial<CreateVmCall>) => {
    const createMachine = vi.fn<Driver["createMachine"]>(theVm);
    await host({ createMachine }).ensureVm(aCall(change), unaborted);
    return createMachine.mock.calls[0]?.[0].userData.reveal();
  };

  it("gets the bootstrap token of the machine where it asks for one", async () => {
    expect(await userDataOf({ secret: joins, bootstrapToken })).toBe("join --token=abc123.0123456789abcdef as m-1");
  });

  it("keeps the placeholder where there is no cluster to join", async () => {
    expect(await userDataOf({ secret: joins })).toBe("join --token=<<BOOTSTRAP_TOKEN>> as m-1");
  });

  it("asks for no token that it does not need: there is no placeholder, or the VM exists", async () => {
    const make = vi.fn<() => Promise<Secret>>(bootstrapToken);
    await userDataOf({ bootstrapToken: make });
    await host({ getMachineStatus: theVm }).ensureVm(aCall({ secret: joins, bootstrapToken: make }), unaborted);
    expect(make).not.toHaveBeenCalled();
  });

  it("without its token makes no VM: the failure is that of the token, and spends nothing", async () => {
    const createMachine = vi.fn<Driver["createMachine"]>(theVm);
    const error = new MachineError("PermissionDenied", "no Secrets in kube-system");
    const outcome = await host({ createMachine }).ensureVm(
      aCall({ secret: joins, bootstrapToken: () => Promise.reject(error) }),
      unaborted,
    );
    expect(outcome).toMatchObject({
      ok: false,
      error: { code: "PermissionDenied", message: error.message },
      isOutsideDriver: true,
    });
    expect(outcome.ok ? undefined : outcome.error.tokenIsSpent).toBeUndefined();
    expect(createMachine).not.toHaveBeenCalled();
  });

  it("without its token differs from a driver that fails with the same code", async () => {
    const error = new MachineError("PermissionDenied", "no instances.create");
    const createMachine = () => Promise.reject(error);
    const outcome = await host({ createMachine }).ensureVm(aCall({ secret: joins, bootstrapToken }), unaborted);
    expect(outcome).toMatchObject({ ok: false, error: { code: "PermissionDenied" } });
    expect(outcome).not.toHaveProperty("isOutsideDriver");
  });

  it("is never printed, nor is the token in it", async () => {
    const { log, ensureVm } = host({
      createMachine: ({ userData }, context) => {
        context.log("info", `booting with ${userData.reveal()}`, { data: userData.reveal() });
        throw new MachineError("Internal", `refused: ${userData.reveal().slice(0, 40)}`);
      },
    });
    const outcome = await ensureVm(aCall({ secret: joins, bootstrapToken }), unaborted);
    expect(JSON.stringify([outcome, log.mock.calls])).not.toContain("0123456789abcdef");
  });
});

import { MachineError, type MachineRequest } from "@millwright/core";
import type { BrokenDriver } from "./broken-driver.ts";
import type { SeenVm, ToySpec } from "./toy-steps.ts";

const isStatusOf = ({ id, state }: SeenVm, { machine }: MachineRequest<ToySpec>): boolean =>
  state === "running" && `toy:///${id}` === machine.providerId;

const isUnknown = ({ machine }: MachineRequest<ToySpec>, known: ReadonlySet<string>): boolean =>
  machine.providerId === undefined && !known.has(machine.uid);

const asInternal = (error: unknown): never => {
  if (error instanceof MachineError && error.code === "NotFound") throw new MachineError("Internal", error.message);
  throw error;
};

const asRequest = (machine: MachineRequest<ToySpec>["machine"]): MachineRequest<ToySpec> => ({
  machine,
  machineClass: { name: "", spec: { image: "", size: "small", cluster: "", tags: {}, bootMs: 0 } },
  secret: {},
});

/** Mistakes of methods that find, delete and list VMs. */
export const brokenLookups: readonly BrokenDriver[] = [
  {
    mistake: "reports a missing VM as Internal",
    violates: [
      "status.unknown-machine-is-not-found",
      "status.other-machines-are-not-found",
      "status.terminating-vm-is-not-found",
      "delete.removes-vm",
      "initialize.missing-vm-is-not-found",
      "pending.status-is-not-found",
      "secrets.not-mixed",
      "load.no-leaks",
    ],
    change: () => ({
      methods: (right) => ({
        getMachineStatus: (request, context) => right.getMachineStatus(request, context).catch(asInternal),
        initializeMachine: (request, context) =>
          right.initializeMachine?.(request, context).catch(asInternal) ?? Promise.reject(new Error("none")),
      }),
    }),
  },
  {
    mistake: "finds VMs by their provider id, or by its own memory",
    violates: ["status.finds-new-vm", "create.lost-response", "create.restart-in-between"],
    change: () => {
      const createdAnywhere = new Set<string>();
      return {
        methods: (right) => {
          const created = new Set<string>();
          return {
            createMachine(request, context) {
              created.add(request.machine.uid);
              createdAnywhere.add(request.machine.uid);
              return right.createMachine(request, context);
            },
            getMachineStatus: (request, context) =>
              isUnknown(request, created) && createdAnywhere.has(request.machine.uid)
                ? Promise.reject(new MachineError("NotFound", "the machine is unknown"))
                : right.getMachineStatus(request, context),
          };
        },
      };
    },
  },
  {
    mistake: "takes the first of two VMs",
    violates: ["status.two-vms-fail"],
    change: () => ({
      steps: (right) => ({
        async list(call, machine) {
          const vms = await right.list(call, machine);
          const live = vms.filter(({ state }) => state === "running");
          return machine === undefined || live.length < 2 ? vms : live.slice(0, 1);
        },
      }),
    }),
  },
  {
    mistake: "keeps VMs that have a provider id",
    violates: [
      "delete.removes-vm",
      "create.after-deletion",
      "delete.refuses-other-vms",
      "delete.removes-created-resources",
      "delete.success-means-gone",
      "delete.unknown-vm-is-missing",
      "initialize.missing-vm-is-not-found",
      "list.leaves-out-deleted-vms",
    ],
    change: () => ({
      methods: (right) => ({
        deleteMachine: (request, context) =>
          request.machine.providerId === undefined
            ? right.deleteMachine(request, context)
            : Promise.resolve({ vm: "ended" }),
      }),
    }),
  },
  {
    mistake: "keeps the disks of VMs",
    violates: [
      "delete.removes-created-resources",
      "create.partial-creation-is-deletable",
      "delete.lost-response",
      "delete.during-creation",
      "delete.removes-leftovers",
    ],
    change: () => ({ steps: () => ({ removeDisks: () => Promise.resolve() }) }),
  },
  {
    mistake: "deletes disks of VMs that it finds, and no others",
    violates: [
      "delete.during-creation",
      "create.partial-creation-is-deletable",
      "delete.removes-leftovers",
      "delete.lost-response",
    ],
    change: () => ({
      steps: (right) => {
        const deleted = new Set<string>();
        return {
          untilGone: async (call, id) => {
            await right.untilGone(call, id);
            deleted.add(id);
          },
          async removeDisks(call, machine) {
            const vms = await right.list(call, machine);
            if (vms.some(({ id }) => deleted.has(id))) await right.removeDisks(call, machine);
          },
        };
      },
    }),
  },
  {
    mistake: "fails to delete a VM that is missing",
    violates: ["delete.repeat-succeeds"],
    change: () => {
      const deleted = new Set<string>();
      return {
        methods: (right) => ({
          async deleteMachine(request, context) {
            const { uid, name } = request.machine;
            if (deleted.has(uid)) throw new MachineError("NotFound", `machine ${name} has no VM`);
            const reply = await right.deleteMachine(request, context);
            deleted.add(uid);
            return reply;
          },
        }),
      };
    },
  },
  {
    mistake: "takes a VM that it does not find for one that has ended",
    violates: ["delete.unknown-vm-is-missing"],
    change: () => ({
      methods: (right) => ({
        async deleteMachine(request, context) {
          const reply = await right.deleteMachine(request, context);
          return "pending" in reply ? reply : { ...reply, vm: "ended" };
        },
      }),
    }),
  },
  {
    mistake: "answers nothing for a VM that it does not find",
    violates: ["delete.unknown-vm-is-missing"],
    change: () => ({
      methods: (right) => ({
        async deleteMachine(request, context) {
          const reply = await right.deleteMachine(request, context);
          return "pending" in reply || reply.vm !== "missing" ? reply : {};
        },
      }),
    }),
  },
  {
    mistake: "needs a provider id to delete",
    violates: ["delete.works-without-provider-id", "create.partial-creation-is-deletable", "delete.during-creation"],
    change: () => ({
      methods: (right) => ({
        async deleteMachine(request, context) {
          const { uid, providerId } = request.machine;
          const { machines } = (await right.listMachines?.(request, context)) ?? { machines: [] };
          const isThere = machines.some(({ machineUid }) => machineUid === uid);
          return providerId === undefined && isThere ? { vm: "ended" } : right.deleteMachine(request, context);
        },
      }),
    }),
  },
  {
    mistake: "finds VMs by the names of their machines",
    violates: ["status.other-machines-are-not-found"],
    change: () => ({
      methods: (right) => ({
        async getMachineStatus(request, context) {
          const { machines } = (await right.listMachines?.(request, context)) ?? { machines: [] };
          const named = machines.find(({ machineName }) => machineName === request.machine.name);
          if (named === undefined || named.machineUid === request.machine.uid)
            return right.getMachineStatus(request, context);
          return { providerId: named.providerId, nodeName: named.machineName };
        },
      }),
    }),
  },
  {
    mistake: "deletes all volumes of a VM",
    violates: ["delete.keeps-attached-volumes"],
    change: () => ({
      steps: (right) => ({
        async removeDisks(call, machine) {
          const { disks } = await right.send(call, "GET", `/disks?machine=${machine}`);
          for (const { id } of Array.isArray(disks) ? disks : [])
            await right.send(call, "DELETE", `/disks/${String(id)}`);
        },
      }),
    }),
  },
  {
    mistake: "deletes whatever a provider id names",
    violates: ["delete.refuses-other-vms"],
    change: () => ({
      steps: (right) => ({
        owns: (vm, machine, cluster) => right.owns(vm, machine, cluster) || isStatusOf(vm, asRequest(machine)),
      }),
    }),
  },
  {
    mistake: "does not wait for the end of a VM",
    violates: ["delete.success-means-gone"],
    change: () => ({ steps: () => ({ untilGone: () => Promise.resolve() }) }),
  },
  {
    mistake: "refuses to delete a VM whose deletion has started",
    violates: ["delete.lost-response"],
    change: () => {
      const interrupted = new Set<string>();
      return {
        methods: (right) => ({
          async deleteMachine(request, context) {
            const { uid } = request.machine;
            if (interrupted.has(uid)) throw new MachineError("Aborted", "a deletion is in progress");
            try {
              return await right.deleteMachine(request, context);
            } catch (error) {
              if (error instanceof MachineError && error.message.includes("unreachable")) interrupted.add(uid);
              throw error;
            }
          },
        }),
      };
    },
  },
  {
    mistake: "lists the VMs of all clusters",
    violates: ["list.contains-exactly-own-vms"],
    change: () => ({
      methods: (right) => ({
        async listMachines(request, context) {
          const lists = await Promise.all(
            ["toy", "other"].map(async (cluster) => {
              const machineClass = { ...request.machineClass, spec: { ...request.machineClass.spec, cluster } };
              return right.listMachines?.({ ...request, machineClass }, context);
            }),
          );
          return { machines: lists.flatMap((list) => list?.machines ?? []) };
        },
      }),
    }),
  },
  {
    mistake: "lists another namespace",
    violates: ["list.identifies-machines"],
    change: () => ({
      methods: (right) => ({
        async listMachines(request, context) {
          const { machines } = (await right.listMachines?.(request, context)) ?? { machines: [] };
          return { machines: machines.map((vm) => ({ ...vm, machineNamespace: "default" })) };
        },
      }),
    }),
  },
  {
    mistake: "lists VMs that have ended",
    violates: ["list.leaves-out-deleted-vms"],
    change: () => {
      const ended = new Map<string, string>();
      return {
        methods: (right) => ({
          async deleteMachine(request, context) {
            const { providerId, name } = request.machine;
            const reply = await right.deleteMachine(request, context);
            if (providerId !== undefined) ended.set(providerId, name);
            return reply;
          },
          async listMachines(request, context) {
            const { machines } = (await right.listMachines?.(request, context)) ?? { machines: [] };
            const old = [...ended].map(([providerId, machineName]) => ({ providerId, machineName }));
            return { machines: [...machines, ...old] };
          },
        }),
      };
    },
  },
  {
    mistake: "reads ten pages",
    violates: ["list.pages"],
    change: () => ({
      steps: (right) => ({
        list: async (call, machine) => (await right.list(call, machine)).slice(0, 1_000),
      }),
    }),
  },
  {
    mistake: "returns what it has when a page fails",
    violates: [
      "list.fails-as-a-whole",
      "calls.cancellation",
      "calls.deadline",
      "errors.status-codes",
      "errors.unreachable-cloud",
      "errors.unreadable-answers",
    ],
    change: () => ({
      methods: (right) => ({
        listMachines: async (request, context) =>
          (await right.listMachines?.(request, context).catch(() => undefined)) ?? { machines: [] },
      }),
    }),
  },
  {
    mistake: "fails to initialize a VM twice",
    violates: ["initialize.repeatable"],
    change: () => {
      const done = new Set<string>();
      return {
        methods: (right) => ({
          async initializeMachine(request, context) {
            const { uid, name } = request.machine;
            if (done.has(uid)) throw new MachineError("FailedPrecondition", `machine ${name} is initialized`);
            const reply = await right.initializeMachine?.(request, context);
            done.add(uid);
            return reply ?? { providerId: "", nodeName: "" };
          },
        }),
      };
    },
  },
  {
    mistake: "initializes machines without VM",
    violates: ["initialize.missing-vm-is-not-found"],
    change: () => ({
      methods: (right) => ({
        initializeMachine: async (request, context) =>
          (await right.initializeMachine?.(request, context).catch(() => undefined)) ?? {
            providerId: "toy:///none",
            nodeName: request.machine.name,
          },
      }),
    }),
  },
  {
    mistake: "leaves out volumes of others",
    violates: ["volumes.one-answer-each"],
    change: () => ({
      methods: (right) => ({
        async getVolumeIds(request, context) {
          const { volumeIds } = await right.getVolumeIds(request, context);
          return { volumeIds: volumeIds.filter((id) => id !== undefined) };
        },
      }),
    }),
  },
  {
    mistake: "reports what the cloud does not return as a difference",
    violates: ["drift.none-after-creation"],
    change: () => ({
      methods: (right) => ({
        async findDrift(request, context) {
          const reply = await right.findDrift?.(request, context);
          const difference = { field: "bootMs", wanted: "0", found: "" };
          return { providerId: reply?.providerId ?? "", differences: [...(reply?.differences ?? []), difference] };
        },
      }),
    }),
  },
];

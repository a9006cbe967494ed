import { MachineError } from "@millwright/core";
import type { BrokenDriver } from "./broken-driver.ts";
import { tagKeys, type ToySpec } from "./toy-steps.ts";

let calls = 0;
const another = (token: string): string => `${token.slice(0, 50)}-${++calls}`;

/** The body of a request that creates a VM. */
const isLaunch = (method: string, path: string): boolean => method === "POST" && path === "/vms";
const withToken = (body: unknown, token: (given: string) => string): unknown =>
  typeof body === "object" && body !== null ? { ...body, token: token(String(Reflect.get(body, "token"))) } : body;

const isSlow = ({ bootMs }: ToySpec): boolean => bootMs > 0;

/** Mistakes of `createMachine`. */
export const brokenCreations: readonly BrokenDriver[] = [
  {
    mistake: "lists a VM only after a while",
    violates: [
      "create.vm-is-found",
      "create.machine-names",
      "list.contains-exactly-own-vms",
      "list.identifies-machines",
    ],
    change: () => {
      const createdAtMs = new Map<string, number>();
      return {
        methods: (right) => ({
          async createMachine(request, context) {
            const made = await right.createMachine(request, context);
            if ("providerId" in made) createdAtMs.set(made.providerId, context.clock.monotonicMs());
            return made;
          },
          async listMachines(request, context) {
            const { machines } = (await right.listMachines?.(request, context)) ?? { machines: [] };
            const isOld = (id: string): boolean =>
              context.clock.monotonicMs() - (createdAtMs.get(id) ?? Number.NEGATIVE_INFINITY) > 2_000;
            return { machines: machines.filter(({ providerId }) => isOld(providerId)) };
          },
        }),
      };
    },
  },
  {
    mistake: "creates a second VM when it is called again with a provider id",
    violates: ["create.repeat-returns-same-vm"],
    change: () => ({
      methods: (right) => ({
        createMachine: (request, context) =>
          request.machine.providerId === undefined
            ? right.createMachine(request, context)
            : right.createMachine(
                {
                  ...request,
                  machine: { ...request.machine, name: `${request.machine.name}-2` },
                  idempotencyToken: another(request.idempotencyToken),
                },
                context,
              ),
      }),
    }),
  },
  {
    mistake: "does not pass the token to the cloud",
    violates: ["create.concurrent-calls"],
    change: () => ({
      steps: (right) => ({
        send: (call, method, path, body) =>
          right.send(call, method, path, isLaunch(method, path) ? withToken(body, another) : body),
      }),
    }),
  },
  {
    mistake: "does not see VMs of other instances at first, and ignores tokens",
    violates: [
      "create.restart-in-between",
      "create.repeat-returns-same-vm",
      "create.concurrent-calls",
      "create.lost-response",
      "status.finds-new-vm",
      "status.two-vms-fail",
      "pending.survives-restart",
    ],
    change: () => ({
      steps: (right) => {
        const own = new Set<string>();
        return {
          async send(call, method, path, body) {
            const reply = await right.send(
              call,
              method,
              path,
              isLaunch(method, path) ? withToken(body, another) : body,
            );
            if (isLaunch(method, path)) own.add(String(reply["id"]));
            return reply;
          },
          list: async (call, machine) =>
            (await right.list(call, machine)).filter(({ id }) => machine === undefined || own.has(id)),
        };
      },
    }),
  },
  {
    mistake: "compares user data",
    violates: ["create.new-user-data-is-same-vm"],
    change: () => ({
      steps: () => ({ fingerprint: ({ image, size }, userData) => `${image}/${size}/${userData.length}` }),
    }),
  },
  {
    mistake: "does not compare specs",
    violates: ["create.other-spec-fails"],
    change: () => ({ steps: () => ({ fingerprint: () => "any" }) }),
  },
  {
    mistake: "adopts the VM of an earlier machine",
    violates: ["create.other-machine-of-same-name", "delete.refuses-other-vms", "status.other-machines-are-not-found"],
    change: () => ({
      steps: () => ({
        owns: ({ tags, name }, machine, cluster) => tags[tagKeys.cluster] === cluster && name === machine.name,
      }),
    }),
  },
  {
    mistake: "repeats a creation with another token",
    violates: ["create.lost-response"],
    change: () => ({
      steps: (right) => ({
        async send(call, method, path, body) {
          try {
            return await right.send(call, method, path, body);
          } catch (error) {
            if (!isLaunch(method, path) || call.context.signal.aborted) throw error;
            if (!(error instanceof MachineError) || !error.message.includes("unreachable")) throw error;
            return right.send(call, method, path, withToken(body, another));
          }
        },
      }),
    }),
  },
  {
    mistake: "cuts names",
    violates: ["create.machine-names"],
    change: () => ({
      steps: (right) => ({
        tags: (machine, spec, fingerprint) => ({
          ...right.tags(machine, spec, fingerprint),
          [tagKeys.machine]: machine.name.slice(0, 40),
        }),
        owns: (vm, machine, cluster) => right.owns(vm, { ...machine, name: machine.name.slice(0, 40) }, cluster),
      }),
    }),
  },
  {
    mistake: "tags the VM after its creation",
    violates: [
      "create.ownership-from-the-start",
      "create.partial-creation-is-deletable",
      "create.rejection-means-no-vm",
      "delete.during-creation",
    ],
    change: () => ({
      steps: (right) => ({
        async send(call, method, path, body) {
          if (!isLaunch(method, path) || typeof body !== "object" || body === null)
            return right.send(call, method, path, body);
          const made = await right.send(call, method, path, { ...body, tags: {} });
          await new Promise((resolve) => setImmediate(resolve));
          await right.send(call, "PATCH", `/vms/${String(made["id"])}`, { tags: Reflect.get(body, "tags") });
          return made;
        },
      }),
    }),
  },
  {
    mistake: "reports a rejected look at the new VM as if the VM was rejected",
    violates: ["create.rejection-means-no-vm"],
    change: () => ({
      steps: (right) => ({
        async send(call, method, path, body) {
          const made = await right.send(call, method, path, body);
          if (isLaunch(method, path)) await right.send(call, "GET", "/vms?after=0");
          return made;
        },
      }),
    }),
  },
  {
    mistake: "creates another disk when the cloud rejects a VM",
    violates: ["create.partial-creation-is-deletable"],
    change: () => ({
      steps: (right) => ({
        async send(call, method, path, body) {
          try {
            return await right.send(call, method, path, body);
          } catch (error) {
            const isRejected = error instanceof MachineError && error.message.includes("answered 400");
            if (isLaunch(method, path) && isRejected)
              await right.send(call, "POST", "/disks", { token: another("disk"), machine: "fallback" });
            throw error;
          }
        },
      }),
    }),
  },
  {
    mistake: "lets tags of the class replace its own",
    violates: ["create.user-tags-keep-ownership"],
    change: () => ({
      steps: (right) => ({
        tags: (machine, spec, fingerprint) => ({ ...right.tags(machine, spec, fingerprint), ...spec.tags }),
      }),
    }),
  },
  {
    mistake: "reports a missing image as NotFound",
    violates: ["create.missing-reference"],
    change: () => ({
      steps: (right) => ({
        errorOf: (status, body, retryAfter) => {
          const error = right.errorOf(status, body, retryAfter);
          return error.message.includes("bad-image") ? new MachineError("NotFound", error.message) : error;
        },
      }),
    }),
  },
  {
    mistake: "remembers the names of deleted machines",
    violates: ["create.after-deletion"],
    change: () => {
      const deleted = new Set<string>();
      return {
        methods: (right) => ({
          createMachine(request, context) {
            return deleted.has(request.machine.name)
              ? Promise.reject(new MachineError("Aborted", "the machine was deleted"))
              : right.createMachine(request, context);
          },
          async deleteMachine(request, context) {
            const reply = await right.deleteMachine(request, context);
            deleted.add(request.machine.name);
            return reply;
          },
        }),
      };
    },
  },
  {
    mistake: "returns a node name that is not a label value",
    violates: ["node.name-is-valid"],
    change: () => {
      const rename = <T extends { readonly nodeName: string }>(reply: T): T => ({
        ...reply,
        nodeName: `${reply.nodeName}_.`,
      });
      return {
        methods: (right) => ({
          async createMachine(request, context) {
            const made = await right.createMachine(request, context);
            return "pending" in made ? made : rename(made);
          },
          getMachineStatus: async (request, context) => rename(await right.getMachineStatus(request, context)),
          initializeMachine: async (request, context) => {
            const reply = await right.initializeMachine?.(request, context);
            return rename(reply ?? { providerId: "", nodeName: "" });
          },
        }),
      };
    },
  },
  {
    mistake: "returns another node name after the initialization",
    violates: ["node.identity-is-stable"],
    change: () => ({
      methods: (right) => ({
        async initializeMachine(request, context) {
          const reply = await right.initializeMachine?.(request, context);
          return { providerId: reply?.providerId ?? "", nodeName: `${reply?.nodeName}-x` };
        },
      }),
    }),
  },
  {
    mistake: "throws for nodes without a provider id",
    violates: ["node.match"],
    change: () => ({
      methods: (right) => ({
        matchNode(vm, node) {
          if (node.providerId === "") throw new TypeError("providerId is empty");
          return right.matchNode?.(vm, node) ?? "unknown";
        },
      }),
    }),
  },
  {
    mistake: "compares the provider ids of nodes as texts",
    violates: ["node.match-cloud-form"],
    change: () => ({
      methods: () => ({
        matchNode: (vm, node) => (vm.providerId === node.providerId ? "same" : "unknown"),
      }),
    }),
  },
  {
    mistake: "keeps its pending creations in memory",
    violates: ["pending.survives-restart"],
    change: () => {
      const startedAnywhere = new Set<string>();
      return {
        methods: (right) => {
          const started = new Set<string>();
          return {
            createMachine(request, context) {
              const { uid } = request.machine;
              const isPending = isSlow(request.machineClass.spec);
              const isOthers = isPending && !started.has(uid) && startedAnywhere.has(uid);
              started.add(uid);
              if (isPending) startedAnywhere.add(uid);
              return isOthers
                ? Promise.reject(new MachineError("Internal", "the order is unknown"))
                : right.createMachine(request, context);
            },
          };
        },
      };
    },
  },
  {
    mistake: "finds VMs that are pending",
    violates: ["pending.status-is-not-found"],
    change: () => ({
      methods: (right) => {
        // By the answer of the creation: on a busy computer the VM has booted before it is looked for.
        const booting = new Set<string>();
        return {
          async createMachine(request, context) {
            const created = await right.createMachine(request, context);
            if ("pending" in created) booting.add(request.machine.uid);
            return created;
          },
          getMachineStatus: (request, context) =>
            booting.delete(request.machine.uid)
              ? Promise.resolve({ providerId: "toy:///booting", nodeName: request.machine.name })
              : right.getMachineStatus(request, context),
        };
      },
    }),
  },
];

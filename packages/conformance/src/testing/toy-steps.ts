import { isRecord, type SecretData } from "@millwright/base";
import { type DriverContext, MachineError, type MachineErrorCode, type MachineIdentity } from "@millwright/core";
import { abortedCall, ownsVm, readAnswer } from "@millwright/core/driver-kit";
import * as z from "zod";

/** `providerSpec` of the toy driver. */
export const toySpecSchema = z.strictObject({
  image: z.string().min(1),
  size: z.enum(["small", "large"]).default("small"),
  cluster: z.string().min(1).default("toy"),
  tags: z.record(z.string(), z.string()).default({}),
  /** How long a VM boots, and creations are pending. */
  bootMs: z.int().min(0).max(10_000).default(0),
});

/** A spec that the schema has read. */
export type ToySpec = z.output<typeof toySpecSchema>;

/** Schema of the class secret. */
export const toySecretSchema = z.object({ token: z.string().min(8, "must have at least 8 characters") });

/** A VM as the cloud returns it. */
export interface SeenVm {
  readonly id: string;
  readonly name: string;
  readonly state: "booting" | "running" | "terminating" | "terminated";
  readonly image: string;
  readonly size: string;
  readonly tags: Readonly<Record<string, string>>;
}

/** One call of the driver. */
export interface ToyCall {
  readonly endpoint: string;
  readonly context: DriverContext;
  readonly secret: SecretData;
}

/** Parts of the driver that a broken one replaces. */
export interface ToySteps {
  /** Token of a request. */
  accessToken(call: ToyCall): string;
  /** Sends one request. */
  send(call: ToyCall, method: string, path: string, body?: unknown): Promise<Readonly<Record<string, unknown>>>;
  /** Error of a status and its body; undefined for the missing VM of the cloud. */
  errorOf(status: number, body: unknown, retryAfter: string | null): MachineError;
  /** Reads all pages. */
  list(call: ToyCall, machine?: string): Promise<readonly SeenVm[]>;
  owns(vm: SeenVm, machine: MachineIdentity, cluster: string): boolean;
  /** Text by which VMs of different specs differ. */
  fingerprint(spec: ToySpec, userData: string): string;
  tags(machine: MachineIdentity, spec: ToySpec, fingerprint: string): Readonly<Record<string, string>>;
  /** Waits until a VM has ended. */
  untilGone(call: ToyCall, id: string): Promise<void>;
  /** Deletes disks of a machine. */
  removeDisks(call: ToyCall, machine: string): Promise<void>;
}

const codes: Readonly<Record<string, MachineErrorCode>> = {
  "no-vm": "NotFound",
  "no-image": "InvalidArgument",
  "bad-image": "InvalidArgument",
  quota: "ResourceExhausted",
  protected: "FailedPrecondition",
  unauthenticated: "Unauthenticated",
};

/** Code of a status without the cloud's own error. */
export const codeOfStatus = (status: number): MachineErrorCode =>
  status === 401 ? "Unauthenticated" : status === 403 ? "PermissionDenied" : "Unavailable";

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Tags of the driver. */
export const tagKeys = {
  cluster: "toy/cluster",
  machine: "toy/machine",
  namespace: "toy/namespace",
  uid: "toy/uid",
  spec: "toy/spec",
};

const pollMs = 5;

/** Waits for the next poll. */
async function sleep({ clock, signal }: DriverContext): Promise<void> {
  try {
    await clock.sleep(pollMs, signal);
  } catch {
    throw abortedCall(signal, "the deletion of the VM");
  }
}

/** The right steps. A step calls others of `steps`, so that a replaced one has its effect. */
export function rightSteps(steps: () => ToySteps): ToySteps {
  return {
    accessToken: ({ secret }) => secret["token"]?.reveal() ?? "",
    async send(call, method, path, body) {
      const { endpoint, context } = call;
      let response: Response;
      let text: string;
      try {
        const headers = { authorization: `Bearer ${steps().accessToken(call)}` };
        response = await fetch(`${endpoint}${path}`, {
          method,
          headers,
          signal: context.signal,
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        text = await readAnswer(response.body);
      } catch (error) {
        if (context.signal.aborted) throw abortedCall(context.signal, `${method} of the toy cloud`);
        throw new MachineError("Unavailable", "the toy cloud is unreachable", { cause: error });
      }
      const reply = parse(text);
      if (!response.ok) throw steps().errorOf(response.status, reply, response.headers.get("retry-after"));
      if (!isRecord(reply)) throw new MachineError("Unavailable", "the toy cloud sent an unreadable answer");
      return reply;
    },
    errorOf(status, body, retryAfter) {
      const error: unknown = isRecord(body) ? body["error"] : undefined;
      const code = isRecord(error) ? codes[String(error["code"])] : undefined;
      const seconds = retryAfter === null ? Number.NaN : Number(retryAfter);
      const text = isRecord(error)
        ? `the toy cloud refuses the request: ${String(error["code"])}`
        : `the toy cloud answered ${status}`;
      const options = Number.isFinite(seconds) ? { retryAfterMs: seconds * 1_000 } : {};
      return new MachineError(code ?? codeOfStatus(status), text, options);
    },
    async list(call, machine) {
      const found: SeenVm[] = [];
      for (let after = "0"; after !== "";) {
        const query = new URLSearchParams({ after, ...(machine === undefined ? {} : { machine }) });
        const page = await steps().send(call, "GET", `/vms?${query.toString()}`);
        if (!Array.isArray(page["vms"])) throw new MachineError("Unavailable", "the toy cloud sent an unreadable page");
        found.push(...page["vms"]);
        after = typeof page["next"] === "string" ? page["next"] : "";
      }
      return found;
    },
    owns: ({ id, tags }, machine, cluster) =>
      ownsVm(machine, {
        machineName: tags[tagKeys.machine] ?? "",
        namespace: tags[tagKeys.namespace] ?? "",
        machineUid: tags[tagKeys.uid] ?? "",
        isOfCluster: tags[tagKeys.cluster] === cluster,
        isNamedById: machine.providerId === `toy:///${id}`,
      }),
    fingerprint: ({ image, size }) => `${image}/${size}`,
    tags: (machine, { tags, cluster }, fingerprint) => ({
      ...tags,
      [tagKeys.cluster]: cluster,
      [tagKeys.machine]: machine.name,
      [tagKeys.namespace]: machine.namespace,
      [tagKeys.uid]: machine.uid,
      [tagKeys.spec]: fingerprint,
    }),
    async untilGone(call, id) {
      for (;;) {
        const vm = (await steps().list(call)).find((each) => each.id === id);
        if (vm === undefined || vm.state === "terminated") return;
        await sleep(call.context);
      }
    },
    async removeDisks(call, machine) {
      const { disks } = await steps().send(call, "GET", `/disks?machine=${encodeURIComponent(machine)}`);
      if (!Array.isArray(disks)) throw new MachineError("Unavailable", "the toy cloud sent an unreadable page");
      for (const disk of disks as readonly { readonly id: string; readonly token: string }[]) {
        if (disk.token !== "") await steps().send(call, "DELETE", `/disks/${disk.id}`);
      }
    },
  };
}

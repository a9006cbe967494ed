/** The client of the cloud. Replace it by one of yours: `test/data-center.ts` is the cloud that it is for. */
import { type DriverContext, MachineError, type MachineErrorCode } from "@millwright/core";
import { abortedCall, readAnswer } from "@millwright/core/driver-kit";
import * as z from "zod";

const vmSchema = z.object({
  id: z.string(),
  size: z.string(),
  /** What it runs at its first boot, in base64. */
  userData: z.string(),
  tags: z.record(z.string(), z.string()),
});

/** A VM of the cloud. */
export type Vm = z.output<typeof vmSchema>;

/** Where the cloud is, and a token that it accepts. */
export interface Cloud {
  readonly endpoint: string;
  readonly token: string;
}

/** The call that requests are part of. */
export type Call = Pick<DriverContext, "signal" | "clock">;

/** Codes for failures of the cloud. Where a code is missing, the request may succeed later. */
const codes: Readonly<Record<number, MachineErrorCode>> = {
  400: "InvalidArgument",
  401: "Unauthenticated",
  403: "PermissionDenied",
};

/** The longest `Retry-After` that is waited for within a call, seconds. After longer ones the controllers repeat the call. */
const longestPauseS = 5;

/** Sends a request. Messages are the same for the same failure, and contain no secret. */
async function send<T>(
  { endpoint, token }: Cloud,
  [method, path]: readonly [string, string],
  answer: z.ZodType<T>,
  { signal, clock }: Call,
  body?: object,
): Promise<T> {
  const what = `${method} ${path.split("?")[0]}`;
  let response: Response;
  let text: string;
  try {
    const headers = { authorization: `Bearer ${token}` };
    response = await fetch(endpoint + path, { method, headers, signal, body: JSON.stringify(body) ?? null });
    text = await readAnswer(response.body);
  } catch (cause) {
    if (signal.aborted) throw abortedCall(signal, what);
    throw new MachineError("Unavailable", `${what}: the cloud is unreachable`, { cause });
  }
  if (!response.ok) {
    const seconds = Number(response.headers.get("retry-after") ?? "0");
    if (response.status === 429 && seconds > 0 && seconds <= longestPauseS) {
      await clock.sleep(seconds * 1_000, signal);
      return send({ endpoint, token }, [method, path], answer, { signal, clock }, body);
    }
    const delay = seconds > 0 ? { retryAfterMs: seconds * 1_000 } : {};
    throw new MachineError(codes[response.status] ?? "Unavailable", `${what}: status ${response.status}`, delay);
  }
  const read = answer.safeParse(parse(text));
  if (!read.success) throw new MachineError("Unavailable", `${what}: the answer cannot be read`);
  return read.data;
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const pageSchema = z.object({ vms: z.array(vmSchema), next: z.string() });

/** Creates a VM, or returns the one that an earlier request with the same token created. */
export function createVm(cloud: Cloud, vm: Omit<Vm, "id"> & { readonly token: string }, call: Call): Promise<Vm> {
  return send(cloud, ["POST", "/vms"], vmSchema, call, vm);
}

/** All VMs that the cloud lists, or those that have the name of a machine. */
export async function listVms(cloud: Cloud, call: Call, machine?: string): Promise<readonly Vm[]> {
  const vms: Vm[] = [];
  let after = "";
  do {
    const query = new URLSearchParams({ after, ...(machine === undefined ? {} : { machine }) });
    const page = await send(cloud, ["GET", `/vms?${query}`], pageSchema, call);
    vms.push(...page.vms);
    after = page.next;
  } while (after !== "");
  return vms;
}

/** Requests the deletion of a VM, which ends later. */
export async function deleteVm(cloud: Cloud, id: string, call: Call): Promise<void> {
  await send(cloud, ["DELETE", `/vms/${id}`], z.object({}), call);
}
